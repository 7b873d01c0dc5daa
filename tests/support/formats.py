"""Small files of other formats, and what was read out of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import docx
from quelea_search.core.model import ParsedDocument


def lines_of(parsed: ParsedDocument, page: int = 1) -> list[tuple[str, str]]:
    held = parsed.pages[page - 1]
    return [(line.kind.value, held.text[line.start : line.end]) for line in held.lines]


def word_file(build: Callable[[Any], None]) -> bytes:
    document = docx.Document()
    build(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()
