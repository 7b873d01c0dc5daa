"""Supervised examples of runs, as JSON lines in a folder: one file for each day and process (docs/trajectories.md)."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quelea_kit.logging import get_logger

log = get_logger(__name__)


class TrajectoryFolder:
    """Appends examples to a folder.

    Args:
        folder: Made when it is not there.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._lock = asyncio.Lock()

    async def add(self, example: dict[str, Any]) -> None:
        """Append one. A disk that is full costs examples, not runs."""
        line = json.dumps(example, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        async with self._lock:
            try:
                await asyncio.to_thread(self._append, line)
            except OSError as error:
                log.warning("trajectory_not_kept", error=str(error))

    def _append(self, line: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{datetime.now(UTC):%Y-%m-%d}-{os.getpid()}.jsonl"
        with path.open("ab") as file:
            file.write(line)
