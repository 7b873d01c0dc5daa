"""kb-search: search the stored documents."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from quelea_gateway.core.agent.lookup_actions import Noted, SearchAction, add_passages, within
from quelea_gateway.core.agent.model import Choice
from quelea_gateway.core.agent.work import Work
from quelea_gateway.core.model import Filters


class KbSearch(SearchAction):
    """The knowledge base."""

    name = "kb-search"
    place = 10
    description: ClassVar = {
        "en": 'search the stored documents (filings, reports, news): {"query"}',
        "zh": '检索已入库的文档（财报、研报、新闻）：{"query"}',
    }

    async def look_up(self, work: Work, choice: Choice) -> Noted:
        """The best passages."""
        found = await within(
            work,
            work.ports.knowledge.search(
                choice.text("query"), k=work.rules.passages, as_of=work.request.as_of, filters=Filters()
            ),
        )
        return partial(add_passages, work, found.passages)
