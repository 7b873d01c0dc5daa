"""The store that the gateway reads: a folder or an object store, evaluations in it as files of JSON.

The layout is the one that `quelea_gateway.adapters.stores.evaluations` describes; docs/decisions/0017 says why it is
files.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime

from quelea_kit.files.storage import Storage

from quelea_evaluation.publishing.views import LINE
from quelea_evaluation.reports.store import Row

FORMAT = 1
"""Of index.json."""
CHUNK = 50
"""Items in a file."""
_ID = re.compile(r"[0-9]{20}-[0-9a-f]{16}")


def now() -> str:
    """This moment, RFC 3339 in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


class Shelf:
    """Evaluations under a URL.

    Args:
        url: A folder, or s3://bucket/prefix.
    """

    def __init__(self, url: str) -> None:
        self._storage = Storage(url, "The store of evaluations")

    def ids(self) -> list[str]:
        """Of all evaluations, the oldest first."""
        return sorted(name for name in self._storage.names() if _ID.fullmatch(name))

    def read(self, evaluation_id: str, name: str) -> Row | None:
        """A document of an evaluation; None where there is none."""
        try:
            found = json.loads(self._storage.read(f"{evaluation_id}/{name}.json"))
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def write(self, evaluation_id: str, name: str, value: Row) -> None:
        """A document of an evaluation, whole or not at all."""
        self._write(f"{evaluation_id}/{name}.json", value)

    def is_cancelled(self, evaluation_id: str) -> bool:
        """Somebody wants it to end, or deleted it."""
        exists = self._storage.exists
        return exists(f"{evaluation_id}/cancel.json") or not exists(f"{evaluation_id}/request.json")

    def tell_worker(self, worker: Row) -> None:
        """What the worker has, and that it lives."""
        self._write("worker.json", {**worker, "updated": now()})

    def new_id(self) -> str:
        """Of an evaluation that nobody sees before it is announced."""
        return f"{datetime.now(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(8)}"

    def ask(self, request: Row) -> str:
        """Have one done, as the gateway asks for it; the same that waits or was under way is that one again."""
        asked = {**request, "key": ""}
        for one in self.ids():
            there, state = self.read(one, "request") or {}, (self.read(one, "state") or {}).get("state", "queued")
            same = {name: there.get(name) for name in asked} == asked
            if same and state in ("queued", "running") and not self.is_cancelled(one):
                return one
        own = self.new_id()
        self.write(own, "request", {**asked, "id": own, "created": now()})
        return own

    def announce(self, evaluation_id: str, kind: str, name: str, settings: Row) -> None:
        """Show an evaluation that was done elsewhere and is published."""
        self.write(evaluation_id, "state", {"state": "succeeded", "finished": now()})
        request = {"id": evaluation_id, "kind": kind, "name": name, "settings": settings, "created": now(), "key": ""}
        self.write(evaluation_id, "request", request)

    def remove(self, evaluation_id: str) -> None:
        """Forget an evaluation."""
        self._storage.delete_folder(evaluation_id)

    def publish(self, evaluation_id: str, result: Row, items: Iterable[Row]) -> int:
        """Result and items of an evaluation, in the place of those that are there; returns how many items."""
        lines: list[Row] = []
        chunk: list[Row] = []

        def flush() -> None:
            number = (len(lines) - 1) // CHUNK
            self._write(f"{evaluation_id}/items/{number:05}.json", {"items": chunk})
            chunk.clear()

        for item in items:
            lines.append({name: item[name] for name in LINE})
            chunk.append(item)
            if len(chunk) == CHUNK:
                flush()
        if chunk:
            flush()
        self.write(evaluation_id, "index", {"format": FORMAT, "chunk": CHUNK, "items": lines})
        self.write(evaluation_id, "result", result)
        return len(lines)

    def _write(self, name: str, value: Row) -> None:
        self._storage.write(name, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
