"""api-select: find finance data APIs in the catalogue, and read the documents of the best."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from quelea_kit.errors import Unavailable

from quelea_gateway.core.agent.action import QUERY, Known, text_schema
from quelea_gateway.core.agent.api_documents import read_document
from quelea_gateway.core.agent.decision.parsing import string
from quelea_gateway.core.agent.decision.token_budget import defuse
from quelea_gateway.core.agent.lookup_actions import LookupAction, Noted, noting, within
from quelea_gateway.core.agent.model import Choice, Observation
from quelea_gateway.core.agent.ports import ApiCandidate
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work

_READ = 3
"""Documents that are read at once: a selection costs one call of the model."""
_LOOK_SECONDS = 1.0
_TELL_SECONDS = 15.0
_CATEGORY = 80


class ApiSelect(LookupAction):
    """The catalogue of APIs."""

    name = "api-select"
    place = 20
    description: ClassVar = {
        "en": 'find finance data APIs: {"category", "need"}; categories: $categories',
        "zh": '查找金融数据接口：{"category", "need"}；类别：$categories',
    }
    fields: ClassVar = {"need": ("description", "problem", "problem_description", "query", "question", "task")}

    async def is_offered(self, work: Work) -> bool:
        """There is a catalogue, and it has something; its categories are noted for the run."""
        if work.ports.tools is not None:
            work.categories = tuple(await work.ports.tools.categories())
        return bool(work.categories)

    def schema(self, known: Known) -> dict[str, Any]:
        """A category, and the need in words."""
        category = {"type": "string", "enum": list(known.categories)} if known.categories else text_schema(_CATEGORY)
        return {"category": category, "need": text_schema(QUERY)}

    def read(self, value: Mapping[str, Any], known: Known) -> Choice:
        """The need; a category that is not known counts as none."""
        category = string(value, "category", longest=_CATEGORY, needed=False)
        if known.categories:
            category = {one.lower(): one for one in known.categories}.get(category.lower(), "")
        return Choice(self.name, {"category": category, "need": string(value, "need", longest=QUERY)})

    def planned(self, work: Work, task: str) -> Choice | None:
        """The task is the need."""
        return Choice(self.name, {"need": task})

    async def look_up(self, work: Work, choice: Choice) -> Noted:
        """APIs that may fit, noted as candidates."""
        if work.ports.tools is None:
            return noting(Observation(say("no_catalogue", work.language), "wrong"))
        need = choice.text("need")
        try:
            found = list(await _select(work, choice.text("category"), need))
        except Unavailable:
            return noting(Observation(say("catalogue_not_ready", work.language), "wrong", again=True))
        if not found:
            return noting(Observation(say("no_api_found", work.language), "empty"))
        for one in found:
            work.candidates[one.name] = one.description
        for one in reversed(found[:_READ]):  # the newest document is the last to be left out of a prompt
            await read_document(work, one.name)
        lines = [f"- {one.name}: {defuse(one.description)[:300]}" for one in found]
        return noting(Observation("\n".join([say("apis_found", work.language), *lines])))


async def _select(work: Work, category: str, need: str) -> Sequence[ApiCandidate]:
    """The candidates; while their index is being made it is waited for, half of the time that is left at most."""
    tools = work.ports.tools
    assert tools is not None  # noqa: S101  # the only caller has looked
    end = work.ports.clock.monotonic() + max(0.0, work.time_left) / 2
    tell, told = -1e9, ""
    while True:
        try:
            return await within(work, tools.select(category, need, limit=work.rules.candidates, language=work.language))
        except Unavailable as error:
            pause = min(error.retry_after or 1.0, _LOOK_SECONDS)
            if work.ports.clock.monotonic() + pause >= end:
                raise
            done = {name: error.details[name] for name in ("indexed", "tools") if name in error.details}
            text = say("catalogue_waits", work.language, **done) if len(done) > 1 else ""
            if text and work.ports.clock.monotonic() >= tell and text != told:
                tell, told = work.ports.clock.monotonic() + _TELL_SECONDS, text
                await work.journal.event(
                    "output", {"step": work.step, "text": text, "result": "waiting", "sources": []}
                )
            await asyncio.sleep(pause)
