"""A worker whose reader crashes on files that say so, as a broken PDF may crash a parser written in C."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

from quelea_search import worker
from quelea_search.jobs import file_parsing

_parse = file_parsing.parse


def parent_of(pid: int) -> int:
    """Its parent, by what follows its name in brackets."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def parse(data: bytes, filename: str, **options: Any) -> Any:
    if data.startswith(b"CRASH"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if data.startswith(b"HANG"):
        re.match(r"(a+)+$", "a" * 60 + "b")  # C code that holds the interpreter for ages
    if data.startswith(b"KILL "):  # the process itself, the nursery, the worker's child or the worker: 0 to 3
        pid = os.getpid()
        for _ in range(int(data[5:6])):
            pid = parent_of(pid)
        os.kill(pid, signal.SIGKILL)
        signal.pause()
    return _parse(data, filename, **options)


file_parsing.parse = parse  # type: ignore[assignment]  # the same, but for three words
worker.main()
