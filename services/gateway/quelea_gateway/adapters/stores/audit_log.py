"""The audit log: JSON lines in a folder, only ever added to, on the disk before a call that must be recorded is served.

    audit-20261127T170000Z-<host>-<writer>.<part>.jsonl    a new one at each start, at each size, and after a failure
    salt                                                  with which addresses are hashed

A writer numbers its lines (`n`), so that one that is missing, and one that was written twice after a failure, is seen.
Several gateways may share a folder, as no two write one file.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import queue
import re
import secrets
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

from quelea_kit.errors import InvalidInput, Unavailable
from quelea_kit.logging import get_logger

from quelea_gateway.metrics import AUDIT_ENTRIES, AUDIT_FAILING

log = get_logger(__name__)

_BATCH = 256
_RETRY_SECONDS = 1.0
_STRANGERS = 10
"""Refusals of callers who are not known that are recorded, in a second."""
_NAME = re.compile(r"audit-\d{8}T\d{6}Z-[\w-]{1,60}-(?P<writer>[0-9a-f]{8})\.\d{6}\.jsonl")


@dataclass
class _Waiting:
    entry: Mapping[str, Any]
    done: Future[None]


class AuditLog:
    """Writes entries from a thread of its own; one fsync for all that wait.

    Args:
        folder: Made if it is not there.
        refuse: Whether a call is refused while it cannot be recorded. Else it is served, and its entry is kept in
            memory until the disk takes it, as many as `most_waiting`.
        file_bytes: Size at which a new file is begun.
        keep_days: Files last written longer ago are deleted; 0: none is.
        most_waiting: Entries that wait for the disk.
        seconds: How long a call waits for the disk where it may be refused.

    Raises:
        Unavailable: The folder cannot be written, and calls are to be refused then.
    """

    def __init__(
        self,
        folder: Path,
        *,
        refuse: bool = False,
        file_bytes: int = 64 * 1024 * 1024,
        keep_days: int = 0,
        most_waiting: int = 10_000,
        seconds: float = 5.0,
    ) -> None:
        self._folder = folder
        self._refuse = refuse
        self._file_bytes = file_bytes
        self._keep_days = keep_days
        self._seconds = seconds
        self._queue: queue.Queue[_Waiting | None] = queue.Queue(most_waiting)
        self._file: IO[bytes] | None = None
        self._writer, self._part = secrets.token_hex(4), 0
        self._size = 0
        self._n = 0
        self._strangers, self._stranger_at, self._left_out = float(_STRANGERS), time.monotonic(), 0
        self._why = ""
        self._closing = threading.Event()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._salt = _salt(folder)
        except OSError as error:
            self._salt = secrets.token_bytes(32)
            self._fail(error)
            if refuse:
                raise Unavailable(self.state()) from error
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def state(self) -> str:
        """Why nothing is recorded just now; empty while it is."""
        return f"The audit log cannot be written ({self._why})." if self._why else ""

    @property
    def refuses(self) -> bool:
        """Whether calls are refused just now."""
        return self._refuse and bool(self._why)

    def admit(self) -> None:
        """To be called before anything is done. Raises Unavailable while calls are refused."""
        if self.refuses:
            raise Unavailable(f"{self.state()} Calls are refused until it can be.", retry_after=_RETRY_SECONDS)

    async def write(self, entry: Mapping[str, Any]) -> None:
        """Record a call, and where calls may be refused wait until it is on the disk.

        Raises:
            Unavailable: It is not, and the call is to be refused.
        """
        waiting = _Waiting({"at": _now(), **entry}, Future())
        try:
            self._queue.put_nowait(waiting)
        except queue.Full:
            AUDIT_ENTRIES.labels("dropped").inc()
            self._why = self._why or "more entries wait than are kept"
            AUDIT_FAILING.set(1)
            self.admit()
            return
        if not self._refuse:
            return
        try:
            await asyncio.wait_for(asyncio.wrap_future(waiting.done), self._seconds)
        except TimeoutError:
            raise Unavailable(
                f"The audit log was not written within {self._seconds:g} s, so the call is refused.",
                retry_after=_RETRY_SECONDS,
            ) from None
        except OSError:
            self.admit()
            raise Unavailable("The audit log could not be written, so the call is refused.") from None

    def write_stranger(self, entry: Mapping[str, Any]) -> None:
        """Record a call of nobody who was let in. Of a flood of them some a second, so that they do not fill the disk;
        the others are counted in the next one's `left_out`."""
        now = time.monotonic()
        self._strangers = min(_STRANGERS, self._strangers + (now - self._stranger_at) * _STRANGERS)
        self._stranger_at = now
        if self._strangers < 1:
            self._left_out += 1
            AUDIT_ENTRIES.labels("left out").inc()
            return
        self._strangers -= 1
        left_out, self._left_out = self._left_out, 0
        more = {"left_out": left_out} if left_out else {}
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(_Waiting({"at": _now(), **entry, **more}, Future()))

    def address(self, plain: str) -> str:
        """An address as a hash: equal addresses are seen to be equal, within this folder."""
        return hmac.new(self._salt, plain.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:16] if plain else ""

    async def close(self) -> None:
        """Write what waits, as far as the disk takes it within the deadline."""
        self._closing.set()
        await asyncio.to_thread(self._thread.join, self._seconds)

    def _run(self) -> None:
        kept: list[_Waiting] = []
        while True:
            if len(kept) < _BATCH:
                kept += self._next(wait=not kept)
            if not kept:
                if self._closing.is_set():
                    break
                continue
            try:
                self._write([one.entry for one in kept])
            except OSError as error:
                self._fail(error)
                self._forget_file()
                for one in kept:
                    if not one.done.done():
                        one.done.set_exception(error)
                if self._closing.wait(_RETRY_SECONDS):
                    AUDIT_ENTRIES.labels("dropped").inc(len(kept) + self._queue.qsize())
                    break
                continue
            AUDIT_ENTRIES.labels("written").inc(len(kept))
            self._why = ""
            AUDIT_FAILING.set(0)
            for one in kept:
                if not one.done.done():
                    one.done.set_result(None)
            kept = []
        self._forget_file()

    def _next(self, *, wait: bool) -> list[_Waiting]:
        found: list[_Waiting] = []
        try:
            one = self._queue.get(timeout=0.1) if wait else self._queue.get_nowait()
            while one is not None:
                found.append(one)
                if len(found) >= _BATCH:
                    break
                one = self._queue.get_nowait()
        except queue.Empty:
            pass
        return found

    def _write(self, entries: list[Mapping[str, Any]]) -> None:
        if self._file is None or self._size >= self._file_bytes:
            self._forget_file()
            self._file, self._size = _begin(self._folder, self._writer, self._part), 0
            self._part += 1
            _forget_old(self._folder, self._keep_days)
        lines = b"".join(_line({"n": self._n + at, **entry}) for at, entry in enumerate(entries, 1))
        self._file.write(lines)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._size += len(lines)
        self._n += len(entries)

    def _fail(self, error: OSError) -> None:
        why = error.strerror or type(error).__name__
        if why != self._why:
            log.error("audit_log_fails", why=why, folder=str(self._folder), refuses=self._refuse)
        self._why = why
        AUDIT_FAILING.set(1)

    def _forget_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError:  # what it still had is written again to a new one
                log.warning("audit_file_not_closed")


def append(folder: Path, entry: Mapping[str, Any]) -> None:
    """Record one thing from a process that does no more, such as a command. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _begin(folder, secrets.token_hex(4), 0) as file:
        file.write(_line({"n": 1, "at": _now(), **entry}))
        file.flush()
        os.fsync(file.fileno())


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """The entries of all files, in the order of the files' beginnings and of their lines.

    An entry that was written again after a failure comes once. What is no entry (the last line of a gateway that died
    while it wrote) comes as {"unreadable": file, "line": number}; numbers that are missing as {"missing": how many}.

    Raises:
        InvalidInput: There is no such folder.
    """
    if not folder.is_dir():
        raise InvalidInput(f"There is no audit log in {folder}.")
    nexts: dict[str, int] = {}
    for path in sorted(folder.iterdir()):
        named = _NAME.fullmatch(path.name)
        if named:
            yield from _read_file(path, named["writer"], nexts)


def _read_file(path: Path, writer: str, nexts: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Keeps in `nexts` the number that each writer's next line should have."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                entry = json.loads(line)
                n = int(entry["n"])
            except (ValueError, KeyError, TypeError):
                yield {"unreadable": path.name, "line": number}
                continue
            expected = nexts.get(writer, n)
            if n > expected:
                yield {"missing": n - expected, "file": path.name, "line": number}
            if n >= expected:
                nexts[writer] = n + 1
                yield entry


def filter_entries(entries: Iterable[dict[str, Any]], **wanted: str) -> Iterator[dict[str, Any]]:
    """Those that match all of what is wanted: fields by their value, `since` and `until` by time, `object` by an id.

    Remarks on the log itself (missing, unreadable) always come.
    """
    for entry in entries:
        if "at" not in entry or all(_matches(entry, name, value) for name, value in wanted.items() if value):
            yield entry


def _matches(entry: Mapping[str, Any], name: str, value: str) -> bool:
    if name == "since":
        return str(entry["at"]) >= value
    if name == "until":
        return str(entry["at"]) < value
    if name == "object":
        return any(
            value == one or (isinstance(one, list) and value in one) for one in entry.get("objects", {}).values()
        )
    return str(entry.get(name, "")) == value


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _begin(folder: Path, writer: str, part: int) -> IO[bytes]:
    host = re.sub(r"[^\w-]", "-", socket.gethostname())[:60] or "host"
    name = f"audit-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{host}-{writer}.{part:06d}.jsonl"
    opened = os.open(folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    made = os.fdopen(opened, "ab")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(at)  # else the name of the file may be lost with the power
    finally:
        os.close(at)
    return made


def _forget_old(folder: Path, keep_days: int) -> None:
    if not keep_days:
        return
    oldest = time.time() - timedelta(days=keep_days).total_seconds()
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name) and path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def _salt(folder: Path) -> bytes:
    path = folder / "salt"
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        deadline = time.monotonic() + 1.0
        while not (found := path.read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.01)  # another gateway is about to write it
        return found
    with os.fdopen(opened, "wb") as file:
        made = secrets.token_bytes(32)
        file.write(made)
    return made
