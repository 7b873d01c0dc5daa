"""open-page: read a whole page of a document that a passage is from; page by page, a whole filing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from quelea_kit.errors import NotFound

from quelea_gateway.core.agent.action import Known
from quelea_gateway.core.agent.decision.parsing import Misfit, string
from quelea_gateway.core.agent.lookup_actions import LookupAction, Noted, add_passages, noting, within
from quelea_gateway.core.agent.model import Choice, Observation
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work
from quelea_gateway.core.model import Passage

_DIGITS = 5


class OpenPage(LookupAction):
    """The pages of stored documents, and of pages of the web that are kept."""

    name = "open-page"
    place = 12
    description: ClassVar = {
        "en": 'read a whole page of the document of a passage: {"source", "page"}; source is the n of its [n]; what '
        "runs on stands on the pages after it",
        "zh": '阅读某段落所在文档的整页：{"source", "page"}；source 是 [n] 中的 n；未完的内容在后面的页上',
    }
    fields: ClassVar = {"source": ("passage", "document", "number", "n"), "page": ("page_number", "p")}
    in_usual_plan = False

    async def is_offered(self, work: Work) -> bool:
        """This deployment keeps pages."""
        return work.ports.pages is not None

    def is_possible(self, work: Work) -> bool:
        """A passage was found."""
        return any(item.source.document_id for item in work.evidence.items)

    def schema(self, known: Known) -> dict[str, Any]:
        """Which passage, and which page."""
        return {"source": {"type": "integer", "minimum": 1}, "page": {"type": "integer", "minimum": 1}}

    def read(self, value: Mapping[str, Any], known: Known) -> Choice:
        """Two numbers."""
        read = {name: string(value, name, longest=20).strip("[] ") for name in ("source", "page")}
        for name, text in read.items():
            if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS and int(text) > 0):
                raise Misfit(f'"{name}" must be a number from 1.')
        return Choice(self.name, read)

    async def look_up(self, work: Work, choice: Choice) -> Noted:
        """The page, as evidence."""
        number, page = int(choice.text("source")), int(choice.text("page"))
        source = next((one.source for one in work.evidence.items if one.source.number == number), None)
        if work.ports.pages is None or source is None or not source.document_id:
            return noting(Observation(say("no_passage", work.language, n=number), "wrong"))
        try:
            found = await within(work, work.ports.pages.read(source.document_id, page))
        except NotFound:
            return noting(Observation(say("no_page", work.language, n=number, page=page), "empty"))
        whole = Passage(
            source.document_id, page, 0, len(found.text), found.text, title=source.title, uri=source.url,
            header=say("page_of", work.language, page=page, pages=found.pages), published=found.published,
        )  # fmt: skip
        return partial(add_passages, work, [whole])
