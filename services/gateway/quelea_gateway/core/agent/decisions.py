"""The sub-tasks that the model decides: plan, action, summary and answer.

Each has its JSON schema, a reader for what came, and what is done when nothing that can be used came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from quelea_gateway.core.agent import model_call
from quelea_gateway.core.agent.action import QUERY, Known, text_schema
from quelea_gateway.core.agent.action_calls import action_of, unwrap
from quelea_gateway.core.agent.actions import all_actions, describe
from quelea_gateway.core.agent.model import FINISH, Choice, Observation, PlanStep
from quelea_gateway.core.agent.model_call import SubTask
from quelea_gateway.core.agent.parsing import (
    Misfit,
    clean,
    flat,
    json_object,
    json_value,
    object_schema,
    string,
    strings,
    without_thinking,
)
from quelea_gateway.core.agent.token_budget import Section, cut_middle, defuse, recall
from quelea_gateway.core.agent.work import Work, plan_lines

_MOST_STEPS = 8
_MOST_LINES = 60
_NUMBERED = re.compile(
    r"^\s{0,8}+(?:[-*•]\s{0,8}+)?(?:(?:step|步骤|第)?\s{0,8}+\d+\s{0,8}+步?\s{0,8}+[.)、:：]\s{0,8}+)?", re.IGNORECASE
)
_TASKS = ("task", "description", "goal", "purpose", "need", "query", "任务")
_ANSWERS = ("answer", "final_answer", "conclusion", "text", "content", "回答", "结论")
_TASK = 400
_PROFILES = {
    "en": "You are a financial analyst who gathers data, writes and runs Python, and reports what the data show.",
    "zh": "你是一名金融分析师，负责收集数据、编写并运行 Python，并报告数据所显示的内容。",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The profile and the overall plan."""

    profile: str
    steps: tuple[PlanStep, ...]


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


def _dump(schema: dict[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False)


def _plan_steps(actions: Sequence[str], least: int) -> dict[str, Any]:
    step = object_schema({"action": {"type": "string", "enum": list(actions)}, "task": text_schema(_TASK)})
    return {"type": "array", "items": step, "minItems": least, "maxItems": _MOST_STEPS}


def plan_schema(actions: Sequence[str]) -> str:
    """Profile and plan."""
    return _dump(object_schema({"profile": text_schema(800), "plan": _plan_steps(actions, 1)}))


def action_schema(actions: Sequence[str], categories: Sequence[str], names: Sequence[str]) -> str:
    """One of the actions that are possible now: a discriminated union over "action"."""
    known = Known(tuple(categories), tuple(names))
    shapes = {one: all_actions()[one].schema(known) for one in actions}
    return _dump({"anyOf": [object_schema({"action": {"const": one}, **shapes[one]}) for one in actions]})


def summary_schema(actions: Sequence[str]) -> str:
    """Insights, the verdict, and the plan from here on (empty: as it was)."""
    insights = {"type": "array", "items": text_schema(600), "maxItems": 5}
    result = {"type": "string", "enum": ["good", "empty", "wrong"]}
    return _dump(object_schema({"insights": insights, "result": result, "plan": _plan_steps(actions, 0)}))


def answer_schema() -> str:
    """The final text."""
    missing = {"type": "array", "items": text_schema(300), "maxItems": 5}
    return _dump(object_schema({"answer": text_schema(6000), "missing": missing}))


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
    known = Known(tuple(categories), tuple(names))

    def read(text: str) -> Choice:
        value = unwrap(text, actions)
        action = action_of(value)
        if action not in actions:
            hint = " That action is not possible now." if action in all_actions() else ""
            raise Misfit(f'"action" must be one of {", ".join(actions)}.{hint}')
        return all_actions()[action].read(value, known)

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


async def make_plan(work: Work) -> Plan:
    """The profile and the overall plan."""
    actions = work.actions
    fixed = {"current_date": work.request.as_of, "actions": describe(actions, work.categories, work.language)}
    sections = [Section("question", defuse(work.request.question), 1)]
    answered = await model_call.ask(work, SubTask("plan", fixed, sections, plan_schema(actions)), read_plan(actions))
    if answered is not None:
        found, example = answered
        await model_call.example(work, example, "ok")
        return Plan(cut_middle(defuse(found.profile), 160) or _PROFILES[work.language], found.steps)
    usual = (one for one in actions if all_actions()[one].in_usual_plan)
    steps = tuple(PlanStep(one, work.request.question[:QUERY]) for one in usual)
    return Plan(_PROFILES[work.language], steps)


def possible(work: Work) -> tuple[str, ...]:
    """The actions that make sense now."""
    return tuple(one for one in work.actions if all_actions()[one].is_possible(work))


async def choose_action(work: Work) -> tuple[Choice, bool]:
    """(the next action, whether the model chose it)."""
    actions = possible(work)
    names = tuple(work.candidates)[-40:]
    memory = recall(work.insights, f"{work.request.question} {plan_lines(work.plan)}", work.prompt_tokens // 3)
    done = "; ".join(json.dumps(one.shown(), ensure_ascii=False)[:200] for one in work.done[-6:]) or "-"
    fixed = {
        "current_date": work.request.as_of,
        "profile": work.profile,
        "actions": describe(actions, work.categories, work.language),
        "step": str(work.step),
        "steps": str(work.request.budget.steps),
    }
    known = [f"- {name}" for name in work.documents]
    known += [f"- {name} (document not read yet)" for name in names if name not in work.documents]
    sections = [
        Section("question", defuse(work.request.question), 2),
        Section("plan", plan_lines(work.plan), 2),
        Section("memory", "\n".join(f"- {one}" for one in memory) or "-", 3),
        Section("apis", "\n".join(known) or "-", 1),
        Section("observation", work.observation or "-", 3),
        Section("done", done, 1),
    ]
    task = SubTask("action", fixed, sections, action_schema(actions, work.categories, names))
    answered = await model_call.ask(work, task, read_action(actions, work.categories, names))
    if answered is None:
        return fallback(work, actions), False
    choice, example = answered
    await model_call.example(work, example, "repeated" if step_of(work, choice) else "ok")
    return choice, True


def step_of(work: Work, choice: Choice) -> int:
    """The step in which just this was done; 0: in none."""
    for step, one in enumerate(work.done, start=1):
        if one.key == choice.key:
            return step
    return 0


def fallback(work: Work, actions: tuple[str, ...]) -> Choice:
    """A safe action when the model chose none that can be done: the plan's next one that was not done, else the end."""
    for step in work.plan:
        task = (step.task or work.request.question)[:QUERY]
        choice = all_actions()[step.action].planned(work, task)
        if choice and choice.action in actions and not step_of(work, choice):
            return choice
    return Choice(FINISH)


async def reflect(work: Work, choice: Choice, observation: Observation) -> Reflection:
    """Summary & Reflexion: what matters of an observation, and a new plan when it was empty or wrong."""
    memory = recall(work.insights, f"{work.request.question} {observation.text[:500]}", work.prompt_tokens // 4)
    fixed = {
        "current_date": work.request.as_of,
        "profile": work.profile,
        "choice": json.dumps(choice.shown(), ensure_ascii=False)[:400],
        "action_names": ", ".join(work.actions),
    }
    sections = [
        Section("question", defuse(work.request.question), 2),
        Section("plan", plan_lines(work.plan), 2),
        Section("memory", "\n".join(f"- {one}" for one in memory) or "-", 2),
        Section("observation", defuse(observation.text) or "-", 5),
    ]
    task = SubTask("summary", fixed, sections, summary_schema(work.actions))
    answered = await model_call.ask(work, task, read_summary(work.actions))
    if answered is None:
        head = cut_middle(" ".join(observation.text.split()), 80)
        return Reflection((head,) if head and observation.verdict == "good" else (), observation.verdict)
    found, example = answered
    await model_call.example(work, example, observation.verdict)
    insights = tuple(defuse(one) for one in found.insights)
    # What is plain to see is not left to the model: a failure stays one.
    result = found.result if observation.verdict == "good" else observation.verdict
    return Reflection(insights, result, found.plan if result != "good" else ())
