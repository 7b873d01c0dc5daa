"""The action code-exec: the model writes code, the sandbox runs it, errors come back a bounded number of times."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from dataclasses import asdict

from quelea_kit.errors import Overloaded, QueleaError

from quelea_gateway.core.agent import asking, parsing, python_code
from quelea_gateway.core.agent.asking import Answered
from quelea_gateway.core.agent.decisions import Choice
from quelea_gateway.core.agent.files import keep
from quelea_gateway.core.agent.model import Observation
from quelea_gateway.core.agent.packing import Section, cut_middle, defused, remembered
from quelea_gateway.core.agent.ports import Execution
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work, plan_lines

_SHOWN = 20_000
_TRACEBACK = 3_000
_MOST_BODIES = 12
_CALLS_SECONDS = 10
_MOST_WAITS = 30
"""Times that a busy sandbox is asked again for one run of code."""
_LONGEST_WAIT = 5.0
_BODY_BYTES = 200_000
_TEXTUAL = ("json", "text", "csv", "xml", "javascript", "html")


async def code_exec(work: Work, choice: Choice) -> Observation:
    """Write and run code for a task. Raises ModelAway."""
    before, observation = work.observation, Observation("", "wrong")
    for attempt in range(work.rules.code_repairs + 1):
        code, answered = (_given(choice), None) if attempt == 0 else ("", None)
        if not code:
            written = await _write(work, choice, before)
            if written is None:
                return observation if observation.text else Observation(say("not_written", work.language), "wrong")
            code, answered = written
        mark = hashlib.sha256("\n".join(line.rstrip() for line in code.splitlines()).encode()).hexdigest()
        if mark in work.ran:
            await _example(work, answered, "repeated")
            return Observation(say("code_before", work.language, n=work.ran[mark]), "wrong")  # fmt: skip
        work.ran[mark] = work.step
        await work.journal.event("code", {"step": work.step, "attempt": attempt, "code": work.scrubbed(code)})
        done = await _run(work, code)
        if isinstance(done, Observation):
            await _example(work, answered, "not run")
            return done
        observation = await _seen(work, choice, code, done, attempt)
        await _example(work, answered, done.reason)
        if done.reason == "ok" or work.time_left <= 0:
            return observation
        before = f"The code\n```python\n{cut_middle(code, 700)}\n```\nfailed:\n{observation.text}"
    return observation


async def _write(work: Work, choice: Choice, before: str) -> tuple[str, Answered] | None:
    named = [name for name in choice.apis if name in work.documents] or list(work.documents)[-3:]
    documents = "\n\n".join(f"## {name}\n{work.documents[name]}" for name in named)
    memory = remembered(work.insights, f"{work.request.question} {choice.task}", work.prompt_tokens // 4)
    fixed = {"current_date": work.request.as_of, "profile": work.profile, "task": choice.task[:800]}
    sections = [
        Section("question", defused(work.request.question), 2),
        Section("plan", plan_lines(work.plan), 1),
        Section("memory", "\n".join(f"- {one}" for one in memory) or "-", 2),
        Section("apis", defused(documents) or "-", 4),
        Section("observation", before or "-", 3),
    ]
    return await asking.ask(work, "code", fixed, sections, python_code.code, temperature=0.1)


async def _example(work: Work, answered: Answered | None, outcome: str) -> None:
    """Record it, where the code was asked for apart."""
    if answered is not None:
        await asking.example(work, answered, outcome)


def _given(choice: Choice) -> str:
    """Code that came with the action, where it can run; else it is asked for."""
    try:
        return python_code.code(choice.code) if choice.code else ""
    except parsing.Misfit:
        return ""


async def _run(work: Work, code: str) -> Execution | Observation:
    """Run it in the run's session; an Observation when it could not be run at all."""
    sandbox = work.ports.sandbox
    if sandbox is None or work.time_left <= 0:
        return Observation("Code cannot be run any more.", "wrong")
    token = work.door_session.token if work.door_session else ""
    seconds = max(1.0, min(work.rules.code_seconds, work.time_left))
    tries = 0
    for attempt in range(_MOST_WAITS):
        try:
            async with asyncio.timeout(seconds + 15):
                if not work.sandbox_session:
                    work.sandbox_session = await sandbox.open(market_token=token, tenant=work.request.tenant)
                done = await sandbox.execute(
                    code,
                    session_id=work.sandbox_session,
                    execution_id=f"{work.run_id}-{len(work.ran)}-{attempt}",
                    market_token=token,
                    seconds=seconds,
                    tenant=work.request.tenant,
                )
        except (QueleaError, TimeoutError) as error:
            why = error.message if isinstance(error, QueleaError) else "it did not answer in time"
            await _forget_session(work)
            busy = isinstance(error, Overloaded)  # all its containers are taken: others will end
            tries += not busy
            if tries > 1 or work.time_left <= 0 or attempt == _MOST_WAITS - 1:
                work.notice(say("no_code", work.language, why=why))
                return Observation(f"The code could not be run: {why}", "wrong")
            if busy:
                await asyncio.sleep(min(getattr(error, "retry_after", None) or 1.0, _LONGEST_WAIT, work.time_left))
            continue
        if not done.session_alive:
            await _forget_session(work)
        if done.reason == "engine" and tries < 1 and work.time_left > 0:
            tries += 1
            continue
        return done
    return Observation("The code could not be run.", "wrong")


async def _forget_session(work: Work) -> None:
    session, work.sandbox_session = work.sandbox_session, ""
    if session and work.ports.sandbox:
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(5):
                await work.ports.sandbox.close_session(session)


async def _seen(work: Work, choice: Choice, code: str, done: Execution, attempt: int) -> Observation:
    """Write down what came out of it, and make the observation."""
    stdout, stderr, error = (work.scrubbed(parsing.clean(t)) for t in (done.stdout, done.stderr, done.error))
    kept = await keep(work, done.files)
    refused = [work.scrubbed(parsing.clean(line, 300)) for line in done.refused_files[:20]]
    await work.journal.event(
        "output",
        {
            "step": work.step,
            "attempt": attempt,
            "reason": done.reason,
            "stdout": _cut(stdout),
            "stderr": _cut(stderr),
            "error": _cut(error),
            "seconds": round(done.wall_seconds, 3),
            "files": [asdict(artifact) for artifact, _ in kept],
            "dropped_bytes": done.dropped_bytes,
            "refused_files": refused,
        },
    )
    for artifact, _ in kept:
        if artifact.media_type.startswith("image/"):
            await work.journal.event("plot", {"step": work.step, **asdict(artifact)})
    day, numbers = work.request.as_of, []
    if stdout.strip():
        numbers.append(work.evidence.execution(work.step, f"Output of step {work.step}", stdout, code, day=day))
    for artifact, data in kept:
        if artifact.media_type in ("text/csv", "text/plain", "application/json"):
            text = work.scrubbed(parsing.clean(data[:200_000].decode("utf-8", "replace")))
            separated = artifact.media_type != "text/plain"
            title = f"{artifact.name}, of step {work.step}"
            numbers.append(work.evidence.execution(work.step, title, text, code, day=day, separated=separated))
    numbers += await calls(work)
    parts = []
    if done.reason != "ok":
        parts.append(_ENDS.get(done.reason, f"It ended with {done.reason}."))
    if error.strip():
        parts.append(error[-_TRACEBACK:])
    if stdout.strip():
        parts.append(defused(stdout))
    elif done.reason == "ok":
        parts.append("" if kept else say("printed_nothing", work.language))
    if stderr.strip() and done.reason != "ok" and not error.strip():
        parts.append(stderr[-_TRACEBACK:])
    if kept:
        parts.append("Files: " + ", ".join(artifact.name for artifact, _ in kept))
    parts += refused
    if not done.session_alive:
        parts.append("The container is gone, and with it all variables and files: write complete code.")
    verdict = "wrong" if done.reason != "ok" else ("good" if stdout.strip() or kept else "empty")
    return Observation(
        "\n".join(part for part in parts if part),
        verdict,  # type: ignore[arg-type]  # one of the three words
        [n for n in numbers if n],
        [artifact for artifact, _ in kept],
    )


_ENDS = {
    "error": "The code raised an error.",
    "timeout": "The code took too long and was killed.",
    "memory": "The code used too much memory and was killed.",
    "cancelled": "The run of the code was cancelled.",
    "died": "The code ended without a result (a crash, or an exit).",
    "protocol": "What came out of the container could not be read; nothing of it is used.",
    "engine": "The container engine failed.",
}


async def calls(work: Work, *, bodies: bool = True) -> list[int]:
    """Take over what the door has written down since; the numbers of the new sources.

    Args:
        bodies: Fetch what they brought, as evidence; needless once there is nothing left to conclude.
    """
    door, session = work.ports.door, work.door_session
    if door is None or session is None:
        return []
    numbers = []
    try:
        async with asyncio.timeout(_CALLS_SECONDS):
            for call in await door.calls(run_id=work.run_id, session_id=session.id):
                if call.id in work.calls:
                    continue
                known = {one["sha256"] for one in work.calls.values()}
                entry = {"step": work.step, **asdict(call), "url": work.scrubbed(call.url)}
                work.calls[call.id] = entry
                textual = any(kind in call.media_type.lower() for kind in _TEXTUAL)
                if call.source == "refused" or not call.sha256 or call.status >= 400 or call.sha256 in known:
                    continue
                body = ""
                if bodies and textual and len(known) < _MOST_BODIES:
                    with contextlib.suppress(QueleaError):
                        body = (await door.body(call.sha256, limit=_BODY_BYTES)).decode("utf-8", "replace")
                numbers.append(work.evidence.call(work.step, entry, parsing.clean(body)))
    except (QueleaError, TimeoutError):
        work.notice(say("no_door", work.language, why="its log could not be read"))
    return numbers


def _cut(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    return f"{text[: _SHOWN // 2]}\n... ({len(text) - _SHOWN} characters left out) ...\n{text[-_SHOWN // 2 :]}"
