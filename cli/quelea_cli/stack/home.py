"""The folder that holds everything of one stack: data, logs, and the record of what runs."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from quelea_cli.errors import CliError


@dataclass
class ProcessRecord:
    """One running process, so that others can find it and a later start can tell it from a stranger with its pid."""

    pid: int
    started: str
    """Start time as the kernel counts it; empty where the system does not say."""
    port: int = 0
    state: str = "starting"
    """starting, ready, unready (it runs and cannot do its work), restarting, ended or stopped."""
    restarts: int = 0


@dataclass
class StackRecord:
    """What `DIR/run/stack.json` says while a stack runs."""

    pid: int
    started: str
    url: str
    state: str = "starting"
    """starting, ready or stopping."""
    services: dict[str, ProcessRecord] = field(default_factory=dict)


class Home:
    """Paths, lock and record of one stack."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.logs = self.root / "logs"
        self.run = self.root / "run"
        self.redis = self.root / "redis"
        self.index = self.root / "retriever"
        self.documents = self.root / "documents"
        self.gateway = self.root / "gateway"
        self.keys = self.gateway / "keys.json"
        self.audit = self.gateway / "audit"
        self.runs = self.root / "runs"
        self.evaluations = self.root / "evaluations"
        self.evaluation_runs = self.root / "evaluation-runs"
        self.questions = self.root / "questions"
        """Sets of questions for evaluations: files NAME.jsonl, folders of `quelea eval omni generate`."""
        self.market = self.root / "market"
        self.market_socket = self.root / "market-socket"
        self.data = (
            *(self.redis, self.index, self.documents, self.gateway),
            *(self.runs, self.evaluations, self.evaluation_runs, self.questions, self.market),
        )
        self.stack_secret = self.run / "stack-secret"
        self.model = self.run / "model.json"
        """Address, name and key of the language model that runs here; `quelea eval … stack` reads it."""
        self._record = self.run / "stack.json"
        self._lock = self.run / "lock"

    def create(self) -> None:
        """Make the folders, readable by their owner only."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            for folder in (self.logs, self.run, *self.data):
                folder.mkdir(mode=0o700, exist_ok=True)
            self.market_socket.mkdir(mode=0o755, exist_ok=True)  # mounted into sandboxes, whose user is another one
        except OSError as error:
            raise CliError(f"Cannot use {self.root} as home: {error.strerror}. Choose another with --home.") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the home; CliError when another process has it."""
        self.create()
        with self._lock.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                record = self.read()
                where = f" (process {record.pid}, {record.url})" if record else ""
                raise CliError(
                    f"A stack already runs in {self.root}{where}. "
                    f"Stop it with `quelea down --home {self.root}`, or choose another --home."
                ) from error
            yield

    def is_locked(self) -> bool:
        """Whether a process holds the home now."""
        if not self._lock.exists():
            return False
        with self._lock.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def read(self) -> StackRecord | None:
        """The record, or None when there is none that can be read."""
        try:
            raw: dict[str, Any] = json.loads(self._record.read_text(encoding="utf-8"))
            services = {name: ProcessRecord(**one) for name, one in raw.pop("services").items()}
            return StackRecord(services=services, **raw)
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def write(self, record: StackRecord) -> None:
        """Replace the record in one step, so that nobody reads half of it."""
        fresh = self._record.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")
        fresh.replace(self._record)

    def is_writable(self) -> bool:
        """Whether its volume takes a mebibyte more; False when it is full, read-only or gone."""
        try:
            with tempfile.TemporaryFile(dir=self.run) as file:
                file.write(bytes(1 << 20))
                file.flush()
        except OSError:
            return False
        return True

    def clear(self) -> None:
        """Remove the record: nothing runs."""
        self._record.unlink(missing_ok=True)
        self.model.unlink(missing_ok=True)

    def end_stale(self) -> list[str]:
        """End what a killed supervisor left running; needs the lock. Returns the names of what was ended."""
        record = self.read()
        if record is None:
            return []
        left = {name: one for name, one in record.services.items() if is_same_process(one.pid, one.started)}
        for one in left.values():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(one.pid, signal.SIGKILL)
        end = time.monotonic() + 5
        while any(is_same_process(one.pid, one.started) for one in left.values()) and time.monotonic() < end:
            time.sleep(0.05)
        self.clear()
        return sorted(left)


def write_private(file: Path, text: str) -> None:
    """Write a file that its owner alone can read, from its first byte on."""
    file.unlink(missing_ok=True)
    with open(file, "x", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as fresh:
        fresh.write(text)


def start_time(pid: int) -> str:
    """When a process started, in the kernel's own count: tells it from a later one with the same pid."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]  # a zombie has ended; field 22 of proc(5) is starttime


def is_same_process(pid: int, started: str) -> bool:
    """Whether the process that was recorded still runs."""
    return bool(started) and start_time(pid) == started
