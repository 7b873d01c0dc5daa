"""A run as a PDF report (reportlab), laid out as a note: question, answer, evidence, charts, method, limits, steps.

Latin letters and figures are in the fonts that every reader has; all else, character by character, in a Chinese font
that comes with the document.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from quelea_checker import UNSUPPORTED
from quelea_fintext.notices import sentences
from quelea_fintext.text import CJK
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.platypus import Flowable, Image, Paragraph, SimpleDocTemplate, Spacer, Table, XPreformatted

from quelea_gateway.adapters.exports.chinese_font import font_for, is_latin, markup, plain
from quelea_gateway.adapters.exports.note_pdf import NoteStyles, flowables
from quelea_gateway.core.agent.model import NOT_TRACED, Event, Run
from quelea_gateway.core.answers.note import blocks_of

_MOST_PIXELS = 50_000_000
_CODE_LINES = 120
_MOST_ROWS, _CELL, _SHORT = 60, 300, 80
"""Rows of a table, characters of a cell and of a title in it."""
_CODE_POINTS = 7.5
_CODE_COLUMNS = 100
_WIDE = 1.2
"""A Chinese character beside code takes two columns: a column is .6 of the font's size."""
_WIDTH, _HEIGHT = A4[0] - 40 * mm, A4[1] - 60 * mm


class _Styles:
    def __init__(self, chinese: bool) -> None:
        font, bold = "Helvetica", "Helvetica" if chinese else "Helvetica-Bold"  # there is no bold Chinese one
        wrap = {"wordWrap": "CJK"} if chinese else {"splitLongWords": 1}
        self.title = ParagraphStyle("title", fontName=bold, fontSize=16, leading=21, alignment=TA_LEFT, **wrap)
        self.head = ParagraphStyle(
            "head", fontName=bold, fontSize=12, leading=16, spaceBefore=10, spaceAfter=4, keepWithNext=1, **wrap
        )
        self.body = ParagraphStyle("body", fontName=font, fontSize=10, leading=14.5, spaceAfter=4, **wrap)
        self.small = ParagraphStyle(
            "small", fontName=font, fontSize=8, leading=11, textColor=HexColor("#555555"), **wrap
        )
        self.code = ParagraphStyle(
            "code", fontName="Courier", fontSize=_CODE_POINTS, leading=9.5, leftIndent=4, spaceBefore=2, spaceAfter=6,
            backColor=HexColor("#f2f2ef"), borderPadding=2,
        )  # fmt: skip
        self.told = NoteStyles(chinese)
        self.output = ParagraphStyle("output", self.code, backColor=HexColor("#ebf1f8"))


def report(run: Run, events: Sequence[Event], images: Mapping[str, bytes]) -> bytes:
    """The report as a PDF."""
    texts = [run.question, str(run.answer), *(str(event.data) for event in events)]
    with font_for(*texts, *images, *sentences("report", "zh").values()):
        return _built(run, events, images, texts)


def _built(run: Run, events: Sequence[Event], images: Mapping[str, bytes], texts: Sequence[str]) -> bytes:
    styles = _Styles(any(CJK.search(text) for text in texts) or run.language == "zh")
    words = sentences("report", run.language)
    made = words["made"].format(id=run.id, as_of=run.as_of, state=run.state, model=run.model or "-")
    story: list[Flowable] = [
        Paragraph(_safe(run.question), styles.title), Spacer(1, 4), Paragraph(_safe(made), styles.small),
    ]  # fmt: skip
    story += _answer(run, words, styles)
    story += _evidence(run, words, styles)
    drawn = [flowable for name, image in images.items() for flowable in _plot(name, image, styles)]
    story += [Paragraph(_safe(words["charts"]), styles.head), *drawn] if drawn else []
    story += _method(events, words, styles)
    story += _limits(run, words, styles)
    story += _sources(run, words, styles)
    story += _appendix(events, words, styles)
    buffer = io.BytesIO()
    SimpleDocTemplate(
        buffer, pagesize=A4, leftMargin=20 * mm, rightMargin=20 * mm, topMargin=20 * mm, bottomMargin=20 * mm,
        title=plain(run.question)[:200], author="Quelea", invariant=1,
    ).build(story)  # fmt: skip
    return buffer.getvalue()


def _answer(run: Run, words: Mapping[str, str], styles: _Styles) -> list[Flowable]:
    if not run.answer:
        return [Paragraph(_safe(run.error or run.state), styles.body)]
    told = [one for block in blocks_of(run.answer["text"]) for one in flowables(block, styles.told)]
    return [Paragraph(_safe(words["answer"]), styles.head), *told]


def _evidence(run: Run, words: Mapping[str, str], styles: _Styles) -> list[Flowable]:
    """The results of the code with what they rest on, and the figures of the answer with their verdicts."""
    if not run.answer:
        return []
    found: list[Flowable] = [Paragraph(_safe(words["evidence"]), styles.head)]
    results = run.answer.get("results") or []
    if results:
        rows = [(words["result"], "", words["rests"])]
        rows += [
            (one["name"], f"{one['value']} {one['unit']}".strip(), _rests(one, words)) for one in results[:_MOST_ROWS]
        ]
        found += [_table(rows, styles), Spacer(1, 6)]
    figures = run.answer["figures"]
    rows = [(words["figure"], words["verdict_column"], words["source"])]
    rows += [(one["text"], _verdict(one, words), _place(run, one["source"])) for one in figures[:_MOST_ROWS]]
    found += [_table(rows, styles)] if figures else [Paragraph(_safe(words["no_evidence"]), styles.small)]
    good = sum(one["verdict"] not in (*UNSUPPORTED, NOT_TRACED) for one in figures)
    found.append(Paragraph(_safe(words["verdict"].format(good=good, all=len(figures))), styles.small))
    return found


def _verdict(figure: Mapping[str, Any], words: Mapping[str, str]) -> str:
    name = "untraced" if figure["verdict"] == NOT_TRACED else figure["verdict"]
    return words.get(name, name).format(formula=figure["formula"]).strip()


def _place(run: Run, number: int) -> str:
    source = next((one for one in (run.answer or {}).get("sources", []) if one["number"] == number), None)
    if source is None:
        return "-"
    page = f", p. {source['page']}" if source["page"] else ""
    return f"[{number}] {source['title'][:_SHORT]}{page}"


def _rests(result: Mapping[str, Any], words: Mapping[str, str]) -> str:
    rests = ", ".join(result["inputs"]) or "-"
    return rests if result["traced"] else f"{words['untraced']}; {rests}"


def _table(rows: Sequence[tuple[str, str, str]], styles: _Styles) -> Flowable:
    cells = [[Paragraph(_safe(cell[:_CELL]), styles.small) for cell in row] for row in rows]
    table = Table(cells, colWidths=[_WIDTH * share for share in (0.36, 0.24, 0.4)], repeatRows=1)
    table.setStyle([
        ("VALIGN", (0, 0), (-1, -1), "TOP"), ("LINEBELOW", (0, 0), (-1, 0), 0.8, HexColor("#555555")),
        ("LINEBELOW", (0, 1), (-1, -1), 0.25, HexColor("#cccccc")), ("TOPPADDING", (0, 0), (-1, -1), 2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ])  # fmt: skip
    return table


def _method(events: Sequence[Event], words: Mapping[str, str], styles: _Styles) -> list[Flowable]:
    """What was done, step by step; the code is in the appendix."""
    found: list[Flowable] = [Paragraph(_safe(words["method"]), styles.head)]
    found += [Paragraph(_safe(_step(event.data)), styles.small) for event in events if event.name == "step"]
    return found if len(found) > 1 else [*found, Paragraph(_safe(words["none"]), styles.small)]


def _step(data: Mapping[str, Any]) -> str:
    named = (data.get(name) for name in ("query", "need", "name", "company", "task", "source"))
    about = next((str(one) for one in named if one), "")
    apis = ", ".join(data.get("apis") or ())
    return f"{data['step']}. {data['action']}  {about}" + (f" ({apis})" if apis else "")


def _limits(run: Run, words: Mapping[str, str], styles: _Styles) -> list[Flowable]:
    """What was not answered, left out or not traced, and what the reader should know."""
    if not run.answer:
        return []
    lines = [words[name].format(text=one) for name in ("missing", "withheld") for one in run.answer[name]]
    untraced = [one["text"] for one in run.answer["figures"] if one["verdict"] == NOT_TRACED]
    lines += [words["not_traced"].format(text=", ".join(dict.fromkeys(untraced)))] if untraced else []
    lines += run.answer["notices"]
    head = Paragraph(_safe(words["limits"]), styles.head)
    return [head, *(Paragraph(_safe(f"• {one}"), styles.body) for one in lines or [words["none"]])]


def _plot(name: str, data: bytes, styles: _Styles) -> list[Flowable]:
    try:
        width, height = ImageReader(io.BytesIO(data)).getSize()
        if width * height > _MOST_PIXELS or not width or not height:
            return []
        scale = min(_WIDTH / width, _HEIGHT * 0.5 / height)
        drawn = Image(io.BytesIO(data), width * scale, height * scale)
    except (OSError, ValueError, SyntaxError):  # what Pillow raises for bytes that are no picture
        return []
    return [Spacer(1, 6), drawn, Paragraph(_safe(name), styles.small)]


def _sources(run: Run, words: Mapping[str, str], styles: _Styles) -> list[Flowable]:
    used = [one for one in (run.answer or {}).get("sources", []) if one["used"]]
    found: list[Flowable] = [Paragraph(_safe(words["sources"]), styles.head)] if used else []
    for one in used:
        parts = [f"[{one['number']}] {one['kind']} · step {one['step']} · {one['title']}", one["fetched"]]
        parts += [f"sha256 {one['sha256']}" if one["sha256"] else "", f"p. {one['page']}" if one["page"] else ""]
        found.append(Paragraph(_safe(" · ".join(part for part in parts if part)), styles.small))
    return found


def _appendix(events: Sequence[Event], words: Mapping[str, str], styles: _Styles) -> list[Flowable]:
    found: list[Flowable] = []
    for event in events:
        data = event.data
        if event.name == "code":
            found += [Paragraph(_safe(f"{data['step']}."), styles.small), _code(data["code"], styles.code)]
        elif event.name == "output" and (data.get("stdout") or data.get("error")):
            found.append(_code(data.get("stdout", "") + data.get("error", ""), styles.output))
    return [Paragraph(_safe(words["appendix"]), styles.head), *found] if found else []


def _code(text: str, style: ParagraphStyle) -> Flowable:
    lines = [piece for line in plain(text).split("\n")[:_CODE_LINES] for piece in _wrap(line.expandtabs(4))]
    return XPreformatted("\n".join(markup(one, _WIDE * _CODE_POINTS) for one in lines[: 2 * _CODE_LINES]) or " ", style)


def _wrap(line: str) -> list[str]:
    """In pieces of so many columns; of an endless line ten."""
    pieces, used = [""], 0
    for char in line[: 10 * _CODE_COLUMNS]:
        columns = 1 if is_latin(char) else 2
        if used + columns > _CODE_COLUMNS:
            pieces.append("")
            used = 0
        pieces[-1] += char
        used += columns
    return pieces


def _safe(text: Any) -> str:
    return markup(plain(str(text))[:6000])
