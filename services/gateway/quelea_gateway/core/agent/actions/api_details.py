"""api-details: read the document of an API that was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from quelea_kit.errors import NotFound

from quelea_gateway.core.agent.action import Known, text_schema
from quelea_gateway.core.agent.lookup_actions import LookupAction, within
from quelea_gateway.core.agent.model import Choice, Observation
from quelea_gateway.core.agent.parsing import Misfit, known_name, string
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.token_budget import defuse
from quelea_gateway.core.agent.work import Work

_NAME = 120


class ApiDetails(LookupAction):
    """The document of one API of the catalogue."""

    name = "api-details"
    place = 30
    description: ClassVar = {
        "en": 'read the document of an API that was found: {"name"}',
        "zh": '查看已找到的接口的文档：{"name"}',
    }
    fields: ClassVar = {"name": ("api", "api_name", "tool", "function", "apis")}

    async def is_offered(self, work: Work) -> bool:
        """There is a catalogue; api-select, which comes before, has noted its categories."""
        return bool(work.categories)

    def is_possible(self, work: Work) -> bool:
        """An API was found."""
        return bool(work.candidates)

    def schema(self, known: Known) -> dict[str, Any]:
        """The name of one that was found."""
        return {"name": {"type": "string", "enum": list(known.names)} if known.names else text_schema(_NAME)}

    def read(self, value: Mapping[str, Any], known: Known) -> Choice:
        """The name of one that was found."""
        name = known_name(string(value, "name", longest=_NAME), known.names)
        if known.names and name not in known.names:
            raise Misfit(f'"name" must be one of {", ".join(known.names[:20])}.')
        return Choice(self.name, {"name": name})

    def planned(self, work: Work, task: str) -> Choice | None:
        """The first one whose document was not read yet."""
        unread = [name for name in work.candidates if name not in work.documents]
        return Choice(self.name, {"name": unread[0]}) if unread else None

    async def look_up(self, work: Work, choice: Choice) -> Observation:
        """Its document, kept for the code."""
        name = choice.text("name")
        if work.ports.tools is None:
            return Observation(say("no_catalogue", work.language), "wrong")
        try:
            document = await within(work, work.ports.tools.details(name))
        except NotFound:
            return Observation(say("no_such_api", work.language, api=name), "wrong")
        work.documents.pop(name, None)
        work.documents[name] = document
        return Observation(defuse(document), "good" if document.strip() else "empty")
