"""A text is found again in another that prints it in another order."""

import random
import time
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from quelea_search.adapters.formats import parse
from quelea_search.adapters.formats.pdf_spans import PrintedLetters, Spans
from quelea_search.core.layout.alignment import align, fold
from quelea_search.core.model import CELL, LineKind, ParseLimits

FILING = Path(__file__).resolve().parents[3] / "samples" / "filings" / "2023 Q3 AAPL.pdf"


def found(wanted: str, printed: str) -> str:
    """What stands at the places, "?" where there is none."""
    places = align(wanted, printed)
    assert len({place for place in places if place >= 0}) == sum(place >= 0 for place in places)
    return "".join(printed[place] if place >= 0 else "?" for place in places)


def test_folding_keeps_what_is_read_and_where_it_stood():
    folded = fold("ﬁ nal\u00ad １２\ufffe3\t（百）")
    assert folded.text == "final12-3(百)"
    assert folded.places == [0, 0, 2, 3, 4, 7, 8, 9, 10, 12, 13, 14]


@pytest.mark.parametrize(
    ("wanted", "printed"),
    [
        ("theleftcolumnfirst,therightcolumnthen", "therightcolumnthentheleftcolumnfirst,"),
        ("investmentincomerose", "Page3invest-mentincomerose"),
        ("Revenue1,234Cost1,234Margin1,234", "Revenue1,234Cost1,234Margin1,234"),
        ("October30,2022October31,2021", "October30,October31,20222021"),
        ("营业收入同比增长百分之十二", "公司名称营业收入同比增长百分之十二第三页"),
    ],
)
def test_what_is_printed_otherwise_is_found(wanted, printed):
    assert found(wanted, printed).count("?") <= 0.15 * len(wanted)
    assert all(one in (other, "?") for one, other in zip(found(wanted, printed), wanted, strict=True))


def test_what_is_not_printed_has_no_place():
    assert found("Totalrevenuewas4,321thousanddollars", "Totalrevenuewas4,321millioneuros").startswith(
        "Totalrevenuewas4,321"
    )
    assert set(found("nothingofthis", "1234567890" * 5)) == {"?"}


@pytest.mark.parametrize("letters", ["a", "ab", "0123456789"])
def test_it_takes_time_that_grows_with_the_length(letters):
    random.seed(1)
    wanted, printed = ("".join(random.choices(letters, k=200_000)) for _ in range(2))
    began = time.process_time()
    align(wanted, printed)
    assert time.process_time() - began < 20


def test_every_cell_of_a_filing_has_its_boxes():
    data = FILING.read_bytes()
    pages = parse(data, FILING.name, limits=ParseLimits(), on_progress=lambda _done, _all: None).pages
    cells = whole = 0
    with pdfium.PdfDocument(data) as document:
        for number in range(3, 7):
            page = pages[number]
            spans = Spans(PrintedLetters(document[number].get_textpage()), page.text)
            for line in page.lines:
                at = line.start
                for cell in page.text[line.start : line.end].split(CELL) if line.kind is LineKind.ROW else ():
                    if cell:
                        located = spans.locate(at, at + len(cell))
                        cells += 1
                        whole += located.found == 1.0 and len(located.boxes) >= 1
                    at += len(cell) + 1
    assert cells > 300
    assert whole == cells
