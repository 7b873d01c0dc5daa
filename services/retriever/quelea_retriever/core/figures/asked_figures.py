"""Figures that a question asks for: the lines that it names, in the periods that it names, from facts of statements.

What a question asks besides (of which product, why) no fact answers: then there are no figures, and passages answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise, product, takewhile

from quelea_fintext.asked_lines import Line, Series, name_key, read_asked_lines
from quelea_fintext.concepts import concept_of_label, concepts, goes_on, label_key
from quelea_fintext.dates import parse_iso
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import compute, metrics
from quelea_fintext.notices import Note, NoteReason
from quelea_fintext.nouns import in_nouns

from quelea_retriever.core.figures.asked_parts import AskedParts
from quelea_retriever.core.figures.fact_periods import LONGEST, YEAR, CompanyCalendar, Target, said_months
from quelea_retriever.core.figures.statement_facts import STATEMENTS, FactQuery, StatedFact
from quelea_retriever.core.model import DocumentFacts, Reading
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.companies import Mention
from quelea_retriever.core.question.filings import NEAR, newest_first
from quelea_retriever.core.question.relative_periods import Periods
from quelea_retriever.core.question.time_intent import TimeIntent, read_time_intent

_MOST_FILINGS = 16
_NEWEST = 4
"""Filings that are looked into where a question names no period: the newest, and an annual one among them."""
_MOST_FIGURES = 12
_MOST_OF_SERIES = 5
"""Periods of a series where the question does not say how many."""
_ONE_TIME = timedelta(days=45)
"""Periods of two companies that end within so many days of each other are compared."""
_TO_DATE = (6, 9, 12)
"""Months from the beginning of a year to the end of its quarters, but the first."""
_OF_DAY = LANGUAGES.pattern("passages.of_day")
_BETWEEN = LANGUAGES.pattern("questions.between_companies", r"(?:'s)?[\s,、，]*(?:<>)?\s*")
_ADDED = re.compile(r"\{(\d+)\}")


@dataclass(frozen=True, slots=True)
class AskedFigure:
    """quelea.common.v1.Figure says what the fields are."""

    company: str
    value: Decimal
    unit: str
    period_start: str
    period_end: str
    operands: tuple[StatedFact, ...]
    metric: str = ""
    formula: str = "{0}"
    formula_before: str = ""
    fiscal_year: int = 0
    asked_year: int = 0
    absent: tuple[str, ...] = ()
    growth: Decimal | None = None
    later: Decimal | None = None
    earlier: Decimal | None = None
    of: str = ""


@dataclass(frozen=True)
class FigureSearch:
    """Whose statements a question asks about, and when."""

    question: str
    companies: tuple[tuple[str, tuple[DocumentFacts, ...]], ...]
    """Display names, each with the filings that may state it."""
    mentions: tuple[str, ...]
    """Words of the question that name companies."""
    periods: Periods
    intent: TimeIntent
    series: Series | None = None

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of all of these filings."""
        return tuple(dict.fromkeys(one.id for _, filings in self.companies for one in filings))


def plan_figures(question: str, reading: Reading, catalogue: Catalogue, as_of: date) -> FigureSearch | None:
    """Where to look for figures; None where the question names none, or no company with filings."""
    asked = in_nouns(question)
    named = catalogue.book.find(asked)
    keys = list(dict.fromkeys(mention.key for mention in named))
    if reading.company_missing:
        return None
    if not keys and not catalogue.unowned and len(catalogue.by_company) == 1:
        keys = list(catalogue.by_company)
    strange = _beside(named, asked, [key for key in keys if not catalogue.by_company.get(key)], catalogue)
    keys = [key for key in keys if key not in strange]
    if not keys or any(key not in catalogue.by_company for key in keys):
        return None
    mentions = tuple(asked[mention.start : mention.end] for mention in named)
    periods = Periods.read(asked, as_of)
    series = read_asked_lines(asked, companies=mentions).series
    chosen = []
    for key in keys:
        filings = [one for one in catalogue.by_company[key] if one.period.end_date]
        if filings:
            chosen.append((catalogue.book.display[key], tuple(_nearest(filings, periods, several=series is not None))))
    if not chosen or len(chosen) < len(keys):
        return None
    return FigureSearch(asked, tuple(chosen), mentions, periods, read_time_intent(asked), series)


def _beside(named: Sequence[Mention], asked: str, keys: Sequence[str], catalogue: Catalogue) -> frozenset[str]:
    """Those of these companies that nothing is stored of, and that the question only names beside another.

    What it asks of both is then answered of the other ("Tesla and Apple"); a note says who is missing. A company that
    is named otherwise ("Apple's sales to Tesla") is part of what is asked.
    """
    joined = {
        one.key
        for left, right in pairwise(named)
        if _BETWEEN.fullmatch(asked[left.end : right.start])
        for one in (left, right)
    }
    return frozenset(key for key in keys if key in joined and not catalogue.about(key))


def _nearest(filings: Sequence[DocumentFacts], periods: Periods, *, several: bool) -> list[DocumentFacts]:
    """The newest filings, or those next to the years that are named: the years after them print them too."""
    years = [ask.year for ask in periods.named if ask.year]
    if years:
        filings = [
            one for one in filings if min(years) - 1 <= int(one.period.end_date[:4]) <= max(years) + 3
        ] or filings
    most = _MOST_FILINGS if years or periods.relative or several else _NEWEST
    return list(newest_first(filings))[:most]


def find_figures(search: FigureSearch, stated: Sequence[StatedFact]) -> list[AskedFigure]:
    """Every figure that the question asks for; none where one of them is not stated, or more than figures is asked."""
    companies = []
    for company, filings in search.companies:
        ids = {one.id for one in filings}
        companies.append(_Company(search, company, filings, [one for one in stated if one.document.id in ids]))
    each = [one.figures() for one in companies]
    if not all(each):
        parts = [one.parts() for one in companies]
        return [figure for figures in parts for figure in figures] if all(parts) else []
    found = [figure for figures in _of_one_time(search, companies, each) for figure in figures]
    return found if len(found) <= _MOST_FIGURES else []


def _of_one_time(
    search: FigureSearch, companies: Sequence[_Company], each: Sequence[list[AskedFigure]]
) -> Sequence[list[AskedFigure]]:
    """Of several companies and no period: where one's newest filing is older, what the others state of its time.

    The last year of one beside the year before last of another compares nothing. Who does not state it keeps its own.
    """
    if len(companies) < 2 or search.periods.named or search.periods.relative or search.intent.latest:
        return each
    newest = [one.newest for one in companies]
    first = min((one for one in newest if one), key=lambda one: one.end, default=None)
    if first is None:
        return each
    return [
        (company.figures(near) if own and own.end - first.end > _ONE_TIME and (near := company.near(first)) else [])
        or figures
        for company, own, figures in zip(companies, newest, each, strict=True)
    ]


def missing_periods(search: FigureSearch, figures: Sequence[AskedFigure]) -> tuple[Note, ...]:
    """Which companies' statements have fewer periods than are asked for; that their figures are of different ones."""
    count = search.series.count if search.series and not search.periods.named else 0
    notes = []
    for company, _ in search.companies:
        found = len({one.period_end for one in figures if one.company == company})
        if 0 < found < count:
            notes.append(Note(NoteReason.FEWER_PERIODS, (company,), count=found, total=count))
    companies = tuple(company for company, _ in search.companies)
    if len(companies) > 1 and not (search.series or search.periods.named or search.periods.relative):
        times = [_time_of([one for one in figures if one.company == company]) for company in companies]
        ends = [end for end, _ in times if end]
        lengths = {long for _, long in times if long}
        if ends and (max(ends) - min(ends) > _ONE_TIME or len(lengths) > 1):
            notes.append(Note(NoteReason.DIFFERENT_PERIODS, companies))
    return tuple(notes)


def _time_of(figures: Sequence[AskedFigure]) -> tuple[date | None, frozenset[int]]:
    """(the last day of a company's figures, about how many months they are long; those of a day are not counted)."""
    ends = [end for one in figures if (end := parse_iso(one.period_end))]
    spans = [(parse_iso(one.period_start), parse_iso(one.period_end)) for one in figures]
    return max(ends, default=None), frozenset(
        round((last - first) / YEAR * 12) for first, last in spans if first and last
    )


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is left of a line's longer period without the part of it that comes first."""

    whole: StatedFact
    part: StatedFact

    @property
    def amount(self) -> Decimal:
        """Exact and unscaled."""
        return self.whole.amount - self.part.amount

    @property
    def unit(self) -> str:
        """As Fact.unit."""
        return self.whole.unit

    @property
    def start(self) -> str:
        """The day after the first part."""
        after = parse_iso(self.part.fact.period_end)
        return (after + timedelta(days=1)).isoformat() if after else ""


class _Company:
    """One company's figures."""

    def __init__(
        self, search: FigureSearch, name: str, filings: Sequence[DocumentFacts], stated: Sequence[StatedFact]
    ) -> None:
        self._search = search
        self._name = name
        labels = _labels(stated)
        self._asked = read_asked_lines(search.question, companies=search.mentions, labels=labels)
        basis = "parent" if self._asked.parent else "consolidated"
        wanted = FactQuery(statements=frozenset(STATEMENTS), basis=basis, include_doubtful=True).select(stated)
        self._restated = {_of_period(one) for one in wanted if one.restated}
        facts = [one for one in wanted if not (one.fact.failed or one.restated)]
        self._by_concept: dict[str, list[StatedFact]] = defaultdict(list)
        self._by_label: dict[str, list[StatedFact]] = defaultdict(list)
        for one in facts:
            self._by_label[label_key(one.fact.label)].append(one)
            if (concept := _concept_of(one)) or (concept := _flow_elsewhere(one)):
                self._by_concept[concept].append(one)
        self._calendar = CompanyCalendar(filings, facts)
        self._parts = AskedParts(stated)

    def parts(self) -> list[AskedFigure]:
        """What the question asks for of the company's parts; of its newest year where it names none."""
        times = self._times()
        ends = {some[0].end: some[0] for some in times}
        if len(ends) != 1 or self._asked.parent or self._asked.series:
            return []
        ((end, target),) = ends.items()

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

    def near(self, time: Target) -> Target | None:
        """Its period of that length that ends about then; None where it states none."""
        ends = self._calendar.year_ends if time.months == 12 else self._calendar.ends(time.months)
        near = [end for end in ends if abs(end - time.end) <= _ONE_TIME]
        return replace(time, end=min(near, key=lambda end: abs(end - time.end))) if near else None

    def figures(self, instead: Target | None = None) -> list[AskedFigure]:
        """What the question asks for; of its newest period where it names none, or of that one instead."""
        asked = self._asked
        if not asked.lines or (asked.others and not all(line.kind == "label" for line in asked.lines)):
            return []
        if asked.others and (asked.relation or asked.series):
            return []
        if asked.relation in ("", "change") and (ends := self._series_ends()):
            return [figure for line in asked.lines for figure in self._series(line, ends)]
        times = [[instead]] if instead else self._times()
        if not times:
            return []
        if asked.relation in ("change", "compound"):
            return self._each(asked.lines, [()], lambda line, _: self._changes(line, times))
        if asked.relation == "share":
            return self._each(asked.lines[:1], times, lambda _, some: self._first(some, self._share))
        return self._each(asked.lines, times, lambda line, some: self._first(some, lambda one: self._span(line, one)))

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

        Three periods and more that a question names are one where it asks how a line changed over them.
        """
        series, calendar = self._asked.series, self._calendar
        asks = self._search.periods.of(calendar.filings)
        if asks:
            if len(asks) < 3 or not (series or self._asked.relation):
                return []
            times = [calendar.targets(ask, 0, annual=self._search.intent.annual) for ask in asks]
            return sorted(times, key=lambda some: some[0].end) if all(times) else []
        if series is None:
            return []
        ends = calendar.year_ends if series.months == 12 else calendar.ends(series.months)
        unbroken = takewhile(lambda two: two[0] - two[1] < YEAR * (series.months + 2) / 12, pairwise(ends))
        on_end = [*ends[:1], *(earlier for _, earlier in unbroken)]
        return [[Target(end, series.months)] for end in reversed(on_end[: series.count or _MOST_OF_SERIES])]

    def _series(self, line: Line, times: Sequence[Sequence[Target]]) -> list[AskedFigure]:
        """A line in each period, and its change over all of them.

        Where the question names the periods none may be missing; else it is as many as are stated, without a gap.
        """
        found = [self._first(some, lambda one: self._line(line, one)) for some in times]
        gap = max((at for at, one in enumerate(found) if one is None), default=-1)
        if gap >= 0 and self._search.periods.named:
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
        rest = self._rest(line, target)
        if rest is None:
            return None
        figure = self._figure(target, (rest.whole, rest.part), rest.amount, rest.unit, "remainder")
        return replace(figure, formula="{0} − {1}", period_start=rest.start)

    def _rest(self, line: Line, target: Target) -> _Rest | None:
        """The shortest longer period that ends with this one and what comes before this one in it."""
        before = replace(target, end=target.end - YEAR * target.months / 12, is_span=True)
        for months in (one for one in _TO_DATE if one > target.months):
            whole = self._stated(line, replace(target, months=months, is_span=True))
            part = self._stated(line, replace(before, months=months - target.months))
            if (
                whole
                and part
                and _is_first_part(part, whole, months, target.months)
                and (_of_period(whole) in self._restated) is (_of_period(part) in self._restated)
            ):
                return _Rest(whole, part)
        return None

    def _metric_of_rest(self, metric: str, target: Target) -> AskedFigure | None:
        """A metric of a period that nothing states: each flow is what is left of a longer one, as in a fourth quarter's
        margin; what is of a day stays as it is stated."""

        def lookup(concept: str, before: bool) -> StatedFact | _Rest | None:
            when = replace(target, end=_year_before(target.end)) if before else target
            stated = self._of_concept(concept, when)
            if stated and (not stated.fact.months or abs(stated.fact.months - target.months) <= 1):
                return stated
            return self._rest(Line("concept", concept, 0), when)

        asked = self._asked
        done = compute(metrics()[metric], lookup, months=target.months, balances=asked.balances, year=asked.year)
        first = next((one.stated for one in done.operands if isinstance(one.stated, _Rest)), None) if done else None
        if done is None or first is None:
            return None
        longer = replace(target, months=LONGEST)
        if any(self._of_concept(concept, longer) for concept in done.absent):
            return None  # it is stated, though not as what could be subtracted
        operands: list[StatedFact] = []
        slots: list[str] = []
        for operand in done.operands:
            at, stated = len(operands), operand.stated
            if isinstance(stated, _Rest):
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
        one = self._stated(line, target)
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
            return self._of_concept(concept, when)

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
        found = self._of_concept("revenue", target) or self._of_concept("net_income", target)
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

    def _stated(self, line: Line, target: Target) -> StatedFact | None:
        if line.kind == "concept":
            return self._of_concept(line.id, target)
        fitting = self._fitting(self._by_label[line.id], target)
        if target.is_span and any(one.fact.months for one in fitting):  # a balance's row and that of its change
            fitting = [one for one in fitting if one.fact.months]
        if not fitting and (named := [one for one in self._by_label[line.id] if _concept_of(one)]):
            return self._of_concept(_concept_of(named[0]), target)
        if others := set(self._asked.others):  # the heading of the row, where several rows have its label
            fitting = [one for one in fitting if one.fact.group and others <= set(name_key(one.fact.group))]
        return fitting[0] if len({one.fact.value for one in fitting}) == 1 else None

    def _of_concept(self, concept: str, target: Target) -> StatedFact | None:
        fitting = self._fitting(self._by_concept[concept], target, concepts()[concept].statement)
        if fitting:  # "net income attributable to" the company is its net income where both are stated
            return next((one for one in fitting if goes_on(one.fact.label)), fitting[0])
        instead = concepts()[concept].instead
        other = self._fitting(self._by_concept[instead], target) if instead else []
        return other[0] if other else None

    def _fitting(self, facts: Sequence[StatedFact], target: Target, statement: str = "") -> list[StatedFact]:
        """Facts of that period, the best first: of the right length, in their statement, in a primary one."""
        near = [one for one in facts if (end := parse_iso(one.fact.period_end)) and abs(end - target.end) <= NEAR]
        near.sort(
            key=lambda one: (
                one.fact.statement != statement,
                STATEMENTS.index(one.fact.statement),
                one.ordinal,
                one.fact.start,
            )
        )
        lengths = {one.fact.months for one in near} - {0}
        if target.months > 0:
            wanted = {months for months in lengths if abs(months - target.months) <= 1}
            if not wanted and all(one.fact.statement == "cash_flow" for one in near):
                wanted = {max(lengths)} if lengths else set()  # a quarter's cash flows are stated from the year's start
        elif lengths:
            wanted = {max(lengths)} if target.months == LONGEST else {min(lengths)}
        else:
            wanted = set()
        return [one for one in near if not one.fact.months or one.fact.months in wanted]


def _is_first_part(part: StatedFact, whole: StatedFact, months: int, rest: int) -> bool:
    """Both begin with the year, and are of one line that adds up over time: no rate, no number of shares, no cash at
    the end of the period."""
    starts = [parse_iso(one.fact.period_start) for one in (part, whole)]
    return (
        all(starts)
        and abs(starts[0] - starts[1]) <= NEAR  # type: ignore[operator]  # both are days
        and abs(whole.fact.months - months) <= 1
        and abs(part.fact.months - (months - rest)) <= 1
        and whole.unit == part.unit
        and whole.fact.statement == part.fact.statement
        and _concept_of(whole) == _concept_of(part)  # not with what answers instead: income with minorities' share
        and goes_on(whole.fact.label) == goes_on(part.fact.label)
        and not _kind_of(whole)
        and not _OF_DAY.search(whole.fact.label)
        and whole.unit not in ("percent", "points", "times", "days")
    )


def _of_period(one: StatedFact) -> tuple[str, str, str, str]:
    """What is stated again where a line of a period is restated."""
    fact = one.fact
    return _concept_of(one) or label_key(fact.label), fact.period_start, fact.period_end, fact.unit


def _year_before(day: date) -> date:
    return day - YEAR


def _concept_of(one: StatedFact) -> str:
    """Its concept; of a fact that was stored before its label had one, that."""
    if one.fact.concept or one.fact.statement == "note":
        return one.fact.concept
    found = concept_of_label(one.fact.label, one.fact.statement, _kind_of(one))
    return found.id if found else ""


def _flow_elsewhere(one: StatedFact) -> str:
    """The concept of a flow that is stated in another flow statement than its own: depreciation among the expenses."""
    found = concept_of_label(one.fact.label, "", _kind_of(one)) if one.fact.months else None
    return found.id if found and found.statement != "balance" and one.fact.statement != "note" else ""


def _kind_of(one: StatedFact) -> str:
    return "shares" if one.unit == "shares" else "per_share" if one.unit.endswith("/share") else ""


def _labels(stated: Sequence[StatedFact]) -> dict[tuple[str, ...], str]:
    """Printed labels of primary statements, as a question may say them."""
    found: dict[tuple[str, ...], str] = {}
    for one in stated:
        label = one.fact.label
        if one.fact.statement == "note":
            continue
        for form in (label, re.sub(r"\([^()]{0,80}\)|（[^（）]{0,80}）", " ", label)):
            if key := name_key(form):
                found.setdefault(key, label_key(label))
    return found


def _moved(formula: str, by: int) -> str:
    """A formula over operands that come after `by` others."""
    return _ADDED.sub(lambda match: f"{{{int(match[1]) + by}}}", formula)
