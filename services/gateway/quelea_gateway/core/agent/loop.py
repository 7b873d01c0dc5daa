"""The agent: profile and plan, then action, observation, reflection, until it finishes; it always finishes.

After FinVerse (arXiv 2406.06379), with the three ways in which such agents die closed: actions are generated under a
schema, with a bounded repair and a safe fallback; prompts are packed into a budget; the last step, the deadline and the
token budget lead to a conclusion from what there is.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Any

from quelea_kit.errors import Conflict, QueleaError

from quelea_gateway.core.agent.actions import all_actions
from quelea_gateway.core.agent.conclusion import conclude
from quelea_gateway.core.agent.continuation import Earlier, KeptSession, go_on, hand_over
from quelea_gateway.core.agent.decision import decisions
from quelea_gateway.core.agent.decision.model_call import ModelAway
from quelea_gateway.core.agent.decision.token_budget import cut_middle
from quelea_gateway.core.agent.grounding.door_calls import collect_calls
from quelea_gateway.core.agent.lookup_actions import LookupAction
from quelea_gateway.core.agent.model import FINISH, Choice, Observation, RunAnswer, RunRequest, Why
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Journal, Ports, Rules, Work

_CLOSE_SECONDS = 5.0
_INSIGHTS = 60
_LINE = 80
"""Tokens of an observation that is kept where the model noted nothing of it."""
_SHOWN = 6_000


async def run(
    run_id: str,
    request: RunRequest,
    ports: Ports,
    rules: Rules,
    journal: Journal,
    *,
    earlier: Earlier | None = None,
    keep: Callable[[KeptSession], Awaitable[None]] | None = None,
) -> RunAnswer:
    """One run from its plan to its answer; what it used and called is told to the journal, however it ends.

    Args:
        earlier: What it goes on from, where it follows another.
        keep: Takes what it leaves to a follow-up, once it has its answer; None: nothing is left.

    Raises:
        Conflict: the reader is no language model.
        QueleaError: the bundles to be replayed cannot be opened, or the journal cannot be kept.
    """
    started = ports.clock.monotonic()
    info = await ports.model.info()
    if not info.is_language_model:
        raise Conflict(
            "No language model is configured, and the agent needs one: start the generator with reader openai."
        )
    work = Work(run_id, request, ports, rules, journal, info, started, await ports.prompts())
    try:
        await _prepare(work)
        if earlier is not None:
            await go_on(work, earlier)
        why, said = await _loop(work)
        answer = await conclude(work, said, why)
        await collect_calls(work)
        work.tell()
        await journal.event("answer", answer.as_dict())
        if keep is not None and (left := hand_over(work)) is not None:
            await keep(left)
        return answer
    finally:
        # Also when the run is cancelled: a container and a token must not outlive it.
        closing = asyncio.ensure_future(_close(work))
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(closing)


async def _prepare(work: Work) -> None:
    ports, request = work.ports, work.request
    offered: list[str] = []
    for name, action in all_actions().items():
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(work.rules.search_seconds):
                offered += [name] if await action.is_offered(work) else []
    work.actions = tuple(offered)
    if ports.door is None or ports.sandbox is None:
        return
    try:
        async with asyncio.timeout(work.rules.search_seconds):
            work.door_session = await ports.door.open(
                run_id=work.run_id,
                tenant=request.tenant,
                as_of=request.as_of if request.pinned else "",
                bundle_ids=request.bundle_ids,
                max_calls=request.budget.calls,
                seconds=request.budget.seconds + 30,
            )
    except (QueleaError, TimeoutError) as error:
        why = error.message if isinstance(error, QueleaError) else "the door did not answer in time"
        if request.bundle_ids or request.pinned:  # anything else than what was asked for would be another run
            raise QueleaError(why) if isinstance(error, TimeoutError) else error from error
        work.notice(say("no_door", work.language, why=why))
        return
    for note in work.door_session.notes:
        work.note_data(note)


async def _loop(work: Work) -> tuple[Why, str]:
    """Steps until the end; why it had to end, as a word and as a sentence: empty when the model chose to."""
    try:
        why = await _steps(work)
    except ModelAway as away:
        return "model_away", say("model_away", work.language) + f" ({away})"
    return why, say(why, work.language, n=work.request.budget.steps) if why else ""


async def _steps(work: Work) -> Why:
    budget = work.request.budget
    made = await decisions.make_plan(work)
    work.profile, work.plan = made.profile, made.steps
    await work.journal.event(
        "plan",
        {
            "profile": work.profile,
            "plan": [asdict(one) for one in work.plan],
            "revision": 0,
            "actions": list(work.actions),
        },
    )
    repeats = revision = 0
    decided: list[Choice] = []
    by_model = True
    while True:
        if why := _find_exhausted(work):
            return why
        work.step += 1
        if work.step >= budget.steps:
            await _begin(work, Choice(FINISH), by_model=False)
            return "steps"
        if not decided:
            decision, by_model = await decisions.decide(work)
            revision += await _reflect(work, decision, revision)
            decided, work.observation = list(decision.choices), ""
        together = _take(work, decided)
        del decided[: len(together)]
        await _begin(work, together[0], by_model=by_model)
        if together[0].action == FINISH:
            if work.time_left <= 0:
                return "time"
            return "" if by_model else ("tokens" if work.out_of_tokens else "no_answer")
        before = decisions.step_of(work, together[0])
        if before:
            await _note(work, together[0], Observation(say("done_before", work.language, n=before), "wrong"), before)
            repeats += 1
            if repeats >= work.rules.repeats:
                return "repeats"
        elif not await _do(work, together, by_model=by_model):
            decided = []  # the rest was decided in the hope of something else
        if work.time_left <= 0:
            return "time"


def _take(work: Work, decided: Sequence[Choice]) -> list[Choice]:
    """What is done next: one choice, or the lookups that were decided together; the last step is not for them."""
    taken = [decided[0]]
    room = work.request.budget.steps - work.step
    for one in decided[1:room]:
        lookups = (isinstance(all_actions()[each.action], LookupAction) for each in (taken[0], one))
        is_new = not decisions.step_of(work, one) and one.key not in {each.key for each in taken}
        if not all(lookups) or not is_new or decisions.step_of(work, taken[0]):
            break
        taken.append(one)
    return taken


def _find_exhausted(work: Work) -> Why:
    """What is used up: nothing, the time or the tokens."""
    if work.time_left <= 0:
        return "time"
    return "tokens" if work.tokens_left <= 0 or work.out_of_tokens else ""


async def _do(work: Work, choices: Sequence[Choice], *, by_model: bool) -> bool:
    """Do what was chosen, each a step, of which the first has begun; whether all of it brought something.

    Lookups run at once. They are told one after the other, each as if it had begun when the one before had ended.
    """
    if len(choices) == 1:
        observation = await all_actions()[choices[0].action].run(work, choices[0])
        await _note(work, choices[0], observation)
        return observation.verdict == "good"
    actions = [all_actions()[choice.action] for choice in choices]
    found = await asyncio.gather(
        *(
            one.fetch(work, choice)
            for one, choice in zip(actions, choices, strict=True)
            if isinstance(one, LookupAction)
        )
    )
    is_good, first = True, work.step
    for work.step, (choice, noted) in enumerate(zip(choices, found, strict=True), start=first):
        if work.step > first:
            await _begin(work, choice, by_model=by_model)
        observation = noted()
        await _note(work, choice, observation)
        is_good = is_good and observation.verdict == "good"
    return is_good


async def _note(work: Work, choice: Choice, observation: Observation, before: int = 0) -> None:
    """Keep what an action brought for the next decision; step `before` did just that already."""
    action = all_actions()[choice.action]
    if not observation.again:
        work.done.append(choice)
    work.observation = "\n\n".join(part for part in (work.observation, observation.text) if part)
    work.verdict = observation.verdict
    if before or not action.reports_output:
        shown = cut_middle(work.scrubbed(observation.text), _SHOWN)
        data = {"step": work.step, "text": shown, "result": observation.verdict, "sources": observation.sources}
        await work.journal.event("output", data)


async def _reflect(work: Work, decision: decisions.Decision, revision: int) -> int:
    """Keep what matters of the last observation; how many plans the decision makes."""
    if not work.done:
        return 0
    insights = decision.insights
    if not insights and work.verdict == "good":  # of what is not noted a line is kept
        insights = tuple(one for one in (cut_middle(" ".join(work.observation.split()), _LINE),) if one)
    step = work.step - 1
    work.insights = [*work.insights, *(f"(step {step}) {one}" for one in insights)][-_INSIGHTS:]
    data: dict[str, Any] = {"step": step, "insights": list(insights), "result": work.verdict}
    if decision.plan:
        work.plan = decision.plan
        data |= {"plan": [asdict(one) for one in work.plan], "revision": revision + 1}
    await work.journal.event("reflection", data)
    return int(bool(decision.plan))


async def _begin(work: Work, choice: Choice, *, by_model: bool) -> None:
    work.count(steps=1)
    work.tell()
    await work.journal.event("step", {"step": work.step, **choice.shown(), "by": "model" if by_model else "rule"})


async def _close(work: Work) -> None:
    """End the sandbox's and the door's sessions, whatever they say; what the door has written down is taken over."""
    ports = work.ports
    if work.sandbox_session and ports.sandbox:
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await ports.sandbox.close_session(work.sandbox_session)
    await collect_calls(work, bodies=False)
    work.tell()
    if work.door_session and ports.door:
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await ports.door.close_session(work.door_session.id)
