"""What the model decides: the plan, the next actions with what it noted before them, and the answer.

Each has its JSON schema, a reader for what came, and what is done when nothing that can be used came.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quelea_gateway.core.agent.action import QUERY, Known, text_schema
from quelea_gateway.core.agent.actions import all_actions, describe, describe_one
from quelea_gateway.core.agent.continuation import write_question
from quelea_gateway.core.agent.decision import model_call, prompts
from quelea_gateway.core.agent.decision.action_calls import action_of, unwrap
from quelea_gateway.core.agent.decision.model_call import SubTask
from quelea_gateway.core.agent.decision.parsing import (
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
from quelea_gateway.core.agent.decision.token_budget import Section, cut_middle, defuse, recall
from quelea_gateway.core.agent.model import FINISH, Choice, PlanStep
from quelea_gateway.core.agent.work import Work, plan_lines
from quelea_gateway.core.model import Function, FunctionCall

MOST_AT_ONCE = 4
"""Actions of one decision."""
_MOST_NOTES = 5
_NOTES = ("notes", "insights", "observations", "summary")
_DOCUMENTS = 3
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
class Decision:
    """What to do next, and what the last observation came to.

    Attributes:
        choices: The next actions, in order; the first one at least.
        insights: What matters of the last observation.
        plan: The steps from here on, when the plan changes.
    """

    choices: tuple[Choice, ...]
    insights: tuple[str, ...] = ()
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
    """Notes, the plan where it changes (else empty), and the next actions, each one of those that are possible now."""
    known = Known(tuple(categories), tuple(names))
    shapes = {one: all_actions()[one].schema(known) for one in actions}
    one_of = {"anyOf": [object_schema({"action": {"const": one}, **shapes[one]}) for one in actions]}
    notes = {"type": "array", "items": text_schema(600), "maxItems": _MOST_NOTES}
    calls = {"type": "array", "items": one_of, "minItems": 1, "maxItems": MOST_AT_ONCE}
    return _dump(object_schema({"notes": notes, "plan": _plan_steps(actions, 0), "actions": calls}))


def action_functions(
    actions: Sequence[str], categories: Sequence[str], names: Sequence[str], language: str
) -> tuple[Function, ...]:
    """The same as functions: one for each action that is possible now, the notes and a new plan among its arguments."""
    known = Known(tuple(categories), tuple(names))
    notes = {"type": "array", "items": text_schema(600), "maxItems": _MOST_NOTES}
    found = []
    for name in actions:
        own = all_actions()[name].schema(known)
        schema = object_schema({"notes": notes, **own, "plan": _plan_steps(actions, 0)})
        schema["required"] = ["notes", *own]
        found.append(Function(name, describe_one(name, categories, language), _dump(schema)))
    return tuple(found)


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
    actions: Sequence[str], categories: Sequence[str] = (), names: Sequence[str] = (), planned: Sequence[str] = ()
) -> Callable[[str], Decision]:
    """A decoder of decisions.

    Args:
        planned: What steps of a plan may be; empty: the same actions.
    """
    known = Known(tuple(categories), tuple(names))

    def read(text: str) -> Decision:
        around, calls = unwrap(text, actions)
        choices: list[Choice] = []
        for call in calls[:MOST_AT_ONCE]:
            action = action_of(call)
            if action == FINISH and choices:
                break  # what the others bring is to be seen first
            try:
                if action not in actions:
                    hint = " That action is not possible now." if action in all_actions() else ""
                    raise Misfit(f'"action" must be one of {", ".join(actions)}.{hint}')
                choices.append(all_actions()[action].read(call, known))
            except Misfit:
                if not choices:
                    raise
                break  # what came before it is done; then the model is asked again
        return Decision(tuple(choices), _notes(around), _new_plan(around, planned or actions))

    return read


def read_calls(read: Callable[[str], Decision]) -> Callable[[Sequence[FunctionCall], str], Decision]:
    """A decoder of calls, by one that reads the same decision as a JSON object; text beside them is a note."""

    def decode(calls: Sequence[FunctionCall], text: str) -> Decision:
        notes: list[str] = []
        plan: Any = []
        actions = []
        for call in calls:
            arguments: dict[str, Any] = {}
            with contextlib.suppress(Misfit):  # what is missing then is said of the action's own fields
                arguments = json_object(call.arguments)
            with contextlib.suppress(Misfit):
                notes += strings(arguments, "notes", most=_MOST_NOTES, longest=600)
            plan = plan or arguments.get("plan") or []
            actions.append({**arguments, "action": call.name, "notes": None, "plan": None})
        said = " ".join(without_thinking(text).split())
        notes = list(dict.fromkeys(notes)) or ([said[:600]] if said else [])
        return read(_dump({"notes": notes, "plan": plan, "actions": actions}))

    return decode


def _notes(around: dict[str, Any]) -> tuple[str, ...]:
    name = next((one for one in _NOTES if around.get(one)), "")
    try:
        return tuple(strings(around, name, most=_MOST_NOTES, longest=600)) if name else ()
    except Misfit:
        return ()


def _new_plan(around: dict[str, Any], actions: Sequence[str]) -> tuple[PlanStep, ...]:
    try:
        return _steps({"plan": around.get("plan")}, actions)
    except Misfit:
        return ()


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
    sections = [Section("question", write_question(work), 1)]
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


async def decide(work: Work) -> tuple[Decision, bool]:
    """(what to do next, whether the model chose it)."""
    actions = possible(work)
    names = tuple(work.candidates)[-40:]
    memory = recall(work.insights, f"{work.asked} {plan_lines(work.plan)}", work.prompt_tokens // 3)
    done = "; ".join(json.dumps(one.shown(), ensure_ascii=False)[:200] for one in work.done[-6:]) or "-"
    fixed = {
        "current_date": work.request.as_of,
        "profile": work.profile,
        "actions": describe(actions, work.categories, work.language),
        "step": str(work.step),
        "steps": str(work.request.budget.steps),
        "at_once": str(MOST_AT_ONCE),
        "plan_actions": ", ".join(work.actions),
    } | prompts.code_rules(work.language if "code-exec" in actions else "")
    known = [f"## {name}\n{defuse(work.documents[name])}" for name in list(work.documents)[-_DOCUMENTS:]]
    known += [f"- {name}: {defuse(work.candidates[name])[:200]}" for name in names if name not in work.documents]
    sections = [
        Section("question", write_question(work), 2),
        Section("plan", plan_lines(work.plan), 2),
        Section("memory", "\n".join(f"- {one}" for one in memory) or "-", 3),
        Section("apis", "\n".join(known) or "-", 4),
        Section("observation", work.observation or "-", 4),
        Section("done", done, 1),
    ]
    task = SubTask(
        "action",
        fixed,
        sections,
        action_schema(actions, work.categories, names),
        action_functions(actions, work.categories, names, work.language),
    )
    read = read_action(actions, work.categories, names, work.actions)
    answered = await model_call.ask(work, task, read, read_calls=read_calls(read))
    if answered is None:
        return Decision((fallback(work, actions),)), False
    decision, example = answered
    await model_call.example(work, example, "repeated" if step_of(work, decision.choices[0]) else "ok")
    return replace(decision, insights=tuple(defuse(one) for one in decision.insights)), True


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
