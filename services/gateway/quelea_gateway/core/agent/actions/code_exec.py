"""The action code-exec: the model writes code, the sandbox runs it, errors come back a bounded number of times."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from quelea_kit.errors import Overloaded, QueleaError

from quelea_gateway.core.agent.action import Action, Known, text_schema
from quelea_gateway.core.agent.api_documents import read_document
from quelea_gateway.core.agent.continuation import write_question
from quelea_gateway.core.agent.decision import model_call, parsing, python_code
from quelea_gateway.core.agent.decision.model_call import Answered, SubTask
from quelea_gateway.core.agent.decision.parsing import known_name, string, strings
from quelea_gateway.core.agent.decision.prompts import code_rules
from quelea_gateway.core.agent.decision.token_budget import Section, cut_middle, defuse, recall
from quelea_gateway.core.agent.files import add_text, keep
from quelea_gateway.core.agent.grounding import results
from quelea_gateway.core.agent.grounding.door_calls import Collected, collect_calls
from quelea_gateway.core.agent.grounding.provenance import Traced
from quelea_gateway.core.agent.model import TEXTS, Artifact, Choice, Observation, ReportedResult
from quelea_gateway.core.agent.ports import CodeFile, Execution
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work, plan_lines

_TASK, _NAME, _MOST_APIS = 800, 120, 6
_SHOWN = 20_000
_TRACEBACK = 3_000
_MOST_WAITS = 30
"""Times that a busy sandbox is asked again for one run of code."""
_LONGEST_WAIT = 5.0
_HEALTH_SECONDS = 3.0
_MOST_NUMBERS = 8


class CodeExec(Action):
    """Python, in a container of the agent-sandbox."""

    name = "code-exec"
    place = 50
    description: ClassVar = {
        "en": 'have Python code run, with the named APIs: {"task", "apis", "code"}; code is the whole code where you '
        "know the documents of its APIs, else empty: then you are asked for it with them",
        "zh": '运行 Python 代码，可使用指定的接口：{"task", "apis", "code"}；若已知接口文档，code 为完整代码，'
        "否则留空，之后会附上文档请你编写",
    }
    fields: ClassVar = {
        "task": ("description", "instruction", "instructions", "sub_task", "subtask", "goal", "request"),
        "apis": ("api", "api_names", "names", "tools"),
        "code": ("python", "script", "source"),
    }
    reports_output = True

    async def is_offered(self, work: Work) -> bool:
        """There is a sandbox."""
        return work.ports.sandbox is not None

    def schema(self, known: Known) -> dict[str, Any]:
        """The task in words, the APIs that its code needs, and the code where the model can write it at once."""
        apis = {"type": "array", "items": text_schema(_NAME), "maxItems": _MOST_APIS}
        return {"task": text_schema(_TASK), "apis": apis, "code": {"type": "string"}}

    def read(self, value: Mapping[str, Any], known: Known) -> Choice:
        """The task and the APIs; a model may send the code right away."""
        code = value.get("code") if isinstance(value.get("code"), str) else ""
        apis = tuple(known_name(one, known.names) for one in strings(value, "apis", most=_MOST_APIS, longest=_NAME))
        task = string(value, "task", longest=_TASK, needed=not code)
        return Choice(self.name, {"task": task, "apis": apis}, code=code or "")

    def planned(self, work: Work, task: str) -> Choice | None:
        """Code for the task."""
        return Choice(self.name, {"task": task})

    async def run(self, work: Work, choice: Choice) -> Observation:
        """Write and run code. Raises ModelAway."""
        return await _write_and_run(work, choice)


async def _write_and_run(work: Work, choice: Choice) -> Observation:
    before, observation = work.observation, Observation("", "wrong")
    for name in choice.texts("apis"):
        if name in work.candidates and name not in work.documents:
            await read_document(work, name)
    for attempt in range(work.rules.code_repairs + 1):
        code, answered = (_given_code(choice), None) if attempt == 0 else ("", None)
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
        variables = work.variables
        work.variables = variables.copy()
        traced = work.variables.trace(code, _known(work))
        done = await _run(work, traced.source)
        if isinstance(done, Observation):
            await _example(work, answered, "not run")
            return done
        if done.reason != "ok":  # nobody knows how far it came
            work.variables = variables.joined(work.variables) if done.session_alive else work.begins_with.copy()
        observation = await _observe(work, code, traced, done, attempt)
        await _example(work, answered, done.reason)
        if done.reason == "ok" or work.time_left <= 0:
            return observation
        before = f"The code\n```python\n{cut_middle(code, 700)}\n```\nfailed:\n{observation.text}"
    return observation


def _known(work: Work) -> Callable[[str], str]:
    """What has a typed number: the question, or what was found so far."""
    asked = parsing.numbers(work.asked)
    return lambda number: "the question" if number in asked else work.evidence.source_of(number)


async def _write(work: Work, choice: Choice, before: str) -> tuple[str, Answered] | None:
    task = choice.text("task")
    named = [name for name in choice.texts("apis") if name in work.documents] or list(work.documents)[-3:]
    documents = "\n\n".join(f"## {name}\n{work.documents[name]}" for name in named)
    memory = recall(work.insights, f"{work.asked} {task}", work.prompt_tokens // 4)
    fixed = {"current_date": work.request.as_of, "profile": work.profile, "task": task} | code_rules(work.language)
    sections = [
        Section("question", write_question(work), 2),
        Section("plan", plan_lines(work.plan), 1),
        Section("memory", "\n".join(f"- {one}" for one in memory) or "-", 2),
        Section("apis", defuse(documents) or "-", 4),
        Section("observation", before or "-", 3),
    ]
    return await model_call.ask(work, SubTask("code", fixed, sections), python_code.code, temperature=0.1)


async def _example(work: Work, answered: Answered | None, outcome: str) -> None:
    """Record it, where the code was asked for apart."""
    if answered is not None:
        await model_call.example(work, answered, outcome)


def _given_code(choice: Choice) -> str:
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
                brought = () if work.sandbox_session else tuple(work.files)
                if not work.sandbox_session:
                    work.sandbox_session = await sandbox.open(market_token=token, tenant=work.request.tenant)
                done = await sandbox.execute(
                    code,
                    session_id=work.sandbox_session,
                    execution_id=f"{work.run_id}-{len(work.ran)}-{attempt}",
                    market_token=token,
                    seconds=seconds,
                    tenant=work.request.tenant,
                    files=_files(work, brought),
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


def _files(work: Work, brought: Sequence[CodeFile]) -> tuple[CodeFile, ...]:
    """What lies beside the code: the passages so far, the helper that reads them and reports results, files brought."""
    return (
        CodeFile(results.EVIDENCE, work.evidence.as_json(), "application/json"),
        CodeFile(f"{results.HELPER}.py", results.helper(), "text/x-python"),
        *brought,
    )


async def _observe(work: Work, code: str, traced: Traced, done: Execution, attempt: int) -> Observation:
    """Write down what came out of it, and make the observation."""
    stdout, stderr, error = (work.scrubbed(parsing.clean(t)) for t in (done.stdout, done.stderr, done.error))
    untraced = frozenset(place for place, flow in traced.reports.items() if flow.numbers)
    output = results.read_output(stdout, untraced, all_untraced=traced.all_untraced)
    stdout = output.text
    kept = await keep(work, done.files)
    artifacts = [artifact for artifact, _ in kept]
    refused = [work.scrubbed(parsing.clean(line, 300)) for line in done.refused_files[:20]]
    work.evidence.settings |= parsing.literals(code)
    numbers = _add_outputs(work, traced, output, kept)
    collected = await collect_calls(work)
    numbers = [*numbers, *collected.numbers]
    reported = _reported(work, traced, output, numbers)
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
            "files": [asdict(artifact) for artifact in artifacts],
            "dropped_bytes": done.dropped_bytes,
            "refused_files": refused,
            "results": [asdict(one) for one in reported],
        },
    )
    for artifact in artifacts:
        if artifact.media_type.startswith("image/"):
            await work.journal.event("plot", {"step": work.step, **asdict(artifact)})
    await _report_health(work, code, collected)
    lines = [] if done.reason == "ok" else [_ENDS.get(done.reason, f"It ended with {done.reason}.")]
    lines.append(error[-_TRACEBACK:] if error.strip() else "")
    head = f"[{numbers[0]}] " if stdout.strip() and numbers else ""  # its number as a source, for notes
    lines.append(f"{head}{stdout}" if stdout.strip() else "")
    if done.reason == "ok" and not stdout.strip() and not kept:
        lines.append(say("printed_nothing", work.language))
    if done.reason != "ok" and not error.strip():
        lines.append(stderr[-_TRACEBACK:])
    if kept:
        lines.append("Files: " + ", ".join(artifact.name for artifact in artifacts))
    lines += [*refused, *collected.failed]
    if output.traced != output.text:
        lines.append(say("untraced_output", work.language, numbers=_shown_numbers(traced)))
    if not done.session_alive:
        lines.append("The container is gone, and with it all variables and files: write complete code.")
    text = defuse("\n".join(line for line in lines if line.strip()))
    if done.reason != "ok":
        return Observation(text, "wrong", numbers, artifacts)
    return Observation(text, "good" if stdout.strip() or kept else "empty", numbers, artifacts)


def _add_outputs(
    work: Work, traced: Traced, output: results.Output, kept: Sequence[tuple[Artifact, bytes]]
) -> list[int]:
    """What was printed, and tables and texts that were written, as evidence; the numbers of the new sources."""
    day, numbers = work.request.as_of, []
    if output.text.strip():
        title = f"Output of step {work.step}"
        numbers.append(
            work.evidence.execution(
                work.step, title, output.text, day=day, traced=output.traced, typed=traced.texts
            )
        )  # fmt: skip
    numbers += [add_text(work, artifact, data) for artifact, data in kept if artifact.media_type in TEXTS]
    return [number for number in numbers if number]


def _reported(work: Work, traced: Traced, output: results.Output, numbers: Sequence[int]) -> list[ReportedResult]:
    """The results that the code reported, with what they rest on: what it said of that, and what was read off it."""
    found = []
    passages = {str(item.source.number) for item in work.evidence.items if item.source.kind == "passage"}
    for one in output.results:
        flow = traced.reports.get(one.place)
        said = [f"passage {given}" if given in passages else given for given in one.inputs]
        rests = tuple(dict.fromkeys([*said, *sorted(flow.inputs if flow else ())]))
        is_traced = flow is not None and not flow.numbers and not traced.all_untraced
        found.append(
            ReportedResult(one.name, one.value, one.unit, work.step, rests, is_traced, numbers[0] if numbers else 0)
        )
    work.results += found
    return found


def _shown_numbers(traced: Traced) -> str:
    numbers = sorted({number for flow in (*traced.reports.values(), traced.printed) for number in flow.numbers})
    return ", ".join(numbers[:_MOST_NUMBERS]) or "?"


async def _report_health(work: Work, code: str, collected: Collected) -> None:
    """Tell the catalogue how the APIs did that the code names; a replay says nothing about them."""
    tools = work.ports.tools
    if tools is None or work.request.bundle_ids or not (collected.upstream or collected.answered):
        return
    for name in work.documents:
        if re.search(rf"\b{re.escape(name.rsplit('.', 1)[-1])}\b", code):
            with contextlib.suppress(QueleaError, TimeoutError):
                async with asyncio.timeout(_HEALTH_SECONDS):
                    await tools.report(name, ok=not collected.upstream, error=collected.upstream)


_ENDS = {
    "error": "The code raised an error.",
    "timeout": "The code took too long and was killed.",
    "memory": "The code used too much memory and was killed.",
    "cancelled": "The run of the code was cancelled.",
    "died": "The code ended without a result (a crash, or an exit).",
    "protocol": "What came out of the container could not be read; nothing of it is used.",
    "engine": "The container engine failed.",
}


def _cut(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    return f"{text[: _SHOWN // 2]}\n... ({len(text) - _SHOWN} characters left out) ...\n{text[-_SHOWN // 2 :]}"
