"""Scanned pages: which pages are pictures, and what OCR makes of them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from PIL import Image
from quelea_search.adapters import ocr
from quelea_search.adapters.formats.pdf_scans import find_scans, read_scan
from quelea_search.adapters.formats.pdf_spans import locate
from quelea_search.core.errors import TooManyPages, Unreadable
from quelea_search.core.model import DocumentFacts, ParseLimits
from quelea_search.jobs.file_parsing import read_file

FILING = Path(__file__).parents[3] / "samples/filings/2023 Q3 AAPL.pdf"
INCOME_STATEMENT = 3


def pictures(*pages: Image.Image) -> bytes:
    out = BytesIO()
    pages[0].save(out, "PDF", save_all=True, append_images=pages[1:], resolution=150)
    return out.getvalue()


def blank(count: int) -> bytes:
    return pictures(*[Image.new("L", (400, 500), 255)] * count)


@pytest.fixture(scope="module")
def scan() -> bytes:
    with pdfium.PdfDocument(FILING) as filing:
        picture = filing[INCOME_STATEMENT].render(scale=150 / 72, grayscale=True).to_pil().convert("L")
    return pictures(picture)


@pytest.mark.skipif(not ocr.is_installed(), reason="the extra ocr is not installed: make ocr")
def test_a_scanned_statement_is_read_to_rows_and_facts(scan: bytes) -> None:
    assert find_scans(scan, ParseLimits()) == [0]
    lines = read_scan(scan, 0)
    read = read_file(scan, "scan.pdf", DocumentFacts(company="Apple"), ParseLimits(), {0: lines})
    assert "Total net sales\t81,797\t82,959\t293,787\t304,182" in read.pages[0]
    assert "Diluted\t$ 1.26\t$ 1.20\t$ 4.67\t$ 4.82" in read.pages[0]
    assert all(chunk.scanned for chunk in read.chunks)
    stated = {(one.concept, str(one.value)) for one in read.statement_facts}
    assert {("revenue", "81797000000"), ("net_income", "19881000000")} <= stated


@pytest.mark.skipif(not ocr.is_installed(), reason="the extra ocr is not installed: make ocr")
@pytest.mark.parametrize("turned", [0, 90])
def test_a_quote_of_a_scan_is_marked_where_it_is_printed(scan: bytes, turned: int) -> None:
    line = "Total net sales\t81,797\t82,959\t293,787\t304,182"
    text = read_file(scan, "scan.pdf", DocumentFacts(), ParseLimits(), {0: read_scan(scan, 0)}).pages[0]
    start = text.index(line)
    out = BytesIO()
    with pdfium.PdfDocument(scan) as document:  # shown turned, and printed so that it is upright again
        page = document[0]
        width, height = page.get_size()
        if turned:
            picture = page.render(scale=150 / 72, grayscale=True).to_pil().rotate(turned, expand=True)
            with pdfium.PdfDocument(pictures(picture)) as again:
                again[0].set_rotation(turned)
                again.save(out)
    found = locate(out.getvalue() or scan, 1, text, start, start + len(line))
    with pdfium.PdfDocument(FILING) as filing:
        layer = filing[INCOME_STATEMENT].get_textpage()
        printed = locate(FILING.read_bytes(), INCOME_STATEMENT + 1, layer.get_text_range(), *_place(layer, "81,797"))
    assert (found.found, found.no_text) == (1.0, False)
    assert len(found.boxes) == 5  # the label and four cells
    (want,) = printed.boxes
    near = [
        one if not turned else type(one)(one.bottom, height - one.right, one.top, height - one.left)
        for one in found.boxes
    ]
    assert any(abs(one.left - want.left) < 6 and abs(one.bottom - want.bottom) < 6 for one in near), (want, near)
    assert all(0 <= one.left < one.right <= width for one in near)


def _place(layer: pdfium.PdfTextPage, words: str) -> tuple[int, int]:
    start = layer.get_text_range().index(words)
    return start, start + len(words)


def test_pages_with_text_are_not_scans() -> None:
    assert find_scans(FILING.read_bytes(), ParseLimits()) == []


def test_a_broken_file_has_no_scans_and_the_reader_says_why() -> None:
    data = b"%PDF-1.7\nnothing"
    assert find_scans(data, ParseLimits()) == []
    with pytest.raises(Unreadable, match="broken"):
        read_file(data, "a.pdf", DocumentFacts(), ParseLimits())


def test_too_many_scans_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: True)
    limits = ParseLimits(max_scanned_pages=2)
    assert find_scans(blank(2), limits) == [0, 1]
    with pytest.raises(TooManyPages, match="3 scanned pages, the limit is 2"):
        find_scans(blank(3), limits)
    assert find_scans(blank(3), ParseLimits(max_scanned_pages=0)) == []


def test_without_ocr_a_scan_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: False)
    assert find_scans(blank(1), ParseLimits()) == []
    with pytest.raises(Unreadable, match="make ocr"):
        read_file(blank(1), "a.pdf", DocumentFacts(), ParseLimits())


def test_boxes_that_stand_side_by_side_are_a_row() -> None:
    def box(text: str, x0: float, bottom: float, height: float = 10.0) -> ocr.Box:
        return ocr.Box(text, x0, x0 + 30, bottom, height)

    rows = ocr.arrange_rows(
        [box("1,234", 200, 699.0), box("Sales", 10, 700), box("5,678", 300, 701.5, 8.0), box("Costs", 10, 688)]
    )
    assert [[one.text for one in row] for row in rows] == [["Sales", "1,234", "5,678"], ["Costs"]]
