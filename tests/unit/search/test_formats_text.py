"""CSV, JSON, Markdown and plain text."""

from __future__ import annotations

import json
from collections.abc import Callable

from quelea_search.core.chunk import chunk
from quelea_search.core.model import CELL, ParsedDocument
from support.formats import lines_of

Parse = Callable[..., ParsedDocument]


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
