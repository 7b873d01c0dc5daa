"""PDF: rows and columns, headers, headings, paragraphs, running lines, and files that cannot be read."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from quelea_search.adapters.formats import parse
from quelea_search.core.errors import Encrypted, TooManyPages, Unreadable
from quelea_search.core.model import CELL, LineKind, ParsedDocument, ParseLimits

Make = Callable[..., bytes]
Parse = Callable[..., ParsedDocument]


def lines_of(parsed: ParsedDocument, page: int = 1) -> list[tuple[str, str]]:
    held = parsed.pages[page - 1]
    return [(line.kind.value, held.text[line.start : line.end]) for line in held.lines]


def table_items(top: float = 600) -> list[tuple[object, ...]]:
    """A table as filings print it: headers over two lines, figures right-aligned, a label over two lines."""
    items: list[tuple[object, ...]] = [
        (60, top + 60, "Segment Results", "bold"),
        (60, top + 40, "(In millions, except per share amounts)"),
        (320, top + 25, "July 1,", "bold"), (320, top + 14, "2023", "bold"),
        (420, top + 25, "June 25,", "bold"), (420, top + 14, "2022", "bold"),
    ]  # fmt: skip
    for i, (label, one, two) in enumerate(
        [
            ("Americas", "$ 35,383", "$ 37,472"),
            ("Europe", "20,205", "(19,287)"),
            ("Total net sales", "$ 81,797", "$ 82,959"),
        ]
    ):
        y = top - 14 * i
        items += [(60, y, label), (320, y, one), (420, y, two)]
    return items


def test_rows_columns_and_headers(make_pdf: Make, parse_it: Parse) -> None:
    parsed = parse_it(make_pdf([table_items()]), "a.pdf")
    assert lines_of(parsed) == [
        ("heading", "Segment Results"),
        ("head", "(In millions, except per share amounts)"),
        ("head", f"July 1, 2023{CELL}June 25, 2022"),
        ("row", f"Americas{CELL}$ 35,383{CELL}$ 37,472"),
        ("row", f"Europe{CELL}20,205{CELL}(19,287)"),
        ("row", f"Total net sales{CELL}$ 81,797{CELL}$ 82,959"),
    ]
    assert parsed.format == "pdf"


def test_spanning_header_stays_above_its_columns(make_pdf: Make, parse_it: Parse) -> None:
    items = [
        (340, 640, "Three Months Ended", "bold"),
        (320, 626, "2023", "bold"), (420, 626, "2022", "bold"),
        (60, 612, "Net sales:"), (70, 598, "Products"), (320, 598, "60,584"), (420, 598, "63,355"),
        (70, 584, "Services"), (320, 584, "21,213"), (420, 584, "19,604"),
    ]  # fmt: skip
    kinds = lines_of(parse_it(make_pdf([items]), "a.pdf"))
    assert kinds[:3] == [("head", "Three Months Ended"), ("head", f"2023{CELL}2022"), ("row", "Net sales:")]


def test_a_wrapped_label_belongs_to_its_row(make_pdf: Make, parse_it: Parse) -> None:
    items = [
        (60, 600, "Inventories"), (320, 600, "7,351"), (420, 600, "4,946"),
        (60, 586, "Common stock withheld related to net share settlement of"),
        (60, 574, "equity awards"), (320, 574, "(1,595)"), (420, 574, "(1,371)"),
    ]  # fmt: skip
    rows = lines_of(parse_it(make_pdf([items]), "a.pdf"))
    assert (
        rows[1][1]
        == f"Common stock withheld related to net share settlement of equity awards{CELL}(1,595){CELL}(1,371)"
    )


def test_a_cell_over_several_lines_is_one_cell(make_pdf: Make, parse_it: Parse) -> None:
    """Word processors write cell by cell: down the label, then up and right to the figure."""
    items = [
        (60, 600, "Revenue"), (320, 600, "10"), (420, 600, "20"),
        (60, 580, "Weighted average return"), (60, 568, "on net assets"), (320, 580, "8.37"), (420, 580, "4.49"),
        (60, 540, "Earnings"), (320, 540, "11"), (420, 540, "22"),
    ]  # fmt: skip
    rows = [text for _, text in lines_of(parse_it(make_pdf([items]), "a.pdf"))]
    assert f"Weighted average return on net assets{CELL}8.37{CELL}4.49" in rows


def test_paragraphs_are_made_whole(make_pdf: Make, parse_it: Parse) -> None:
    long = "The Company repurchased common stock and paid dividends during the third quarter of the fiscal"
    items = [
        (60, 700, "Liquidity", "bold", 13.0),
        (60, 680, long), (60, 668, "year, as described in the notes to these statements."),
        (60, 650, "A new paragraph begins here."),
        (60, 630, "• a first item"), (60, 618, "• a second item"),
    ]  # fmt: skip
    assert lines_of(parse_it(make_pdf([items]), "a.pdf")) == [
        ("heading", "Liquidity"),
        ("text", f"{long} year, as described in the notes to these statements."),
        ("text", "A new paragraph begins here."),
        ("text", "• a first item"),
        ("text", "• a second item"),
    ]


def test_running_headers_footers_and_page_numbers_go(make_pdf: Make, parse_it: Parse) -> None:
    pages = [
        [
            (60, 770, "Example Corp Annual Review"),
            (60, 700, f"Body text number {word} stays where it is."),
            (60, 30, f"Example Corp | Form 10-Q | {i + 3}"),
        ]
        for i, word in enumerate("one two three four five six".split())
    ]
    parsed = parse_it(make_pdf(pages), "a.pdf")
    assert [page.text for page in parsed.pages] == [
        f"Body text number {word} stays where it is." for word in "one two three four five six".split()
    ]
    assert "Example Corp Annual Review" in parsed.running


def test_a_line_on_a_fifth_of_the_pages_stays(make_pdf: Make, parse_it: Parse) -> None:
    pages = [
        [(60, 770, "Consolidated Statements" if i == 0 else f"Chapter on {w}"), (60, 700, f"Text of {w}.")]
        for i, w in enumerate("abcdefgh")
    ]
    assert "Consolidated Statements" in parse_it(make_pdf(pages), "a.pdf").pages[0].text


def test_progress_counts_pages(make_pdf: Make) -> None:
    seen: list[tuple[int, int]] = []
    data = make_pdf([[(60, 700, f"Page {i} has some text.")] for i in range(3)])
    parse(data, "a.pdf", limits=ParseLimits(), on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_encrypted(make_pdf: Make, parse_it: Parse) -> None:
    with pytest.raises(Encrypted, match="encrypted") as caught:
        parse_it(make_pdf([[(60, 700, "secret")]], encrypt=True), "a.pdf")
    assert caught.value.reason == "ENCRYPTED"


def test_without_a_text_layer(make_pdf: Make, parse_it: Parse) -> None:
    with pytest.raises(Unreadable, match=r"no text layer.*OCR"):
        parse_it(make_pdf([[], [], []]), "scan.pdf")


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.4\n" + b"garbage " * 500, b"%PDF-1.4\n%%EOF"])
def test_broken(parse_it: Parse, data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        parse_it(data, "a.pdf")
    assert caught.value.reason == "UNREADABLE"


def test_cut_in_half(make_pdf: Make, parse_it: Parse) -> None:
    data = make_pdf([[(60, 700, f"Page {i} has some text.")] for i in range(6)])
    try:
        parsed = parse_it(data[: len(data) // 2], "a.pdf")
    except Unreadable:
        return
    assert any("has some text" in page.text for page in parsed.pages)


def test_too_many_pages(make_pdf: Make, parse_it: Parse) -> None:
    with pytest.raises(TooManyPages, match="3 pages, the limit is 2"):
        parse_it(make_pdf([[(60, 700, "text")]] * 3), "a.pdf", max_pages=2)


def test_title_of_the_file(make_pdf: Make, parse_it: Parse) -> None:
    parsed = parse_it(make_pdf([[(60, 700, "Some text is here.")]], title="A Fine Report"), "a.pdf")
    assert parsed.stated == {"title": "A Fine Report"}


def test_heading_levels_follow_prominence(make_pdf: Make, parse_it: Parse) -> None:
    body = "This is the running text of the page and it is long enough to set the style of all."
    items = [
        (60, 740, "Item 2. Discussion", "bold"), (60, 720, "Results", "bold", 14.0), (60, 700, body), (60, 688, body),
        (60, 660, "Products", "bold"), (60, 640, body),
    ]  # fmt: skip
    page = parse_it(make_pdf([items]), "a.pdf").pages[0]
    levels = {page.text[line.start : line.end]: line.level for line in page.lines if line.kind is LineKind.HEADING}
    assert list(levels) == ["Item 2. Discussion", "Results", "Products"]
    assert levels["Item 2. Discussion"] < levels["Results"] < levels["Products"]
