"""A run as a document: notebook or report, for every interface."""

from __future__ import annotations

import asyncio
import contextlib

from quelea_kit.errors import Conflict, NotFound

from quelea_gateway.adapters.notebook import notebook
from quelea_gateway.adapters.report import report
from quelea_gateway.core.agent.manager import Manager
from quelea_gateway.core.agent.model import ENDED, Run

PICTURES = {"image/png", "image/jpeg"}
_MOST_PICTURES = 20


async def export_run(manager: Manager, run: Run, name: str) -> bytes:
    """notebook.ipynb or report.pdf of a run. Raises Conflict while the run goes on (the report), NotFound."""
    if name == "report.pdf" and run.state not in ENDED:
        raise Conflict("The run is still in progress; its report is available when it has ended.")
    events = await manager.history(run.tenant, run.id)
    pictures = {}
    for one in [one for one in run.artifacts if one.media_type in PICTURES][:_MOST_PICTURES]:
        with contextlib.suppress(NotFound):
            pictures[one.name] = await manager.artifact(run.tenant, run.id, one.name)
    make = report if name == "report.pdf" else notebook
    return await asyncio.to_thread(make, run, events, pictures)
