"""PPTX through python-pptx: a slide is a page, its title a heading; tables, charts and notes come with it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile

import pptx
from lxml.etree import LxmlError
from pptx.exc import PythonPptxError
from pptx.oxml.ns import qn

from quelea_search.adapters.formats.common import Progress, finish, open_package, stated_fields
from quelea_search.core.errors import TooLarge, TooManyPages, Unreadable
from quelea_search.core.layout.page_assembly import Block
from quelea_search.core.layout.text_blocks import paragraph, table
from quelea_search.core.layout.text_cleanup import clean
from quelea_search.core.model import LineKind, ParsedDocument, ParseLimits

MOST_POINTS = 10_000
MAXIMUM_DEPTH = 20
"""Groups within groups that are looked into."""


def read(data: bytes, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """A presentation. Raises Unreadable, TooLarge, TooManyPages, EmptyDocument."""
    open_package(data, limits, "PPTX").close()
    try:
        deck = pptx.Presentation(io.BytesIO(data))
        total = len(deck.slides)
        if total > limits.max_pages:
            raise TooManyPages(f"The presentation has {total} slides, the limit is {limits.max_pages}; split it.")
        on_progress(0, total)
        pages: list[list[Block]] = []
        for number, slide in enumerate(deck.slides):
            pages.append(list(_slide(slide)))
            on_progress(number + 1, total)
        facts = stated_fields(
            title=clean(deck.core_properties.title or ""), author=clean(deck.core_properties.author or "")
        )
    except (LxmlError, PythonPptxError, KeyError, ValueError, AttributeError, BadZipFile, IndexError) as error:
        raise Unreadable("The PPTX file is broken and cannot be read; save it again.") from error
    return finish(pages, "pptx", facts, limits, on_progress, numbered=True)


def _slide(slide: Any) -> Iterator[Block]:
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        yield Block(LineKind.HEADING, title.text_frame.text, 1)
    shapes = sorted(slide.shapes, key=_Places(slide))
    for shape in shapes:
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape(shape, 0)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        for line in slide.notes_slide.notes_text_frame.text.splitlines():
            if line.strip():
                yield Block(LineKind.TEXT, line)


class _Places:
    """Where a shape stands on its slide; the library looks through the layout anew for each that inherits its place."""

    def __init__(self, slide: Any) -> None:
        self._layout = {
            one.placeholder_format.idx: (one.top or 0, one.left or 0) for one in slide.slide_layout.placeholders
        }

    def __call__(self, shape: Any) -> tuple[int, int]:
        if shape.is_placeholder and shape._element.xfrm is None:
            return self._layout.get(shape.placeholder_format.idx, (0, 0))
        return shape.top or 0, shape.left or 0


def _shape(shape: Any, depth: int) -> Iterator[Block]:
    if hasattr(shape, "shapes") and depth < MAXIMUM_DEPTH:
        for inner in shape.shapes:
            yield from _shape(inner, depth + 1)
    if getattr(shape, "has_text_frame", False):
        for item in shape.text_frame._element.iterchildren(qn("a:p")):  # the library makes a list of objects of them
            text = "".join(run.text for run in item.iterchildren(qn("a:r"))) or item.text
            if text.strip():
                yield paragraph(text)
    if getattr(shape, "has_table", False):
        yield from table([[cell.text for cell in row.cells] for row in shape.table.rows])
    if getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)


def _chart(chart: Any) -> Iterator[Block]:
    """The numbers behind a chart, as a table."""
    if chart.has_title and chart.chart_title.has_text_frame and chart.chart_title.text_frame.text.strip():
        yield Block(LineKind.TEXT, chart.chart_title.text_frame.text)
    for plot in chart.plots:
        series = list(plot.series)
        categories = _points(next((one._element.find(qn("c:cat")) for one in series), None))
        rows = [["", *(said for _, said in sorted(categories.items()))]]
        for one in series:
            values = _points(one._element.find(qn("c:val")))
            count = max(len(categories), 1 + max(values, default=-1))
            if count > MOST_POINTS:
                raise TooLarge(f"A chart of the presentation has more than {MOST_POINTS:,} points; leave it out.")
            rows.append([str(one.name), *(_figure(values.get(at, "")) for at in range(count))])
        yield from table(rows, 1, keep_empty=True)


def _points(data: Any) -> dict[int, str]:
    """Texts of a chart's points by their places. How many there are is counted: the file may claim any number."""
    if data is None:
        return {}
    first = next(data.iter(qn("c:lvl")), data)  # of several levels, the innermost
    return {int(point.get("idx")): point.findtext(qn("c:v")) or "" for point in first.iter(qn("c:pt"))}


def _figure(text: str) -> str:
    return f"{float(text):.12g}" if text else ""
