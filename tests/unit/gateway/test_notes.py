"""An answer as a research note, PDF, DOCX and workbook: what stands in it, and that it can be read."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import docx
import openpyxl
import pypdfium2
import pytest
from quelea_gateway.adapters.exports.note_docx import note_docx
from quelea_gateway.adapters.exports.note_pdf import note_pdf
from quelea_gateway.adapters.exports.spreadsheet import answer_workbook
from quelea_gateway.core.answers.note import charts, note, write_value


def operand(label: str, concept: str, value: str, year: int, number: int = 1, unit: str = "USD") -> dict[str, Any]:
    return {
        "label": label, "concept": concept, "value": value, "unit": unit, "period_start": f"{year}-01-01",
        "period_end": f"{year}-12-31", "source": "table", "number": number, "document_id": "d1", "page": 27,
        "start": 3, "end": 9, "printed": value,
    }  # fmt: skip


def figure(
    metric: str, value: str, unit: str, year: int, operands: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    return {
        "company": "贵州茅台", "metric": metric, "value": value, "unit": unit, "period_start": f"{year}-01-01",
        "period_end": f"{year}-12-31", "formula": "{0}", "growth": "", "fiscal_year": year, "absent": [],
        "operands": operands, **more,
    }  # fmt: skip


SALES = [
    figure("", value, "CNY", year, [operand("营业总收入", "revenue", value, year, unit="CNY")])
    for year, value in ((2023, "150560330316"), (2022, "127553959355"))
]
MARGIN = figure(
    "gross_margin", "91.96", "percent", 2023,
    [operand("=毛利", "gross_profit", "9", 2023), operand("收入", "revenue", "10", 2023)], formula="{0} / {1}",
)  # fmt: skip
SOURCE = {
    "number": 1, "document_id": "d1", "title": "贵州茅台2023年年度报告", "uri": "upload:a.pdf", "page": 27,
    "published": "2024-04-03", "quote": "营业总收入 1,505.60亿元", "start": 3, "end": 9, "fetched": None,
}  # fmt: skip
QUESTION = "贵州茅台2023年的营业总收入是多少？"


def answer(**more: Any) -> dict[str, Any]:
    text = "营业总收入为**1505.60亿元** [1]，<b>x</b>。\n\n1. “三巨头” [1]\n2. 再看 [7]\n\n"
    web = {**SOURCE, "number": 2, "title": "网页", "uri": "https://a.example/b?c=d&e", "from_web": True}
    plain = {
        "answer": f"{text}| 年 | 值 |\n|---|---|\n| 2023 | 1505 [1] |",
        "citations": [SOURCE, web], "further_reading": [], "route": "local", "as_of": "2026-01-02",
        "reader": "openai", "model": "m", "prompt_version": "", "checks": [],
        "reading": {"text": "贵州茅台 · 2023年报"}, "declined": None, "language": "zh", "notices": ["检索：2023年报"],
        "gate": {"kind": "calibrated", "probability": 0.9, "threshold": 0.6}, "figures": [*SALES, MARGIN],
        "grounding": {"figures": [], "withheld": ["净利润为 9 亿元。"]},
    }  # fmt: skip
    return plain | more


def link(place: Mapping[str, Any]) -> str:
    return f"http://here/{place['document_id']}/{place['page']}?start={place['start']}&end={place['end']}"


def pdf_text(data: bytes) -> str:
    document = pypdfium2.PdfDocument(data)
    return "".join(page.get_textpage().get_text_range() for page in document).replace("\r\n", "\n")


def ink(data: bytes) -> list[int]:
    """Dark pixels of the first page's rows: what a glyph that is missing, or a box, does not look like."""
    picture = pypdfium2.PdfDocument(data)[0].render(scale=1, grayscale=True).to_pil()
    return [sum(value < 128 for value in picture.crop((0, y, picture.width, y + 1)).getdata()) for y in range(200)]


def test_the_text_is_read_as_markdown_and_only_sources_are_links() -> None:
    made = note(QUESTION, answer(), link)
    assert [(one.kind, one.number) for one in made.blocks] == [
        ("paragraph", 0), ("item", 1), ("item", 2), ("table", 0)
    ]  # fmt: skip
    first = made.blocks[0].runs
    assert [(run.text, run.bold, run.marker) for run in first[:4]] == [
        ("营业总收入为", False, 0), ("1505.60亿元", True, 0), (" ", False, 0), ("[1]", False, 1)
    ]  # fmt: skip
    assert "<b>x</b>" in "".join(run.text for run in first)
    assert [run.marker for run in made.blocks[2].runs] == [0, 0]  # there is no source 7
    assert [one.basis for one in made.figures] == ["", "", "=毛利 9 USD / 收入 10 USD"]
    assert made.remarks[0][1] == ("净利润为 9 亿元。",)
    assert (made.sources[0].web, made.sources[1].web) == ("", "https://a.example/b?c=d&e")


@pytest.mark.parametrize(
    ("value", "unit", "language", "read"),
    [
        ("81797000000", "USD", "en", ("81.80", "USD billion")),
        ("-9000000", "USD", "en", ("-9.00", "USD million")),
        ("150560330316", "CNY", "zh", ("1,505.60", "CNY 亿")),
        ("6.42", "USD/share", "en", ("6.42", "USD/share")),
        ("26.712", "percent", "en", ("26.71", "%")),
        ("1E+400", "USD", "en", ("1E+400", "USD")),
        ("NaN", "USD", "en", ("NaN", "USD")),
    ],
)
def test_values_are_scaled_for_reading(value: str, unit: str, language: str, read: tuple[str, str]) -> None:
    assert write_value(value, unit, language) == read


def test_charts_are_of_lines_with_two_points_and_operands_of_a_change_count() -> None:
    (sales,) = charts([*SALES, MARGIN], "zh")
    assert (sales.title, sales.unit, sales.categories) == ("营业总收入", "CNY 亿", ("2022", "2023"))
    assert [[round(value or 0) for value in values] for _, values in sales.series] == [[1276, 1506]]
    change = figure("change", "5", "USD", 2023, [operand("Sales", "revenue", str(n), n) for n in (2022, 2023)])
    assert [one.categories for one in charts([change], "en")] == [("2022", "2023")]
    peers = [SALES[0], {**SALES[0], "company": "五粮液"}]
    assert [name for name, _ in next(charts(peers, "zh")).series] == ["贵州茅台", "五粮液"]
    assert list(charts([SALES[0]], "zh")) == []


def test_a_chinese_note_as_pdf_brings_its_characters_and_so_does_the_next() -> None:
    first = note_pdf([note(QUESTION, answer(), link)])
    text = pdf_text(first)
    for part in (
        QUESTION,
        "1,505.60",
        "贵州茅台2023年年度报告",
        "“三巨头”",
        "净利润为 9 亿元。",
        "来源",
        "不构成投资建议",
    ):
        assert part in text, part
    other = note_pdf([note("宁德时代动力电池", answer(answer="锂矿", figures=[], citations=[]), link)])
    assert "锂矿" in pdf_text(other)
    # Characters that the font does not have are all the same box: these rows of ink would be those of one another.
    rows = [
        ink(note_pdf([note(word, answer(answer="x", figures=[], citations=[]), link)])) for word in ("龘", "一", "豕")
    ]
    assert len({tuple(one) for one in rows}) == 3
    assert b"STSong" not in first


def test_an_english_note_has_links_to_the_places_that_print() -> None:
    document = pypdfium2.PdfDocument(note_pdf([note("Q?", answer(language="en"), link)]))
    assert "Sources" in pdf_text(note_pdf([note("Q?", answer(language="en"), link)]))
    assert len(document) >= 1
    raw = note_pdf([note("Q?", answer(language="en"), link)])
    assert b"http://here/d1/27?start=3&end=9" in raw.replace(b"\\", b"")


def test_a_note_as_docx_reads_back_with_links_tables_and_pictures() -> None:
    read = docx.Document(io.BytesIO(note_docx([note(QUESTION, answer(), link)])))
    text = "\n".join(one.text for one in read.paragraphs)
    assert read.paragraphs[0].text == QUESTION
    assert "营业总收入为1505.60亿元" in text
    assert "营业总收入 1,505.60亿元" in text
    assert [[cell.text for cell in row.cells][:2] for row in read.tables[0].rows] == [
        ["年", "值"],
        ["2023", "1505 [1]"],
    ]
    assert [cell.text for cell in read.tables[1].rows[1].cells] == [
        "贵州茅台 · 营业总收入", "2023-01-01 – 2023-12-31", "1,505.60", "CNY 亿", "[1]",
    ]  # fmt: skip
    assert len(read.inline_shapes) == 1
    targets = {one.target_ref for one in read.part.rels.values() if one.is_external}
    assert {"http://here/d1/27?start=3&end=9", "https://a.example/b?c=d&e"} <= targets
    assert 'w:anchor="source1"' in read.element.xml
    assert 'w:name="source1"' in read.element.xml


def test_an_answer_as_a_workbook_links_each_figure_and_runs_no_formula() -> None:
    made = note(QUESTION, answer(), link)
    book = openpyxl.load_workbook(io.BytesIO(answer_workbook([(made, answer()["figures"])], link)))
    assert book.sheetnames == ["answer", "figures", "sources"]
    rows = [[cell.value for cell in row] for row in book["figures"].iter_rows(min_row=2)]
    assert [row[:6] for row in rows] == [
        ["贵州茅台", "营业总收入", "2023-01-01", "2023-12-31", 150560330316, "CNY"],
        ["贵州茅台", "营业总收入", "2022-01-01", "2022-12-31", 127553959355, "CNY"],
        ["贵州茅台", "gross margin", "2023-01-01", "2023-12-31", 91.96, "percent"],
        ["  {0}", "=毛利", "2023-01-01", "2023-12-31", 9, "USD"],
        ["  {1}", "收入", "2023-01-01", "2023-12-31", 10, "USD"],
    ]
    assert rows[2][6:] == ["{0} / {1}", None, "[1]", "p. 27: 9"]
    assert [row[6] for row in rows[:3]] == [None, None, "{0} / {1}"]  # of a stated figure there is none
    for row in book["figures"].iter_rows(min_row=2):
        assert row[4].hyperlink.target == "http://here/d1/27?start=3&end=9"
    assert (book["figures"]["B5"].value, book["figures"]["B5"].data_type) == ("=毛利", "s")
    assert book["sources"]["B2"].hyperlink.target == "http://here/d1/27?start=3&end=9"
    assert book["sources"]["E3"].value == "https://a.example/b?c=d&e"


def test_texts_of_any_length_and_kind_become_files() -> None:
    odd = "\x01" + "长" * 5000 + "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")
    sources = [{**SOURCE, "title": odd, "quote": odd * 3}]
    figures = [figure("", "1e999999", odd, 2023, [operand(odd, "", "x", 2023, number=60)])]  # not cited
    wild = note(odd, answer(answer=odd, citations=sources, figures=figures), link)
    assert note_pdf([wild]).startswith(b"%PDF")
    assert note_docx([wild]).startswith(b"PK")
    assert answer_workbook([(wild, figures)], link).startswith(b"PK")


def table(*rows: list[str]) -> str:
    head, *below = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *below])


@pytest.mark.parametrize(
    "text",
    [
        table([f"c{at}" for at in range(60)], [f"v{at}" for at in range(60)]),
        table(["a", "b"], ["tall", "word " * 1500 + "c59 v59"]),
        table(["a", "word " * 1500], ["c59", "v59"]),
        table([*("a" * 9), "word " * 60], [*("b" * 9), "word " * 120 + "c59 v59"]),  # each page repeats the head
    ],
)
def test_a_table_that_is_too_wide_or_too_tall_for_a_page_is_in_the_pdf_whole(text: str) -> None:
    found = pdf_text(note_pdf([note("Q?", answer(language="en", answer=text, figures=[], citations=[]), link)]))
    assert "c59" in found
    assert "v59" in found
