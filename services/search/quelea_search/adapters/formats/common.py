"""What every format needs."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TypeVar
from xml.parsers import expat

from quelea_fintext.dates import find_dates

from quelea_search.core.errors import EmptyDocument, TooLarge, TooManyPages, Unreadable
from quelea_search.core.layout.page_assembly import Block, build_page, paginate
from quelea_search.core.model import ParsedDocument, ParseLimits

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Called with (pages done, pages); the last call has done == total. Sheets, slides and records count as pages."""


_PROLOG_STEP = 65_536
_MOST_PROLOG = 16 * _PROLOG_STEP
"""Bytes before the first element. The parser looks through a long comment again with each step."""
_PICTURES_AND_PAGES = (".svg", ".htm", ".html", ".xhtml", ".mht")
"""Parts that are embedded whole, may well have a document type, and that no reader here opens."""
_BEFORE_XML = b"\xef\xbb\xbf\xfe\xff \t\r\n"


def check_characters(count: int, limits: ParseLimits) -> None:
    """Raise TooLarge when a document's text is longer than the limit."""
    if count > limits.max_characters:
        raise TooLarge(f"The document has more than {limits.max_characters:,} characters of text; split it.")


def check_lines(count: int, limits: ParseLimits) -> None:
    """Raise TooLarge when a document has more lines than the limit: each costs some microseconds, however short."""
    if count > limits.max_lines:
        raise TooLarge(f"The document has more than {limits.max_lines:,} lines; split it.")


def bounded(blocks: Iterable[T], limits: ParseLimits) -> Iterator[T]:
    """The blocks one by one; TooLarge as soon as there are more than a document may have lines."""
    for count, block in enumerate(blocks, start=1):
        check_lines(count, limits)
        yield block


def check_pages(count: int, limits: ParseLimits) -> None:
    """Raise TooManyPages when a document has more pages than the limit."""
    if count > limits.max_pages:
        raise TooManyPages(f"The document has {count} pages, the limit is {limits.max_pages}; split it.")


def check_rows(count: int, limits: ParseLimits) -> None:
    """Raise TooLarge when a table has more rows than the limit."""
    if count > limits.max_rows:
        raise TooLarge(f"The file has more than {limits.max_rows:,} rows; split it.")


def stated_fields(**fields: str) -> dict[str, str]:
    """The fields that are not empty."""
    return {name: value for name, value in fields.items() if value}


def day_of(text: str) -> str:
    """The first complete date in a short text, as YYYY-MM-DD; empty where there is none."""
    found = next(find_dates(text), None)
    return found.day.isoformat() if found else ""


def finish(
    pages: Sequence[Sequence[Block]],
    kind: str,
    facts: Mapping[str, str],
    limits: ParseLimits,
    on_progress: Progress,
    *,
    numbered: bool = False,
) -> ParsedDocument:
    """Blocks to a document. Raises EmptyDocument when no page has text, TooLarge when there is too much of it.

    Args:
        numbered: The pages have numbers of their own (slides, sheets): empty ones stay, so that the numbers stay true.
    """
    check_lines(sum(map(len, pages)), limits)
    check_characters(sum(len(block.text) for page in pages for block in page), limits)
    built = tuple(page for page in (build_page(blocks) for blocks in pages) if numbered or page.text)
    if not any(page.text for page in built):
        raise EmptyDocument("The document contains no text.")
    on_progress(len(built), len(built))
    return ParsedDocument(built, kind, dict(facts))


def finish_flow(
    blocks: Sequence[Block], kind: str, facts: Mapping[str, str], limits: ParseLimits, on_progress: Progress
) -> ParsedDocument:
    """Like finish(), for a format without pages."""
    return finish(paginate(blocks), kind, facts, limits, on_progress)


class _PrologRead(Exception):
    """The first element has begun; `declared` tells whether a document type stood before it."""

    def __init__(self, declared: bool) -> None:
        self.declared = declared


def _declares_type(stream: IO[bytes]) -> bool:
    """Whether a part is XML with a document type, whatever stands before it and whatever its encoding.

    A part may have any name, so every one is looked at; one that is no XML ends with its first bytes.
    """

    def stop(declared: bool) -> None:
        raise _PrologRead(declared)

    reader = expat.ParserCreate()
    reader.StartDoctypeDeclHandler = lambda *_: stop(True)
    reader.StartElementHandler = lambda *_: stop(False)
    start, count = b"", 0
    try:
        while data := stream.read(_PROLOG_STEP):
            start, count = start or data[:64], count + len(data)
            reader.Parse(data)
            if count > _MOST_PROLOG:
                raise Unreadable("A part of the file has a megabyte of comments before it begins; export it again.")
    except _PrologRead as prolog:
        return prolog.declared
    except (expat.ExpatError, LookupError, ValueError):
        # expat reads neither UTF-32 nor some old code pages, which lxml does: no office program writes them.
        return start.replace(b"\0", b"").lstrip(_BEFORE_XML).startswith(b"<")
    return False


def open_package(data: bytes, limits: ParseLimits, what: str) -> zipfile.ZipFile:
    """A DOCX, XLSX or PPTX container that is safe to unpack.

    Raises:
        TooLarge: Its parts are larger than the limit when unpacked.
        Unreadable: It is broken, or a part declares XML entities, which no office program does.
    """
    try:
        package = zipfile.ZipFile(io.BytesIO(data))
        parts = package.infolist()
        if sum(part.file_size for part in parts) > limits.max_unpacked_bytes or len(parts) > 50_000:
            raise TooLarge(
                f"The {what} file unpacks to more than {limits.max_unpacked_bytes // 1_048_576} MiB; make it smaller."
            )
        for part in parts:
            if part.filename.lower().endswith(_PICTURES_AND_PAGES):
                continue
            with package.open(part) as stream:
                if _declares_type(stream):
                    raise Unreadable(f"The {what} file declares XML entities and is not opened; export it again.")
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise Unreadable(f"The {what} file is broken and cannot be opened; save it again.") from error
    return package
