"""api-details: read the document of an API that was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from quelea_gateway.core.agent.action import Known, text_schema
from quelea_gateway.core.agent.api_documents import read_document
from quelea_gateway.core.agent.decision.parsing import Misfit, known_name, string
from quelea_gateway.core.agent.lookup_actions import LookupAction, Noted, noting
from quelea_gateway.core.agent.model import Choice, Observation
from quelea_gateway.core.agent.texts import say
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
        """An API was found whose document was not read with it."""
        return any(name not in work.documents for name in work.candidates)

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

    async def look_up(self, work: Work, choice: Choice) -> Noted:
        """Its document, kept for the code."""
        name = choice.text("name")
        document = await read_document(work, name)
        if not document.strip():
            return noting(Observation(say("no_such_api", work.language, api=name), "wrong"))
        return noting(Observation(say("document_read", work.language, api=name)))
