"""The tables of the door's memory, and what their rows are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from quelea_search.door.core.model import Call, Recorded, Source

SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, session_id TEXT NOT NULL, run_id TEXT NOT NULL,
  tenant TEXT NOT NULL, method TEXT NOT NULL, url TEXT NOT NULL, asked REAL NOT NULL, fetched REAL NOT NULL,
  status INTEGER NOT NULL, media_type TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, source TEXT NOT NULL,
  reason TEXT NOT NULL, milliseconds REAL NOT NULL, key TEXT NOT NULL, match TEXT NOT NULL, headers TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS calls_run ON calls (run_id, seq);
CREATE INDEX IF NOT EXISTS calls_session ON calls (session_id, seq);
CREATE INDEX IF NOT EXISTS calls_sha256 ON calls (sha256);
CREATE TABLE IF NOT EXISTS answers (
  key TEXT NOT NULL, scope TEXT NOT NULL, fetched REAL NOT NULL, method TEXT NOT NULL, url TEXT NOT NULL,
  match TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (key, scope, fetched)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_sha256 ON answers (sha256);
CREATE INDEX IF NOT EXISTS answers_fetched ON answers (fetched);
CREATE TABLE IF NOT EXISTS bundles (
  id TEXT PRIMARY KEY, run_id TEXT NOT NULL, calls INTEGER NOT NULL, bytes INTEGER NOT NULL, first REAL NOT NULL,
  last REAL NOT NULL);
CREATE TABLE IF NOT EXISTS bundle_notes (bundle TEXT PRIMARY KEY, note TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS bundle_calls (
  bundle TEXT NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL, method TEXT NOT NULL, url TEXT NOT NULL,
  match TEXT NOT NULL, fetched REAL NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL, sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL, PRIMARY KEY (bundle, number)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS bundle_calls_key ON bundle_calls (bundle, key, number);
CREATE INDEX IF NOT EXISTS bundle_calls_sha256 ON bundle_calls (sha256);
CREATE TABLE IF NOT EXISTS bodies (sha256 TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
"""
RECORDED = "key, method, url, match, fetched, status, headers, sha256, bytes"
CALL = (
    "id, session_id, run_id, tenant, method, url, asked, fetched, status, media_type, sha256, bytes, source, reason, "
    "milliseconds"
)
CITED = (
    "SELECT 1 FROM calls WHERE calls.sha256 = b.sha256"
    " UNION ALL SELECT 1 FROM bundle_calls WHERE bundle_calls.sha256 = b.sha256"
)


def call_row(call: Call, answer: Recorded | None) -> tuple[Any, ...]:
    """CALL's columns, then key, match and headers of what was given."""
    facts = ("", "{}", "{}") if answer is None else (answer.key, _json(answer.match), _json(answer.headers))
    return (
        call.id, call.session_id, call.run_id, call.tenant, call.method, call.url, call.asked, call.fetched,
        call.status, call.media_type, call.sha256, call.bytes, call.source.value, call.reason, call.milliseconds,
        *facts,
    )  # fmt: skip


def as_call(row: Sequence[Any]) -> Call:
    """From CALL's columns."""
    values = list(row)
    values[CALL.split(", ").index("source")] = Source(row[CALL.split(", ").index("source")])
    return Call(*values)


def recorded_row(answer: Recorded) -> tuple[Any, ...]:
    """RECORDED's columns."""
    return (
        answer.key, answer.method, answer.url, _json(answer.match), answer.fetched, answer.status,
        _json(answer.headers), answer.sha256, answer.bytes,
    )  # fmt: skip


def as_recorded(row: Sequence[Any]) -> Recorded:
    """From RECORDED's columns."""
    key, method, url, match, fetched, status, headers, sha256, size = row
    return Recorded(key, method, url, json.loads(match), fetched, status, json.loads(headers), sha256, size)


def _json(value: Mapping[str, str]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)
