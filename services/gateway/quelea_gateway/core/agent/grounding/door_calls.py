"""What the code of a run called through the market-data door."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import asdict, dataclass

from quelea_kit.errors import QueleaError

from quelea_gateway.core.agent.decision import parsing
from quelea_gateway.core.agent.ports import DoorCall
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work

_MOST_BODIES = 12
_SECONDS = 10
_BODY_BYTES = 200_000
_FAILED = 400
_UPSTREAM = (502, 504)
"""Refusals of the door that are the provider's fault."""
_MOST_LINES = 6
_TEXTUAL = ("json", "text", "csv", "xml", "javascript", "html")


@dataclass(frozen=True, slots=True)
class Collected:
    """What the door has written down.

    Attributes:
        numbers: Of the new sources.
        failed: Calls that brought nothing, a line each: what the door refused, and what the provider did.
        upstream: Why a provider failed; empty: none did.
        answered: A call brought something.
    """

    numbers: tuple[int, ...] = ()
    failed: tuple[str, ...] = ()
    upstream: str = ""
    answered: bool = False


async def collect_calls(work: Work, *, bodies: bool = True) -> Collected:
    """Take over what the door has written down since.

    Args:
        bodies: Fetch what they brought, as evidence; needless once there is nothing left to conclude.
    """
    door, session = work.ports.door, work.door_session
    if door is None or session is None:
        return Collected()
    numbers: list[int] = []
    fresh: list[DoorCall] = []
    try:
        async with asyncio.timeout(_SECONDS):
            for call in await door.calls(run_id=work.run_id, session_id=session.id):
                if call.id in work.calls:
                    continue
                known = {one["sha256"] for one in work.calls.values()}
                entry = {"step": work.step, **asdict(call), "url": work.scrubbed(call.url)}
                work.calls[call.id] = entry
                fresh.append(call)
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
    failed = [one for one in fresh if one.source == "refused" or one.status >= _FAILED]
    upstream = next((one for one in failed if one.source != "refused" or one.status in _UPSTREAM), None)
    return Collected(
        tuple(number for number in numbers if number),
        tuple(dict.fromkeys(_line(work, one) for one in failed))[:_MOST_LINES],
        f"HTTP {upstream.status} {upstream.reason}".strip() if upstream else "",
        answered=any(one.source == "upstream" and one.status < _FAILED for one in fresh),
    )


def _line(work: Work, call: DoorCall) -> str:
    name = "door_refused" if call.source == "refused" else "call_failed"
    why = parsing.clean(call.reason or f"HTTP {call.status}", 200)
    return say(name, work.language, method=call.method, url=work.scrubbed(call.url)[:200], why=why)
