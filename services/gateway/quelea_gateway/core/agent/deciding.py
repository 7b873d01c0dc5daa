"""The sub-tasks plan, action and summary, each with what is done when the model gives nothing that can be used."""

from __future__ import annotations

import json

from quelea_gateway.core.agent import asking
from quelea_gateway.core.agent.decisions import (
    Choice,
    Plan,
    Reflection,
    action_schema,
    plan_schema,
    read_action,
    read_plan,
    read_summary,
    summary_schema,
)
from quelea_gateway.core.agent.model import Observation, PlanStep
from quelea_gateway.core.agent.packing import Section, cut_middle, defused, remembered
from quelea_gateway.core.agent.prompts import described
from quelea_gateway.core.agent.work import Work, plan_lines

_PROFILES = {
    "en": "You are a financial analyst who gathers data, writes and runs Python, and reports what the data show.",
    "zh": "你是一名金融分析师，负责收集数据、编写并运行 Python，并报告数据所显示的内容。",
}
_QUERY = 300


async def plan(work: Work) -> Plan:
    """The profile and the overall plan."""
    actions = work.actions
    fixed = {"current_date": work.request.as_of, "actions": described(actions, work.categories, work.language)}
    sections = [Section("question", defused(work.request.question), 1)]
    answered = await asking.ask(work, "plan", fixed, sections, read_plan(actions), schema=plan_schema(actions))
    if answered is not None:
        found, example = answered
        await asking.example(work, example, "ok")
        return Plan(cut_middle(defused(found.profile), 160) or _PROFILES[work.language], found.steps)
    usual = ("kb-search", "api-select", "api-details", "code-exec", "finish")
    steps = tuple(PlanStep(one, work.request.question[:_QUERY]) for one in usual if one in actions)
    return Plan(_PROFILES[work.language], steps)


def possible(work: Work) -> tuple[str, ...]:
    """The actions that make sense now."""
    found = [one for one in work.actions if one != "api-details" or work.candidates]
    return tuple(found)


async def action(work: Work) -> tuple[Choice, bool]:
    """(the next action, whether the model chose it)."""
    actions = possible(work)
    names = tuple(work.candidates)[-40:]
    memory = remembered(work.insights, f"{work.request.question} {plan_lines(work.plan)}", work.prompt_tokens // 3)
    done = "; ".join(json.dumps(one.shown(), ensure_ascii=False)[:200] for one in work.done[-6:]) or "-"
    fixed = {
        "current_date": work.request.as_of,
        "profile": work.profile,
        "actions": described(actions, work.categories, work.language),
        "step": str(work.step),
        "steps": str(work.request.budget.steps),
    }
    known = [f"- {name}" for name in work.documents]
    known += [f"- {name} (document not read yet)" for name in names if name not in work.documents]
    sections = [
        Section("question", defused(work.request.question), 2),
        Section("plan", plan_lines(work.plan), 2),
        Section("memory", "\n".join(f"- {one}" for one in memory) or "-", 3),
        Section("apis", "\n".join(known) or "-", 1),
        Section("observation", work.observation or "-", 3),
        Section("done", done, 1),
    ]
    answered = await asking.ask(
        work, "action", fixed, sections, read_action(actions, work.categories, names),
        schema=action_schema(actions, work.categories, names),
    )  # fmt: skip
    if answered is None:
        return fallback(work, actions), False
    choice, example = answered
    await asking.example(work, example, "repeated" if seen(work, choice) else "ok")
    return choice, True


def seen(work: Work, choice: Choice) -> int:
    """The step in which just this was done; 0: in none."""
    for step, one in enumerate(work.done, start=1):
        if one.key == choice.key:
            return step
    return 0


def fallback(work: Work, actions: tuple[str, ...]) -> Choice:
    """A safe action when the model chose none that can be done: the plan's next one that was not done, else the end."""
    for step in work.plan:
        task = (step.task or work.request.question)[:_QUERY]
        choice = Choice("finish")
        if step.action in ("web-search", "kb-search"):
            choice = Choice(step.action, query=task)
        elif step.action == "api-select":
            choice = Choice(step.action, need=task)
        elif step.action == "api-details":
            unread = [name for name in work.candidates if name not in work.documents]
            choice = Choice(step.action, name=unread[0]) if unread else choice
        elif step.action == "code-exec":
            choice = Choice(step.action, task=task)
        if choice.action in actions and choice.action != "finish" and not seen(work, choice):
            return choice
    return Choice("finish")


async def reflect(work: Work, choice: Choice, observation: Observation) -> Reflection:
    """Summary & Reflexion: what matters of an observation, and a new plan when it was empty or wrong."""
    memory = remembered(work.insights, f"{work.request.question} {observation.text[:500]}", work.prompt_tokens // 4)
    fixed = {
        "current_date": work.request.as_of,
        "profile": work.profile,
        "choice": json.dumps(choice.shown(), ensure_ascii=False)[:400],
        "action_names": ", ".join(work.actions),
    }
    sections = [
        Section("question", defused(work.request.question), 2),
        Section("plan", plan_lines(work.plan), 2),
        Section("memory", "\n".join(f"- {one}" for one in memory) or "-", 2),
        Section("observation", defused(observation.text) or "-", 5),
    ]
    answered = await asking.ask(
        work, "summary", fixed, sections, read_summary(work.actions), schema=summary_schema(work.actions)
    )
    if answered is None:
        head = cut_middle(" ".join(observation.text.split()), 80)
        return Reflection((head,) if head and observation.verdict == "good" else (), observation.verdict)
    found, example = answered
    await asking.example(work, example, observation.verdict)
    insights = tuple(defused(one) for one in found.insights)
    # What is plain to see is not left to the model: a failure stays one.
    result = found.result if observation.verdict == "good" else observation.verdict
    return Reflection(insights, result, found.plan if result != "good" else ())
