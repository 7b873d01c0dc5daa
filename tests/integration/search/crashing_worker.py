"""A worker whose reader crashes on files that say so, as a broken PDF may crash a parser written in C."""

from __future__ import annotations

import os
import re
import signal
from typing import Any

from quelea_search import file_parsing, worker

_parse = file_parsing.parse


def parse(data: bytes, filename: str, **options: Any) -> Any:
    if data.startswith(b"CRASH"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if data.startswith(b"HANG"):
        re.match(r"(a+)+$", "a" * 60 + "b")  # C code that holds the interpreter for ages
    return _parse(data, filename, **options)


file_parsing.parse = parse  # type: ignore[assignment]  # the same, but for two words
worker.main()
