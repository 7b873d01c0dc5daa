"""A run that follows another: the session that it goes on in, and what it is told of the runs before it.

A follow-up goes on in the session of the run before where that is still there: variables and files of its code, its
sources under their numbers, and where each value comes from, so that what was typed stays not traced. Where the session
has ended it begins another, with the tables and texts that the run before left in the store, and says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quelea_kit.errors import QueleaError
from quelea_kit.reach import Reach, current

from quelea_gateway.core.agent.decision.token_budget import cut_middle, defuse, tokens
from quelea_gateway.core.agent.files import add_text
from quelea_gateway.core.agent.grounding.evidence import Evidence
from quelea_gateway.core.agent.grounding.flows import Flow
from quelea_gateway.core.agent.grounding.provenance import Session
from quelea_gateway.core.agent.grounding.results import EVIDENCE, HELPER
from quelea_gateway.core.agent.model import TEXTS, Artifact, EarlierRun, Event, PlanStep, Run, RunRequest
from quelea_gateway.core.agent.ports import CodeFile, Sandbox
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work, plan_lines

MOST_BEFORE = 3
"""Runs before a follow-up that it is told of."""
_MOST_FILES = 10
_MOST_FILE_BYTES = 4 * 1024 * 1024
_MOST_NAMES = 40
_SHARE = 4
"""Of a prompt the part that is told of the runs before, at most."""
_OLDER = 3
"""The part of that for each of the older runs, of which it fills five eighths at most."""
_CLOSE_SECONDS = 5.0
_FILE_NAME = re.compile(r"[\w][\w.\-]{0,79}")
_MARK = re.compile(r"\s?\[\d{1,3}\]")
_UNKNOWN = Flow(frozenset({"?"}))
"""Of a file that rests on typed numbers, nobody knows any more on which."""


Standing = Literal["whole", "gone", "unknown"]
"""Of what something rests on: all is there, some is gone, or that cannot be told now."""


@dataclass(slots=True)
class KeptSession:
    """What a finished run leaves to a follow-up.

    Attributes:
        run_ids: The run, behind those that it followed and whose values it holds.
        as_of: No value of it is younger.
        reach: What it holds was found within it.
        sandbox_session: Empty where no code ran.
        market: Its container has the socket of the market-data door.
        data_notes: What was said of recorded data that it holds.
        drawn_on: Ids of documents that runs before drew on, beside those of the evidence: of a report that it was told,
            or a file that it was given.
    """

    run_ids: tuple[str, ...]
    tenant: str
    as_of: str
    reach: Reach
    sandbox: Sandbox
    sandbox_session: str
    market: bool
    evidence: Evidence
    variables: Session
    documents: dict[str, str]
    candidates: dict[str, str]
    insights: list[str]
    data_notes: tuple[str, ...]
    drawn_on: frozenset[str]

    async def wait(self, seconds: float) -> bool:
        """Say that it waits for a follow-up; False: it has ended."""
        return await self._spare(seconds)

    async def claim(self) -> bool:
        """Say that it has one; False: it has ended."""
        return await self._spare(0.0)

    async def _spare(self, seconds: float) -> bool:
        if not self.sandbox_session:
            return True
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.sandbox.spare_session(
                    self.sandbox_session, tenant=self.tenant, spare=seconds > 0, idle_seconds=seconds
                )
        except (QueleaError, TimeoutError):
            return False
        return True

    async def end(self) -> None:
        """End it, whatever the sandbox says; there it ends by itself when nobody uses it."""
        if not self.sandbox_session:
            return
        with contextlib.suppress(QueleaError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.sandbox.close_session(self.sandbox_session)


@dataclass(slots=True)
class Earlier:
    """What a follow-up goes on from.

    Attributes:
        runs: Those before it, the oldest first.
        kept: The session of the last of them; None: it has ended.
        files: Tables and texts of the last of them, from the store, for another session.
        documents: Ids of those that the runs before, as far as it is told of them, drew on.
        is_cut: A document of the last of them is gone: nothing of it is handed on but its task.
    """

    runs: tuple[EarlierRun, ...]
    kept: KeptSession | None = None
    files: tuple[tuple[Artifact, bytes], ...] = ()
    documents: frozenset[str] = frozenset()
    is_cut: bool = False


def may_see(request: RunRequest, as_of: str, reach: Reach) -> bool:
    """Whether a follow-up, in the reach of its call, may see what was found on a day within a reach."""
    return request.as_of >= as_of and current().covers(reach)


def documents_of(run: Run) -> frozenset[str]:
    """Ids of the documents that a stored run drew on."""
    sources = (run.answer or {}).get("sources", ())
    return frozenset(run.documents) | {one["document_id"] for one in sources if one["document_id"]}


def read_run(run: Run, events: Sequence[Event]) -> EarlierRun:
    """What a follow-up that may see all of a stored run is told of it."""
    plans = [one.data["plan"] for one in events if one.data.get("plan")]
    plan = tuple(PlanStep(step["action"], step["task"]) for step in plans[-1]) if plans else ()
    attempts = [one.data for one in events if one.name in ("code", "output") and "attempt" in one.data]
    worked = {(one["step"], one["attempt"]) for one in attempts if one.get("reason") == "ok"}
    codes = [one["code"] for one in attempts if "code" in one and (one["step"], one["attempt"]) in worked]
    # The report has numbers of its own for the sources: without them none is taken for another.
    report = _MARK.sub("", (run.answer or {}).get("text", ""))
    return EarlierRun(run.id, run.question, plan, codes[-1] if codes else "", report)


def _describe(run: EarlierRun, room: int, *, whole: bool = False) -> str:
    """In so many tokens; of what lies further back the question and the report alone."""
    parts = [f"Task: {cut_middle(run.question, room // 4)}"]
    if whole and run.plan:
        parts.append(f"Plan:\n{cut_middle(plan_lines(run.plan), room // 8)}")
    if whole and run.code:
        parts.append(f"Code that ran last:\n{cut_middle(run.code, room // 4)}")
    parts.append(f"Report: {cut_middle(run.report, room * 3 // 8)}")
    return defuse("\n".join(parts))


def pick_files(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The tables and texts among a run's files that another session may have: the newest of each name, bounded."""
    found: dict[str, Artifact] = {}
    room = _MOST_FILE_BYTES
    for one in reversed(artifacts):
        name = file_name(one)
        if one.media_type in TEXTS and name not in found and len(found) < _MOST_FILES and one.bytes <= room:
            found[name] = one
            room -= one.bytes
    return list(found.values())


def file_name(artifact: Artifact) -> str:
    """What the code called a file, where that is a plain name; else what the store does."""
    name = artifact.path.rsplit("/", 1)[-1]
    is_plain = _FILE_NAME.fullmatch(name) and name not in (EVIDENCE, f"{HELPER}.py")
    return name if is_plain else artifact.name


async def go_on(work: Work, earlier: Earlier) -> None:
    """Take over what the run before left; its door has been opened already."""
    work.before, work.drawn_on = earlier.runs, earlier.documents
    work.holds_of = tuple(one.id for one in earlier.runs)
    kept = earlier.kept
    if kept is not None and not may_see(work.request, kept.as_of, kept.reach):
        await kept.end()
        kept = None
    if kept is not None:
        work.evidence, work.insights = kept.evidence, kept.insights
        work.documents, work.candidates = kept.documents, kept.candidates
        work.holds_of = tuple(dict.fromkeys((*kept.run_ids, *work.holds_of)))
        work.drawn_on |= kept.drawn_on
        for note in kept.data_notes:
            work.note_data(note)
        is_there = kept.sandbox_session or not earlier.files  # else its container died with its last code
        if is_there and await _enter(work, kept):
            earlier.kept = None
            return
    earlier.kept = None
    if earlier.is_cut:
        work.notice(say("document_gone", work.language))
    for artifact, data in earlier.files:
        name = file_name(artifact)
        work.files.append(CodeFile(name, data, artifact.media_type))
        work.begins_with.files[name] = _flow_of(artifact, name, kept)
        if kept is None:  # else it is among the sources already
            add_text(work, artifact, data, run=earlier.runs[-1].id)
    work.variables = work.begins_with.copy()
    files = ", ".join(one.path for one in work.files) or "-"
    work.told_of_session = say("container_ended" if kept else "session_ended", work.language, files=files)
    work.notice(say("began_afresh", work.language, files=files))


def _flow_of(artifact: Artifact, name: str, kept: KeptSession | None) -> Flow:
    """What a file of the run before draws on; one of an unknown name may be any."""
    known = kept.variables.files if kept else {}
    flow = Flow(inputs=frozenset({f"file {name}"})) | known.get(name, Flow()) | known.get("", Flow())
    return flow if artifact.traced or flow.numbers else flow | _UNKNOWN


async def _enter(work: Work, kept: KeptSession) -> bool:
    """Go on in its container, where that is still there."""
    has_door = bool(work.door_session and work.door_session.token)
    if kept.sandbox_session and (kept.market != has_door or not await kept.claim()):
        await kept.end()
        return False
    work.sandbox_session, work.variables = kept.sandbox_session, kept.variables
    names = [*kept.variables.names, *kept.variables.functions]
    variables = [one for one in names if one.isidentifier() and not one.startswith("_")]
    files = [one for one in kept.variables.files if one]
    work.told_of_session = say(
        "session_goes_on", work.language, variables=", ".join(variables[-_MOST_NAMES:]) or "-",
        files=", ".join(files[-_MOST_FILES:]) or "-",
    )  # fmt: skip
    return True


def hand_over(work: Work) -> KeptSession | None:
    """What a run that has concluded leaves to a follow-up; None where there is no room for more."""
    if work.ports.sandbox is None or work.evidence.is_full:
        return None
    session, work.sandbox_session = work.sandbox_session, ""
    work.evidence.hand_on(work.run_id)
    return KeptSession(
        run_ids=(*work.holds_of, work.run_id),
        tenant=work.request.tenant,
        as_of=work.request.as_of,
        reach=current(),
        sandbox=work.ports.sandbox,
        sandbox_session=session,
        market=bool(work.door_session and work.door_session.token),
        evidence=work.evidence,
        variables=work.variables,
        documents=work.documents,
        candidates=work.candidates,
        insights=[one if one.startswith("(before)") else f"(before) {one}" for one in work.insights],
        data_notes=tuple(work.data_notes),
        drawn_on=work.drawn_on,
    )


def write_question(work: Work) -> str:
    """The question for a prompt, with what it follows."""
    question = defuse(work.request.question)
    if not work.before:
        return question
    room = work.prompt_tokens // _SHARE
    *older, last = work.before
    pieces = [_describe(one, room // _OLDER) for one in older]
    pieces.append(_describe(last, room - sum(map(tokens, pieces)), whole=True))
    before = "\n\n".join(pieces)
    head = say("follows", work.language)
    return f"{question}\n\n{head}\n<earlier>\n{before}\n</earlier>\n{work.told_of_session}"
