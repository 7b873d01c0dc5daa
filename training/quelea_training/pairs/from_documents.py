"""Pairs that documents give by themselves: rows and columns of tables, headings, captions, titles.

A query is in the words of the document, so it is easier than a reader's; it teaches the encoder the filer's vocabulary.
Rows are also asked for the quarter or year that the document reports; passages with the same row in the company's
other documents are that query's hard negatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from hashlib import sha256
from itertools import islice

from quelea_fintext.dates import find_dates, write_date
from quelea_fintext.text import normalise, words
from quelea_fintext.times.periods import Period, find_periods

from quelea_training.pairs.model import Pair, Passage

RULES = "rules"
_LONGEST_LABEL = 100
_LONGEST_HEADING = 120
_ROWS = 4
"""Rows of one table that become queries."""
_SHORTEST = 200
"""Characters of a passage that can answer a heading or a title."""
_SIBLINGS = 4
"""Hard negatives that other documents of the company give a query."""
_ORDINALS = ("", "first", "second", "third", "fourth")
Rows = Mapping[tuple[str, str], Sequence[Passage]]
"""(company, label of a row) -> passages of all documents that have it."""


def pairs_of(passages: Iterable[Passage]) -> Iterator[Pair]:
    """All pairs of these passages, document by document as they come."""
    titled: set[str] = set()
    headed: set[tuple[str, str]] = set()
    ordered = sorted(passages, key=lambda one: (one.document, one.page, one.start))
    rows = _rows_of_companies(ordered)
    for passage in ordered:
        yield from _rows(passage)
        yield from _period_rows(passage, rows)
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


def _period_rows(passage: Passage, rows: Rows) -> Iterator[Pair]:
    """A row's label with the company and the period of the whole document, where the table has a column of it."""
    header = passage.head.partition("\n")[0].removesuffix(passage.section)
    periods = list(find_periods(header))
    day = next((one.day for one in periods if one.day is not None), None)
    if not passage.is_table or not passage.company or passage.language != "en" or day is None:
        return
    below = f"{passage.head.partition(chr(10))[2]}\n{passage.text}"
    if all(found.day != day for found in find_dates(below)):
        return
    quarter = next((one for one in periods if one.kind == "quarter"), None)
    # A fiscal year is not always named after the one in which it ends.
    year = next((one.year for one in periods if one.kind == "year"), day.year)
    labels = [label for label in _labels(passage) if sum(one.isalpha() for one in words(normalise(label))) > 1]
    for label in labels[:_ROWS]:
        query = _ask_period(passage, label, write_date(day, "en"), year, quarter)
        printed = _figures_of(passage, label)
        siblings = (
            one.id
            for one in rows[passage.company, normalise(label)]
            if one.document != passage.document
            and all(found.day != day for found in find_dates(one.encoded))
            and (_is_before(one, day) or printed.isdisjoint(_figures_of(one, label)))
        )
        yield replace(Pair.of(query, passage, "period row", RULES), negatives=tuple(islice(siblings, _SIBLINGS)))


def _is_before(passage: Passage, day: date) -> bool:
    """Whether its document reports an earlier period: then it cannot have that day's figure beside its own."""
    periods = find_periods(passage.head.partition("\n")[0].removesuffix(passage.section))
    return next((one.day < day for one in periods if one.day is not None), False)


def _figures_of(passage: Passage, label: str) -> frozenset[str]:
    """What the rows with a label print beside it."""
    rows = (line.split("\t") for line in passage.text.splitlines())
    cells = (cell for first, *cells in rows if normalise(first.strip(" :：")) == normalise(label) for cell in cells)
    return frozenset(cell.strip() for cell in cells if any(character.isdigit() for character in cell))


def _ask_period(passage: Passage, label: str, day: str, year: int, quarter: Period | None) -> str:
    """One of the forms in which people ask, by the hash of what is asked for."""
    whose = f"{passage.company}'s {label}"
    forms: tuple[str, ...]
    if quarter is None:
        forms = (f"What was {whose} for the year ended {day}?", f"How much was {whose} in fiscal {year}?")
    else:
        forms = (
            f"What was {whose} for the quarter ended {day}?",
            f"What was {whose} in Q{quarter.part} {quarter.year}?",
            f"How much was {whose} in the {_ORDINALS[quarter.part]} quarter of fiscal {quarter.year}?",
            f"{whose} as reported in the Q{quarter.part} {quarter.year} 10-Q",
        )
    return forms[sha256(f"{passage.id} {label}".encode()).digest()[0] % len(forms)]


def _rows_of_companies(passages: Iterable[Passage]) -> Rows:
    found: dict[tuple[str, str], list[Passage]] = {}
    for one in passages:
        if one.is_table and one.company:
            for label in _labels(one):
                found.setdefault((one.company, normalise(label)), []).append(one)
    return found


def _labels(passage: Passage) -> list[str]:
    """Of the rows that have a figure, each once."""
    found = []
    for line in passage.text.splitlines():
        label, *cells = line.split("\t")
        label = label.strip(" :：")
        if _is_label(label) and any(character.isdigit() for cell in cells for character in cell):
            found.append(label)
    return list(dict.fromkeys(found))


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
