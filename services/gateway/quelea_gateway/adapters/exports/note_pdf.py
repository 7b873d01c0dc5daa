"""A research note as PDF (reportlab): title, text with its markers, charts, figures, numbered sources, remarks."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_LEFT, TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    HRFlowable,
    KeepTogether,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
    XPreformatted,
)

from quelea_gateway.adapters.exports.chinese_font import font_for, markup, plain
from quelea_gateway.adapters.exports.note_charts import draw
from quelea_gateway.core.answers.note import Block, FigureLine, Note, NoteSource, Run

_MARGIN = 22 * mm
_WIDTH = A4[0] - 2 * _MARGIN
_INK, _LINE, _SOFT = HexColor("#1b2a3a"), HexColor("#1f4e79"), HexColor("#5a6570")
_MOST_QUOTE = 1200
_MOST_CODE = 80
_MOST_COLUMNS = 10
"""Of a table that are set side by side."""
_MOST_HEAD = 300
"""Characters of a cell of a table's first row that is repeated on each page: a longer one leaves no room below it."""


class NoteStyles:
    """Of one note; `anchor` begins the names of its sources."""

    def __init__(self, chinese: bool, anchor: str = "source") -> None:
        self.anchor = anchor
        wrap: dict[str, Any] = {"wordWrap": "CJK"} if chinese else {"splitLongWords": 1}
        base: dict[str, Any] = {"fontName": "Helvetica", "textColor": _INK, **wrap}
        self.title = ParagraphStyle("title", fontSize=18, leading=24, spaceAfter=2, **base)
        self.facts = ParagraphStyle("facts", fontSize=8.5, leading=12, **{**base, "textColor": _SOFT})
        head = {**base, "textColor": _LINE, "fontName": "Helvetica-Bold"}
        self.head = ParagraphStyle("head", fontSize=11.5, leading=15, spaceBefore=12, spaceAfter=5, **head)
        self.body = ParagraphStyle("body", fontSize=10, leading=15, spaceAfter=6, alignment=TA_LEFT, **base)
        self.item = ParagraphStyle("item", self.body, leftIndent=14, bulletIndent=2, spaceAfter=3)
        self.cell = ParagraphStyle("cell", fontSize=8.5, leading=11, **base)
        self.right = ParagraphStyle("right", self.cell, alignment=TA_RIGHT)
        self.source = ParagraphStyle("source", fontSize=8.5, leading=12, spaceBefore=4, leftIndent=16, **base)
        self.quote = ParagraphStyle("quote", self.source, spaceBefore=1, textColor=_SOFT, fontSize=8, leading=11)
        self.code = ParagraphStyle("code", fontName="Courier", fontSize=8, leading=10, spaceAfter=6)


def note_pdf(notes: Sequence[Note]) -> bytes:
    """The notes as PDF, each on a page of its own, one at least; characters that are not Latin come with it."""
    first = notes[0]
    with font_for(repr(notes), *(word for note in notes for word in (note.words("made"), *_words(note)))):
        out = io.BytesIO()
        document = SimpleDocTemplate(
            out, pagesize=A4, leftMargin=_MARGIN, rightMargin=_MARGIN, topMargin=18 * mm, bottomMargin=20 * mm,
            title=plain(first.title)[:200], author="Quelea", invariant=1,
        )  # fmt: skip
        story: list[Flowable] = []
        for index, note in enumerate(notes):
            styles = NoteStyles(chinese=note.language == "zh", anchor=f"answer{index + 1}source" if index else "source")
            story += [*([PageBreak()] if index else []), *_story(note, styles)]
        footer = _Footer(first, NoteStyles(chinese=first.language == "zh"))
        document.build(story, onFirstPage=footer, onLaterPages=footer)
        return out.getvalue()


def _words(note: Note) -> list[str]:
    names = ("figures", "figure", "period", "value", "unit", "source", "sources", "basis", "record")
    return [note.words(name) for name in names]


class _Footer:
    """At the foot of each page: what made it, and the page's number."""

    def __init__(self, note: Note, styles: NoteStyles) -> None:
        self._text = Paragraph(markup(note.words("made")), styles.facts)

    def __call__(self, canvas: Canvas, document: Any) -> None:
        canvas.saveState()
        canvas.setStrokeColor(_SOFT)
        canvas.setLineWidth(0.4)
        canvas.line(_MARGIN, 15 * mm, A4[0] - _MARGIN, 15 * mm)
        self._text.wrap(_WIDTH - 40, 12)
        self._text.drawOn(canvas, _MARGIN, 10 * mm)
        canvas.setFont("Helvetica", 8.5)
        canvas.setFillColor(_SOFT)
        canvas.drawRightString(A4[0] - _MARGIN, 11 * mm, str(canvas.getPageNumber()))
        canvas.restoreState()


def _story(note: Note, styles: NoteStyles) -> Iterator[Flowable]:
    yield Paragraph(_safe(note.title), styles.title)
    yield Paragraph(_safe(" · ".join(note.facts)), styles.facts)
    yield HRFlowable(width="100%", thickness=1.2, color=_LINE, spaceBefore=5, spaceAfter=9)
    for block in note.blocks:
        yield from flowables(block, styles)
    for chart in note.charts:
        yield KeepTogether([Spacer(1, 6), draw(chart)])
    if note.figures:
        yield Paragraph(_safe(note.words("figures")), styles.head)
        yield _figures(note, styles)
    if note.sources:
        for index, one in enumerate(note.sources):
            head = [] if index else [Paragraph(_safe(note.words("sources")), styles.head)]
            yield KeepTogether([*head, *_source(one, styles)])
    for title, lines in (*note.remarks, (note.words("record"), note.record)):
        for index, line in enumerate(lines):
            told = Paragraph(_safe(line), styles.facts)
            yield told if index else KeepTogether([Paragraph(_safe(title), styles.head), told])


def flowables(block: Block, styles: NoteStyles) -> Iterator[Flowable]:
    """A block of a text, laid out."""
    if block.kind == "table":
        for rows in _bands(block.rows):
            yield _table([[Paragraph(_runs(cell, styles), styles.cell) for cell in row] for row in rows])
            yield Spacer(1, 6)
    elif block.kind == "code":
        lines = plain(block.runs[0].text).split("\n")[:_MOST_CODE]
        yield XPreformatted("\n".join(markup(line[:100]) for line in lines), styles.code)
    elif block.kind == "item":
        mark = f"{block.number}." if block.number else "•"
        yield Paragraph(_runs(block.runs, styles), styles.item, bulletText=mark)
    else:
        yield Paragraph(_runs(block.runs, styles), styles.head if block.kind == "heading" else styles.body)


def _bands(rows: tuple[tuple[tuple[Run, ...], ...], ...]) -> Iterator[tuple[tuple[tuple[Run, ...], ...], ...]]:
    """A table as narrower ones below each other, each with the first column."""
    columns = max(map(len, rows), default=0)
    if columns <= _MOST_COLUMNS:
        yield rows
        return
    for start in range(1, columns, _MOST_COLUMNS - 1):
        yield tuple((*row[:1], *row[start : start + _MOST_COLUMNS - 1]) for row in rows)


def _runs(runs: tuple[Run, ...], styles: NoteStyles) -> str:
    parts = []
    for run in runs:
        text = _safe(run.text).replace("\n", "<br/>")
        if run.marker:
            text = f'<super size="7"><a href="#{styles.anchor}{run.marker}" color="#1f4e79">{text}</a></super>'
        text = f"<b>{text}</b>" if run.bold else text
        text = f"<i>{text}</i>" if run.italic else text
        parts.append(f'<font name="Courier">{text}</font>' if run.code else text)
    return "".join(parts) or " "


def _figures(note: Note, styles: NoteStyles) -> Table:
    say = note.words
    head = [say("figure"), say("period"), say("value"), say("unit"), say("source")]
    looks = [styles.right if text == say("value") else styles.cell for text in head]
    rows: list[list[Any]] = [[Paragraph(f"<b>{_safe(text)}</b>", look) for text, look in zip(head, looks, strict=True)]]
    spans = []
    for one in note.figures:
        rows.append(_figure(one, styles))
        if one.basis:
            spans.append(("SPAN", (0, len(rows)), (-1, len(rows))))
            rows.append([Paragraph(_safe(f"{say('basis')}: {one.basis}"), styles.facts), "", "", "", ""])
    widths = [_WIDTH * share for share in (0.34, 0.24, 0.17, 0.14, 0.11)]
    return _table(rows, widths, spans)


def _figure(one: FigureLine, styles: NoteStyles) -> list[Any]:
    links = " ".join(f'<a href="#{styles.anchor}{number}" color="#1f4e79">[{number}]</a>' for number in one.sources)
    texts = [Paragraph(_safe(text), styles.cell) for text in (one.name, one.period)]
    return [*texts, Paragraph(_safe(one.value), styles.right), Paragraph(_safe(one.unit), styles.cell),
            Paragraph(links or " ", styles.cell)]  # fmt: skip


def _table(rows: list[list[Any]], widths: list[float] | None = None, spans: list[Any] | None = None) -> Table:
    columns = max((len(row) for row in rows), default=1) or 1
    head = max((len(getattr(cell, "text", "")) for cell in rows[0]), default=0)
    table = Table(
        rows, colWidths=widths or [_WIDTH / columns] * columns, splitInRow=1, repeatRows=int(head <= _MOST_HEAD)
    )  # a row may be longer than a page
    table.setStyle(
        TableStyle([
            ("LINEABOVE", (0, 0), (-1, 0), 0.8, _LINE), ("LINEBELOW", (0, 0), (-1, 0), 0.5, _LINE),
            ("LINEBELOW", (0, -1), (-1, -1), 0.8, _LINE), ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 2.5), ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5), *(spans or []),
        ])
    )  # fmt: skip
    return table


def _source(one: NoteSource, styles: NoteStyles) -> Iterator[Flowable]:
    title = f"<a href={quoteattr(one.address)} color='#1f4e79'>{_safe(one.title)}</a>"
    web = f" · <a href={quoteattr(one.web)} color='#1f4e79'>{_safe(one.web)}</a>" if one.web else ""
    name = f'<a name="{styles.anchor}{one.number}"/>'
    yield Paragraph(f"{name}[{one.number}] {title}, {_safe(one.details)}{web}", styles.source)
    quote = one.quote if len(one.quote) <= _MOST_QUOTE else one.quote[:_MOST_QUOTE] + " …"
    yield Paragraph(_safe(quote).replace("\n", "<br/>"), styles.quote)


def _safe(text: str) -> str:
    return markup(plain(text))
