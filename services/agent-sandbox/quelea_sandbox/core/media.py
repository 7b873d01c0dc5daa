"""The media type of a file, from its bytes alone: what the code calls it is not believed."""

from __future__ import annotations

import json

_BINARY = "application/octet-stream"
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"PAR1", "application/vnd.apache.parquet"),
)
_LONGEST_JSON = 4 << 20


def media_type(data: bytes) -> str:
    """image/png, text/csv, application/json, text/plain … Never HTML or SVG: a browser would run what is in them."""
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _BINARY
    if "\x00" in text:
        return _BINARY
    if text[:1] in ("{", "[") and len(data) <= _LONGEST_JSON and _is_json(text):
        return "application/json"
    return "text/csv" if _is_table(text) else "text/plain"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_table(text: str) -> bool:
    """Its first lines have the same number of commas, at least one."""
    lines = [line for line in text[:4096].splitlines()[:6] if line]
    if len(text) > 4096 and len(lines) > 1:
        lines = lines[:-1]  # it may be cut
    plain = [line for line in lines if '"' not in line]
    return len(lines) >= 2 and bool(plain) and plain[0].count(",") > 0 and len({row.count(",") for row in plain}) == 1
