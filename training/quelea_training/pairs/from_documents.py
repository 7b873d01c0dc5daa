"""Pairs that documents give by themselves: rows and columns of tables, headings, captions, titles.

A query is in the words of the document, so it is easier than a reader's; it teaches the encoder the filer's vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quelea_fintext.dates import find_dates
from quelea_fintext.text import normalise, words
from quelea_fintext.times.periods import find_periods

from quelea_training.pairs.model import Pair, Passage

RULES = "rules"
_LONGEST_LABEL = 100
_LONGEST_HEADING = 120
_ROWS = 4
"""Rows of one table that become queries."""
_SHORTEST = 200
"""Characters of a passage that can answer a heading or a title."""


def pairs_of(passages: Iterable[Passage]) -> Iterator[Pair]:
    """All pairs of these passages, document by document as they come."""
    titled: set[str] = set()
    headed: set[tuple[str, str]] = set()
    for passage in sorted(passages, key=lambda one: (one.document, one.page, one.start)):
        yield from _rows(passage)
        yield from _caption(passage)
        if len(passage.text) < _SHORTEST:
            continue
        place = (passage.document, passage.section)
        if passage.section and place not in headed:
            headed.add(place)
            yield from _heading(passage)
        if passage.document not in titled:
            titled.add(passage.document)
            yield from _title(passage)


def _rows(passage: Passage) -> Iterator[Pair]:
    """A row's label with the period of one of its columns, as a question after that cell."""
    lines = [line.split("\t") for line in passage.text.splitlines()]
    lines_above = [line.split("\t") for line in passage.head.splitlines() if "\t" in line]
    header: list[str] = next((line for line in (*lines_above, *lines) if _names_periods(line)), [])
    if not header:
        return
    made = 0
    for line in lines:
        label, cells = line[0].strip(" :："), [cell for cell in line[1:] if cell.strip()]
        if made == _ROWS:
            return
        if (
            line == header
            or not _is_label(label)
            or not any(character.isdigit() for cell in cells for character in cell)
        ):
            continue
        periods = [cell.strip() for cell in header if _is_period(cell)]
        period = periods[made % len(periods)]
        made += 1
        yield Pair.of(_ask_row(passage, label, period), passage, "row", RULES)


def _names_periods(line: list[str]) -> bool:
    return len(line) > 1 and any(_is_period(cell) for cell in line)


def _is_period(cell: str) -> bool:
    """Whether a column's head says when, by itself: "Nine Months Ended" above two dates does not."""
    text = cell.strip()
    if not 0 < len(text) <= 40 or not any(character.isdigit() for character in text):
        return False
    year = text[:4].isdigit() and 1990 <= int(text[:4]) <= 2100 and len(text) <= 5  # a bare year, or 2019年
    return year or any(True for _ in find_dates(text)) or any(True for _ in find_periods(text))


def _is_label(text: str) -> bool:
    return len(text) <= _LONGEST_LABEL and any(character.isalpha() for character in text) and not _is_period(text)


def _ask_row(passage: Passage, label: str, period: str) -> str:
    if passage.language == "zh":
        return f"{passage.company}{period}{label}是多少？"
    whose = f"{passage.company}'s " if passage.company else ""
    return f"What was {whose}{label} for {period}?"


def _caption(passage: Passage) -> Iterator[Pair]:
    """The line above a table."""
    first = passage.head.splitlines()[1].strip() if "\n" in passage.head else ""
    if passage.is_table and "\t" not in first and _says_enough(first):
        yield Pair.of(_of_company(passage, first), passage, "caption", RULES)


def _heading(passage: Passage) -> Iterator[Pair]:
    last = passage.section.split(" › ")[-1].strip()
    if _says_enough(last):
        yield Pair.of(_of_company(passage, last), passage, "heading", RULES)


def _title(passage: Passage) -> Iterator[Pair]:
    """A title that the passage does not simply begin with."""
    if _says_enough(passage.title) and not normalise(passage.text).startswith(normalise(passage.title)):
        yield Pair.of(passage.title, passage, "title", RULES)


def _says_enough(text: str) -> bool:
    return len(text) <= _LONGEST_HEADING and len(words(normalise(text))) >= 3


def _of_company(passage: Passage, text: str) -> str:
    if not passage.company or passage.company.casefold() in text.casefold():
        return text
    return f"{passage.company}{text}" if passage.language == "zh" else f"{passage.company}: {text}"
