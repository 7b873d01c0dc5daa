"""The agent: profile and plan, then action, observation, reflection, until it finishes; it always finishes.

After FinVerse (arXiv 2406.06379), with the three ways in which such agents die closed: actions are generated under a
schema, with a bounded repair and a safe fallback; prompts are packed into a budget; the last step, the deadline and the
token budget lead to a conclusion from what there is.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from quelea_kit.errors import Conflict, QueleaError

from quelea_gateway.core.agent import deciding
from quelea_gateway.core.agent.acting import act
from quelea_gateway.core.agent.asking import ModelAway, plan_dicts
from quelea_gateway.core.agent.coding import calls, code_exec
from quelea_gateway.core.agent.concluding import conclude
from quelea_gateway.core.agent.decisions import Choice
from quelea_gateway.core.agent.model import Observation, RunAnswer, RunRequest, Why
from quelea_gateway.core.agent.packing import cut_middle
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Journal, Ports, Rules, Work

_CLOSE_SECONDS = 5.0
_INSIGHTS = 60
_SHOWN = 6_000


async def run(run_id: str, request: RunRequest, ports: Ports, rules: Rules, journal: Journal) -> RunAnswer:
    """One run from its plan to its answer; what it used and called is told to the journal, however it ends.

    Raises:
        Conflict: the reader is no language model.
        QueleaError: the bundles to be replayed cannot be opened, or the journal cannot be kept.
    """
    started = ports.clock.monotonic()
    info = await ports.model.info()
    if not info.is_language_model:
        raise Conflict("The agent needs a language model, and none is configured; set QUELEA_GENERATOR_ENDPOINT.")
    work = Work(run_id, request, ports, rules, journal, info, started)
    try:
        await _prepare(work)
        why, said = await _loop(work)
        answer = await conclude(work, said, why)
        await calls(work)
        work.tell()
        await journal.event("answer", answer.as_dict())
        return answer
    finally:
        # Also when the run is cancelled: a container and a token must not outlive it.
        closing = asyncio.ensure_future(_close(work))
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(closing)


async def _prepare(work: Work) -> None:
    ports, request = work.ports, work.request
    actions = ["kb-search"]
    if ports.tools is not None:
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(work.rules.search_seconds):
                work.categories = tuple(await ports.tools.categories())
        actions += ["api-select", "api-details"] if work.categories else []
    if ports.web is not None:
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(work.rules.search_seconds):
                actions += ["web-search"] if await ports.web.providers() else []
    if ports.sandbox is not None:
        actions.append("code-exec")
    work.actions = (*actions, "finish")
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


async def _loop(work: Work) -> tuple[Why, str]:
    """Steps until the end; why it had to end, as a word and as a sentence: empty when the model chose to."""
    try:
        why = await _steps(work)
    except ModelAway as away:
        return "model_away", say("model_away", work.language) + f" ({away})"
    return why, say(why, work.language, n=work.request.budget.steps) if why else ""


async def _steps(work: Work) -> Why:
    budget = work.request.budget
    made = await deciding.plan(work)
    work.profile, work.plan = made.profile, made.steps
    await work.journal.event(
        "plan", {"profile": work.profile, "plan": plan_dicts(work.plan), "revision": 0, "actions": list(work.actions)}
    )
    repeats = revision = 0
    while True:
        if work.time_left <= 0:
            return "time"
        if work.tokens_left <= 0 or work.out_of_tokens:
            return "tokens"
        if work.step + 1 >= budget.steps:
            work.step += 1
            await _begin(work, Choice("finish"), by_model=False)
            return "steps"
        work.step += 1
        choice, by_model = await deciding.action(work)
        await _begin(work, choice, by_model=by_model)
        if choice.action == "finish":
            if work.time_left <= 0:
                return "time"
            return "" if by_model else ("tokens" if work.out_of_tokens else "no_answer")
        before = deciding.seen(work, choice)
        if before:
            repeats += 1
            observation = Observation(say("done_before", work.language, n=before), "wrong")
        else:
            observation = await (code_exec(work, choice) if choice.action == "code-exec" else act(work, choice))
        work.done.append(choice)
        work.observation = observation.text
        if choice.action != "code-exec" or before:
            shown = cut_middle(work.scrubbed(observation.text), _SHOWN)
            await work.journal.event(
                "output", {"step": work.step, "text": shown, "result": observation.verdict,
                           "sources": observation.sources},
            )  # fmt: skip
        if repeats >= work.rules.repeats:
            return "repeats"
        if before:
            continue
        if work.time_left <= 0:
            return "time"
        reflection = await deciding.reflect(work, choice, observation)
        work.insights = [*work.insights, *(f"(step {work.step}) {one}" for one in reflection.insights)][-_INSIGHTS:]
        data: dict[str, Any] = {"step": work.step, "insights": list(reflection.insights), "result": reflection.result}
        if reflection.plan:
            revision += 1
            work.plan = reflection.plan
            data |= {"plan": plan_dicts(work.plan), "revision": revision}
        await work.journal.event("reflection", data)


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
    await calls(work, bodies=False)
    work.tell()
    if work.door_session and ports.door:
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await ports.door.close_session(work.door_session.id)
