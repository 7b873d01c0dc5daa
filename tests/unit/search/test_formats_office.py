"""Word, Excel and PowerPoint files: pages, tables, headings."""

from __future__ import annotations

import io
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import docx
import openpyxl
import pptx
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from quelea_search.core.layout.text_cleanup import clean
from quelea_search.core.model import CELL, ParsedDocument
from support.formats import lines_of, word_file

Parse = Callable[..., ParsedDocument]


def test_docx(parse_it: Parse) -> None:
    def build(document: Any) -> None:
        document.core_properties.title = "Quarterly Review"
        document.add_heading("Revenue", 1)
        document.add_paragraph("Revenue rose by 4%. It was driven by services.")
        document.add_paragraph("第二节 主要财务指标")
        table = document.add_table(rows=0, cols=3)
        for cells in (("", "2023", "2022"), ("Net sales", "81,797", "82,959"), ("Net income", "19,881", "19,442")):
            for cell, text in zip(table.add_row().cells, cells, strict=True):
                cell.text = text
        document.add_paragraph("After the table.")

    parsed = parse_it(word_file(build), "a.docx")
    assert parsed.format == "docx" and parsed.stated["title"] == "Quarterly Review"
    assert lines_of(parsed) == [
        ("heading", "Revenue"),
        ("text", "Revenue rose by 4%. It was driven by services."),
        ("heading", "第二节 主要财务指标"),
        ("head", f"2023{CELL}2022"),
        ("row", f"Net sales{CELL}81,797{CELL}82,959"),
        ("row", f"Net income{CELL}19,881{CELL}19,442"),
        ("text", "After the table."),
    ]


def test_docx_says_what_the_library_says(parse_it: Parse) -> None:
    def build(document: Any) -> None:
        run = document.add_paragraph("A ").add_run("run\twith a tab,")
        run.add_break()
        run.add_text("a line break,")
        run.add_break(WD_BREAK.PAGE)
        run.add_text(" a page break,")
        for tag in ("w:noBreakHyphen", "w:cr", "w:ptab", "w:drawing"):
            run._r.append(OxmlElement(tag))
        link = OxmlElement("w:hyperlink")
        link.append(deepcopy(run._r))
        run._r.getparent().append(link)
        run._r.getparent().append(OxmlElement("w:bookmarkStart"))

    data = word_file(build)
    (theirs,) = (one.text for one in docx.Document(io.BytesIO(data)).paragraphs)
    assert theirs.count("\n") == 4 and theirs.count("\t") == 4
    assert lines_of(parse_it(data, "a.docx")) == [("text", clean(theirs))]


def test_xlsx_sheet_is_page(parse_it: Parse) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Segments"
    for cells in (
        ["Net sales by segment"],
        ["(in millions)"],
        ["Segment", 2023, 2022],
        ["Americas", 35383, 37472.5],
        ["Margin", 0.443, None],
    ):
        sheet.append(cells)
    sheet["B5"].number_format = "0.0%"
    book.create_sheet("Empty")
    book.create_sheet("数据").append(["营业收入", 1581905632.48])
    out = io.BytesIO()
    book.save(out)
    parsed = parse_it(out.getvalue(), "a.xlsx")
    assert len(parsed.pages) == 3 and parsed.pages[1].text == ""
    assert lines_of(parsed) == [
        ("heading", "Segments"),
        ("head", "Net sales by segment"),
        ("head", "(in millions)"),
        ("head", f"Segment{CELL}2023{CELL}2022"),
        ("row", f"Americas{CELL}35383{CELL}37472.5"),
        ("row", f"Margin{CELL}44.3%"),
    ]
    assert "1581905632.48" in parsed.pages[2].text


def test_pptx_slide_is_page(parse_it: Parse) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Results"
    box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(4), Inches(1))
    box.text_frame.text = "Revenue rose 4%."
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(3), Inches(4), Inches(1)).table
    for i, text in enumerate(("Net sales", "81,797", "Net income", "19,881")):
        table.cell(i // 2, i % 2).text = text
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["2022", "2023"]
    data.add_series("Net sales", (82.9, 81.7))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data)
    out = io.BytesIO()
    deck.save(out)
    parsed = parse_it(out.getvalue(), "a.pptx")
    assert len(parsed.pages) == 2
    assert lines_of(parsed)[:3] == [
        ("heading", "Results"),
        ("text", "Revenue rose 4%."),
        ("row", f"Net sales{CELL}81,797"),
    ]
    assert parsed.pages[0].text.endswith("Say it slowly.")
    assert f"Net sales{CELL}82.9{CELL}81.7" in parsed.pages[1].text
