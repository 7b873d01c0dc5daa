"""Which media types of web pages are read, and what bytes are when nobody says."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/markdown;q=0.8,text/plain;q=0.8"
SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
}
"""The types that are read, with the ending that tells the parsers. JSON and XML are left out: on the web they are
feeds and interfaces for programs, not pages."""
UNKNOWN = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/force-download"})
"""Servers that do not know say one of these; then the bytes decide."""

_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta)\b", re.I | re.S
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0c\x1b")


def sniff(media_type: str, start: bytes) -> str:
    """The type of a page: what the server says, or, when it does not know, what the first bytes are; "" for binary."""
    if media_type not in UNKNOWN:
        return media_type
    plain = start.removeprefix(b"\xef\xbb\xbf")
    if b"%PDF-" in plain[:1024]:
        return "application/pdf"
    if _HTML.match(plain):
        return "text/html"
    if media_type or not plain or any(byte < 32 and byte not in _TEXT_CONTROLS for byte in plain):
        return ""
    return "text/plain"


_BY_SUFFIX = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".xml": "text/html",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/jsonl",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
"""What a stored document is by its name, as the parsers take it: .xml files are filings in XHTML."""


def of_original(start: bytes, filename: str) -> str:
    """The media type of a stored document: PDF by its first bytes, others by their name, else by the bytes again."""
    seen = sniff("", start)
    if seen == "application/pdf":
        return seen
    named = _BY_SUFFIX.get(PurePosixPath(filename.replace("\\", "/")).suffix.lower(), "")
    if named.startswith("application/vnd.") and not start.startswith(b"PK"):
        named = ""
    return named or seen or "application/octet-stream"
