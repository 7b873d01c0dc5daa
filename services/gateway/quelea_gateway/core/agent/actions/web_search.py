"""web-search: search the web."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from quelea_gateway.core.agent.lookup_actions import Noted, SearchAction, add_passages, noting, within
from quelea_gateway.core.agent.model import Choice, Observation
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work

_PAGES = 3


class WebSearch(SearchAction):
    """The web, where this deployment has one."""

    name = "web-search"
    place = 40
    description: ClassVar = {"en": 'search the web: {"query"}', "zh": '搜索互联网：{"query"}'}
    in_usual_plan = False

    async def is_offered(self, work: Work) -> bool:
        """A search provider is configured."""
        return work.ports.web is not None and bool(await work.ports.web.providers())

    async def look_up(self, work: Work, choice: Choice) -> Noted:
        """The best passages of the pages that were read."""
        web, rules, as_of = work.ports.web, work.rules, work.request.as_of
        if web is None:
            return noting(Observation(say("no_web", work.language), "wrong"))
        seconds = min(rules.search_seconds, max(0.05, work.time_left))
        found = await within(
            work,
            web.find(choice.text("query"), as_of=as_of, pages=_PAGES, passages=rules.passages * 2, seconds=seconds),
        )
        # Nothing newer than the run's day; undated pages only while that day is today, as the ask pipeline has it.
        today = work.ports.clock.now().date().isoformat()
        dated = [
            one
            for page in found.pages
            for one in page.passages
            if (one.published[:10] <= as_of if one.published else as_of >= today)
        ]
        best = sorted(dated, key=lambda one: one.score, reverse=True)[: rules.passages]
        return partial(add_passages, work, best)
