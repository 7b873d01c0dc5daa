"""What the code of a run called through the market-data door."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import asdict

from quelea_kit.errors import QueleaError

from quelea_gateway.core.agent import parsing
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work

_MOST_BODIES = 12
_SECONDS = 10
_BODY_BYTES = 200_000
_TEXTUAL = ("json", "text", "csv", "xml", "javascript", "html")


async def collect_calls(work: Work, *, bodies: bool = True) -> list[int]:
    """Take over what the door has written down since; the numbers of the new sources.

    Args:
        bodies: Fetch what they brought, as evidence; needless once there is nothing left to conclude.
    """
    door, session = work.ports.door, work.door_session
    if door is None or session is None:
        return []
    numbers = []
    try:
        async with asyncio.timeout(_SECONDS):
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
    return [number for number in numbers if number]
