"""Runs inside the container: takes code over stdin, gives back output, files and how it ended. See PROTOCOL.md.

One file, because it is copied into the image as one. Standard library only, and what QUELEA_PRELOAD names (separated by
commas, loaded if it is there). Nothing here protects anybody from the code that it runs; the container does. What it
does is keep honest code's output in order.

Environment: QUELEA_PRELOAD; QUELEA_WORK (default /work, the working directory).
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import gc
import importlib
import io
import json
import linecache
import os
import selectors
import stat
import struct
import sys
import threading
import traceback
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before anything is imported that could print: the protocol moves away from 0, 1 and 2.
_IN, _OUT = os.dup(0), os.dup(1)
# Never written to, and open for as long as the guest lives: where a container's stderr has ended, containerd closes
# what is attached to its stdin.
_ERR = os.dup(2)
_null = os.open(os.devnull, os.O_RDWR)
os.dup2(_null, 0)
os.dup2(2, 1)

WORK = Path(os.environ.get("QUELEA_WORK", "/work"))
SEED = Path("/opt/quelea/matplotlib")
"""Caches that the image brings for matplotlib (font list), copied to where it may write."""

_CHUNK = 1 << 20
_PIPE_BYTES = 1 << 20
_ERROR_CHARS = 16 * 1024 // 4  # so that 16 KiB hold it, whatever its script
_MARK = "_quelea_saved"
_DEEPEST = 32  # folders that are looked into; the keeper takes no file that lies as deep


def send(kind: bytes, payload: bytes) -> None:
    """Write one frame; the caller holds the lock."""
    data = memoryview(kind + struct.pack(">I", len(payload)) + payload)
    while data:
        data = data[os.write(_OUT, data) :]


def receive() -> tuple[bytes, bytes]:
    """Read one frame; ends the process when the keeper has gone."""
    kind, size = struct.unpack(">cI", _exactly(5))
    return kind, _exactly(size)


def _exactly(size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = os.read(_IN, min(size - len(parts), _CHUNK))
        if not part:
            os._exit(0)
        parts += part
    return bytes(parts)


class Pump:
    """Carries what is written to fd 1 and 2 into O and E frames, and only while a run is under way."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.ends: dict[int, bytes] = {}
        self.writers: dict[int, int] = {}
        for fd, kind in ((1, b"O"), (2, b"E")):
            reader, writer = os.pipe()
            with contextlib.suppress(OSError):
                fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            os.set_blocking(reader, False)
            self.ends[reader], self.writers[fd] = kind, writer
        self._running = threading.Event()
        self._wake_reader, self._wake = os.pipe()
        self._drained = threading.Event()

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._loop, name="output", daemon=True).start()

    def open(self) -> None:
        """A run begins: 1 and 2 are the pipes (again), sys.stdout and sys.stderr are fresh."""
        for fd, writer in self.writers.items():
            os.dup2(writer, fd)
        os.dup2(_null, 0)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(
                io.BufferedWriter(io.FileIO(fd, "wb", closefd=False)),
                encoding="utf-8",
                errors="replace",
                line_buffering=True,
            )
            for fd in (1, 2)
        )
        self._running.set()

    def close(self) -> None:
        """The run is over: what it has written goes out, what comes later waits for the next run."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        self._drained.clear()
        os.write(self._wake, b"x")
        self._drained.wait()

    def _loop(self) -> None:
        selector = selectors.DefaultSelector()
        for reader in (*self.ends, self._wake_reader):
            selector.register(reader, selectors.EVENT_READ)
        while True:
            self._running.wait()
            ready = {key.fd for key, _ in selector.select()}
            for reader, kind in self.ends.items():
                if reader in ready:
                    self._carry(reader, kind)
            if self._wake_reader in ready:
                os.read(self._wake_reader, 1)
                for reader, kind in self.ends.items():
                    # No more than a pipe can hold: a thread that goes on writing does not hold up the end.
                    left = _PIPE_BYTES
                    while left > 0 and (got := self._carry(reader, kind)):
                        left -= got
                self._running.clear()
                self._drained.set()

    def _carry(self, reader: int, kind: bytes) -> int:
        try:
            data = os.read(reader, 1 << 16)
        except BlockingIOError:
            return 0
        with self.lock:
            send(kind, data)
        return len(data)


def preload() -> None:
    """Import what runs are likely to need; the door's client first, so that it patches before others look."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    os.environ.setdefault("MPLCONFIGDIR", "/tmp/matplotlib")  # noqa: S108  # a tmpfs of this container alone
    with contextlib.suppress(OSError):
        target = Path(os.environ["MPLCONFIGDIR"])
        target.mkdir(parents=True, exist_ok=True)
        for file in SEED.iterdir() if SEED.is_dir() else ():
            (target / file.name).write_bytes(file.read_bytes())
    for name in ["quelea_market", *os.environ.get("QUELEA_PRELOAD", "").split(",")]:
        if name.strip():
            try:
                importlib.import_module(name.strip())
            except ModuleNotFoundError as error:
                print(f"not loaded: {error}", file=sys.stderr)  # noqa: T201  # the container's stderr, for the operator
            except Exception:  # noqa: BLE001  # a broken library must not keep the others from running
                traceback.print_exc()
    if "matplotlib.pyplot" in sys.modules:
        _warm_matplotlib()
    if pandas := sys.modules.get("pandas"):
        frame = pandas.read_csv(io.StringIO("day,a\n2024-01-02,1.5\n"), parse_dates=["day"])
        repr(frame), repr(frame.describe())


def _warm_matplotlib() -> None:
    """The first figure loads fonts and renderers; and a figure remembers that the code saved it."""
    pyplot = sys.modules["matplotlib.pyplot"]
    figure_class = importlib.import_module("matplotlib.figure").Figure
    original = figure_class.savefig

    def savefig(self: Any, *args: Any, **options: Any) -> Any:
        setattr(self, _MARK, True)
        return original(self, *args, **options)

    figure_class.savefig = savefig
    try:
        figure, axes = pyplot.subplots()
        axes.plot([1, 2], label="a")
        axes.set_title("价 a")
        axes.legend()
        if pandas := sys.modules.get("pandas"):  # its plotting, too, is loaded by the first plot
            days = pandas.date_range("2024-01-01", periods=30, freq="B")
            pandas.DataFrame({"b": range(30)}, index=days, dtype=float).plot(ax=axes.twinx())
        figure.savefig(io.BytesIO(), format="png")
        pyplot.close(figure)
    except Exception:  # noqa: BLE001  # runs without plots still work
        traceback.print_exc()


def save_open_figures() -> None:
    """Figures that the code left open and never saved become figure-1.png, figure-2.png …, as a notebook shows them."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if not getattr(figure, _MARK, False):
            figure.savefig(WORK / f"figure-{number}.png", dpi=120, bbox_inches="tight")
    pyplot.close("all")


class Runner:
    """Executes code in a module that is `__main__` to it; a session keeps the module."""

    def __init__(self) -> None:
        self._module = self._fresh()
        self._number = 0

    def _fresh(self) -> types.ModuleType:
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = __builtins__
        return module

    def run(self, code: str, *, keep: bool) -> tuple[bool, str]:
        """Run it; the value of a last expression is printed, unless it is None or a semicolon follows it.

        Returns:
            Whether it ended well, and the traceback.
        """
        if not keep:
            self._module = self._fresh()
        sys.modules["__main__"] = self._module
        self._number += 1
        name = f"<run {self._number}>" if keep else "<run>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        try:
            self._execute(code, name)
            save_open_figures()
        except SystemExit as error:
            return _judge_exit(error.code)
        except BaseException as error:  # noqa: BLE001  # whatever the code raises is its answer
            return False, _traceback(error)
        return True, ""

    def _execute(self, code: str, name: str) -> None:
        tree = ast.parse(code, name)
        last: ast.expr | None = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
            last = tree.body.pop().value  # type: ignore[attr-defined]  # just seen to be an expression statement
        exec(compile(tree, name, "exec"), self._module.__dict__)  # noqa: S102  # it is what this process is for
        if last is not None:
            value = eval(compile(ast.Expression(last), name, "eval"), self._module.__dict__)  # noqa: S307  # the same
            if value is not None:
                self._module.__dict__["_"] = value
                print(repr(value))  # noqa: T201  # as a notebook does


def _judge_exit(code: object) -> tuple[bool, str]:
    """Whether an exit code is one of success, and what is said of another; it may be any object of the code's."""
    if code is None or code is False or (type(code) is int and code == 0):  # an object's own == may raise as well
        return True, ""
    try:
        text = str(code)
    except BaseException:  # noqa: BLE001  # an object whose own text raises, which may be an exit again
        text = f"{type(code).__name__} (it cannot be shown)"
    return False, _shorten(f"SystemExit: {text}")


def _traceback(error: BaseException) -> str:
    try:
        frame = error.__traceback__
        while frame is not None and not frame.tb_frame.f_code.co_filename.startswith("<run"):
            frame = frame.tb_next
        text = "".join(traceback.format_exception(type(error), error, frame)).strip()
    except BaseException:  # noqa: BLE001  # an exception whose own text raises
        text = f"{type(error).__name__} (its traceback cannot be shown)"
    return _shorten(text)


def _shorten(text: str) -> str:
    if len(text) > _ERROR_CHARS:
        text = f"{text[: _ERROR_CHARS // 2]}\n[…]\n{text[-_ERROR_CHARS // 2 + 5 :]}"
    return text


def walk(folder: Path, depth: int = 0) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files below a folder: path relative to WORK, and its state. Links are not followed."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__" and depth < _DEEPEST:
                        yield from walk(Path(entry.path), depth + 1)
                elif entry.is_file(follow_symlinks=False):
                    yield os.path.relpath(entry.path, WORK), entry.stat(follow_symlinks=False)


def snapshot() -> dict[str, tuple[int, int, int]]:
    """What tells a changed file from an unchanged one."""
    return {path: (state.st_ino, state.st_size, state.st_mtime_ns) for path, state in walk(WORK)}


def send_files(before: dict[str, tuple[int, int, int]], budget: int) -> None:
    """Send what is new or changed. A file over what is left of the budget is announced, and no bytes of it follow."""
    for path, state in snapshot().items():
        if before.get(path) == state:
            continue
        data, size = b"", state[1]
        if size <= budget:
            try:
                descriptor = os.open(WORK / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                with os.fdopen(descriptor, "rb") as file:
                    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                        continue
                    data = file.read(budget + 1)
            except OSError:
                continue
            size = len(data)
        send(b"F", json.dumps({"path": path, "size": size}).encode())
        if size <= budget:
            budget -= size
            for start in range(0, size, _CHUNK):
                send(b"D", data[start : start + _CHUNK])


def take_files(files: list[dict[str, Any]]) -> None:
    """Write the files that come with the code; the keeper has checked their paths."""
    for file in files:
        target = WORK / file["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        left = file["size"]
        with target.open("wb") as out:
            while left:
                kind, data = receive()
                if kind != b"D" or not 0 < len(data) <= left:
                    os._exit(70)
                out.write(data)
                left -= len(data)


def main() -> None:
    """Load, say ready, run what comes."""
    preload()
    pump, runner, me = Pump(), Runner(), os.getpid()
    pump.start()
    WORK.mkdir(exist_ok=True)
    os.chdir(WORK)
    sys.path.insert(0, str(WORK))
    gc.collect()
    gc.freeze()
    with pump.lock:
        send(b"R", json.dumps({"guest": 1, "python": sys.version.split()[0]}).encode())
    while True:
        kind, payload = receive()
        if kind != b"X":
            os._exit(70)
        task = json.loads(payload)
        error, before = "", {}
        try:
            take_files(task["files"])
            before = snapshot()
        except OSError as failure:
            error = f"The files do not fit into the working directory: {failure}"
        os.environ.update(task["environment"])
        pump.open()
        ok = False
        if not error:
            with contextlib.suppress(OSError):
                os.chdir(WORK)
            ok, error = runner.run(task["code"], keep=task["keep"])
        if os.getpid() != me:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
            os._exit(0)  # the code forked, and this is the child at the end of it
        pump.close()
        with pump.lock:
            send_files(before, task["files_bytes"])
            send(b"Z", json.dumps({"id": task["id"], "ok": ok, "error": error}).encode())


if __name__ == "__main__":
    main()
