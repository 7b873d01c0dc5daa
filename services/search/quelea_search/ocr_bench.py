"""Measures OCR: renders pages that have a text layer as pictures, reads them and compares the texts.

Run as: python -m quelea_search.ocr_bench [--pages 4-6] [--dots 150] [--json] PDF...
Needs the extra `ocr`. `figures` is the share of the page's figures (each as often as it is printed) that OCR has too,
`words` likewise; `seconds_per_page` is processor time.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium

from quelea_search.adapters.formats.pdf_scans import read_scan

_FIGURE = re.compile(r"\(?\d[\d,.]*\d\)?%?|\d")
_WORD = re.compile(r"[A-Za-z]{2,}|[\u4e00-\u9fff]")


def _picture(page: pdfium.PdfPage, dots: int) -> bytes:
    out = BytesIO()
    page.render(scale=dots / 72, grayscale=True).to_pil().convert("L").save(out, "PDF", resolution=dots)
    return out.getvalue()


def measure(files: list[Path], first: int, last: int, dots: int) -> dict[str, float]:
    """Read pages `first` to `last`, from 1, of each file from pictures of so many dots an inch."""
    printed = {"figures": 0, "words": 0}
    read = dict(printed)
    pages, seconds = 0, 0.0
    for file in files:
        with pdfium.PdfDocument(file) as document:
            for number in range(first - 1, min(last, len(document))):
                text = document[number].get_textpage().get_text_range()
                data = _picture(document[number], dots)
                began = time.process_time()
                seen = "\n".join(line.text for line in read_scan(data, 0).lines)
                seconds += time.process_time() - began
                pages += 1
                for name, pattern in (("figures", _FIGURE), ("words", _WORD)):
                    wanted = Counter(pattern.findall(text))
                    printed[name] += wanted.total()
                    read[name] += (wanted & Counter(pattern.findall(seen))).total()
    shares = {name: round(read[name] / max(printed[name], 1), 4) for name in printed}
    return {"pages": pages, **shares, "seconds_per_page": round(seconds / max(pages, 1), 2)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="OCR against the text layer.")
    parser.add_argument("--pages", default="4-6", help="The first and the last, from 1.")
    parser.add_argument("--dots", type=int, default=150, help="An inch, of the pictures.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    first, _, last = given.pages.partition("-")
    found = measure(given.files, int(first), int(last or first), given.dots)
    lines = [json.dumps(found)] if given.json else [f"{name:18}{value}" for name, value in found.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
