"""Which format the bytes are: their first bytes decide; a name only tells text formats apart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from quelea_kit.errors import QueleaError

from quelea_search.adapters.formats import csv, docx, html, pdf, pptx, text, xlsx
from quelea_search.adapters.formats import json as json_format
from quelea_search.adapters.formats.common import Progress, open_package
from quelea_search.adapters.formats.encoding import decode
from quelea_search.core.errors import EmptyDocument, Encrypted, TooLarge, Unreadable, WrongType
from quelea_search.core.layout.lines import RawPage
from quelea_search.core.model import ParsedDocument, ParseLimits

_OFFERED = "send PDF, HTML, DOCX, XLSX, PPTX, CSV, JSON, Markdown or text"
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"BM", "a bitmap image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"ID3", "an audio file"),
    (b"OggS", "an audio file"),
    (b"RIFF", "an audio, video or image file"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_BINARY_NAMES = (".pdf", ".docx", ".xlsx", ".pptx")
_Reader = Callable[[bytes, ParseLimits, Progress], ParsedDocument]
_PACKAGES: tuple[tuple[str, _Reader], ...] = (("word/", docx.read), ("xl/", xlsx.read), ("ppt/", pptx.read))
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*)?(?><!--.*?-->\s*+)*+<(?:!doctype\s+html|html|head|body|div|table|p|h\d?|article|span)\b",
    re.I | re.S,
)


def read(
    data: bytes, filename: str, limits: ParseLimits, on_progress: Progress, scans: Mapping[int, RawPage]
) -> ParsedDocument:
    """Recognise and read; see `quelea_search.adapters.formats.parse`."""
    name = PurePosixPath(filename.replace("\\", "/")).name
    suffix = PurePosixPath(name).suffix.lower()
    if not data:
        raise EmptyDocument(f"{name} is empty (0 bytes); send the file again.")
    if len(data) > limits.max_bytes:
        raise TooLarge(f"{name} has {len(data):,} bytes, the limit is {limits.max_bytes:,}; split it.")
    if pdf.may_be_pdf(data):
        return pdf.read(data, limits, on_progress, scans)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        reader = _package(data, name, limits)
        try:
            return reader(data, limits, on_progress)
        except (QueleaError, MemoryError):
            raise
        except Exception as error:
            raise Unreadable(f"{name} is broken and cannot be read; save it again.") from error
    if data.startswith(_OLE):
        if _ENCRYPTED_PACKAGE in data:
            raise Encrypted(f"{name} is encrypted; remove its password and send it again.")
        raise WrongType(f"{name} is an old Office file; save it as DOCX, XLSX or PPTX and send that.")
    for magic, what in _MAGIC:
        if data.startswith(magic) and not (len(magic) == 2 and magic.isalpha() and decode(data) is not None):
            raise WrongType(f"{name} is {what}; {_OFFERED}.")
    return _text(data, name, suffix, limits, on_progress)


def _package(data: bytes, name: str, limits: ParseLimits) -> _Reader:
    with open_package(data, limits, "ZIP or Office") as package:
        parts = package.namelist()
        if any(part.flag_bits & 1 for part in package.infolist()):
            raise Encrypted(f"{name} is an encrypted archive; unpack it and send the documents in it.")
        if "[Content_Types].xml" in parts:
            for folder, reader in _PACKAGES:
                if any(part.startswith(folder) for part in parts):
                    return reader
        opendocument = "mimetype" in parts and package.getinfo("mimetype").file_size < 200
        if opendocument and b"opendocument" in package.read("mimetype"):
            raise WrongType(f"{name} is an OpenDocument file; save it as DOCX, XLSX or PPTX and send that.")
    raise WrongType(f"{name} is a ZIP archive; unpack it and send the documents in it.")


def _text(data: bytes, name: str, suffix: str, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    said = decode(data)
    if said is None:
        if suffix in _BINARY_NAMES:
            raise Unreadable(f"{name} is broken: it does not start like a {suffix[1:].upper()} file; send it again.")
        raise WrongType(f"{name} is a binary file of an unknown type; {_OFFERED}.")
    if not said.strip("\ufeff \t\r\n\f"):
        raise EmptyDocument(f"{name} contains no text.")
    kind = _text_kind(said, suffix)
    if suffix in _BINARY_NAMES:
        what = {"html": "an HTML page", "json": "JSON"}.get(kind, "a text")
        raise WrongType(f"{name} is {what}, not {suffix[1:].upper()}; rename it and send it again.")
    readers: dict[str, Callable[[str, ParseLimits, Progress], ParsedDocument]] = {
        "html": html.read,
        "csv": csv.read,
        "json": json_format.read,
        "markdown": text.read_markdown,
        "text": text.read,
    }
    return readers[kind](said.lstrip("\ufeff"), limits, on_progress)


def _text_kind(said: str, suffix: str) -> str:
    by_name = {
        ".html": "html", ".htm": "html", ".xhtml": "html", ".xml": "html", ".csv": "csv", ".tsv": "csv",
        ".json": "json", ".jsonl": "json", ".ndjson": "json", ".md": "markdown", ".markdown": "markdown",
    }.get(suffix)  # fmt: skip
    if by_name:
        return by_name
    if _HTML.match(said[:4000]):
        return "html"
    return "json" if _is_json(said) else "text"


def _is_json(said: str) -> bool:
    """Whether a text without a telling name is JSON: whole, or at least its first line is an object."""
    start = said.lstrip("\ufeff \t\r\n")
    if start[:1] not in ("{", "["):
        return False
    first = start.split("\n", 1)[0]
    for candidate in (first, start) if len(start) < 5_000_000 else (first,):
        try:
            if isinstance(json.loads(candidate), dict | list):
                return True
        except (ValueError, RecursionError):
            continue
    return False
