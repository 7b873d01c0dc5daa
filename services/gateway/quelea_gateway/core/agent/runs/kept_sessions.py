"""Sessions of finished runs that wait for a follow-up: bounded in number and in time.

One ends where a run or a document whose values it holds is gone, whoever removed it and through which gateway: this is
looked for when a session comes to wait, once a minute while it does, and before a follow-up has it. Where it cannot be
told, a session waits on, and no follow-up has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from quelea_gateway.core.agent.continuation import KeptSession, Standing
from quelea_gateway.core.agent.runs.quota import RunLimits

_LOOK_SECONDS = 60.0


class KeptSessions:
    """Those of this process. The sandbox ends one before, where somebody needs its place.

    Args:
        look: Whether all runs and documents are still there whose values a session holds. Never raises.
    """

    def __init__(self, limits: RunLimits, look: Callable[[KeptSession], Awaitable[Standing]]) -> None:
        self._limits = limits
        self._look = look
        self._kept: dict[str, KeptSession] = {}
        """By the run that left it, the oldest first."""
        self._timers: dict[str, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    async def keep(self, one: KeptSession) -> None:
        """Let it wait; the oldest that are too many end."""
        limits = self._limits
        waits = False
        try:
            has_room = limits.kept and limits.kept_per_tenant and limits.kept_seconds
            if has_room and await self._look(one) != "gone":
                waits = await one.wait(limits.kept_seconds)
        finally:  # also where its run is cancelled meanwhile: nobody else has it
            if not waits:
                await one.end()
        if not waits:
            return
        run_id = one.run_ids[-1]
        self._kept[run_id] = one
        self._timers[run_id] = asyncio.create_task(self._time_out(run_id))
        own = [known for known, other in self._kept.items() if other.tenant == one.tenant]
        for known in own[: -limits.kept_per_tenant]:
            await self._end(known)
        for known in list(self._kept)[: -limits.kept]:
            await self._end(known)

    async def take(self, run_id: str) -> KeptSession | None:
        """What a run left; from here on it is the caller's."""
        one = self._take(run_id)
        if one is None:
            return None
        whole = False
        try:
            whole = await self._look(one) == "whole"
        finally:
            if not whole:
                await one.end()
        return one if whole else None

    def _take(self, run_id: str) -> KeptSession | None:
        if (timer := self._timers.pop(run_id, None)) is not None:
            timer.cancel()
        return self._kept.pop(run_id, None)

    async def forget(self, run_id: str) -> None:
        """End what a run left, and what was left by a run that followed it."""
        for known, one in list(self._kept.items()):
            if run_id in one.run_ids:
                await self._end(known)

    async def close(self) -> None:
        """End all."""
        await asyncio.gather(*(self._end(run_id) for run_id in list(self._kept)))

    async def _end(self, run_id: str) -> None:
        if (one := self._take(run_id)) is not None:
            await one.end()

    async def _time_out(self, run_id: str) -> None:
        left = self._limits.kept_seconds
        while left > _LOOK_SECONDS:
            await asyncio.sleep(_LOOK_SECONDS)
            left = 0.0 if await self._look(self._kept[run_id]) == "gone" else left - _LOOK_SECONDS
        await asyncio.sleep(left)
        self._timers.pop(run_id, None)
        await self._end(run_id)
