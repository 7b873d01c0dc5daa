"""HTML: filings and web pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from quelea_search.core.errors import Unreadable
from quelea_search.core.model import CELL, ParsedDocument
from support.formats import lines_of

Parse = Callable[..., ParsedDocument]


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


@pytest.mark.parametrize(
    "cell",
    [
        "Three Months Ended<br>June 30, 2025",
        "Three Months Ended<br/>\nJune 30, 2025",
        "<div>Three Months Ended</div><div>June 30, 2025</div>",
        "<span>Three Months</span> Ended<!-- no text --><p>June <b>30</b>, 2025</p>",
    ],
)
def test_lines_of_a_cell_are_parted(parse_it: Parse, cell: str) -> None:
    page = (
        f"<html><body><table><tr><td></td><td>{cell}</td></tr><tr><td>Net sales</td><td>1,200</td></tr></table></body>"
    )
    assert lines_of(parse_it(page.encode(), "a.htm")) == [
        ("head", "Three Months Ended June 30, 2025"),
        ("row", f"Net sales{CELL}1,200"),
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
