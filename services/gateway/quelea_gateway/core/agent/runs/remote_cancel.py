"""Cancelling a run of another gateway on the same store: a flag in the store, which that gateway polls."""

from __future__ import annotations

import asyncio
import contextlib

from quelea_kit.errors import NotFound, Unavailable

from quelea_gateway.core.agent.model import ENDED
from quelea_gateway.core.agent.ports import RunStore
from quelea_gateway.core.agent.runs.history import settle

_POLL_SECONDS = 0.25
_PATIENCE = 30.0
"""Longer than a silent gateway is taken for alive, with the beat that is usual."""


async def cancel_remotely(store: RunStore, tenant: str, run_id: str, *, beat_seconds: float) -> bool:
    """Ask the gateway that runs it to cancel it, and wait until the run is stored as ended; whether this cancelled it.

    Raises:
        NotFound: there is no such run, or it was deleted meanwhile.
        Unavailable: its gateway lives and did not end it in time; it will when it can.
    """
    run = await settle(store, await store.get(tenant, run_id), beat_seconds)
    if run.state in ENDED:
        return False
    await store.ask_end(tenant, run_id)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while run.state not in ENDED:
                await asyncio.sleep(_POLL_SECONDS)
                with contextlib.suppress(NotFound):  # its head is just being replaced
                    run = await settle(store, await store.get(tenant, run_id), beat_seconds)
    if run.state not in ENDED:
        raise Unavailable(
            "The gateway that runs it was asked to cancel it and has not done so yet; check the run again.",
            retry_after=5.0,
        )
    return run.state == "cancelled"
