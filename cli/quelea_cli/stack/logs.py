"""Where the services' lines go: a bounded file each, and the terminal with a coloured prefix."""

from __future__ import annotations

import contextlib
import json
import logging
import logging.handlers
import os
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

MAX_BYTES = 10 * 1024 * 1024
BACKUPS = 2
TAIL_LINES = 20
_COLOURS = (36, 32, 33, 35, 34, 96, 92, 93)
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
_HIDDEN = {"event", "level", "timestamp", "service", "trace_id", "span_id", "exception"}


class _LogFile(logging.handlers.RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name in logging
        """A disk that takes no line must not stop what the lines tell of."""


class Logs:
    """Takes every line of every service.

    Args:
        folder: Gets NAME.log, at most MAX_BYTES each, with BACKUPS older ones.
        terminal: Also written here, or None.
        level: Lowest level that goes to the terminal; the files get everything.
    """

    def __init__(self, folder: Path, terminal: TextIO | None = None, level: str = "info") -> None:
        self.folder = folder
        self._terminal = terminal
        self._level = _LEVELS[level]
        self._colour = bool(terminal and terminal.isatty() and "NO_COLOR" not in os.environ)
        self._files: dict[str, logging.handlers.RotatingFileHandler] = {}
        self._tails: dict[str, deque[str]] = {}
        self._width = 9

    def path(self, service: str) -> Path:
        """The log file of a service."""
        return self.folder / f"{service}.log"

    def line(self, service: str, text: str) -> None:
        """One line, without its newline."""
        file = self._files.get(service)
        if file is None:
            file = _LogFile(self.path(service), maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)
            self._files[service] = file
            self._tails[service] = deque(maxlen=TAIL_LINES)
        file.emit(logging.LogRecord(service, logging.INFO, "", 0, text, None, None))
        self._tails[service].append(text)
        if self._terminal:
            level, shown = readable(text)
            if level >= self._level:
                self._show(service, level, shown)

    def tail(self, service: str) -> list[str]:
        """The last lines that the service wrote."""
        return list(self._tails.get(service, ()))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            with contextlib.suppress(OSError):  # its last lines, on a disk that is full or read-only
                file.close()

    def _show(self, service: str, level: int, text: str) -> None:
        prefix = f"{service:<{self._width}} │ "
        if self._colour:
            colour = _COLOURS[list(self._files).index(service) % len(_COLOURS)]
            prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
            if level >= _LEVELS["error"]:
                text = f"\x1b[31m{text}\x1b[0m"
        with contextlib.suppress(OSError):  # it may be a file on the disk that is full
            print(prefix + text, file=self._terminal or sys.stderr, flush=True)


def last_value(lines: Sequence[str], event: str, name: str) -> str:
    """A value of the newest of these lines that tells of an event; empty where none does."""
    for line in reversed(lines):
        try:
            told = json.loads(line) if line.startswith("{") else None
        except ValueError:
            continue
        if isinstance(told, dict) and told.get("event") == event:
            return str(told.get(name) or "")
    return ""


def readable(line: str) -> tuple[int, str]:
    """Level and text for a person of one line: the services' JSON as `event key=value`, anything else as it is."""
    if not line.startswith("{"):
        return _LEVELS["info"], line
    try:
        event = json.loads(line)
    except ValueError:
        return _LEVELS["info"], line
    if not isinstance(event, dict) or "event" not in event:
        return _LEVELS["info"], line
    pairs = [f"{key}={value}" for key, value in event.items() if key not in _HIDDEN and value not in ("", None)]
    level = _LEVELS.get(str(event.get("level")), _LEVELS["info"])
    last = str(event.get("exception") or "").strip().splitlines()[-1:]
    return level, "  ".join([str(event["event"]), *pairs, *last])
