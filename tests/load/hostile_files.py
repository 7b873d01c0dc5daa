"""What each hostile file costs the reader: python tests/load/hostile_files.py [--bytes N] [--seconds N] [NAME…]

One line a file, tab-separated: name, bytes, seconds of processor time, peak of memory in MB, what came out of it.
The file is read as a worker reads it, in a process of its own whose address space has the worker's bound.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.hostile_files import FILES

from quelea_search.core.model import DocumentFacts, ParseLimits
from quelea_search.file_parsing import FileParser


def main() -> None:
    """Measure, and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bytes", type=int, default=1_000_000)
    arguments.add_argument("--seconds", type=int, default=60, help="of processor time, then it is ended")
    arguments.add_argument("--memory-mb", type=int, default=4096)
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_args()
    for name in given.names or FILES:
        print("\t".join(map(str, (name, *measure(name, given.bytes, given.seconds, given.memory_mb)))), flush=True)


def measure(name: str, size: int, seconds: int, memory_mb: int) -> tuple[int, str, int, str]:
    """Bytes of the file, processor time, peak memory in MB, outcome."""
    filename, make = FILES[name]
    with tempfile.TemporaryDirectory() as folder:
        file, told = Path(folder) / filename, Path(folder) / "told"
        _apart(lambda: file.write_bytes(make(size)))
        status, used = _apart(lambda: _read(file, told, seconds, memory_mb))
        outcome = told.read_text() if told.exists() else signal.Signals(os.WTERMSIG(status)).name
        spent = used.ru_utime + used.ru_stime
        return file.stat().st_size, f"{spent:.1f}", used.ru_maxrss // 1024, outcome


def _apart(do: object) -> tuple[int, resource.struct_rusage]:
    pid = os.fork()
    if pid == 0:
        try:
            do()  # type: ignore[operator]
        finally:
            os._exit(0)
    _, status, used = os.wait4(pid, 0)
    return status, used


def _read(file: Path, told: Path, seconds: int, memory_mb: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    parser = FileParser(ParseLimits(), 10 * seconds)
    try:
        parsed = parser.parse(file.read_bytes(), file.name)
        cut = parser.chunk_document(parsed, file.name, DocumentFacts())
        outcome = f"{len(parsed.pages)} pages, {len(cut.chunks)} passages"
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is what comes out
        outcome = f"{type(error).__name__}: {str(error)[:90]}"
    told.write_text(outcome)


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
