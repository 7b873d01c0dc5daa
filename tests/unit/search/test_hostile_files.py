"""Files that once took minutes, gigabytes, or a fault of the reader's: a small one of each, within seconds.

tests/load/hostile_files.py measures all of their kind, at any size.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from quelea_kit.errors import QueleaError
from quelea_search.core.model import DocumentFacts, ParseLimits
from quelea_search.jobs.file_parsing import read_file
from quelea_search.jobs.reading_process import Reading, ReadingBounds
from support.hostile_files import FILES

SIZE = 60_000
SECONDS = 20.0
"""Of the processor; most take a hundredth of it."""
MENDED = [
    "lines of one length", "lines of every length", "digits on pages", "form feeds", "declared as undefined",
    "headings", "headings above a table", "sections under a long heading", "dates and columns of a statement",
    "sparse records", "frames and articles", "deep tables", "rows of a statement that are all heads",
    "tags in no order", "CSV of quotes", "attributes", "attributes of XML",
    "paragraphs of many styles", "rows merged downwards", "a million rows",
    "placeholders", "a chart that claims a billion points", "a line of words", "two rows of cells",
    "rows and text in turn", "short lines", "numbers", "empty paragraphs", "empty runs", "cells of a Word table",
    "a part of nothing", "shared strings", "empty paragraphs of a slide",
]  # fmt: skip


@pytest.fixture(scope="module")
def bounded() -> Iterator[Reading]:
    made = Reading(ReadingBounds(seconds=SECONDS, seconds_per_mb=0, most_seconds=300, memory_mb=1024))
    yield made
    made.close()


@pytest.mark.parametrize("name", MENDED)
def test_a_hostile_file_is_read_or_refused_in_seconds(bounded: Reading, name: str) -> None:
    filename, make = FILES[name]
    data = make(SIZE)
    try:
        assert bounded.run(len(data), read_file, data, filename, DocumentFacts(), ParseLimits()).chunks
    except QueleaError as error:
        assert error.reason in {"EMPTY_DOCUMENT", "TOO_LARGE", "TOO_MANY_PAGES", "UNREADABLE"}, error.message
        assert "memory" not in error.message
