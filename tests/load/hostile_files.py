"""What each hostile file costs the reader: python tests/load/hostile_files.py [--bytes N] [--seconds N] [NAME…]

With --originals: what it costs to find a quote in each PDF, and to make each HTML safe to show with the quote marked.

One line a file, tab-separated: name, bytes, seconds of processor time, peak of memory in MB, what came out of it.
The file is read as a worker reads it, within the bounds of the default settings.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from quelea_kit.errors import QueleaError
from quelea_search.build import reading_bounds
from quelea_search.core.model import DocumentFacts, ParseLimits
from quelea_search.jobs.file_parsing import read_file
from quelea_search.jobs.reading_process import Reading
from quelea_search.originals.process_work import locate_span, render_html
from quelea_search.settings import SearchSettings
from support.hostile_files import FILES

QUOTE = "Total revenue was 1,234 million, and 1 1 1 $ $ $ ( ( ( aaaa aaaa aaaa. " * 40
"""That is looked for with --originals: some of it is in many of the files, again and again."""


def main() -> None:
    """Measure, and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bytes", type=int, default=1_000_000)
    arguments.add_argument("--seconds", type=float, help="of processor time; else what the settings give a file")
    arguments.add_argument("--originals", action="store_true")
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_args()
    bounds = reading_bounds(SearchSettings())
    if given.seconds:
        bounds = replace(bounds, seconds=given.seconds, seconds_per_mb=0.0)
    if given.originals:
        bounds = replace(bounds, seconds=SearchSettings().original_seconds, seconds_per_mb=0.0)
    reading = Reading(bounds)
    for name in given.names or FILES:
        filename, make = FILES[name]
        if given.originals and not filename.endswith((".pdf", ".html")):
            continue
        data = make(given.bytes)
        try:
            if given.originals:
                work = locate_span if filename.endswith(".pdf") else render_html
                place = (1, QUOTE) if filename.endswith(".pdf") else (QUOTE,)
                outcome = f"{reading.run(len(data), work, data, *place, 0, len(QUOTE))!r}"
                print(*_line(name, data, reading, outcome), sep="\t", flush=True)
                continue
            read = reading.run(len(data), read_file, data, filename, DocumentFacts(), ParseLimits())
            outcome = f"{len(read.pages)} pages, {len(read.chunks)} passages"
        except QueleaError as error:
            outcome = f"{error.reason}: {error.message}"
        except Exception as error:  # noqa: BLE001  # a fault of the reader's is what is looked for
            outcome = f"FAULT {type(error).__name__}: {error}"
        print(*_line(name, data, reading, outcome), sep="\t", flush=True)
    reading.close()


def _line(name: str, data: bytes, reading: Reading, outcome: str) -> tuple[str, int, str, int, str]:
    used = reading.used
    return name, len(data), f"{used.seconds:.1f}", used.peak_mb, outcome[:140]


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
