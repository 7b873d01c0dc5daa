"""Local passages and those of web pages in one list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from quelea_fintext.dates import parse_iso
from quelea_fintext.text import normalise, terms, words

from quelea_gateway.core.gate.features import newest_day
from quelea_gateway.core.model import Filters, Passage, Ranked, Reading
from quelea_gateway.core.web.model import Useful, WebPage

NEWER = 0.1
"""When the latest is asked for: what a passage of the day of the question gains, as a share of the spread of scores."""
HALF_LIFE_DAYS = 180.0
"""After so many days a passage gains half of it."""
_ALIKE = 0.9
_ZONES = timedelta(days=1)
"""The day of the question is somewhere in the world already over when it begins elsewhere."""
_RUN = 3
_LETTERS = re.compile(r"[\W_]+")
_QUARTERS = {
    "1": ("q1", "first quarter", "一季", "第一季"),
    "2": ("q2", "second quarter", "二季", "第二季"),
    "3": ("q3", "third quarter", "三季", "第三季"),
    "4": ("q4", "fourth quarter", "四季", "第四季"),
}


def drop_later(passages: Iterable[Passage], as_of: str) -> tuple[Passage, ...]:
    """Without what was published after the day of the question.

    Where the day of publication is not known, a period that ended later and a web page that was fetched later, or
    nobody knows when, tell that the passage may be later, too.
    """
    today = parse_iso(as_of)
    return tuple(p for p in passages if today is None or not _is_later(p, today))


def _is_later(passage: Passage, today: date) -> bool:
    published = parse_iso(passage.published)
    if published is not None:
        return published > today
    ended, fetched = parse_iso(passage.period_end), parse_iso(passage.fetched[:10])
    return bool((ended and ended > today) or (passage.from_web and (fetched is None or fetched > today + _ZONES)))


def new_passages(
    local: Sequence[Passage], pages: Sequence[WebPage], as_of: str, filters: Filters
) -> tuple[Passage, ...]:
    """The pages' passages that no local one says already, each once, none later than the day of the question.

    Of the filters those that can be held against a page: published and language, as the retriever reads them.
    """
    seen = [_shape(passage.text) for passage in local]
    found: list[Passage] = []
    for page in pages:
        for passage in drop_later(page.passages, as_of):
            shape = _shape(passage.text)
            if (
                passage.text.strip()
                and _is_wanted(passage, filters)
                and not any(_alike(shape, other) for other in seen)
            ):
                seen.append(shape)
                found.append(passage)
    return tuple(found)


def _is_wanted(passage: Passage, filters: Filters) -> bool:
    if filters.languages and passage.language not in filters.languages:
        return False
    if not filters.published_from and not filters.published_to:
        return True
    return bool(passage.published) and (
        filters.published_from <= passage.published <= (filters.published_to or passage.published)
    )


def _shape(text: str) -> tuple[str, frozenset[tuple[str, ...]]]:
    """The letters alone, and the runs of three words."""
    said = words(text)
    return _LETTERS.sub("", normalise(text)), frozenset(tuple(said[n : n + _RUN]) for n in range(len(said)))


def _alike(left: tuple[str, frozenset[tuple[str, ...]]], right: tuple[str, frozenset[tuple[str, ...]]]) -> bool:
    if left[0] == right[0]:
        return True
    both = len(left[1] | right[1])
    return bool(both) and len(left[1] & right[1]) >= _ALIKE * both


def order(
    passages: Sequence[Passage], ranked: Sequence[Ranked], *, as_of: str, newer_first: bool
) -> tuple[Passage, ...]:
    """The passages by fused score, best first, with the header and cosine that they were ranked by.

    With newer_first a passage gains NEWER of the spread of scores, less by half for every HALF_LIFE_DAYS that lie
    between it and the day of the question; one without a date gains nothing.
    """
    scores = [one.score for one in ranked]
    spread, today = (max(scores) - min(scores) if scores else 0.0), parse_iso(as_of)
    placed: list[Passage] = []
    for one in ranked:
        passage = passages[one.index]
        gain = NEWER * spread * _recency(passage, today) if newer_first and today else 0.0
        header = passage.header or one.header
        placed.append(replace(passage, score=one.score + gain, cosine=one.cosine, header=header))
    return tuple(sorted(placed, key=lambda passage: -passage.score))


def _recency(passage: Passage, today: date) -> float:
    published = parse_iso(passage.published) or newest_day([passage])
    return 0.5 ** (max(0, (today - published).days) / HALF_LIFE_DAYS) if published else 0.0


def useful_pages(pages: Sequence[WebPage], merged: Sequence[Passage], cosine: float) -> tuple[Useful, ...]:
    """The pages whose best passage is above `cosine`; none whose best passage reads like instructions."""
    best: dict[str, Passage] = {}
    for passage in merged:
        if passage.source == "web":
            other = best.get(passage.document_id)
            if other is None or passage.cosine > other.cosine:
                best[passage.document_id] = passage
    return tuple(
        Useful(page.document_id, page.url, best[page.document_id].cosine)
        for page in pages
        if page.document_id in best and best[page.document_id].cosine > cosine and not best[page.document_id].suspicious
    )


def fill_reading(reading: Reading, evidence: Sequence[Passage]) -> Reading:
    """The reading, without the missing company or period that the web's passages speak of."""
    web = [passage for passage in evidence if passage.source == "web"]
    company = reading.company_missing and not any(_speaks_of(passage, reading.companies) for passage in web)
    period = reading.period_missing and not any(_is_of(passage, reading.periods) for passage in web)
    if (company, period) == (reading.company_missing, reading.period_missing):
        return reading
    return replace(
        reading, company_missing=company, period_missing=period, notes=reading.notes if company or period else ()
    )


def _speaks_of(passage: Passage, names: Sequence[str]) -> bool:
    said = normalise(_whole(passage))
    there = set(terms(said))
    return any(normalise(name) in said or (terms(name) and there.issuperset(terms(name))) for name in names)


def _is_of(passage: Passage, periods: Sequence[str]) -> bool:
    said = normalise(_whole(passage))
    for period in periods:
        label = normalise(period)
        if label == normalise(passage.period):
            return True
        year, quarter = re.search(r"(?:19|20)\d\d", label), re.search(r"q([1-4])", label)
        if not year or year.group() not in said:
            continue
        if quarter is None or any(name in said for name in _QUARTERS[quarter[1]]):
            return True
    return False


def _whole(passage: Passage) -> str:
    return "\n".join((passage.title, passage.header, passage.company, passage.period, passage.table_head, passage.text))
