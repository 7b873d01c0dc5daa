"""What is done with an original in a process of its own: it is read by parsers in C, and may be hostile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from quelea_kit.errors import QueleaError

from quelea_search.adapters.formats.html_as_filed import AsFiled, render
from quelea_search.adapters.formats.pdf_spans import LocatedSpan, locate
from quelea_search.web.parsing_pool import Refused

T = TypeVar("T")


def locate_span(data: bytes, number: int, text: str, start: int, end: int) -> LocatedSpan | Refused:
    """pdf_spans.locate, with a result that can be pickled."""
    return _told(lambda: locate(data, number, text, start, end))


def render_html(data: bytes, text: str, start: int, end: int) -> AsFiled | Refused:
    """html_as_filed.render, with a result that can be pickled."""
    return _told(lambda: render(data, text, start, end))


def _told(work: Callable[[], T]) -> T | Refused:
    try:
        return work()
    except QueleaError as error:
        return Refused(error.reason, error.message)
    except MemoryError:
        return Refused("TOO_LARGE", "Reading the document needs too much memory; download it instead.")
