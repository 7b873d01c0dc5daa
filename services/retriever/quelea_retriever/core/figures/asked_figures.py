"""Figures that a question asks for: the lines that it names, in the periods that it names, from facts of statements.

What a question asks besides (of which product, why) no fact answers: then there are no figures, and passages answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise, product, takewhile

from quelea_fintext.asked_lines import Line, read_asked_lines
from quelea_fintext.dates import parse_iso
from quelea_fintext.metrics import compute, metrics

from quelea_retriever.core.figures.asked_parts import AskedParts
from quelea_retriever.core.figures.common_period import in_common_period
from quelea_retriever.core.figures.fact_periods import LONGEST, YEAR, CompanyCalendar, Target, said_months
from quelea_retriever.core.figures.figure_search import AskedFigure, FigureSearch
from quelea_retriever.core.figures.remainders import Remainder, remainder
from quelea_retriever.core.figures.stated_lines import StatedLines, labels_of
from quelea_retriever.core.figures.statement_facts import StatedFact
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.filings import NEAR

_MOST_FIGURES = 12
_MOST_OF_SERIES = 5
"""Periods of a series where the question does not say how many."""
_ADDED = re.compile(r"\{(\d+)\}")


def find_figures(search: FigureSearch, stated: Sequence[StatedFact]) -> list[AskedFigure]:
    """Every figure that the question asks for; none where one of them is not stated, or more than figures is asked.

    Of a question that asks why a line rose, or fell, the change that the statements have if it went the other way.
    """
    companies = []
    for company, filings in search.companies:
        ids = {one.id for one in filings}
        companies.append(_Company(search, company, filings, [one for one in stated if one.document.id in ids]))
    if len(companies) == 1 and (other_way := companies[0].other_way()):
        return [other_way]
    each = [one.figures() for one in companies]
    if not all(each):
        parts = [one.parts() for one in companies]
        return [figure for figures in parts for figure in figures] if all(parts) else []
    found = [figure for figures in in_common_period(search, companies, each) for figure in figures]
    return found if len(found) <= _MOST_FIGURES else []


class _Company:
    """One company's figures."""

    def __init__(
        self, search: FigureSearch, name: str, filings: Sequence[DocumentFacts], stated: Sequence[StatedFact]
    ) -> None:
        self._search = search
        self._name = name
        self._asked = read_asked_lines(search.question, companies=search.mentions, labels=labels_of(stated))
        # what asks why is no heading of rows
        of_rows = replace(self._asked, others=()) if self._asked.premise else self._asked
        self._lines = StatedLines(of_rows, stated)
        self._calendar = CompanyCalendar(filings, self._lines.facts)
        self._parts = AskedParts(stated)

    def parts(self) -> list[AskedFigure]:
        """What the question asks for of the company's parts; of its newest year where it names none."""
        newest = self._calendar.newest(annual=True)
        times = self._times() if self._search.periods.of(self._calendar.filings) else [newest] if newest else []
        ends = {some[0].end: some[0] for some in times}
        if len(ends) != 1 or self._asked.parent or self._asked.series:
            return []
        ((end, target),) = ends.items()
        months = said_months(self._search.question) or target.months
        if months not in (12, LONGEST, 0):  # the last quarter of a year ends with it
            return []

        def is_of_time(one: StatedFact) -> bool:
            day = parse_iso(one.fact.period_end)
            return day is not None and abs(day - end) <= NEAR

        found = self._parts.find(self._search.question, self._search.mentions, is_of_time)
        return [self._figure(target, (one,), one.amount, one.unit) for one in found]

    @property
    def newest(self) -> Target | None:
        """The period that is meant where the question names none."""
        months = said_months(self._search.question)
        newest = self._calendar.newest(annual=self._search.intent.annual or months == 12)
        return replace(newest[0], months=months or newest[0].months) if newest else None

    def near(self, time: Target, within: timedelta) -> Target | None:
        """Its period of that length that ends within so many days of that one; None where it states none."""
        ends = self._calendar.year_ends if time.months == 12 else self._calendar.ends(time.months)
        near = [end for end in ends if abs(end - time.end) <= within]
        return replace(time, end=min(near, key=lambda end: abs(end - time.end))) if near else None

    def figures(self, instead: Target | None = None) -> list[AskedFigure]:
        """What the question asks for; of its newest period where it names none, or of that one instead."""
        asked = self._asked
        if not asked.lines or (asked.others and not all(line.kind == "label" for line in asked.lines)):
            return []
        if asked.others and (asked.relation or asked.series):
            return []
        if asked.relation in ("", "change") and (ends := self._series_ends()):
            each = [self._series(line, ends) for line in asked.lines]
            return [figure for some in each for figure in some] if all(each) else []
        if asked.series and asked.series.months == 3:
            return []  # a year's figure is no answer
        times = [[instead]] if instead else self._times()
        if not times:
            return []
        if asked.relation in ("change", "compound"):
            return self._each(asked.lines, [()], lambda line, _: self._changes(line, times))
        if asked.relation == "share":
            return self._each(asked.lines[:1], times, lambda _, some: self._first(some, self._share))
        return self._each(asked.lines, times, lambda line, some: self._first(some, lambda one: self._span(line, one)))

    def other_way(self) -> AskedFigure | None:
        """The change of the line that the question asks the reason for, where it went the other way than it says."""
        asked = self._asked
        if not asked.premise or len(asked.lines) != 1 or asked.series:
            return None
        times = self._times()
        change = self._changes(asked.lines[0], times) if times else None
        if change is None or (change.growth is None and change.unit != "points"):
            return None  # of a loss, "rose" may mean either
        if len(times) == 1 and not asked.sequential and self._follows_another(change):
            return None  # nobody knows whether it rose since then, or within a year
        return change if change.value * asked.premise < 0 else None

    def _follows_another(self, change: AskedFigure) -> bool:
        """It is of a quarter, or of a day within the year: what is before it may be a year before, or less."""
        last = change.operands[0].fact
        is_of_year = parse_iso(last.period_end) in self._calendar.year_ends
        return last.months in range(1, 5) or (not last.months and not is_of_year)

    def _each(
        self,
        lines: Sequence[Line],
        times: Sequence[Sequence[Target]],
        find: Callable[[Line, Sequence[Target]], AskedFigure | None],
    ) -> list[AskedFigure]:
        """The figure of each line at each time; none where one of them is missing."""
        found = [find(line, some) for line, some in product(lines, times)]
        return [one for one in found if one is not None] if all(found) else []

    def _series_ends(self) -> list[list[Target]]:
        """The periods of a series, oldest first, each as what it may mean; none where no series is asked for.

        Three periods and more that a question names are one where it asks how a line changed over them; each quarter
        of a year that it names, too.
        """
        series, calendar = self._asked.series, self._calendar
        asks = self._search.periods.of(calendar.filings)
        if asks and series and series.months == 3:
            ends: list[date | None] = []
            for ask in asks:
                year = next((one.end for one in calendar.targets(ask, 0, annual=True) if one.months == 12), None)
                ends += calendar.quarters_to(year) if year else [None]
            return [[Target(end, 3)] for end in sorted(end for end in ends if end)] if all(ends) else []
        if asks:
            if len(asks) < 3 or not (series or self._asked.relation):
                return []
            times = [calendar.targets(ask, 0, annual=self._search.intent.annual) for ask in asks]
            return sorted(times, key=lambda some: some[0].end) if all(times) else []
        if series is None:
            return []
        stated = calendar.year_ends if series.months == 12 else calendar.ends(series.months)
        unbroken = takewhile(lambda two: two[0] - two[1] < YEAR * (series.months + 2) / 12, pairwise(stated))
        on_end = [*stated[:1], *(earlier for _, earlier in unbroken)]
        return [[Target(end, series.months)] for end in reversed(on_end[: series.count or _MOST_OF_SERIES])]

    def _series(self, line: Line, times: Sequence[Sequence[Target]]) -> list[AskedFigure]:
        """A line in each period, and its change over all of them.

        Where the question names the periods none may be missing; else it is as many as are stated, without a gap.
        """
        found = [self._first(some, lambda one: self._span(line, one)) for some in times]
        gap = max((at for at, one in enumerate(found) if one is None), default=-1)
        if gap >= 0 and (self._search.periods.named or self._search.periods.relative):
            return []
        stated = [one for one in found[gap + 1 :] if one is not None]
        if len({one.period_end for one in stated}) < max(2, len(stated)):
            return []
        change = self._change(line, stated[-1], stated[0])
        return [*stated, change] if change and stated[-1].unit == stated[0].unit else stated

    def _times(self) -> list[list[Target]]:
        """For each period that is asked for what it may mean, the likeliest first."""
        search, calendar = self._search, self._calendar
        months = said_months(search.question)
        asks = search.periods.of(calendar.filings)
        if not asks:
            if search.intent.multi and not self._asked.relation:
                return []
            return [[self.newest]] if self.newest else []
        times = [calendar.targets(ask, months, annual=search.intent.annual) for ask in asks]
        return times if all(times) else []

    def _first(self, targets: Sequence[Target], find: Callable[[Target], AskedFigure | None]) -> AskedFigure | None:
        return next((found for target in targets if (found := find(target)) is not None), None)

    def _span(self, line: Line, target: Target) -> AskedFigure | None:
        """A line's figure of a period; of one that nothing states, what is left of a longer one without what comes
        before it: a fourth quarter, and a later quarter's cash flows."""
        found = self._line(line, target)
        if target.months <= 0:
            return found
        months = max(one.fact.months for one in found.operands) if found else 0
        if found and (abs(months - target.months) <= 1 or (not months and not target.is_span)):
            return found  # the balance at the quarter's end, whose change may have a row of the same label
        rest = self._metric_of_rest(line.id, target) if line.kind == "metric" else self._remainder(line, target)
        return rest or found

    def _remainder(self, line: Line, target: Target) -> AskedFigure | None:
        rest = remainder(self._lines, line, target)
        if rest is None:
            return None
        figure = self._figure(target, (rest.whole, rest.part), rest.amount, rest.unit, "remainder")
        return replace(figure, formula="{0} − {1}", period_start=rest.start)

    def _metric_of_rest(self, metric: str, target: Target) -> AskedFigure | None:
        """A metric of a period that nothing states: each flow is what is left of a longer one, as in a fourth quarter's
        margin; what is of a day stays as it is stated."""

        def lookup(concept: str, before: bool) -> StatedFact | Remainder | None:
            when = replace(target, end=_year_before(target.end)) if before else target
            stated = self._lines.of_concept(concept, when)
            if stated and (not stated.fact.months or abs(stated.fact.months - target.months) <= 1):
                return stated
            return remainder(self._lines, Line("concept", concept, 0), when)

        asked = self._asked
        done = compute(metrics()[metric], lookup, months=target.months, balances=asked.balances, year=asked.year)
        first = next((one.stated for one in done.operands if isinstance(one.stated, Remainder)), None) if done else None
        if done is None or first is None:
            return None
        longer = replace(target, months=LONGEST)
        if any(self._lines.of_concept(concept, longer) for concept in done.absent):
            return None  # it is stated, though not as what could be subtracted
        operands: list[StatedFact] = []
        slots: list[str] = []
        for operand in done.operands:
            at, stated = len(operands), operand.stated
            if isinstance(stated, Remainder):
                operands += [stated.whole, stated.part]
                slots.append(f"({{{at}}} − {{{at + 1}}})")
            elif isinstance(stated, StatedFact):
                operands.append(stated)
                slots.append(f"{{{at}}}")
        formula = _ADDED.sub(lambda match: slots[int(match[1])], done.formula)
        figure = self._figure(target, tuple(operands), done.value, done.unit, metric)
        end = first.whole.fact.period_end
        return replace(figure, formula=formula, absent=done.absent, period_start=first.start, period_end=end)

    def _line(self, line: Line, target: Target) -> AskedFigure | None:
        """A line's figure of a period: as it is stated, or computed."""
        if line.kind == "metric":
            return self._metric(line.id, target)
        one = self._lines.stated(line, target)
        return self._figure(target, (one,), one.amount, one.unit) if one else None

    def _figure(
        self, target: Target, operands: tuple[StatedFact, ...], value: Decimal, unit: str, metric: str = ""
    ) -> AskedFigure:
        """With the period of its first flow, else of its first balance."""
        first = next((one for one in operands if one.fact.period_start), operands[0]).fact
        end = parse_iso(first.period_end) or target.end
        is_in_year = first.months < 12 or end in self._calendar.year_ends  # else twelve months in two
        year = self._calendar.year_with(end) if is_in_year else 0
        return AskedFigure(
            self._name,
            value,
            unit,
            first.period_start,
            first.period_end,
            operands,
            metric,
            fiscal_year=year,
            asked_year=target.asked_year,
        )

    def _metric(self, metric: str, target: Target) -> AskedFigure | None:
        def lookup(concept: str, before: bool) -> StatedFact | None:
            when = replace(target, end=_year_before(target.end)) if before else target
            return self._lines.of_concept(concept, when)

        asked = self._asked
        months = self._length(target)
        done = compute(metrics()[metric], lookup, months=months, balances=asked.balances, year=asked.year)
        if done is None:
            return None
        operands = tuple(one.stated for one in done.operands)
        if len({one.fact.months for one in operands} - {0}) > 1:
            return None
        figure = self._figure(target, operands, done.value, done.unit, metric)
        return replace(figure, formula=done.formula, absent=done.absent)

    def _length(self, target: Target) -> int:
        if target.months > 0:
            return target.months
        found = self._lines.of_concept("revenue", target) or self._lines.of_concept("net_income", target)
        return found.fact.months if found else 12

    def _share(self, target: Target) -> AskedFigure | None:
        """One line as a part of another."""
        part, whole = (self._line(line, target) for line in self._asked.lines[:2])
        if part is None or whole is None or part.unit != whole.unit or not whole.value or part.metric or whole.metric:
            return None
        operands = (*part.operands, *whole.operands)
        figure = self._figure(target, operands, part.value / whole.value * 100, "percent", "share")
        return replace(figure, formula="{0} / {1}")

    def _changes(self, line: Line, times: Sequence[Sequence[Target]]) -> AskedFigure | None:
        """The change of a line between two periods: those that are named, or the named one and the one before it."""
        if len(times) > 1:
            ends = [(min(some[0].end for some in times), max(some[0].end for some in times))]
            first = next(some for some in times if some[0].end == ends[0][0])
            last = next(some for some in times if some[0].end == ends[0][1])
            if len(times) > 2 and self._asked.relation != "compound":
                return None
            pairs = [(first[0], last[0]), (first[-1], last[-1])]
        else:
            back = 0.25 if self._asked.sequential else 1.0
            pairs = [(replace(one, end=one.end - YEAR * back, asked_year=0), one) for one in times[0]]
        for before, target in pairs:
            later, earlier = self._line(line, target), self._line(line, before)
            if later and earlier and later.period_end != earlier.period_end and later.unit == earlier.unit:
                return self._change(line, later, earlier)
        return None

    def _change(self, line: Line, later: AskedFigure, earlier: AskedFigure) -> AskedFigure | None:
        operands = (*later.operands, *earlier.operands)
        grows = earlier.value > 0 and later.value >= 0 and later.unit != "percent"
        growth = (later.value - earlier.value) / earlier.value * 100 if grows else None
        figure = replace(
            later,
            value=later.value - earlier.value,
            unit="points" if later.unit == "percent" else later.unit,
            operands=operands,
            metric="change",
            formula_before=_moved(earlier.formula, len(later.operands)),
            absent=tuple(dict.fromkeys((*later.absent, *earlier.absent))),
            growth=growth,
            later=later.value,
            earlier=earlier.value,
            of=line.id if line.kind == "metric" else "",
        )
        if self._asked.relation != "compound":
            return figure
        ends = [parse_iso(one.period_end) for one in (earlier, later)]
        years = round((ends[1] - ends[0]) / YEAR) if ends[0] and ends[1] else 0
        if growth is None or years < 1 or later.value <= 0:
            return None
        rate = (later.value / earlier.value) ** (Decimal(1) / years) - 1
        return replace(figure, metric="compound_growth", value=rate * 100, unit="percent", growth=Decimal(years))


def _year_before(day: date) -> date:
    return day - YEAR


def _moved(formula: str, by: int) -> str:
    """A formula over operands that come after `by` others."""
    return _ADDED.sub(lambda match: f"{{{int(match[1]) + by}}}", formula)
