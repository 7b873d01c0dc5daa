"""Which head stands over which cell of a table's row, as far as it can be known."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from quelea_checker.mended_heads import mended
from quelea_checker.model import Period
from quelea_checker.periods import find_periods
from quelea_checker.times import merged

_ORDINAL = re.compile(r"(?:^|\d )(?:1st|2nd|3rd|4th|first|second|third|fourth)$", re.IGNORECASE)
_MONTH_DAY = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)(\d{1,2},)"
)
_CHANGE = re.compile(
    r"\bchange|\bvariance|\bdifference|\bover\b|\bvs\b|\bversus\b|\bincrease|\bdecrease|\bgrowth|\by/y\b"
    r"|\byoy\b|增减|变动|同比|环比|增幅",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\((?:\w+ )?in (?:millions|thousands|billions)", re.IGNORECASE)
_TOTAL = re.compile(r"totals?|合计|总计", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head: its words, the times in it, and whether it holds changes."""

    text: str = ""
    periods: tuple[Period, ...] = ()
    change: bool = False


@lru_cache(maxsize=4096)
def columns(
    heads: tuple[tuple[str, ...], ...], cells: tuple[int, ...], width: int, percents: tuple[bool, ...]
) -> tuple[Column, ...]:
    """One column for each cell; empty ones where head and cells do not match in number."""
    count = len(cells)
    texts: list[list[str]] = [[] for _ in range(count)]
    unsure: list[list[str]] = [[] for _ in range(count)]
    totals = any(len(f) == count and _TOTAL.fullmatch(f[-1]) for f in ([p for p in line if p] for line in heads))
    own_years = any(sum(_has_year(p) for p in line) > 1 for line in heads)
    lines = [mended([p for p in line if p], count) for line in heads]
    widest = max(map(len, lines), default=0)
    for line, pieces in zip(heads, lines, strict=True):
        filled = pieces
        if _by_runs(filled, percents, texts):
            continue
        if len(filled) == count != sum(map(bool, line)):
            _spread(filled, count, percents, texts, unsure)
            continue
        if totals and len(filled) == count - 1 and count > 2 and not _CHANGE.search(filled[-1]):
            filled = [*filled, "-"]  # nothing stands over "Total"
        if len(line) == width and all(line[i] for i in cells):
            for n, i in enumerate(cells):
                texts[n].append(line[i])
            continue
        if len(filled) > 1 and len(filled) - 1 in {count, percents.count(False)} and len(filled) != count:
            filled = filled[1:]
        if (
            len(filled) > 2
            and _UNIT.match(filled[0])
            and count not in {len(filled), 1}
            and not count % (len(filled) - 1)
        ):
            filled = filled[1:]  # "(In millions)" stands over the labels
        if own_years and len(filled) == 1 and _is_title(filled[0]):
            continue  # "Annual report 2024" over columns that say their years
        if 1 < len(filled) <= count < widest - 1:
            for loose in unsure:  # heads of groups of columns, of a row with fewer cells than columns
                loose.extend(filled)
            continue
        _spread(filled, count, percents, texts, unsure)
    over_all = set(texts[0]).intersection(*texts) if count > 1 else set()
    return tuple(_column(words, over_all, " ; ".join(loose)) for words, loose in zip(texts, unsure, strict=True))


def _by_runs(filled: list[str], percents: tuple[bool, ...], texts: list[list[str]]) -> bool:
    """ "(In millions)", "Three Months Ended September 30,", "Percentage Change" over 56,517, 50,122 and 13%: the change
    stands over the percentages, the time over what is none. Whether the heads are such.
    """
    heads = filled[1:] if filled and _UNIT.match(filled[0]) else filled
    changes = [bool(_CHANGE.search(head)) for head in heads]
    runs = [(percent, len(list(cells))) for percent, cells in groupby(percents)]
    if len(runs) == len(percents) or len(heads) < 2 or not any(changes) or [percent for percent, _ in runs] != changes:
        return False
    at = 0
    for head, (_, width) in zip(heads, runs, strict=True):
        for words in texts[at : at + width]:
            words.append(head)
        at += width
    return True


def _has_year(text: str) -> bool:
    return any(p.year for p in find_periods(text))


def _is_title(text: str) -> bool:
    """It names a year and no day or length of time."""
    return any(p.year and not (p.month or p.months) for p in find_periods(text))


def _spread(
    filled: list[str], count: int, percents: tuple[bool, ...], texts: list[list[str]], unsure: list[list[str]]
) -> None:
    size = len(filled)
    plain = [n for n, percent in enumerate(percents) if not percent]
    if size == 1:
        if len(filled[0]) < 120 and find_periods(dated(filled[0])):
            for words in texts:
                words.append(filled[0])
    elif size == count or (size < count and count % size == 0):
        for n, words in enumerate(texts):
            words.append(filled[n * size // count])
    elif size == len(plain):
        for at, n in enumerate(plain):
            texts[n].append(filled[at])
            if n + 1 < count and percents[n + 1]:
                texts[n + 1].append(filled[at])
    elif size == count - 1 and size > 1 and _CHANGE.search(filled[-1]):
        for n, words in enumerate(texts):
            words.append(filled[min(n, size - 1)])  # a change in money and in percent
    elif size == count - 1 and size > 1:
        for n, loose in enumerate(unsure):
            loose.extend(filled[max(0, n - 1) : n + 1])
    elif size > count:
        for n, loose in enumerate(unsure):
            loose.extend(filled[n : n + size - count + 1])


def dated(text: str) -> str:
    """ "Years Ended September 30," names a time only with the year below it."""
    text = _MONTH_DAY.sub(r"\1 \2", text)
    return f"{text.rstrip(' ,')}, 2000" if re.search(r"[a-z] \d{1,2},?\s*$", text) else text


def _column(heads: list[str], over_all: Set[str], unsure: str) -> Column:
    text = " ".join(heads)
    signs = " ".join(part for part in text.split() if not re.search(r"\w", part))
    if signs:  # "2019 %": the sign is no unit of the year
        words = " ".join(part for part in text.split() if re.search(r"\w", part))
        text = f"{words} ; {signs}"
    periods = merged(_nearest(heads, over_all, find_periods(_spelled(text))), find_periods(_spelled(unsure)))
    return Column(text, periods, bool(_CHANGE.search(text)))


def _nearest(heads: list[str], over_all: Set[str], periods: list[Period]) -> list[Period]:
    """Without those of other years than the column's own heads name: a title over all columns has the report's."""
    if len({p.year for p in periods if p.year}) < 2:
        return periods
    own = " ".join(head for head in heads if head not in over_all)
    years = {p.year for p in find_periods(_spelled(own)) if p.year}
    return [p for p in periods if not p.year or p.year in years] if years else periods


def _spelled(text: str) -> str:
    """ "First" heads a first quarter, and "December31," a day."""
    text = _MONTH_DAY.sub(r"\1 \2", text)
    return " ; ".join(f"{part} quarter" if _ORDINAL.search(part.strip()) else part for part in text.split(" ; "))
