"""The door's memory: log, cache and bundles in one SQLite file, bodies in files beside it.

SQLite's write-ahead log keeps every line that was acknowledged when the process is killed; a power cut may cost the
last ones (synchronous=NORMAL). One process owns the folder. Everything here blocks and is called in threads; one lock
serialises it, since a body that is just being cited must not be dropped at that moment.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from quelea_kit.errors import Conflict, NotFound

from quelea_search.door.adapters.bodies import Bodies
from quelea_search.door.adapters.rows import CALL, CITED, RECORDED, SCHEMA, as_call, as_recorded, call_row, recorded_row
from quelea_search.door.core.bundle import Bundle, BundleLimits, Opened, read_bundle
from quelea_search.door.core.model import Call, Recorded


class Store:
    """Opens the folder; one process at a time.

    Args:
        folder: Made when it is not there.

    Raises:
        Conflict: Another door has it open.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._held = (folder / "lock").open("w")
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._held.close()
            raise Conflict(f"{folder} is in use by another market-data door; choose another data_dir.") from error
        self.bodies = Bodies(folder / "bodies")
        self.lock = threading.RLock()
        self._importing = 0
        self.full = False
        """Whether more is cited than may be kept, though every run that could leave has left."""
        self.db = sqlite3.connect(folder / "door.db", check_same_thread=False, timeout=10.0)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=NORMAL")
        self.db.executescript(SCHEMA)
        self._sweep()

    def close(self) -> None:
        """Let go of the folder."""
        with self.lock:
            self.db.close()
            self._held.close()

    def check(self) -> None:
        """Raises when nothing can be written."""
        with self.lock, self.db:
            self.db.execute("PRAGMA user_version=1")

    def _sweep(self) -> None:
        """Remove files that no line knows: a door was killed between file and line."""
        known = {row[0] for row in self.db.execute("SELECT sha256 FROM bodies")}
        for sha256 in list(self.bodies.names()):
            if sha256 not in known:
                self.bodies.drop(sha256)

    # -- writing ---------------------------------------------------------------------------------------------------

    def record(self, call: Call, answer: Recorded | None, body: bytes, *, scope: str | None = None) -> None:
        """Write a line of the log with what it cites; it is there when this returns.

        Args:
            call: The line.
            answer: What was given; None for a refused call.
            body: Its bytes.
            scope: To keep it for other calls too: "" for every run, a run's id for that run; None: not.
        """
        with self.lock, self.db:
            if answer is not None:
                self.bodies.put(body)
                self._know(answer.sha256, answer.bytes)
                if scope is not None:
                    self.db.execute(
                        f"INSERT OR REPLACE INTO answers (scope, {RECORDED}) VALUES (?,?,?,?,?,?,?,?,?,?)",  # noqa: S608  # constant columns
                        (scope, *recorded_row(answer)),
                    )
            self.db.execute(
                f"INSERT INTO calls ({CALL}, key, match, headers) VALUES ({','.join('?' * 18)})",  # noqa: S608  # constant columns
                call_row(call, answer),
            )

    def _know(self, sha256: str, size: int) -> None:
        self.db.execute("INSERT OR IGNORE INTO bodies (sha256, bytes) VALUES (?,?)", (sha256, size))

    def import_bundle(self, path: Path, limits: BundleLimits) -> Bundle:
        """Take a bundle in; the same one twice changes nothing. Raises InvalidInput."""
        with self.lock:
            self._importing += 1  # meanwhile nothing is dropped: a body that is there already may be one of these
        try:
            opened = read_bundle(path, limits, self.bodies.put)
            self._add_bundle(opened)
        finally:
            with self.lock:
                self._importing -= 1
        return opened.facts()

    def _add_bundle(self, opened: Opened) -> None:
        facts = opened.facts()
        with self.lock, self.db:
            self.db.execute(
                "INSERT OR REPLACE INTO bundles VALUES (?,?,?,?,?,?)",
                (facts.id, facts.run_id, facts.calls, facts.bytes, facts.first, facts.last),
            )
            self.db.execute("INSERT OR REPLACE INTO bundle_notes VALUES (?,?)", (opened.id, opened.note))
            self.db.execute("DELETE FROM bundle_calls WHERE bundle = ?", (opened.id,))
            self.db.executemany(
                f"INSERT INTO bundle_calls (bundle, number, {RECORDED}) VALUES (?,?,?,?,?,?,?,?,?,?,?)",  # noqa: S608  # constant columns
                [(opened.id, number, *recorded_row(call)) for number, call in enumerate(opened.calls)],
            )
            for call in opened.calls:
                self._know(call.sha256, call.bytes)

    # -- reading ---------------------------------------------------------------------------------------------------

    def cached(self, key: str, scopes: Sequence[str], before: float) -> Recorded | None:
        """The newest answer to a call that was fetched before a time."""
        marks = ",".join("?" * len(scopes))
        with self.lock:
            row = self.db.execute(
                f"SELECT {RECORDED} FROM answers WHERE key = ? AND scope IN ({marks}) AND fetched < ?"  # noqa: S608  # marks only
                " ORDER BY fetched DESC LIMIT 1",
                (key, *scopes, before),
            ).fetchone()
        return None if row is None else as_recorded(row)

    def bundled(self, key: str, bundle_ids: Sequence[str], before: float) -> list[Recorded]:
        """The answers to a call in some bundles, in the bundles' order, then their own."""
        found = []
        with self.lock:
            for bundle_id in bundle_ids:
                found += self.db.execute(
                    f"SELECT {RECORDED} FROM bundle_calls WHERE bundle = ? AND key = ? AND fetched < ?"  # noqa: S608  # constant columns
                    " ORDER BY number",
                    (bundle_id, key, before),
                ).fetchall()
        return [as_recorded(row) for row in found]

    def neighbours(self, bundle_ids: Sequence[str], netloc: str, limit: int = 500) -> list[tuple[str, dict[str, str]]]:
        """Address and match facts of the calls to a host in some bundles; not more than a limit of each."""
        found: list[tuple[str, dict[str, str]]] = []
        with self.lock:
            for bundle_id in bundle_ids:
                rows = self.db.execute(
                    "SELECT url, match FROM bundle_calls WHERE bundle = ? AND url LIKE ? LIMIT ?",
                    (bundle_id, f"%://{netloc}/%", limit),
                )
                found += [(url, json.loads(match)) for url, match in rows]
        return found

    def calls(self, run_id: str, session_id: str, limit: int) -> list[Call]:
        """Lines of the log, in order."""
        with self.lock:
            rows = self.db.execute(
                f"SELECT {CALL} FROM calls WHERE (?1 = '' OR run_id = ?1) AND (?2 = '' OR session_id = ?2)"  # noqa: S608  # constant columns
                " ORDER BY seq LIMIT ?3",
                (run_id, session_id, limit),
            ).fetchall()
        return [as_call(row) for row in rows]

    def run(self, run_id: str) -> list[Recorded]:
        """What a run was given, in order. Raises NotFound."""
        with self.lock:
            rows = self.db.execute(
                f"SELECT {RECORDED} FROM calls WHERE run_id = ? AND sha256 != '' ORDER BY seq",  # noqa: S608  # constant columns
                (run_id,),
            ).fetchall()
        if not rows:
            raise NotFound(f"The log has no answered call of run {run_id[:80]!r}; it made none, or has expired.")
        return [as_recorded(row) for row in rows]

    def note_of(self, bundle_id: str) -> str:
        """What whoever made a bundle says of its data; empty when nothing."""
        with self.lock:
            found = self.db.execute("SELECT note FROM bundle_notes WHERE bundle = ?", (bundle_id,)).fetchone()
        return str(found[0]) if found else ""

    def bundles(self) -> list[Bundle]:
        """All bundles."""
        with self.lock:
            rows = self.db.execute(
                "SELECT id, run_id, calls, bytes, first, last FROM bundles ORDER BY rowid"
            ).fetchall()
        return [Bundle(*row) for row in rows]

    def body(self, sha256: str) -> bytes:
        """Bytes by their hash. Raises NotFound."""
        return self.bodies.get(sha256)

    @property
    def bytes(self) -> int:
        """Of all bodies."""
        with self.lock:
            return int(self.db.execute("SELECT coalesce(sum(bytes), 0) FROM bodies").fetchone()[0])

    # -- bounds ----------------------------------------------------------------------------------------------------

    def tidy(self, *, days: float, max_calls: int, max_bytes: int, busy: Iterable[str] = ()) -> None:
        """Keep the log and the cache within their bounds.

        Whole runs leave the log, the oldest first, when they are too old, when there are too many calls, or when what
        the log cites alone is over the bytes; then cached answers leave, the oldest first. What a line that stays
        cites, or a bundle has, is never dropped.

        Args:
            days: Age of a run's last call.
            max_calls: Lines of the log.
            max_bytes: Of all bodies.
            busy: Runs under way; they stay.
        """
        kept = set(busy)
        with self.lock:
            if self._importing:
                return
            ended = self.db.execute(
                "SELECT run_id, max(asked), count(*) FROM calls GROUP BY run_id ORDER BY 2"
            ).fetchall()
            lines, cited = sum(row[2] for row in ended), self._cited()
            for run_id, last, count in ended:
                too_old = last < time.time() - days * 86400
                if run_id in kept or not (too_old or lines > max_calls or cited > max_bytes):
                    continue
                with self.db:
                    self.db.execute("DELETE FROM calls WHERE run_id = ?", (run_id,))
                    self.db.execute("DELETE FROM answers WHERE scope = ? AND scope != ''", (run_id,))
                lines -= count
                cited = self._cited() if cited > max_bytes else cited
            self._evict(max_bytes)
            self.full = self.bytes > max_bytes

    def _cited(self) -> int:
        row = self.db.execute(f"SELECT coalesce(sum(bytes), 0) FROM bodies b WHERE EXISTS ({CITED})").fetchone()  # noqa: S608  # constant
        return int(row[0])

    def _evict(self, max_bytes: int) -> None:
        over = self.bytes - max_bytes
        rows = self.db.execute(
            "SELECT b.sha256, b.bytes FROM bodies b LEFT JOIN answers a ON a.sha256 = b.sha256"  # noqa: S608  # constant
            f" WHERE NOT EXISTS ({CITED}) GROUP BY b.sha256 ORDER BY max(coalesce(a.fetched, 0))"
        ).fetchall()
        unused = {row[0] for row in self.db.execute(
            "SELECT sha256 FROM bodies WHERE sha256 NOT IN (SELECT sha256 FROM answers)")}  # fmt: skip
        for sha256, size in rows:
            if over <= 0 and sha256 not in unused:
                continue
            with self.db:
                self.db.execute("DELETE FROM answers WHERE sha256 = ?", (sha256,))
                self.db.execute("DELETE FROM bodies WHERE sha256 = ?", (sha256,))
            self.bodies.drop(sha256)
            over -= size
