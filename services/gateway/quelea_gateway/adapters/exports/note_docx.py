"""A research note as DOCX (python-docx), with Word's own styles, so that an analyst can go on writing in it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor

from quelea_gateway.adapters.exports.chinese_font import font_for
from quelea_gateway.adapters.exports.note_charts import as_png, draw
from quelea_gateway.core.answers.note import Block, Note, NoteSource, Run

_LINK, _SOFT = RGBColor(0x1F, 0x4E, 0x79), RGBColor(0x5A, 0x65, 0x70)
_LATIN, _CHINESE = "Calibri", "Microsoft YaHei"
_CHART_WIDTH = Cm(15.5)
_MOST_QUOTE = 1200
_ILLEGAL = {code: None for code in range(32) if chr(code) not in "\n\t"} | {0xFFFE: None, 0xFFFF: None}
"""Characters that XML does not have."""


def note_docx(notes: Sequence[Note]) -> bytes:
    """The notes as DOCX, each on a page of its own; one at least."""
    document: Any = Document()
    _set_up(document, notes[0])
    for index, note in enumerate(notes):
        if index:
            document.add_page_break()
        _note(document, note, f"answer{index + 1}source" if index else "source")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _note(document: Any, note: Note, anchor: str) -> None:
    """Title, text, charts, figures, sources, remarks; `anchor` begins the names of its sources."""
    document.add_heading(_plain(note.title), 0)
    _small(document.add_paragraph(), " · ".join(note.facts))
    for block in note.blocks:
        _block(document, block, anchor)
    if note.charts:
        with font_for(repr(note.charts)):
            pictures = [as_png(draw(chart)) for chart in note.charts]
        for picture in pictures:
            document.add_picture(io.BytesIO(picture), width=_CHART_WIDTH)
    if note.figures:
        document.add_heading(note.words("figures"), 1)
        _figures(document, note, anchor)
    if note.sources:
        document.add_heading(note.words("sources"), 1)
        for one in note.sources:
            _source(document, one, anchor)
    for title, lines in (*note.remarks, (note.words("record"), note.record)):
        if lines:
            document.add_heading(_plain(title), 1)
            for line in lines:
                _small(document.add_paragraph(style="List Bullet"), line)


def _set_up(document: Any, note: Note) -> None:
    for name, size in (("Normal", 10.5), ("Title", 20), ("Heading 1", 13), ("Heading 2", 11.5)):
        style = document.styles[name]
        style.font.name, style.font.size = _LATIN, Pt(size)
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
            fonts.attrib.pop(qn(f"w:{theme}"), None)
        fonts.set(qn("w:eastAsia"), _CHINESE)
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.4)
    section.top_margin = section.bottom_margin = Cm(2.2)
    foot = section.footer.paragraphs[0]
    _small(foot, f"{note.words('made')}   ")
    _page_number(foot)
    document.core_properties.title = _plain(note.title)[:200]
    document.core_properties.author = "Quelea"


def _block(document: Any, block: Block, anchor: str) -> None:
    if block.kind == "table":
        columns = max((len(row) for row in block.rows), default=0)
        if not columns:
            return
        table = document.add_table(rows=0, cols=columns, style="Light Grid Accent 1")
        for row in block.rows:
            for cell, runs in zip(table.add_row().cells, row, strict=False):
                _runs(cell.paragraphs[0], runs, anchor)
        return
    if block.kind == "heading":
        paragraph = document.add_heading("", 1)
    elif block.kind == "item":
        paragraph = document.add_paragraph(style="List Number" if block.number else "List Bullet")
    else:
        paragraph = document.add_paragraph()
    _runs(paragraph, block.runs, anchor)


def _runs(paragraph: Any, runs: tuple[Run, ...], anchor: str) -> None:
    for run in runs:
        if run.marker:
            _link(paragraph, run.text, anchor=f"{anchor}{run.marker}", raised=True)
            continue
        written = paragraph.add_run(_plain(run.text))
        written.bold, written.italic = run.bold or None, run.italic or None
        if run.code:
            written.font.name = "Consolas"


def _figures(document: Any, note: Note, anchor: str) -> None:
    say = note.words
    table = document.add_table(rows=1, cols=5, style="Light Grid Accent 1")
    for cell, name in zip(table.rows[0].cells, ("figure", "period", "value", "unit", "source"), strict=True):
        cell.text = say(name)
    for one in note.figures:
        cells = table.add_row().cells
        for cell, text in zip(cells, (one.name, one.period, one.value, one.unit), strict=False):
            cell.text = _plain(text)
        cells[2].paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.RIGHT
        for number in one.sources:
            _link(cells[4].paragraphs[0], f"[{number}]", anchor=f"{anchor}{number}")
        if one.basis:
            cells = table.add_row().cells
            _small(cells[0].merge(cells[4]).paragraphs[0], f"{say('basis')}: {one.basis}")


def _source(document: Any, one: NoteSource, anchor: str) -> None:
    paragraph = document.add_paragraph()
    _bookmark(paragraph, f"{anchor}{one.number}")
    paragraph.add_run(f"[{one.number}] ")
    _link(paragraph, _plain(one.title), address=one.address)
    paragraph.add_run(f", {_plain(one.details)}")
    if one.web:
        paragraph.add_run(" · ")
        _link(paragraph, _plain(one.web), address=one.web)
    quote = one.quote if len(one.quote) <= _MOST_QUOTE else one.quote[:_MOST_QUOTE] + " …"
    _small(document.add_paragraph(style="Quote"), quote)


def _small(paragraph: Any, text: str) -> None:
    run = paragraph.add_run(_plain(text))
    run.font.size, run.font.color.rgb = Pt(9), _SOFT


def _link(paragraph: Any, text: str, *, address: str = "", anchor: str = "", raised: bool = False) -> None:
    """python-docx has no call for links: the element that Word makes."""
    element = OxmlElement("w:hyperlink")
    if address:
        element.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    else:
        element.set(qn("w:anchor"), anchor)
    run = paragraph.add_run(text)
    run.font.color.rgb, run.font.superscript = _LINK, raised or None
    element.append(run._r)  # moved into the link
    paragraph._p.append(element)


def _bookmark(paragraph: Any, name: str) -> None:
    number = len(paragraph.part.element.xpath("//w:bookmarkStart"))  # unique in the document
    for kind in ("Start", "End"):
        element = OxmlElement(f"w:bookmark{kind}")
        element.set(qn("w:id"), str(number))
        if kind == "Start":
            element.set(qn("w:name"), name)
        paragraph._p.append(element)


def _page_number(paragraph: Any) -> None:
    for kind, text in (("begin", ""), ("", "PAGE"), ("end", "")):
        element = OxmlElement("w:instrText" if text else "w:fldChar")
        if text:
            element.text = text
        else:
            element.set(qn("w:fldCharType"), kind)
        paragraph.add_run()._r.append(element)


def _plain(text: str) -> str:
    return text.translate(_ILLEGAL).encode("utf-8", "replace").decode()
