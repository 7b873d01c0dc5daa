"""Backup of a running service: the command leaves a request in the store's folder and sends SIGUSR1 to its owner."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
import uuid
from pathlib import Path

from quelea_kit.errors import QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore

log = get_logger(__name__)

_REQUEST = "backup-request.json"
_POLL_SECONDS = 0.1


class Listener:
    """The service's side.

    Args:
        store: What is backed up.
    """

    def __init__(self, store: QdrantEdgeStore) -> None:
        self._store = store
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Do what the request in the folder asks for; a signal during a backup is not a second one."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        request = self._store.folder / _REQUEST
        try:
            asked = json.loads(request.read_text())
            out, answer = Path(asked["out"]), self._store.folder / f"backup-{asked['id']}.json"
        except (OSError, ValueError, KeyError) as error:
            log.warning("backup_request_unreadable", why=str(error))
            return
        request.unlink(missing_ok=True)
        started = time.perf_counter()
        try:
            await self._store.backup(out)
            said = {"error": ""}
        except (QueleaError, OSError) as error:
            said = {"error": str(error)}
        temporary = answer.with_suffix(".new")
        temporary.write_text(json.dumps(said))
        temporary.replace(answer)
        log.info("backup", out=str(out), seconds=round(time.perf_counter() - started, 1), **said)


def ask(folder: Path, owner: int, out: Path, seconds: float) -> None:
    """The command's side: have the process that owns the folder write FILE.tar.gz.

    Raises:
        Unavailable: It failed, or gave no answer within the given seconds.
    """
    name = uuid.uuid4().hex
    answer = folder / f"backup-{name}.json"
    temporary = folder / f"{_REQUEST}.new"
    temporary.write_text(json.dumps({"id": name, "out": str(out.absolute())}))
    temporary.replace(folder / _REQUEST)
    os.kill(owner, signal.SIGUSR1)
    end = time.monotonic() + seconds
    while not answer.exists():
        if time.monotonic() > end:
            raise Unavailable(f"Process {owner} did not finish the backup within {seconds:.0f} s.")
        time.sleep(_POLL_SECONDS)
    said = json.loads(answer.read_text())
    answer.unlink()
    if said["error"]:
        raise Unavailable(f"The backup failed: {said['error']}")
