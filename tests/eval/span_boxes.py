"""How often the boxes of a span hold the span's text: every line and every table cell of PDFs, or what answers cite.

    python tests/eval/span_boxes.py samples/filings/*.pdf
    python tests/eval/span_boxes.py --ask samples/questions/filings.csv     # a gateway is running; --url says where

Of HTML that an answer cites, what counts is the text of its marks.

What is in a box is asked of the PDF engine by the box alone, so it does not know what was looked for. Spaces do not
count. Prints a line for each file and one for all; `--misses 5` shows some of those that differ.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import httpx2
import lxml.html
import pypdfium2 as pdfium
from quelea_search.adapters.formats import parse
from quelea_search.adapters.formats.pdf_spans import Box, PrintedLetters, Spans
from quelea_search.core.layout.alignment import fold
from quelea_search.core.model import CELL, Line, LineKind, Page, ParseLimits

_BELOW, _ABOVE = 0.05, 0.3
"""Shares of a box's height that are left out: a line's box reaches into the lines above and below it."""


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--ask", type=Path, help="questions, a CSV with a column Question")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="of the gateway")
    parser.add_argument("--misses", type=int, default=0, help="how many of each file to show")
    arguments = parser.parse_args()
    if arguments.ask:
        ask(arguments.ask, arguments.url, arguments.misses)
        return
    total = [0] * 6
    for path in arguments.files:
        counts, misses = measure(path.read_bytes(), path.name)
        total = [one + more for one, more in zip(total, counts, strict=True)]
        print(f"{path.name}: {shares(counts)}")
        for miss in misses[: arguments.misses]:
            print(f"    {miss}")
    print(f"all: {shares(total)}")


def ask(questions: Path, url: str, most_misses: int) -> None:
    """Ask a running gateway, and look at everything that its answers cite."""
    counts: dict[str, list[int]] = {}
    misses: list[str] = []
    originals: dict[str, tuple[str, bytes]] = {}
    with httpx2.Client(base_url=url, timeout=120) as client, questions.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            answer = client.post("/v1/ask", json={"question": row["Question"]}).raise_for_status().json()
            for one in answer["citations"]:
                document = one["document_id"]
                if document not in originals:
                    came = client.get(f"/v1/documents/{document}/original").raise_for_status()
                    originals[document] = came.headers["content-type"], came.content
                kind, data = originals[document]
                if kind not in ("application/pdf", "text/html"):
                    continue
                found, text = _shown(client, one, kind, data)
                same = fold(text).text == fold(one["quote"]).text
                tally = counts.setdefault(kind, [0, 0, 0])
                for at, more in enumerate((1, found == 1.0, same)):
                    tally[at] += more
                if not same:
                    misses.append(f"{one['title']} page {one['page']}: {found:.2f} of {one['quote'][:80]!r}")
    for kind, (n, found, same) in sorted(counts.items()):
        print(f"{kind}: {n} citations: {found / n:.2%} found whole, {same / n:.2%} with the same text marked")
    for miss in misses[:most_misses]:
        print(f"    {miss}")


def _shown(client: httpx2.Client, one: dict[str, Any], kind: str, data: bytes) -> tuple[float, str]:
    """Share of a citation that is found, and the text in its boxes or marks."""
    path = f"/v1/documents/{one['document_id']}"
    place = {"start": one["start"], "end": one["end"]}
    if kind == "text/html":
        came = client.get(f"{path}/html", params={"page": one["page"], **place}).raise_for_status()
        marks = lxml.html.document_fromstring(came.content, parser=lxml.html.HTMLParser(encoding="utf-8")).iter("mark")
        return float(came.headers["quelea-found"]), "".join("".join(mark.itertext()) for mark in marks)
    told = client.get(f"{path}/pages/{one['page']}/boxes", params=place).raise_for_status().json()
    with pdfium.PdfDocument(data) as document:
        words = document[one["page"] - 1].get_textpage()
        return told["found"], "".join(_inside(words, Box(**box)) for box in told["boxes"])


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
            spans = Spans(PrintedLetters(words), page.text)
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
