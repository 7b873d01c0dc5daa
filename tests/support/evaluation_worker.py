"""The worker of evaluations, as the gateway sees it: files in the store."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from quelea_kit.files.storage import Storage


class Worker:
    """Writes what the worker writes."""

    def __init__(self, folder: Path) -> None:
        self.storage = Storage(str(folder), "The store")

    def write(self, name: str, value: Any) -> None:
        self.storage.write(name, json.dumps(value).encode())

    def beat(self, age: float = 0) -> None:
        """It lived so many seconds ago."""
        updated = (datetime.now(UTC) - timedelta(seconds=age)).isoformat(timespec="seconds")
        told = {"models": ["tiny"], "question_sets": {"filings": 20}, "benches": {"ucfe": 330}}
        self.write("worker.json", {"updated": updated, **told})
