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


@pytest.mark.parametrize("turned", [0, 90])
def test_a_quote_of_a_scan_is_marked_where_ocr_sees_it(monkeypatch: pytest.MonkeyPatch, turned: int) -> None:
    label, cell = "Total net sales of the company in the quarter", "81,797"
    with pdfium.PdfDocument(FILING) as filing:
        page = filing[INCOME_STATEMENT]
        height = page.get_height()
        printed = page.get_textpage().get_text_range()
        picture = page.render(scale=1, grayscale=True).to_pil().convert("L")
    start = printed.index(cell)
    (want,) = locate(FILING.read_bytes(), INCOME_STATEMENT + 1, printed, start, start + len(cell)).boxes
    seen = [
        ocr.Box(label, 20.0, 300.0, want.bottom, want.top - want.bottom),
        ocr.Box(cell, want.left, want.right, want.bottom, want.top - want.bottom),
    ]
    monkeypatch.setattr(ocr, "find_boxes", lambda _page: seen)
    monkeypatch.setattr(ocr, "is_installed", lambda: True)
    out, scan = BytesIO(), BytesIO()
    picture.rotate(turned, expand=True).save(out, "PDF", resolution=72)
    with pdfium.PdfDocument(out.getvalue()) as document:
        document[0].set_rotation(turned)  # it is shown upright
        document.save(scan)
    found = locate(scan.getvalue(), 1, f"{label} {cell}", len(label) + 1, len(label) + 1 + len(cell))
    assert (found.found, found.no_text) == (1.0, False)
    sides = [(one.left, one.bottom, one.right, one.top) for one in found.boxes]
    if turned:
        sides = [(bottom, height - right, top, height - left) for left, bottom, right, top in sides]
    around = [pick(side[at] for side in sides) for at, pick in enumerate((min, min, max, max))]
    assert around == pytest.approx([want.left, want.bottom, want.right, want.top], abs=1.0)


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
