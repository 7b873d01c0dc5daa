"""Every other format, and every way in which bytes are not what they claim."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from quelea_kit.errors import InvalidInput, Unsupported
from quelea_search.adapters.formats import FORMATS
from quelea_search.core.chunk import chunk
from quelea_search.core.errors import EmptyDocument, Encrypted, TooLarge, TooManyPages, Unreadable, WrongType
from quelea_search.core.model import CELL, ParsedDocument

Parse = Callable[..., ParsedDocument]


def lines_of(parsed: ParsedDocument, page: int = 1) -> list[tuple[str, str]]:
    held = parsed.pages[page - 1]
    return [(line.kind.value, held.text[line.start : line.end]) for line in held.lines]


def word_file(build: Callable[[Any], None]) -> bytes:
    document = docx.Document()
    build(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


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


def test_csv_header_stands_above_every_page(parse_it: Parse) -> None:
    rows = "\n".join(f"2023-01-{i % 28 + 1:02d};ACME;{i}.5" for i in range(250))
    parsed = parse_it(f"date;symbol;close\n{rows}".encode(), "prices.csv")
    assert len(parsed.pages) == 3
    assert all(lines_of(parsed, n)[0] == ("head", f"date{CELL}symbol{CELL}close") for n in (1, 2, 3))
    chunks = chunk(parsed)
    assert all(c.is_table and (c.table_head or c.text).startswith(f"date{CELL}symbol{CELL}close") for c in chunks)


def test_csv_quoted_cells_and_tabs(parse_it: Parse) -> None:
    parsed = parse_it(b'name\tnote\n"A\tB"\t"two\nlines"\nC\t7\n', "a.tsv")
    assert parsed.pages[0].text == f"name{CELL}note\nA B{CELL}two lines\nC{CELL}7"


def test_json_news(parse_it: Parse) -> None:
    record = {
        "title": "央行降准0.25个百分点",
        "date": "2023-09-14 18:00:00",
        "content": "中国人民银行决定下调存款准备金率。" * 8,
        "source": "新华社",
    }
    parsed = parse_it(json.dumps(record, ensure_ascii=False).encode(), "news.json")
    assert parsed.stated == {"title": "央行降准0.25个百分点", "published": "2023-09-14"}
    assert lines_of(parsed)[0] == ("heading", "央行降准0.25个百分点")
    many = parse_it(json.dumps([record, {**record, "title": "第二条"}], ensure_ascii=False).encode(), "news.json")
    assert len(many.pages) == 2 and many.stated == {}


def test_json_records_are_a_table(parse_it: Parse) -> None:
    parsed = parse_it(b'[{"symbol": "A", "close": 1.5}, {"symbol": "B", "close": 2, "note": null}]', "a.json")
    assert lines_of(parsed) == [("head", f"symbol{CELL}close{CELL}note"), ("row", f"A{CELL}1.5"), ("row", f"B{CELL}2")]


def test_json_lines_with_pages(parse_it: Parse) -> None:
    lines = [
        {"page": 1, "type": "页眉", "inside": "年度报告"},
        {"page": 1, "type": "text", "inside": "第一节 释义"},
        {"page": 3, "type": "excel", "inside": "['营业收入', '100.5', '90.1']"},
    ]
    data = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    parsed = parse_it(data, "report.txt")
    assert [page.text for page in parsed.pages] == ["第一节 释义", "", f"营业收入{CELL}100.5{CELL}90.1"]


def test_json_tree(parse_it: Parse) -> None:
    parsed = parse_it(b'{"fund": {"name": "Alpha", "fees": {"entry": "2%"}}, "tags": ["a", "b"]}', "a.json")
    assert (
        "name: Alpha" in parsed.pages[0].text
        and "entry: 2%" in parsed.pages[0].text
        and "tags: b" in parsed.pages[0].text
    )


def test_markdown(parse_it: Parse) -> None:
    text = (
        "---\ntitle: Notes\ndate: 2023-05-04\n---\n# Results\nSales **rose** [4%](http://x).\nStill the same.\n\n"
        "| a | 2023 |\n|---|---|\n| Sales | 81 |\n\n## Outlook\n- first\n- second\n"
    )
    parsed = parse_it(text.encode(), "a.md")
    assert parsed.stated == {"title": "Notes", "published": "2023-05-04"}
    assert lines_of(parsed) == [
        ("heading", "Results"),
        ("text", "Sales rose 4%. Still the same."),
        ("head", f"a{CELL}2023"),
        ("row", f"Sales{CELL}81"),
        ("heading", "Outlook"),
        ("text", "• first"),
        ("text", "• second"),
    ]


def test_text_wrapped_lines_rows_and_form_feeds(parse_it: Parse) -> None:
    prose = "\n".join(
        [
            "The committee decided to keep the target range unchanged because",
            "inflation remains elevated and the labour market is still tight in",
            "most regions of the country, while growth of spending has slowed.",
            "It will continue to reduce its holdings of securities as described",
            "in the plans that were issued before, and it is strongly committed",
            "to returning inflation to its objective over the longer run.",
        ]
    )
    text = f"{prose}\n\n(in millions)\nNet sales    81,797    82,959\n\nItem 2. Outlook\nGood."
    kinds = lines_of(parse_it(text.encode(), "a.txt"))
    assert kinds[0] == ("text", " ".join(prose.split("\n")))
    assert kinds[1:] == [
        ("head", "(in millions)"),
        ("row", f"Net sales{CELL}81,797{CELL}82,959"),
        ("heading", "Item 2. Outlook"),
        ("text", "Good."),
    ]
    assert len(parse_it(b"first page\fsecond page", "a.txt").pages) == 2


FILING = """<html><head><title>10-K</title></head><body>
<p style="font-weight:bold">Item 1. Business</p><p>We make <b>things</b> and
sell them.</p>
<div style="display:none">hidden</div><ix:header>dei</ix:header>
<table><tr><td></td><td colspan="2">2023</td><td></td><td>2022</td></tr>
<tr><td>Net sales</td><td>$</td><td>81,797</td><td></td><td>$</td><td>82,959</td></tr>
<tr><td>Change</td><td></td><td>(260</td><td>)</td><td></td><td>12</td><td>%</td></tr></table>
<table><tr><td>•</td></tr><tr><td>A layout table is text.</td></tr></table>
<h2>Risk</h2><ul><li>one</li><li>two</li></ul></body></html>"""


def test_html_filing(parse_it: Parse) -> None:
    parsed = parse_it(FILING.encode(), "filing.htm")
    assert parsed.format == "html"
    assert lines_of(parsed) == [
        ("heading", "Item 1. Business"),
        ("text", "We make things and sell them."),
        ("head", f"2023{CELL}2022"),
        ("row", f"Net sales{CELL}$ 81,797{CELL}$ 82,959"),
        ("row", f"Change{CELL}(260){CELL}12%"),
        ("text", "•"),
        ("text", "A layout table is text."),
        ("heading", "Risk"),
        ("text", "• one"),
        ("text", "• two"),
    ]


def test_html_article_is_freed_of_its_frame(parse_it: Parse) -> None:
    body = "".join(
        f"<p>Paragraph {i}: the central bank raised rates by a quarter point and said that more may follow.</p>"
        for i in range(8)
    )
    page = (
        "<html><head><meta property='article:published_time' content='2023-05-04T10:00:00Z'>"
        "<title>Rates up</title></head><body><nav><a href='/'>Home</a> <a href='/m'>Markets</a> SUBSCRIBE NOW</nav>"
        f"<article><h1>Rates up</h1>{body}</article>"
        "<aside>Most read: ten other stories</aside><footer>Copyright, cookies, terms</footer></body></html>"
    )
    parsed = parse_it(page.encode(), "news.html")
    text = "\n".join(p.text for p in parsed.pages)
    assert "Paragraph 7" in text and "SUBSCRIBE" not in text and "cookies" not in text
    assert parsed.stated == {"title": "Rates up", "published": "2023-05-04"}


def test_html_page_breaks_are_pages(parse_it: Parse) -> None:
    pages = "<hr style='page-break-after:always'>".join(f"<p>Page number {i} text.</p>" for i in "abc")
    assert len(parse_it(f"<html><body>{pages}</body></html>".encode(), "a.html").pages) == 3


def test_deep_html_and_json_end(parse_it: Parse) -> None:
    assert "end" in parse_it(("<div>" * 5000 + "end" + "</div>" * 5000).encode(), "a.html").pages[0].text
    for text in ("[" * 100_000 + "]" * 100_000, '{"a":' * 3000 + "1" + "}" * 3000):
        with pytest.raises(Unreadable, match="nested too deeply"):
            parse_it(text.encode(), "a.json")


def test_entities_are_not_expanded(parse_it: Parse) -> None:
    laughs = (
        '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "'
        + "&a;" * 50
        + '"><!ENTITY c "'
        + "&b;" * 50
        + '">]><html><body><p>&c;</p><p>text</p></body></html>'
    )
    parsed = parse_it(laughs.encode(), "a.xml")
    assert sum(len(page.text) for page in parsed.pages) < 1000

    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word_file(lambda d: d.add_paragraph("x")))) as old,
        zipfile.ZipFile(out, "w") as new,
    ):
        for part in old.namelist():
            data = old.read(part)
            new.writestr(part, b'<!DOCTYPE x [<!ENTITY a "b">]>' + data if part == "word/document.xml" else data)
    with pytest.raises(Unreadable, match="entities"):
        parse_it(out.getvalue(), "a.docx")


def zipped(**parts: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name.replace("__", "/"), data)
    return out.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600


@pytest.mark.parametrize(
    ("data", "name", "error", "says"),
    [
        (b"", "a.pdf", EmptyDocument, "0 bytes"),
        (b" \n\t", "a.txt", EmptyDocument, "no text"),
        (b"<html><body></body></html>", "a.html", EmptyDocument, "no text"),
        (b"{}", "a.json", EmptyDocument, "no text"),
        (zipped(readme=b"hello"), "a.pdf", WrongType, "ZIP archive"),
        (zipped(mimetype=b"application/vnd.oasis.opendocument.text"), "a.odt", WrongType, "OpenDocument"),
        (b"PK\x03\x04" + b"broken" * 9, "a.docx", Unreadable, "broken"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, "a.pdf", WrongType, "PNG image"),
        (OLE, "a.doc", WrongType, "old Office file"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx", Encrypted, "encrypted"),
        (b"plain words", "a.pdf", WrongType, "not PDF"),
        (b"<html><p>x</p></html>", "a.docx", WrongType, "an HTML page, not DOCX"),
        (bytes(range(256)) * 20, "a.bin", WrongType, "binary file"),
        (bytes(range(256)) * 20, "a.pdf", Unreadable, "broken"),
        (b"{\\rtf1 hello}", "a.rtf", WrongType, "RTF"),
        (b'{"a": ', "a.json", Unreadable, "broken"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(
    parse_it: Parse, data: bytes, name: str, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        parse_it(data, name)
    assert isinstance(caught.value, InvalidInput | Unsupported)
    assert caught.value.message.endswith(".") and len(caught.value.message) < 200


def test_office_files_with_a_broken_part(parse_it: Parse) -> None:
    whole = word_file(lambda d: d.add_paragraph("Hello there."))
    for victim in ("word/document.xml", "[Content_Types].xml", "word/styles.xml", "_rels/.rels"):
        for damage in (b"", b"<w:document", b"\x00\xff" * 40):
            out = io.BytesIO()
            with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w") as new:
                for part in old.namelist():
                    new.writestr(part, damage if part == victim else old.read(part))
            with pytest.raises(Unreadable):
                parse_it(out.getvalue(), "a.docx")
    at = whole.index(b"word/document.xml") + 60
    with pytest.raises(Unreadable):
        parse_it(whole[:at] + b"\xff" * 200 + whole[at + 200 :], "a.docx")


def test_the_bytes_decide_not_the_name(parse_it: Parse, make_pdf: Callable[..., bytes]) -> None:
    assert parse_it(word_file(lambda d: d.add_paragraph("Hello there.")), "a.pdf").format == "docx"
    assert parse_it(make_pdf([[(60, 700, "Hello there.")]]), "a.docx").format == "pdf"
    assert parse_it(b"<!DOCTYPE html><html><p>Hello</p></html>", "noname").format == "html"
    assert parse_it(b'{"title": "Hello", "content": "x"}', "noname").format == "json"
    assert parse_it(b"BM is a short text", "a.txt").format == "text"


def test_limits(parse_it: Parse) -> None:
    with pytest.raises(TooLarge, match="limit is 10"):
        parse_it(b"x" * 11, "a.txt", max_bytes=10)
    with pytest.raises(TooLarge, match="unpacks to more than"):
        parse_it(
            zipped(**{"[Content_Types].xml": b"", "word__document.xml": b" " * 3_000_000}),
            "a.docx",
            max_unpacked_bytes=1_048_576,
        )
    with pytest.raises(TooLarge, match="rows"):
        parse_it(b"a,b\n" + b"1,2\n" * 50, "a.csv", max_rows=20)
    with pytest.raises(TooLarge, match="characters"):
        parse_it(b"word " * 100, "a.txt", max_characters=100)
    book = openpyxl.Workbook()
    book.create_sheet("two")
    out = io.BytesIO()
    book.save(out)
    with pytest.raises(TooManyPages, match="2 sheets"):
        parse_it(out.getvalue(), "a.xlsx", max_pages=1)


def test_format_names() -> None:
    assert FORMATS == ("pdf", "html", "docx", "xlsx", "pptx", "csv", "json", "markdown", "text")
