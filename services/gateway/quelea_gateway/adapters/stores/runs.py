"""Runs of the agent in a folder or an object store (quelea_kit.files.storage).

    <tenant>/<run id>/run.json              the head: state, budget, answer
    <tenant>/<run id>/events/00000001.json  one object an event, so that a store without appending holds them too
    <tenant>/<run id>/files/<name>          artifacts, and the bundle of its calls
    <tenant>/<run id>/beat                  when its gateway last said that it lives
    <tenant>/<run id>/end                   another gateway was asked to end it

The tenant's folder is a hash of its name: a run is found under its owner's key or not at all. Names are checked, so no
caller reaches another path. A file appears under its name only when it is complete.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

from quelea_kit.errors import NotFound, Unavailable

from quelea_gateway.adapters.stores.file_store import FileStore, check_token, folder_of, to_json
from quelea_gateway.core.agent.model import Event, Run

T = TypeVar("T")

_ID = re.compile(r"[0-9]{14}-[0-9a-f]{16}")
_NAME = re.compile(r"[\w][\w.\-]{0,159}")
_THREADS = 8


class Runs(FileStore):
    """The runs under a URL.

    Args:
        url: A folder, or an fsspec URL (memory:// is for tests).
    """

    def __init__(self, url: str) -> None:
        super().__init__(url, "runs", threads=_THREADS)

    async def put(self, run: Run) -> None:
        """Store the head."""
        await self._do(self._write, f"{self._folder(run.tenant, run.id)}/run.json", to_json(run.as_dict()))

    async def get(self, tenant: str, run_id: str) -> Run:
        """Raises NotFound."""
        return _run(await self._do(self._storage.read, f"{self._folder(tenant, run_id)}/run.json"), run_id)

    async def newest(self, tenant: str, limit: int, *, before: str = "") -> list[Run]:
        """The newest first, and only those older than the run `before`; ids begin with their time."""
        check_token(before, _ID)
        ids = await self._do(self._storage.names, folder_of(tenant))
        found: list[Run] = []
        wanted = (one for one in ids if _ID.fullmatch(one) and (not before or one < before))
        for run_id in sorted(wanted, reverse=True):
            if len(found) >= limit:
                break
            try:
                found.append(await self.get(tenant, run_id))
            except NotFound:  # deleted meanwhile, or its head was never written
                continue
        return found

    async def append(self, tenant: str, run_id: str, event: Event) -> None:
        """Store an event under its number."""
        path = f"{self._folder(tenant, run_id)}/events/{event.number:08d}.json"
        await self._do(self._write, path, to_json(event.as_dict()))

    async def events(self, tenant: str, run_id: str, after: int) -> list[Event]:
        """In order, up to the first gap."""
        folder = f"{self._folder(tenant, run_id)}/events"
        names = sorted(await self._do(self._storage.names, folder))
        found: list[Event] = []
        for name in names:
            number = int(name[:8]) if re.fullmatch(r"\d{8}\.json", name) else 0
            if number <= after:
                continue
            if number != after + len(found) + 1:
                break
            try:
                stored = json.loads(await self._do(self._storage.read, f"{folder}/{name}"))
            except (NotFound, ValueError):
                break
            found.append(Event(stored["number"], stored["event"], stored["at"], stored["data"]))
        return found

    async def write(self, tenant: str, run_id: str, name: str, data: bytes) -> None:
        """Store a file."""
        await self._do(self._write, self._file(tenant, run_id, name), data)

    async def read(self, tenant: str, run_id: str, name: str) -> bytes:
        """Raises NotFound."""
        return await self._do(self._storage.read, self._file(tenant, run_id, name))

    async def beat(self, tenant: str, run_id: str) -> None:
        """Say that the run's gateway lives."""
        await self._do(self._write, f"{self._folder(tenant, run_id)}/beat", f"{time.time():.3f}".encode())

    async def silent_seconds(self, tenant: str, run_id: str) -> float:
        """Since the last beat, or until it where the clock was set back: a beat far ahead is no sign of life."""
        try:
            return abs(time.time() - float(await self._do(self._storage.read, f"{self._folder(tenant, run_id)}/beat")))
        except (NotFound, ValueError):
            return float("inf")

    async def ask_end(self, tenant: str, run_id: str) -> None:
        """Ask the gateway that runs it to end it."""
        await self._do(self._write, f"{self._folder(tenant, run_id)}/end", b"")

    async def end_asked(self, tenant: str, run_id: str) -> bool:
        """Whether somebody did."""
        return await self._do(self._storage.exists, f"{self._folder(tenant, run_id)}/end")

    async def delete(self, tenant: str, run_id: str) -> None:
        """Forget a run."""
        await self._do(self._storage.delete_folder, self._folder(tenant, run_id))

    async def _do(self, work: Callable[..., T], *given: Any) -> T:
        try:
            return await super()._do(work, *given)
        except FileNotFoundError as error:
            raise NotFound("There is no such run or file.") from error

    def _folder(self, tenant: str, run_id: str) -> str:
        if not _ID.fullmatch(run_id):
            raise NotFound(f"There is no run {run_id[:64]!r}.")
        return f"{folder_of(tenant)}/{run_id}"

    def _file(self, tenant: str, run_id: str, name: str) -> str:
        folder = self._folder(tenant, run_id)
        if not _NAME.fullmatch(name) or ".." in name:
            raise NotFound(f"The run has no file {name[:80]!r}.")
        return f"{folder}/files/{name}"

    def _write(self, name: str, data: bytes) -> None:
        self._storage.write(name, data, durable=False)


def _run(stored: bytes, run_id: str) -> Run:
    try:
        return Run.from_dict(json.loads(stored))
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"The run {run_id} cannot be read: {type(error).__name__}.") from error
