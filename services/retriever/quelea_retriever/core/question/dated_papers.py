"""Documents that a question calls by the day they came out: "the filing of July 1", "the 8-K of March 5, 2024"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from quelea_fintext.dates import MONTHS, find_dates, parse_iso
from quelea_fintext.languages import LANGUAGES

from quelea_retriever.core.model import DocumentFacts

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = re.compile(
    rf"\b(?P<m1>{_MONTH})\.? {{1,4}}(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,? {{0,4}}(?:19|20)\d\d)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? {{1,4}}(?:of {{1,4}})?(?P<m2>{_MONTH})\b(?!\.?,? {{0,4}}(?:19|20)\d\d)"
    r"|(?<![\d年])(?P<m3>1[0-2]|[1-9])月(?P<d3>[12]\d|3[01]|[1-9])日",
    re.IGNORECASE,
)
_KINDS = {kind: LANGUAGES.pattern(f"time.papers.{kind}") for kind in ("filing", "release", "call", "current", "proxy")}
_TYPES = {
    "release": frozenset({"press release"}),
    "call": frozenset({"earnings call"}),
    "current": frozenset({"8-K", "6-K"}),
    "proxy": frozenset({"DEF 14A"}),
}
"""Of documents, by what a question calls them; "filing" may be any."""
_INSTEAD = {"release": frozenset({"8-K", "6-K", "news", "announcement"})}
"""Where none of that type came out on the day: what tells the same."""
_Dated = list[tuple[date, DocumentFacts]]
_ENDED = LANGUAGES.pattern("time.papers.until", r"(?:<>)\s{0,4}$")


def published_on(question: str, documents: Iterable[DocumentFacts], as_of: date) -> tuple[DocumentFacts, ...]:
    """The documents of the day and kind by which a question calls them, in their order.

    Args:
        question: It speaks of a filing, a release, a call and of a day; else there are none.
        documents: Those that may be meant.
        as_of: The day of the question: nothing that came out later is meant. A day without a year is the last one that
            some document came out on.
    """
    kinds = [kind for kind, pattern in _KINDS.items() if pattern.search(question)]
    if not kinds:
        return ()
    dated = [(day, one) for one in documents if (day := parse_iso(one.published)) and day <= as_of]
    types = [_TYPES[kind] for kind in kinds if kind in _TYPES]
    if not types:
        return _of_day(question, dated)
    instead = [_INSTEAD[kind] for kind in kinds if kind in _INSTEAD]
    return _of_day(question, _of_types(dated, types)) or _of_day(question, _of_types(dated, instead))


def _of_day(question: str, fitting: _Dated) -> tuple[DocumentFacts, ...]:
    exact = {one.day for one in find_dates(question) if not _ENDED.search(question[: one.start])}
    found = [one for day, one in fitting if day in exact]
    if exact:
        return tuple(found)
    named = set(_days(question))
    newest = max((day for day, _ in fitting if (day.month, day.day) in named), default=None)
    return tuple(one for day, one in fitting if day == newest)


def _of_types(dated: _Dated, types: Sequence[frozenset[str]]) -> _Dated:
    return [(day, one) for day, one in dated if any(one.document_type in some for some in types)]


def _days(question: str) -> Iterable[tuple[int, int]]:
    """(month, day) of each day without a year that is no end of a period."""
    for match in _DAY.finditer(question):
        if _ENDED.search(question[: match.start()]):
            continue
        which = next(n for n in "123" if match[f"m{n}"])
        month = match[f"m{which}"].lower()
        yield (MONTHS[month] if not month.isdigit() else int(month)), int(match[f"d{which}"])
