"""What the model decides, as JSON schemas and as what is read of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from quelea_gateway.core.agent.calling import action_of, known_name, unwrapped
from quelea_gateway.core.agent.model import ACTIONS, PlanStep
from quelea_gateway.core.agent.parsing import (
    Misfit,
    clean,
    flat,
    json_object,
    json_value,
    string,
    strings,
    without_thinking,
)

_MOST_STEPS = 8
_MOST_LINES = 60
_NUMBERED = re.compile(r"^\s*(?:[-*•]\s*)?(?:(?:step|步骤|第)?\s*\d+\s*步?\s*[.)、:：]\s*)?", re.IGNORECASE)
_TASKS = ("task", "description", "goal", "purpose", "need", "query", "任务")
_ANSWERS = ("answer", "final_answer", "conclusion", "text", "content", "回答", "结论")
_TASK = 400
_QUERY = 300


@dataclass(frozen=True, slots=True)
class Plan:
    """The profile and the overall plan."""

    profile: str
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The next action. Of the fields only those of its action are set."""

    action: str
    query: str = ""
    category: str = ""
    need: str = ""
    name: str = ""
    task: str = ""
    apis: tuple[str, ...] = ()
    code: str = ""
    """Code that came with the action already; it is what runs first."""

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for the same action with the same arguments, whatever its case and blanks."""
        parts = (self.action, self.query, self.category, self.need, self.name, self.task, *self.apis, self.code)
        return tuple(" ".join(part.lower().split()) for part in parts)

    def shown(self) -> dict[str, Any]:
        """The set fields, for events and prompts."""
        fields = {"query": self.query, "category": self.category, "need": self.need, "name": self.name,
                  "task": self.task, "apis": list(self.apis)}  # fmt: skip
        return {"action": self.action, **{name: value for name, value in fields.items() if value}}


@dataclass(frozen=True, slots=True)
class Reflection:
    """What matters of an observation, and the plan when it changes."""

    insights: tuple[str, ...]
    result: str
    plan: tuple[PlanStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The final text, and what could not be answered."""

    answer: str
    missing: tuple[str, ...] = ()


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _dumped(schema: dict[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False)


def _plan_steps(actions: Sequence[str], least: int) -> dict[str, Any]:
    step = _object({"action": {"type": "string", "enum": list(actions)}, "task": _text(_TASK)})
    return {"type": "array", "items": step, "minItems": least, "maxItems": _MOST_STEPS}


def plan_schema(actions: Sequence[str]) -> str:
    """Profile and plan."""
    return _dumped(_object({"profile": _text(800), "plan": _plan_steps(actions, 1)}))


def action_schema(actions: Sequence[str], categories: Sequence[str], names: Sequence[str]) -> str:
    """One of the actions that are possible now: a discriminated union over "action"."""
    category = {"type": "string", "enum": list(categories)} if categories else _text(80)
    name = {"type": "string", "enum": list(names)} if names else _text(120)
    fields: dict[str, dict[str, Any]] = {
        "web-search": {"query": _text(_QUERY)},
        "kb-search": {"query": _text(_QUERY)},
        "api-select": {"category": category, "need": _text(_QUERY)},
        "api-details": {"name": name},
        "code-exec": {"task": _text(800), "apis": {"type": "array", "items": _text(120), "maxItems": 6}},
        "finish": {},
    }
    return _dumped({"anyOf": [_object({"action": {"const": one}, **fields[one]}) for one in actions]})


def pick_schema(names: Sequence[str]) -> str:
    """A few of the candidates."""
    item = {"type": "string", "enum": list(names)}
    return _dumped(_object({"names": {"type": "array", "items": item, "minItems": 1, "maxItems": 5}}))


def summary_schema(actions: Sequence[str]) -> str:
    """Insights, the verdict, and the plan from here on (empty: as it was)."""
    insights = {"type": "array", "items": _text(600), "maxItems": 5}
    result = {"type": "string", "enum": ["good", "empty", "wrong"]}
    return _dumped(_object({"insights": insights, "result": result, "plan": _plan_steps(actions, 0)}))


def answer_schema() -> str:
    """The final text."""
    missing = {"type": "array", "items": _text(300), "maxItems": 5}
    return _dumped(_object({"answer": _text(6000), "missing": missing}))


def _steps(value: dict[str, Any], actions: Sequence[str], name: str = "plan") -> tuple[PlanStep, ...]:
    given = value.get(name) or value.get("steps") or []
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, str):
        given = given.split("\n")
    if not isinstance(given, list):
        raise Misfit(f'"{name}" must be a list of steps, each with "action" and "task".')
    found = []
    for one in given[:_MOST_LINES]:
        if isinstance(one, str):
            action, _, task = _NUMBERED.sub("", one).replace("：", ":").partition(":")
            one = {"action": action.strip("*` "), "task": task.strip() or one.strip()}  # noqa: PLW2901  # a plan in lines
        if isinstance(one, dict) and action_of(one) in actions:
            task = next((one[key] for key in _TASKS if isinstance(one.get(key), str)), "")
            found.append(PlanStep(action_of(one), clean(task, _TASK).strip()))
    return tuple(found[:_MOST_STEPS])


def read_plan(actions: Sequence[str]) -> Callable[[str], Plan]:
    """A decoder of plans."""

    def read(text: str) -> Plan:
        found = json_value(text)
        if isinstance(found, list):
            found = {"plan": found}
        if not isinstance(found, dict) or not found:
            found = {"plan": text}  # in lines, as prose has it
        value: dict[str, Any] = found
        steps = _steps(value, actions)
        if not steps and value.get("plan") is text:
            raise Misfit("The answer is no JSON object. Answer with one JSON object and nothing else.")
        if not steps:
            raise Misfit(f'"plan" needs at least one step whose "action" is one of {", ".join(actions)}.')
        return Plan(clean(flat(value.get("profile") or value.get("role") or ""), 800).strip(), steps)

    return read


def read_action(
    actions: Sequence[str], categories: Sequence[str] = (), names: Sequence[str] = ()
) -> Callable[[str], Choice]:
    """A decoder of actions."""

    def read(text: str) -> Choice:
        value = unwrapped(text, actions)
        action = action_of(value)
        if action not in actions:
            hint = " That action is not possible now." if action in ACTIONS else ""
            raise Misfit(f'"action" must be one of {", ".join(actions)}.{hint}')
        if action in ("web-search", "kb-search"):
            return Choice(action, query=string(value, "query", longest=_QUERY))
        if action == "api-select":
            category = string(value, "category", longest=80, needed=False)
            known = {one.lower(): one for one in categories}
            return Choice(action, category=known.get(category.lower(), "" if categories else category),
                          need=string(value, "need", longest=_QUERY))  # fmt: skip
        if action == "api-details":
            name = known_name(string(value, "name", longest=120), names)
            if names and name not in names:
                raise Misfit(f'"name" must be one of {", ".join(list(names)[:20])}.')
            return Choice(action, name=name)
        if action == "code-exec":
            code = value.get("code") if isinstance(value.get("code"), str) else ""
            apis = tuple(known_name(one, names) for one in strings(value, "apis", most=6, longest=120))
            return Choice(action, task=string(value, "task", longest=800, needed=not code), apis=apis, code=code or "")
        return Choice("finish")

    return read


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


def read_summary(actions: Sequence[str]) -> Callable[[str], Reflection]:
    """A decoder of reflections."""

    def read(text: str) -> Reflection:
        value = json_object(text)
        insights = strings(value, "insights", most=5, longest=600)
        result = str(value.get("result", "")).strip().lower()
        if not insights and result not in ("good", "empty", "wrong"):
            raise Misfit('"insights" (a list of texts) and "result" (good, empty or wrong) are missing.')
        return Reflection(tuple(insights), result if result in ("empty", "wrong") else "good", _steps(value, actions))

    return read


def read_answer(text: str) -> Conclusion:
    """The final text; prose that is no JSON is taken as it is. Raises Misfit."""
    try:
        value = json_object(text)
    except Misfit:
        prose = " ".join(text.split())
        if len(prose) < 20 or prose.lstrip().startswith(("{", "[", "```")):
            raise
        value = {"answer": without_thinking(text).strip()}
    for _ in range(2):  # {"action": "finish", "arguments": {"answer": …}}
        inner = next(
            (value[key] for key in ("arguments", "action_input", "answer") if isinstance(value.get(key), dict)), None
        )
        value = inner if inner is not None else value
    key = next((one for one in _ANSWERS if value.get(one)), "answer")
    said = value.get(key)
    if isinstance(said, list):
        value = {**value, key: "\n".join(flat(one) for one in said)}
    missing = strings(value, "missing", most=5, longest=300) if isinstance(value.get("missing"), list | str) else []
    return Conclusion(string(value, key, longest=6000), tuple(missing))
