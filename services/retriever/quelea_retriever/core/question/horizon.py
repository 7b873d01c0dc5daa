"""How far the stored documents reach, and whether a question names a period beyond that."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from quelea_fintext.dates import parse_iso

from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.filings import NEAR, covering, period_name
from quelea_retriever.core.question.periods import Ask
from quelea_retriever.core.question.relative_periods import relative_spans

_QUARTER = timedelta(days=91)
_RULES = {
    "calendar": Ask("quarter", calendar=True),
    "fiscal": Ask("quarter", fiscal=True),
    "filed": Ask("quarter"),
}
"""The three names of a period: the calendar's, the filer's, the file's. Which one counts, the question says."""


@dataclass(frozen=True)
class Horizon:
    """The newest period and the newest day of some documents; None and empty where nothing is known."""

    names: dict[str, tuple[int, date | None]] = field(default_factory=dict)
    """Rule to the newest period by that name, as quarters counted from the year 0, and its last day."""
    end: date | None = None
    """Last day of the newest period."""
    newest_undated: date | None = None
    """Newest day of a document of no period: published, else (only where asked for) fetched."""
    published: date | None = None

    @classmethod
    def of(cls, documents: Iterable[DocumentFacts], *, undated: bool = False) -> Horizon:
        """The horizon of these documents; `undated`: one of unknown date may tell of anything before it was fetched."""
        names: dict[str, tuple[int, date | None]] = {}
        end: date | None = None
        newest_undated: date | None = None
        published: date | None = None
        for document in documents:
            day, last = parse_iso(document.published), parse_iso(document.period.end_date)
            published = _later(published, day)
            if not document.period:
                newest_undated = _later(newest_undated, day or (parse_iso(document.fetched[:10]) if undated else None))
                continue
            end = _later(end, last)
            for rule, ask in _RULES.items():
                year, quarter = period_name(document, ask)
                index = 4 * year + (quarter or 4)
                if year and index > names.get(rule, (0, None))[0]:
                    names[rule] = (index, last)
        return cls(names, end, newest_undated, published)

    def before(self, ask: Ask, as_of: date, annual: bool) -> bool:
        """True when what the ask names is newer than every document, and had begun by the day of the question.

        A period that had not begun is no news but a plan, which stored documents may well state. A document that
        reports no period, such as news, may speak of any period that had begun when it was published.
        """
        if not (self.names or self.end or self.newest_undated):
            return False
        newest = self.names.get("calendar" if ask.calendar else "fiscal" if ask.fiscal else "filed")
        last = _last_day(ask)
        if ask.kind in ("quarter", "year"):
            index = 4 * ask.year + (ask.quarter or (4 if annual else 1))
            if newest and index <= newest[0]:
                return False
            if newest and newest[1]:  # by the filer's own calendar, which may run months ahead
                ahead = 4 * ask.year + (ask.quarter or 4) - newest[0]
                last = newest[1] + ahead * _QUARTER
        elif self.end and last <= self.end + NEAR:
            return False
        if ask.alone:
            first = last.replace(day=1)
            return first <= as_of and not (self.newest_undated and first <= self.newest_undated)
        first = last - (4 * _QUARTER if ask.kind == "year" else timedelta() if ask.weak else _QUARTER)
        return first <= as_of and not (self.newest_undated and first <= self.newest_undated)

    def before_span(self, first: date) -> bool:
        """True when a span of days begins after every period and every date of publication."""
        newest = _later(_later(self.end, self.newest_undated), self.published)
        return newest is not None and first > newest


def names_newer_period(
    text: str, asks: Sequence[Ask], documents: Sequence[DocumentFacts], horizon: Horizon, as_of: date, *, annual: bool
) -> bool:
    """True when the question names a period, by date, label or relative to its day, beyond all these documents.

    Args:
        text: The question.
        asks: The periods that it names.
        documents: Those that may answer.
        horizon: Of these documents.
        as_of: The day of the question.
        annual: The question asks for a whole year's report.
    """
    named = [ask for ask in asks if ask.kind == "date" or (ask.year and not ask.weak)]
    if not named:
        return any(horizon.before_span(first) for first, _ in relative_spans(text, as_of))
    newer = [ask for ask in named if horizon.before(ask, as_of, annual)]
    if not newer:
        return False
    filings = [document for document in documents if document.period]
    return any(not covering(ask, filings, annual=annual) for ask in newer)


def first_day(ask: Ask) -> date:
    """About the first day of what is asked for."""
    last = _last_day(ask)
    if ask.alone:
        return last.replace(day=1)
    return last.replace(month=1, day=1) if ask.kind == "year" else max(last, date.min + _QUARTER) - _QUARTER


def _later(one: date | None, other: date | None) -> date | None:
    return max(filter(None, (one, other)), default=None)


def _last_day(ask: Ask) -> date:
    if ask.end is not None:
        return ask.end
    month = ask.month or (3 * ask.quarter) or 12
    return date(ask.year, month, monthrange(ask.year, month)[1])
