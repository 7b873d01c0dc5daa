"""api-select: find finance data APIs in the catalogue; the model picks among many."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from quelea_gateway.core.agent import model_call
from quelea_gateway.core.agent.action import QUERY, Known, text_schema
from quelea_gateway.core.agent.lookup_actions import LookupAction, within
from quelea_gateway.core.agent.model import Choice, Observation
from quelea_gateway.core.agent.parsing import Misfit, json_value, known_name, object_schema, string, strings
from quelea_gateway.core.agent.ports import ApiCandidate
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.token_budget import Section, defuse
from quelea_gateway.core.agent.work import Work

_FEW = 3
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

    async def look_up(self, work: Work, choice: Choice) -> Observation:
        """APIs that may fit, noted as candidates."""
        if work.ports.tools is None:
            return Observation(say("no_catalogue", work.language), "wrong")
        need = choice.text("need")
        selecting = work.ports.tools.select(
            choice.text("category"), need, limit=work.rules.candidates, language=work.language
        )
        found = list(await within(work, selecting))
        if not found:
            return Observation(say("no_api_found", work.language), "empty")
        if len(found) > _FEW:
            found = await _pick(work, need, found)
        for one in found:
            work.candidates[one.name] = one.description
        lines = [f"- {one.name}: {defuse(one.description)[:300]}" for one in found]
        return Observation("\n".join([say("apis_found", work.language), *lines]))


async def _pick(work: Work, need: str, found: list[ApiCandidate]) -> list[ApiCandidate]:
    """Those that the model picks among the candidates; the first ones when it picks none."""
    names = [one.name for one in found]
    lines = "\n".join(f"- {one.name}: {defuse(one.description)[:200]}" for one in found)
    fixed = {"current_date": work.request.as_of, "need": need}
    sections = [Section("question", defuse(work.request.question), 1), Section("candidates", lines, 3)]
    pick = model_call.SubTask("pick", fixed, sections, _pick_schema(names))
    answered = await model_call.ask(work, pick, read_pick(names))
    if answered is None:
        return found[:5]
    picked, example = answered
    await model_call.example(work, example, "ok")
    by_name = {one.name: one for one in found}
    return [by_name[name] for name in picked]


def _pick_schema(names: Sequence[str]) -> str:
    item = {"type": "string", "enum": list(names)}
    return json.dumps(object_schema({"names": {"type": "array", "items": item, "minItems": 1, "maxItems": 5}}))


def read_pick(names: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """A decoder of picks: only candidates count."""

    def read(text: str) -> tuple[str, ...]:
        found = json_value(text)
        value = found if isinstance(found, dict) else {"names": found if isinstance(found, list) else text.split("\n")}
        key = "names" if "names" in value else next((one for one in value if isinstance(value[one], list)), "names")
        given = [one for said in strings(value, key, most=20, longest=400) for one in re.split(r"[,，、;；\s]+", said)]
        picked = tuple(dict.fromkeys(one for said in given if (one := known_name(said, names)) in names))[:5]
        if not picked:
            raise Misfit(f'"names" must hold one to five of the candidates: {", ".join(list(names)[:20])}.')
        return picked

    return read
