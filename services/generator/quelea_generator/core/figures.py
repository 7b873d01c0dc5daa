"""Figures of statements in words: what they are, for when, and from which facts, each cited.

Sentences are put together in code: the order of their parts differs between English and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby

from quelea_fintext.amount_format import SCALE_WORDS, decimals_of, scale_of, write_amount
from quelea_fintext.concepts import concepts, said_label
from quelea_fintext.dates import parse_iso, write_date
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import metrics
from quelea_fintext.numerals import how_many
from quelea_fintext.text import CJK

from quelea_generator.core.model import Evidence, Figure, Operand, Quote

_NEGATIVE = re.compile(r"[\s$€£¥￥A-Z]*[(（\-–−]")
"""Before a printed amount."""
_SLOT = re.compile(r"\{(\d+)\}")
_DECIMALS = LANGUAGES.pattern("questions.decimals")
_MONTH_DAYS = 30.44
_COUNTS = {3: "three", 6: "six", 9: "nine"}
_HAN_COUNTS = {3: "三", 6: "六", 9: "九"}
_LONGEST_ROW = 400
_OF_TWO_TIMES = ("change", "compound_growth", "remainder")
_OTHER_LENGTH = timedelta(days=45)


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A line about a figure, and a quote for each of its markers in their order."""

    text: str
    quotes: tuple[Quote, ...]


def write_figures(
    figures: Sequence[Figure], evidence: Sequence[Evidence], language: str, question: str = ""
) -> list[FigureLine]:
    """A line for each figure, one for a line of a statement over several periods and for a part of a company; [n] opens
    on the cell it is from. Of several companies' figures of one time the last line says which is the highest.

    Args:
        figures: In the order of the question.
        evidence: That their operands name.
        language: "en" or "zh".
        question: It may name the unit in which it wants amounts ("多少亿元").
    """
    by_number = {item.number: item for item in evidence}
    chinese = language == "zh"
    scale, decimals = (_asked_scale(question), _asked_decimals(question)) if chinese else (0, None)
    lines = [
        _Writer(figure, by_number, followed_by=some, chinese=chinese, asked_scale=scale, rate_decimals=decimals).line()
        for figure, *some in _runs(figures)
    ]
    return [*lines, *_compared(figures, by_number, chinese=chinese)]


def _asked_scale(question: str) -> int:
    """The power of ten of the unit that a Chinese question names; 0 where it names none."""
    for power, word in sorted(SCALE_WORDS["zh"].items(), key=lambda one: -len(one[1])):
        if re.search(rf"(?<![\d.]){word}元", question):
            return power
    return 0


def _asked_decimals(question: str) -> int | None:
    """How many decimals a Chinese question wants of what is computed; None where it does not say."""
    found = _DECIMALS.search(question)
    return how_many(found["places"]) if found else None


def _compared(figures: Sequence[Figure], evidence: dict[int, Evidence], *, chinese: bool) -> list[FigureLine]:
    """Which of several companies' figures is the highest, for each line that all of them have one figure of."""
    of_line: dict[tuple[str, ...], list[Figure]] = {}
    for figure in figures:
        if figure.metric not in _OF_TWO_TIMES and not figure.operands[0].column:
            first = figure.operands[0]
            name = (figure.metric,) if figure.metric else ("", first.concept or first.label)
            of_line.setdefault((*name, figure.unit), []).append(figure)
    companies = {one.company for one in figures}
    return [
        _Writer(some[0], evidence, followed_by=some[1:], chinese=chinese).ranking()
        for some in of_line.values()
        if len(some) == len(companies) > 1 and len({one.company for one in some}) == len(some) and _of_one_time(some)
    ]


def _of_one_time(figures: Sequence[Figure]) -> bool:
    """They end within some weeks of each other, and are about as long."""
    ends = [day for one in figures if (day := parse_iso(one.period_end))]
    starts = [day for one in figures if (day := parse_iso(one.period_start))]
    return (
        len(ends) == len(figures)
        and len(starts) in (0, len(figures))
        and all(max(some) - min(some) <= _OTHER_LENGTH for some in (ends, starts) if some)
    )


def _runs(figures: Sequence[Figure]) -> list[list[Figure]]:
    """Figures that are stated of the same line in other periods, together."""
    runs: list[list[Figure]] = []
    for figure in figures:
        if runs and _line_of(figure) and _line_of(figure) == _line_of(runs[-1][0]):
            runs[-1].append(figure)
        else:
            runs.append([figure])
    return runs


def _line_of(figure: Figure) -> tuple[str, ...]:
    if figure.metric:
        return ()
    fact = figure.operands[0]
    if fact.column:
        return figure.company, fact.group, fact.label, fact.period_start, fact.period_end
    return figure.company, fact.concept or fact.label, fact.unit


class _Writer:
    """One figure's line, and those of later periods."""

    def __init__(
        self,
        figure: Figure,
        evidence: dict[int, Evidence],
        *,
        followed_by: Sequence[Figure],
        chinese: bool,
        asked_scale: int = 0,
        rate_decimals: int | None = None,
    ) -> None:
        self._figure = figure
        self._later = followed_by
        self._company = f"{figure.company} " if chinese and figure.company.isascii() else figure.company
        self._evidence = evidence
        self._zh = chinese
        self._asked_scale = asked_scale
        self._rate_decimals = rate_decimals
        self._language = "zh" if chinese else "en"
        self._quotes: list[Quote] = []
        self._cited: set[int] = set()

    def line(self) -> FigureLine:
        write = {
            "": self._stated,
            "change": self._change,
            "compound_growth": self._compound,
            "share": self._share,
            "remainder": self._remainder,
        }
        text = write.get(self._figure.metric, self._metric)()
        return FigureLine(text + self._left_out(), tuple(self._quotes))

    def ranking(self) -> FigureLine:
        """Which company's figure is the highest; said without figures, which stand in the lines before."""
        ranked = sorted((self._figure, *self._later), key=lambda one: -Decimal(one.value))
        metric = self._figure.metric
        label = self._name(metric) if metric else _label(self._figure.operands[0], chinese=self._zh)
        groups = [list(some) for _, some in groupby(ranked, key=lambda one: Decimal(one.value))]
        names = [[one.company for one in some] for some in groups]
        if self._zh:
            order = "，其次是".join("和".join(some) for some in names)
            if len(names) == 1:
                return FigureLine(f"{order}的{label}相同。", ())
            if len(ranked) == 2:
                return FigureLine(f"{names[0][0]}的{label}高于{names[1][0]}。", ())
            return FigureLine(f"{label}最高的是{order}。", ())
        order = ", then ".join(" and ".join(some) for some in names)
        if len(names) == 1:
            return FigureLine(f"{label[:1].upper()}{label[1:]}: the same at {order}.", ())
        if len(ranked) == 2:
            return FigureLine(f"{label[:1].upper()}{label[1:]}: higher at {names[0][0]} than at {names[1][0]}.", ())
        return FigureLine(f"{label[:1].upper()}{label[1:]}: highest at {order}.", ())

    def _part(self) -> str:
        """A part of the company, with all that is told of it for one period."""
        operand = self._figure.operands[0]
        kind = operand.group.split()[-1]
        told = [f"{operand.column}为{self._cite(0)}"]
        for figure in self._later:
            one = figure.operands[0]
            self._quotes.append(_quote(one, self._evidence[one.number]))
            told.append(f"{one.column}为{self._amount_of(one)}[{one.number}]")
        return f"{self._company}{self._when(operand)}{kind}“{operand.label}”：{'，'.join(told)}。"

    def _stated(self) -> str:
        operand = self._figure.operands[0]
        if operand.column:
            return self._part()
        label, when = _label(operand, chinese=self._zh), self._when(operand)
        if self._zh:
            others = "".join(f"，{period}为{amount}" for amount, period in self._stated_later())
            return f"{self._company}{when}{label}为{self._cite(0)}{others}。"
        amounts = [f"{self._cite(0)} {when}", *(f"{amount} {period}" for amount, period in self._stated_later())]
        listed = " and ".join(filter(None, (", ".join(amounts[:-1]), amounts[-1])))
        return f"{self._figure.company} reported {label} of {listed}."

    def _stated_later(self) -> list[tuple[str, str]]:
        """Amounts with their markers, and their periods."""
        said = []
        for figure in self._later:
            operand = figure.operands[0]
            self._quotes.append(_quote(operand, self._evidence[operand.number]))
            said.append((f"{self._amount_of(operand)}{'' if self._zh else ' '}[{operand.number}]", self._when(operand)))
        return said

    def _metric(self) -> str:
        figure = self._figure
        result = self._amount(Decimal(figure.value), figure.unit)
        name, when = self._name(figure.metric), self._of_figure()
        formula = self._formula(figure.formula)
        if self._zh:
            return f"{self._company}{when}{name}为{result}：{formula}。"
        return f"{_of(figure.company)} {name} {when} was {result}: {formula}."

    def _share(self) -> str:
        figure = self._figure
        part, whole = (_label(one, chinese=self._zh) for one in figure.operands[:2])
        result, formula = self._amount(Decimal(figure.value), "percent"), self._formula(figure.formula)
        if self._zh:
            return f"{self._company}{self._of_figure()}{part}占{whole}的{result}：{formula}。"
        return f"{_of(figure.company)} {part} was {result} of {whole} {self._of_figure()}: {formula}."

    def _remainder(self) -> str:
        """What is left of a longer period without the earlier part of it."""
        figure = self._figure
        label = _label(figure.operands[0], chinese=self._zh)
        result = self._amount(Decimal(figure.value), figure.unit)
        when = _when(figure.period_start, figure.period_end, chinese=self._zh)
        whole, part = (self._joined(self._cite(at), self._when(figure.operands[at])) for at in (0, 1))
        if self._zh:
            return f"{self._company}{when}{label}为{result}：{whole}减去{part}。"
        return f"{_of(figure.company)} {label} {when} was {result}: {whole} less {part}."

    def _change(self) -> str:
        figure = self._figure
        value = Decimal(figure.value)
        name = self._name(figure.of) if figure.of else _label(figure.operands[0], chinese=self._zh)
        by = self._amount(abs(value), figure.unit)
        rate = self._amount(abs(Decimal(figure.growth)), "percent") if figure.growth else ""
        later, earlier = self._both()
        if self._zh:
            moved = "增加" if value > 0 else "减少" if value < 0 else "变动"
            rated = f"，{'增长' if value >= 0 else '下降'}{rate}" if rate else ""
            return f"{self._company}{name}{moved}{by}{rated}：由{earlier}变为{later}。"
        moved = "rose" if value > 0 else "fell" if value < 0 else "changed"
        rated = f", or {rate}," if rate else ""
        return f"{_of(figure.company)} {name} {moved} by {by}{rated} to {later} from {earlier}."

    def _both(self) -> tuple[str, str]:
        """The later and the earlier value, each with its period and what it is made from."""
        figure = self._figure
        last = next((at for at, one in enumerate(figure.operands) if at and self._begins_earlier(at, one)), 0)
        if not figure.of:
            return tuple(  # type: ignore[return-value]  # two of two
                self._joined(self._cite(at), self._when(figure.operands[at])) for at in (0, last)
            )
        said = []
        unit = "percent" if figure.unit == "points" else figure.unit
        for at, value, formula in ((0, figure.later, figure.formula), (last, figure.earlier, figure.formula_before)):
            amount = self._amount(Decimal(value), unit)
            inside = self._formula(formula, figure.operands[at].period_end)
            amount = f"{amount}（{inside}）" if self._zh else f"{amount} ({inside})"
            said.append(self._joined(amount, self._when(figure.operands[at], plain=True)))
        return said[0], said[1]

    def _begins_earlier(self, at: int, one: Operand) -> bool:
        """It is the first operand of the earlier value."""
        if not self._figure.of:
            return at == 1
        used = [int(slot) for slot in _SLOT.findall(self._figure.formula_before)]
        return bool(used) and at == min(used) and one is self._figure.operands[at]

    def _joined(self, amount: str, when: str) -> str:
        return f"{when}的{amount}" if self._zh else f"{amount} {when}"

    def _compound(self) -> str:
        figure = self._figure
        rate, label = self._amount(Decimal(figure.value), "percent"), _label(figure.operands[0], chinese=self._zh)
        if figure.of:
            label = self._name(figure.of)
        later, earlier = self._both()
        if self._zh:
            return f"{self._company}{label}的年均复合增长率为{rate}：由{earlier}变为{later}。"
        return f"{_of(figure.company)} {label} grew at a compound annual rate of {rate}, to {later} from {earlier}."

    def _left_out(self) -> str:
        """What the formula takes for nothing."""
        names = [name for one in self._figure.absent if (name := _usual(one, chinese=self._zh))]
        if not names:
            return ""
        return f"未列示而未计入：{'、'.join(names)}。" if self._zh else f" Not stated, so left out: {', '.join(names)}."

    def _name(self, metric: str) -> str:
        display = metrics()[metric].display
        return display.get(self._language) or display["en"]

    def _formula(self, formula: str, end: str = "") -> str:
        end = end or self._figure.period_end

        def fill(match: re.Match[str]) -> str:
            at = int(match[1])
            operand = self._figure.operands[at]
            if at in self._cited:
                return self._amount_of(operand)
            label = _label(operand, chinese=self._zh)
            if self._is_part(operand, end):
                when = self._when(operand, plain=True)
                label = f"{when}{label}" if self._zh else f"{label} {when}"
            elif operand.period_end != end:
                label = (
                    f"{_day(operand.period_end, chinese=True)}{label}"
                    if self._zh
                    else f"{label} at {_day(operand.period_end)}"
                )
            return f"{label} {self._cite(at)}"

        return _SLOT.sub(fill, formula)

    def _is_part(self, operand: Operand, end: str) -> bool:
        """It is of another length than the figure's period: of the year, or of its first nine months."""
        first, own = parse_iso(self._figure.period_start), parse_iso(operand.period_start)
        return end == self._figure.period_end and bool(first and own) and abs(own - first) > _OTHER_LENGTH  # type: ignore[operator]  # both are days

    def _cite(self, at: int) -> str:
        """An operand's amount with its marker."""
        operand = self._figure.operands[at]
        self._cited.add(at)
        self._quotes.append(_quote(operand, self._evidence[operand.number]))
        space = "" if self._zh else " "
        return f"{self._amount_of(operand)}{space}[{operand.number}]"

    def _amount_of(self, operand: Operand) -> str:
        value = Decimal(operand.value)
        printed = operand.printed.replace(" ", "") if operand.column else operand.printed
        scale, decimals = scale_of(printed, value), decimals_of(printed)
        if operand.column and operand.unit in ("percent", "points"):  # as printed: it is not computed here
            sign = "−" if value < 0 else ""
            return f"{sign}{abs(value):,.{decimals}f}{'%' if operand.unit == 'percent' else '个百分点'}"
        amount = write_amount(value, operand.unit, self._language, scale=scale, decimals=decimals)
        if self._asked_scale and self._asked_scale != scale and len(operand.unit) == 3 and operand.unit.isascii():
            first = value.scaleb(-self._asked_scale).adjusted() if value else 0  # "0.00050亿元" is not "0.00亿元"
            places = max(2, 1 - first)
            asked = write_amount(value, operand.unit, self._language, scale=self._asked_scale, decimals=places)
            return f"{asked}（{amount}）"
        return amount

    def _amount(self, value: Decimal, unit: str) -> str:
        """A computed amount, in the scale of the first operand of its kind."""
        like = next((one for one in self._figure.operands if one.unit == unit), None)
        if like is None:
            return write_amount(value, unit, self._language, rate_decimals=self._rate_decimals)
        scale, decimals = scale_of(like.printed, Decimal(like.value)), decimals_of(like.printed)
        return write_amount(
            value, unit, self._language, scale=scale, decimals=decimals, rate_decimals=self._rate_decimals
        )

    def _of_figure(self) -> str:
        figure = self._figure
        return _when(figure.period_start, figure.period_end, chinese=self._zh) + self._filers(figure.period_end)

    def _when(self, operand: Operand, *, plain: bool = False) -> str:
        said = _when(operand.period_start, operand.period_end, chinese=self._zh)
        return said + ("" if plain else self._filers(operand.period_end))

    def _filers(self, end: str) -> str:
        """The filer's name of the year, where it is another than the year in which it ends, or that is asked for."""
        figure, day = self._figure, parse_iso(end)
        if not figure.fiscal_year or day is None or end != figure.period_end:
            return ""
        if day.year == figure.fiscal_year and figure.asked_year in (0, figure.fiscal_year):
            return ""
        return f"（该公司{figure.fiscal_year}财年）" if self._zh else f" (its fiscal {figure.fiscal_year})"


def _of(company: str) -> str:
    return f"{company}'" if company.endswith("s") else f"{company}'s"


def _label(operand: Operand, *, chinese: bool = False) -> str:
    """As printed, without numbering and hints at signs; a word that says little alone with the heading above it.

    Where the row counts the other way than the concept ("Income tax benefit (expense) 2,199" of an expense of -2,199),
    its label would turn the amount round: then it is called what the concept is called.
    """
    if _counts_otherwise(operand) and (usual := _usual(operand.concept, chinese=chinese)):
        return usual
    label = said_label(operand.label)
    if operand.group and len(label.split()) == 1 and not CJK.search(label):
        return f"{' '.join(operand.group.split()).rstrip(':')} – {label}"
    return label


def _counts_otherwise(operand: Operand) -> bool:
    """Its sign was turned, and not because it is a payment: those are meant as positive, brackets or none."""
    concept = concepts().get(operand.concept)
    if concept is None or concept.paid or not Decimal(operand.value):
        return False
    return bool(_NEGATIVE.match(operand.printed)) is not (Decimal(operand.value) < 0)


def _usual(concept: str, *, chinese: bool) -> str:
    """Its name in the language; empty where the language has none: its filers have no such line."""
    names = concepts()[concept].names if concept in concepts() else ()
    return next((name for name in names if bool(CJK.search(name)) is chinese), "")


def _day(iso: str, *, chinese: bool = False) -> str:
    day = parse_iso(iso)
    return write_date(day, "zh" if chinese else "en") if day else iso


def _when(start: str, end: str, *, chinese: bool) -> str:
    """ "for the year ended December 31, 2024", "as of June 30, 2025", "2024年"."""
    first, last = parse_iso(start), parse_iso(end)
    day = _day(end, chinese=chinese)
    if first is None or last is None:
        return f"截至{day}" if chinese else f"as of {day}"
    months = round(((last - first) + timedelta(days=1)).days / _MONTH_DAYS)
    if months in (12, 13):
        if chinese:
            return f"{last.year}年" if _is_calendar_year(first, last) else f"截至{day}的年度"
        return f"for the year ended {day}"
    if chinese:
        return f"截至{day}的{_HAN_COUNTS.get(months, months)}个月"
    return f"for the {_COUNTS.get(months, months)} month{'s' if months > 1 else ''} ended {day}"


def _is_calendar_year(first: date, last: date) -> bool:
    return (first.month, first.day, last.month, last.day) == (1, 1, 12, 31)


def _quote(operand: Operand, item: Evidence) -> Quote:
    """The row up to the cell: what the figure is called, and the figure."""
    start, end = operand.start, operand.end
    row = item.text.rfind("\n", 0, start) + 1
    row += len(item.text[row:start]) - len(item.text[row:start].lstrip())
    if 0 <= row < start and end - row <= _LONGEST_ROW:
        start = row
    return Quote(operand.number, start, end, item.text[start:end], 1.0)
