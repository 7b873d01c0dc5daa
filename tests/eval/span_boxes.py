"""How often the boxes of a span hold the span's text: every line and every table cell of PDFs.

    python tests/eval/span_boxes.py samples/filings/*.pdf

What is in a box is asked of the PDF engine by the box alone, so it does not know what was looked for. Spaces do not
count. Prints a line for each file and one for all; `--misses 5` shows some of those that differ.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from quelea_search.adapters.formats import parse
from quelea_search.adapters.formats.pdf_spans import Box, Spans
from quelea_search.core.layout.alignment import fold
from quelea_search.core.model import CELL, Line, LineKind, Page, ParseLimits

_BELOW, _ABOVE = 0.05, 0.3
"""Shares of a box's height that are left out: a line's box reaches into the lines above and below it."""


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--misses", type=int, default=0, help="how many of each file to show")
    arguments = parser.parse_args()
    total = [0] * 6
    for path in arguments.files:
        counts, misses = measure(path.read_bytes(), path.name)
        total = [one + more for one, more in zip(total, counts, strict=True)]
        print(f"{path.name}: {shares(counts)}")
        for miss in misses[: arguments.misses]:
            print(f"    {miss}")
    print(f"all: {shares(total)}")


def shares(counts: list[int]) -> str:
    """lines, found whole, same text; then cells."""
    lines, cells = counts[:3], counts[3:]
    return ", ".join(
        f"{n} {what}: {found / max(n, 1):.2%} found whole, {same / max(n, 1):.2%} with the same text in their boxes"
        for what, (n, found, same) in (("lines", lines), ("cells", cells))
    )


def measure(data: bytes, name: str) -> tuple[list[int], list[str]]:
    """Counts as `shares` wants them, and what differed."""
    parsed = parse(data, name, limits=ParseLimits(), on_progress=lambda _done, _all: None)
    counts, misses = [0] * 6, []
    began = time.perf_counter()
    with pdfium.PdfDocument(data) as document:
        for number, page in enumerate(parsed.pages, start=1):
            words = document[number - 1].get_textpage()
            spans = Spans(words, page.text)
            for line in page.lines:
                for kind, (start, end) in _pieces(page, line):
                    found = spans.locate(start, end)
                    wanted = fold(page.text[start:end]).text
                    same = fold("".join(_inside(words, box) for box in found.boxes)).text == wanted
                    for at, one in enumerate((1, found.found == 1.0, same)):
                        counts[3 * kind + at] += one
                    if not same:
                        misses.append(f"page {number}: {found.found:.2f} of {wanted[:80]!r}")
    print(f"{name}: {len(parsed.pages)} pages in {time.perf_counter() - began:.1f} s")
    return counts, misses


def _pieces(page: Page, line: Line) -> list[tuple[int, tuple[int, int]]]:
    """The line (0), and of a table's row its cells (1)."""
    found = [(0, (line.start, line.end))]
    if line.kind is LineKind.ROW:
        at = line.start
        for cell in page.text[line.start : line.end].split(CELL):
            if cell.strip():
                found.append((1, (at, at + len(cell))))
            at += len(cell) + 1
    return found


def _inside(words: Any, box: Box) -> str:
    height = box.top - box.bottom
    return str(words.get_text_bounded(box.left, box.bottom + _BELOW * height, box.right, box.top - _ABOVE * height))


if __name__ == "__main__":
    main()
