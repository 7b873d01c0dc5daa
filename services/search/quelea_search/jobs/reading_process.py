"""Every file is read in a process of its own, with bounds that hold whatever its parser does.

Why a process for each file: processor time and memory are bounded by the kernel, from zero, and what a parser leaks or
breaks goes with it. The caller learns at once how it ended.

Why a nursery: a worker's child has threads, and a process with threads must not fork. So it forks the nursery while it
has none; the nursery has one thread for ever, has every parser loaded, and forks for each file in milliseconds.

    worker's child ── request ──► nursery ── fork ──► reading process ──► result, in a file without a name
           ◄────────── how it ended, what it used, the file ──┘
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger

from quelea_search.core.errors import CrashedReader, ReaderKilled, ReadTimeout, TooLarge, Unreadable

log = get_logger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
_READ, _STOP = b"r", b"s"
_LENGTH = struct.Struct("!Q")
_ENDED = struct.Struct("!BidQ")
"""How a process ended, its wait status, its seconds of processor time, its peak memory in KB."""
_BY_ITSELF, _BY_CLOCK, _STOPPED = range(3)
_MOST_RESULT_BYTES = 1 << 30
_CHANCES = 2
"""A fault that comes and goes is forgiven once."""
_FULL = 1 / 3
"""Share of its memory from which on a process that failed is taken to have failed for want of more: parsers written in
C say "broken" where there is no memory, or end, and a list that doubles is refused when it holds a third of it."""
_PR_SET_PDEATHSIG = 1


class NurseryLost(Exception):
    """The nursery has ended: this process can read nothing any more, and must be replaced."""


class Stopped(Exception):
    """The reading was stopped by its own caller."""


@dataclass(frozen=True, slots=True)
class ReadingBounds:
    """What reading one file may cost.

    Args:
        seconds: Processor time of any file.
        seconds_per_mb: And for each MB of it.
        most_seconds: At most, of processor time, and by the clock.
        memory_mb: Private memory that the process may take beside what it begins with; 0 sets no bound.
    """

    seconds: float
    seconds_per_mb: float
    most_seconds: float
    memory_mb: int

    def processor_seconds(self, size: int) -> float:
        """For a file of so many bytes."""
        return min(self.seconds + self.seconds_per_mb * size / 1_000_000, self.most_seconds)


@dataclass(frozen=True, slots=True)
class Used:
    """What a process took."""

    seconds: float
    """Of the processor."""
    peak_mb: int
    """Resident memory, beside what it began with."""


class Reading:
    """Runs functions in processes of their own, one after the other.

    To be made while this process has one thread.

    Args:
        bounds: Of each.

    Attributes:
        used: What the last one took.
    """

    def __init__(self, bounds: ReadingBounds) -> None:
        self.used = Used(0.0, 0)
        self._bounds = bounds
        self._lock = threading.Lock()
        self._line, theirs = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            self._line.close()
            _nurse(theirs)
        theirs.close()

    def run(self, size: int, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """call(*args) in a process, within the bounds for a file of `size` bytes. Blocks.

        Raises:
            ReadTimeout: It took too long.
            TooLarge: It needed more memory than the bound.
            CrashedReader: It ended in the middle of its work, twice.
            ReaderKilled: Somebody else ended it.
            Stopped: `stop` was called.
            NurseryLost: There will be no more processes.
        """
        with self._lock:
            for _ in range(_CHANCES):
                seconds = self._bounds.processor_seconds(size)
                request = (seconds, self._bounds.most_seconds, self._bounds.memory_mb, call, args, kwargs)
                how, status, peak_kb, outcome = self._ask(pickle.dumps(request, pickle.HIGHEST_PROTOCOL))
                ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                slow = ended_by == signal.SIGXCPU or (ended_by == signal.SIGKILL and self.used.seconds >= seconds)
                full = 0 < _FULL * self._bounds.memory_mb * 1024 < peak_kb
                if how == _STOPPED:
                    raise Stopped
                if how == _BY_CLOCK:
                    raise ReadTimeout(_too_slow(f"{self._bounds.most_seconds:g} s"))
                if slow:
                    raise ReadTimeout(_too_slow(f"{seconds:g} s of processor time"))
                if ended_by == signal.SIGKILL:  # its own bounds end no process so: it was the OOM killer, or a person
                    raise ReaderKilled(
                        f"The process that read the file was killed from outside, at {self.used.peak_mb} MB, as when a "
                        "machine has no memory left; replay the job when it has."
                    )
                if outcome is None and not full:
                    log.warning("reading_process_crashed", signal=ended_by, status=status, peak_mb=peak_kb // 1024)
                    continue
                if isinstance(outcome, MemoryError) or (full and (outcome is None or isinstance(outcome, Unreadable))):
                    raise TooLarge(f"Reading the file needs more than {self._bounds.memory_mb} MB of memory; split it.")
                if isinstance(outcome, Exception):
                    raise outcome
                return outcome[0]  # type: ignore[no-any-return]  # what `call` gave, in a tuple
        raise CrashedReader(f"The file crashed the reader {_CHANCES} times; save it again or use another format.")

    def stop(self) -> None:
        """End what is running, from another thread."""
        if self._lock.locked():
            with contextlib.suppress(OSError):
                self._line.sendall(_STOP)

    def close(self) -> None:
        """End the nursery."""
        self._line.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _ask(self, request: bytes) -> tuple[int, int, int, Any]:
        try:
            self._line.sendall(_READ + _LENGTH.pack(len(request)) + request)
            told, files, _, _ = socket.recv_fds(self._line, _ENDED.size, 1)
        except OSError as error:
            raise NurseryLost from error
        if len(told) < _ENDED.size or not files:
            raise NurseryLost
        how, status, seconds, peak_kb = _ENDED.unpack(told)
        self.used = Used(seconds, peak_kb // 1024)
        with os.fdopen(files[0], "rb") as result:
            result.seek(0)
            if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
                return how, status, peak_kb, pickle.load(result)  # noqa: S301  # written by our own fork
        return how, status, peak_kb, None


def _too_slow(limit: str) -> str:
    return f"Reading the file took longer than {limit}; split it, or submit it in another format."


def _nurse(line: socket.socket) -> NoReturn:
    """The nursery's life, until its parent is gone."""
    for one in (signal.SIGCHLD, signal.SIGXCPU):
        signal.signal(one, signal.SIG_DFL)
    # Who is told to end is the worker: it may have time to end its job.
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR2):
        signal.signal(one, signal.SIG_IGN)
    die_with_parent()
    # What else the parent has open is its own: a pipe that is held here would never end.
    os.closerange(3, line.fileno())
    os.closerange(line.fileno() + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    with contextlib.suppress(OSError):
        while (request := _receive(line)) is not None:
            with _nameless_file() as result:
                told = _raise_one(line, request, result)
                del request
                if told is None:
                    break
                socket.send_fds(line, [told], [result.fileno()])
    os._exit(0)


def _receive(line: socket.socket) -> bytes | None:
    """The next request; None at the end."""
    while (kind := line.recv(1)) == _STOP:  # what was to be stopped had ended by itself
        pass
    if kind != _READ:
        return None
    (length,) = _LENGTH.unpack(_exactly(line, _LENGTH.size))
    return bytes(_exactly(line, length))


def _exactly(line: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    view, at = memoryview(data), 0
    while at < length:
        count = line.recv_into(view[at:])
        if not count:
            raise OSError("the parent is gone")
        at += count
    return data


def _nameless_file() -> Any:
    if hasattr(os, "memfd_create"):  # in memory: a full disk must not stop the reading
        return os.fdopen(os.memfd_create("reading"), "w+b")
    return tempfile.TemporaryFile()


def _raise_one(line: socket.socket, request: bytes, result: Any) -> bytes | None:
    """Fork a process, wait for its end, say how it was; None when the parent is gone."""
    seconds, most_seconds, memory_mb, call, args, kwargs = pickle.loads(request)  # noqa: S301  # from our own parent
    shared_kb = _memory_kb("RssAnon")  # pages of files are not mapped into a fork until it touches them
    alive, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        line.close()
        os.close(alive)  # `end` closes with this process
        _read(result, seconds, memory_mb, lambda: call(*args, **kwargs))
    os.close(end)
    ready, _, _ = select.select([alive, line.fileno()], [], [], most_seconds)
    os.close(alive)
    how, gone = _BY_ITSELF, False
    if alive not in ready:
        how = _STOPPED if ready else _BY_CLOCK
        gone = bool(ready) and line.recv(1) != _STOP
        os.kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    return None if gone else _ENDED.pack(how, status, used.ru_utime + used.ru_stime, max(0, used.ru_maxrss - shared_kb))


def _read(result: Any, seconds: float, memory_mb: int, call: Callable[[], Any]) -> NoReturn:
    """The life of a reading process."""
    die_with_parent()
    _bound(resource.RLIMIT_CORE, 0)
    _bound(resource.RLIMIT_FSIZE, _MOST_RESULT_BYTES)
    # The kernel ends the process at the soft limit, whatever code it is in.
    whole = max(1, round(seconds))
    _bound(resource.RLIMIT_CPU, whole, whole + 5)
    if memory_mb:
        # Not the address space: libraries reserve far more of it than they ever touch.
        _bound(resource.RLIMIT_DATA, (memory_mb << 20) + (_memory_kb("VmData") << 10))
    outcome: Any
    try:
        outcome = (call(),)
    except MemoryError:
        outcome = MemoryError()
    except QueleaError as error:
        outcome = error
    except Exception as error:  # noqa: BLE001  # it is raised again where the job is
        outcome = error
        outcome.add_note(traceback.format_exc())
    status = 1
    with contextlib.suppress(BaseException):
        status = 0 if _write(outcome, result) else 1
    os._exit(status)


def _memory_kb(name: str) -> int:
    """A line of /proc/self/status; 0 where there is none."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)
    return 0


def _write(outcome: Any, result: Any) -> bool:
    for one in (outcome, MemoryError() if isinstance(outcome, tuple) else RuntimeError(repr(outcome)[:500])):
        try:
            result.seek(0)
            pickle.dump(one, result, pickle.HIGHEST_PROTOCOL)
            result.flush()
        except (MemoryError, OSError, pickle.PicklingError, TypeError, AttributeError):
            continue
        return True
    return False


def _bound(which: int, soft: int, hard: int | None = None) -> None:
    _, most = resource.getrlimit(which)
    wanted = soft if hard is None else hard
    most = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(which, (min(soft, most), most))


def die_with_parent() -> None:
    """An orphan would go on while nobody enforces its limits. Linux only; elsewhere a pipe's end tells."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
