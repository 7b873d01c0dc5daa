"""Which cell or phrase of the evidence a figure of the draft points at, and what it is: value, unit, scale."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from quelea_checker.model import CheckPassage
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, content_terms, glossed_terms
from quelea_checker.reading.sentences import plain, split_sentences
from quelea_checker.reading.units import Unit, find_statements, read_stated_unit
from quelea_checker.reading.wording import is_paid_out
from quelea_fintext.amount_format import decimals_of, scale_of
from quelea_fintext.text import CJK

from quelea_gateway.core.answers.evidence import answer_operand, to_check
from quelea_gateway.core.draft.notation import Pointer
from quelea_gateway.core.model import AnswerOperand, Figure, Passage, Quote

_NUMBER = re.compile(r"\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|(?<!\d)\.\d+")
_BLANK = re.compile("[ \xa0]")
_WORD = re.compile(r" [A-Za-z]{2,20}(?!-?[A-Za-z])|[\u4e00-\u9fff]")
"""A whole one: of "oil-equivalent barrels" none, as a marker would part it."""
_MOST_DIGITS = 20
"""Of a figure: what has more is a number of something else."""
_LEAST_ALIKE = 4
"""Digits of a figure that two tables do not print by chance."""
_SCALED = 1000
"""A whole number of a table from which it is in the table's unit, though its row may be of something else: shares."""
_ONE_OR_SCALED = 2
"""Scales that are possible: with a third, that of shares alone, nobody knows which is meant."""
_OF_EACH = re.compile(r"\b(?:prices?|days|years|months|hours)\b", re.IGNORECASE)
"""Such a row is in no unit of its table, however large its figure."""
_LONGEST_LABEL = 120
_LONGEST_QUOTE = 400
_LONGEST_STATEMENT = 60
"""Characters of a line that states a unit and nothing else."""
_DIGIT = re.compile(r"\d")
_FALLS = re.compile(r"\b(?:decreases?|declines?|reductions?)\b|减少|下降", re.IGNORECASE)
_MAY_RISE = re.compile(r"\bincrease|\bgrowth|\bchange|增", re.IGNORECASE)
_CURRENCY = {"$": "USD"}
"""Any dollar is taken for the most usual one; its sign is what is written."""


@dataclass(frozen=True)
class Source:
    """A figure of the evidence.

    Attributes:
        value: Unscaled, with its sign.
        unit: As of a Fact, or "percent", "points" or "times"; empty where the evidence does not say.
        scale: Power of ten that it is printed in.
        decimals: Digits behind the point, as printed.
        scaled: The evidence tells its scale; of a table that does not, value is the number as printed.
        counted: The word behind it, where it is no amount of money: " employees", 部.
        quote: The row up to it, or the phrase.
        change: It stands in a column of changes.
        falls: That column has decreases alone, which it prints without a sign.
        date: (year, month, day) at which its column ends, 0 where not known.
        facts: The cells that it may be, as the checker has read them: those of its passage with its number, that
            whose words are most like the draft's first.
    """

    value: Decimal
    unit: str
    scale: int
    decimals: int
    scaled: bool
    operand: AnswerOperand
    quote: Quote
    counted: str = ""
    change: bool = False
    falls: bool = False
    date: tuple[int, int, int] = (0, 0, 0)
    facts: tuple[Fact, ...] = ()

    @property
    def row(self) -> tuple[int, int]:
        """Where its row begins: a quote is the row up to its figure."""
        return self.quote.number, self.quote.start

    @property
    def amount(self) -> Decimal:
        """The value, without the brackets of a row of payments, where they say only which way the money goes."""
        return abs(self.value) if not self.change and is_paid_out(self.operand.label) else self.value


class Sources:
    """The passages that a draft was written from, whose numbers it points at.

    Args:
        passages: [n] is the n-th.
        figures: What statements say to the question: their cells are known exactly.
    """

    def __init__(self, passages: Sequence[Passage], figures: Sequence[Figure] = ()) -> None:
        self._passages = passages
        self._figures = figures
        self._mended: dict[int, Passage] = {}

    @property
    def loaded(self) -> bool:
        """The passages have been read."""
        return "_facts" in self.__dict__

    def load(self) -> None:
        """Read the passages now, which takes some milliseconds each."""
        _ = self._facts

    @property
    def mended(self) -> tuple[Passage, ...]:
        """The passages, with the broken numbers whole that a draft has pointed at: every place is where it was."""
        return tuple(self._mended.get(number, one) for number, one in enumerate(self._passages, start=1))

    def company(self, number: int) -> str:
        """Whose passage it is; empty where that is not known."""
        return self._passages[number - 1].company

    def find(self, pointer: Pointer, context: str, rate: str = "") -> Source | None:
        """The figure, in the first of the passages that has it; None where none does.

        Args:
            pointer: As it was written.
            context: The words before it, which tell the rows of one figure apart.
            rate: "percent" or "points" where the draft says so behind it: a cell that is certainly none is not meant.
        """
        if len(pointer.number.as_tuple().digits) > _MOST_DIGITS:
            return None
        wanted = glossed_terms(context)
        for number in pointer.passages:
            if 1 <= number <= len(self._passages):
                found = (None if rate else self._stated(pointer, number)) or self._printed(
                    pointer, number, wanted, rate
                )
                if found:
                    return found if found.scaled else self._scaled(found, pointer, number, wanted)
        broken = (self._broken(pointer, n, wanted, rate) for n in pointer.passages if 1 <= n <= len(self._passages))
        return next((found for found in broken if found), None)

    def _broken(self, pointer: Pointer, number: int, wanted: frozenset[str], rate: str) -> Source | None:
        """The figure, where its passage prints it with a blank in it or for its point, as torn text is: 372 58亿元."""
        passage = self._passages[number - 1]
        mended = self._mended.get(number, passage)
        text = mend_number(mended.text, pointer.number)
        if text != mended.text:
            self._mended[number] = mended = replace(passage, text=text)
            self._facts[number] = _facts_of(Evidence([to_check(mended)])).get(1, [])
        if mended is passage:
            return None
        found = self._printed(pointer, number, wanted, rate, mended)
        if found is None:
            return None
        found = replace(found, facts=())  # they are of the mended text alone
        # A blank that was taken out of the number stands behind it: the passage's own number ends one place later.
        end = found.operand.end - passage.start
        missing = int(passage.text[end : end + 1].isdigit() and mended.text[end] == " ")
        behind = max(found.quote.end, end + missing)
        return replace(
            found,
            operand=replace(found.operand, end=found.operand.end + missing),
            quote=replace(found.quote, end=behind, text=passage.text[found.quote.start : behind]),
        )

    def _scaled(self, found: Source, pointer: Pointer, number: int, wanted: frozenset[str]) -> Source:
        """The figure with the scale and unit that another passage of its document tells where it prints the row too."""
        if len(pointer.number.as_tuple().digits) < _LEAST_ALIKE:
            return found
        label = content_terms(found.operand.label)
        for other, passage in enumerate(self._passages, start=1):
            if other == number or passage.document_id != self._passages[number - 1].document_id:
                continue
            same = self._stated(pointer, other) or self._printed(pointer, other, wanted)
            named = content_terms(f"{same.operand.label} {passage.section}") if same else frozenset()
            if same and same.scaled and label and label <= named:
                value = same.value.copy_abs().copy_sign(found.value)
                operand = replace(found.operand, value=f"{value.normalize():f}", unit=same.unit)
                return replace(
                    found, value=value, unit=same.unit, scale=same.scale, scaled=True, operand=operand, counted=""
                )
        return found

    @cached_property
    def to_check(self) -> tuple[CheckPassage, ...]:
        """The passages as the checker reads them."""
        return tuple(to_check(passage) for passage in self._passages)

    @cached_property
    def evidence(self) -> Evidence:
        """What they say: `Source.facts` are of it."""
        return Evidence(self.to_check)

    @cached_property
    def _facts(self) -> dict[int, list[_Printed]]:
        """By number of the passage: the figures in it, each with the number as it is printed."""
        return _facts_of(self.evidence)

    def _stated(self, pointer: Pointer, number: int) -> Source | None:
        """A fact that the question asks for, by its cell."""
        passage = self._passages[number - 1]
        for operand in (operand for figure in self._figures for operand in figure.operands):
            fact = operand.fact
            match = _NUMBER.search(fact.printed)
            if operand.passage == passage and match and _decimal(match[0]) == pointer.number:
                start, end = fact.start - passage.start, fact.end - passage.start
                value = Decimal(fact.value)
                return Source(
                    value=value,
                    unit=fact.unit,
                    scale=scale_of(fact.printed, value),
                    decimals=decimals_of(fact.printed),
                    scaled=True,
                    operand=answer_operand(operand, number),
                    quote=_quote(passage, number, start, end),
                )
        return None

    def _printed(
        self, pointer: Pointer, number: int, wanted: frozenset[str], said: str = "", mended: Passage | None = None
    ) -> Source | None:
        """A figure of the passage's text: of several alike the one whose words are most like the draft's."""
        passage = mended or self._passages[number - 1]
        alike = [
            one
            for one in self._facts.get(number, ())
            if one.number == pointer.number and (_may_be(one.fact, said) or (mended and one.fact.figure.scale is None))
        ]
        spans = list(_spans(passage.text, pointer.number))
        if not alike or not spans:
            return None
        chosen = max(alike, key=lambda one: len(wanted & one.fact.terms))
        fact = chosen.fact
        span = max(spans, key=lambda span: len(fact.terms & content_terms(_line(passage.text, *span))))
        start, end = _with_parentheses(passage.text, *span)
        figure, unit = fact.figure, fact.unit
        if fact.table < 0 and figure.scale is None and _begins_line(passage.text, start):
            unit = _unit_above(passage.text[:start], unit)
        possible = unit.scales or (Decimal(1),)
        large = pointer.number >= _SCALED and _is_whole(pointer.number) and not _OF_EACH.search(chosen.label)
        scale = figure.scale or (max(possible) if large and len(possible) == _ONE_OR_SCALED else possible[0])
        rate = {"percent": "percent", "points": "points", "multiple": "times"}.get(figure.kind, "")
        rate = rate or ("percent" if unit.percent or said else "")
        rate = said if rate == "percent" and said else rate
        size = pointer.number * (1 if rate else scale)
        value = -size if figure.negative else size
        money = figure.currency or unit.currency
        name = rate or _currency(money, passage.text)
        printed = passage.text[start:end]
        return Source(
            value=value,
            unit=name,
            scale=0 if rate else scale.adjusted(),
            decimals=decimals_of(printed),
            scaled=bool(rate) or figure.scale is not None or bool(unit.scales) or fact.table < 0,
            operand=AnswerOperand(
                label=chosen.label,
                concept="",
                value=f"{value.normalize():f}",
                unit=name,
                period_start="",
                period_end=_day(fact),
                source="text",
                number=number,
                document_id=passage.document_id,
                page=passage.page,
                start=passage.start + start,
                end=passage.start + end,
                printed=printed,
            ),
            counted="" if name else _counted(passage.text, fact.figure.text, printed, end),
            quote=_quote(passage, number, start, end) if fact.table >= 0 else _phrase(passage, number, start, end),
            change=fact.change,
            falls=fact.change and bool(_FALLS.search(fact.words)) and not _MAY_RISE.search(fact.words),
            date=fact.latest_date,
            facts=(fact, *(one.fact for one in alike if one.fact is not fact)),
        )


@dataclass(frozen=True)
class _Printed:
    """A figure as a passage prints it, and the row's label or the sentence."""

    number: Decimal
    fact: Fact
    label: str


def mend_number(text: str, number: Decimal) -> str:
    """The text with the number whole where one blank is in it or stands for its point; as long as it was."""
    whole, _, rest = f"{number:f}".partition(".")
    if len(whole) < _LEAST_ALIKE and not rest:
        return text  # two numbers beside one another
    pattern = "[,，]?[ \xa0]?".join(whole) + (r"(?:\.[ \xa0]?|[ \xa0]\.?)" + "[ \xa0]?".join(rest) if rest else "")

    def join(match: re.Match[str]) -> str:
        said = match[0]
        if len(_BLANK.findall(said)) != 1:
            return said
        return _BLANK.sub("" if "." in said or not rest else ".", said).ljust(len(said))

    return re.sub(rf"(?<![\d.,，]){pattern}(?![.,，]?\d)", join, text)


def _facts_of(evidence: Evidence) -> dict[int, list[_Printed]]:
    found: dict[int, list[_Printed]] = {}
    for fact in evidence.facts:
        if match := _NUMBER.search(fact.figure.text):
            label = _shorten(evidence.groups[fact.group].label or fact.words)
            found.setdefault(fact.passage + 1, []).append(_Printed(_decimal(match[0]), fact, label))
    return found


def _may_be(fact: Fact, rate: str) -> bool:
    """A figure of which nothing says that it is no rate, where one is meant."""
    if not rate or fact.figure.kind in ("percent", "points"):
        return True
    return fact.figure.kind == "number" and not fact.figure.currency and fact.unit.percent is not False


def _shorten(text: str) -> str:
    label = " ".join(text.split())
    return label if len(label) <= _LONGEST_LABEL else f"{label[:_LONGEST_LABEL].rsplit(' ', 1)[0]} …"


def _decimal(digits: str) -> Decimal:
    return Decimal(digits.replace(",", "").replace("，", ""))


def _spans(text: str, number: Decimal) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _NUMBER.finditer(text) if _decimal(match[0]) == number)


def _line(text: str, start: int, end: int) -> str:
    return text[text.rfind("\n", 0, start) + 1 : (text + "\n").find("\n", end)]


def _is_whole(number: Decimal) -> bool:
    return number == number.to_integral_value()


def _begins_line(text: str, start: int) -> bool:
    """A figure in front of its row's label: "(467) Lower product margin"."""
    return not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t$(-−")


def _unit_above(text: str, unit: Unit) -> Unit:
    """The unit that a line of its own states above: "(In Millions)"."""
    for line in reversed(text.split("\n")):
        said = line.strip()
        if len(said) <= _LONGEST_STATEMENT and not _DIGIT.search(said) and any(find_statements(said)):
            scales, currency = read_stated_unit(said)
            return Unit(scales, currency or ("$" if "$" in text else ""), unit.percent)
    return unit


def _with_parentheses(text: str, start: int, end: int) -> tuple[int, int]:
    """A bookkeeper's minus with its figure."""
    return (start - 1, end + 1) if text[start - 1 : start] == "(" and text[end : end + 1] == ")" else (start, end)


def _counted(text: str, figure: str, printed: str, end: int) -> str:
    """The word behind a figure and its scale."""
    match = _WORD.match(text, end + len(figure.partition(printed)[2]))
    return match[0] if match else ""


def _currency(sign: str, text: str) -> str:
    if sign == "¥":
        return "CNY" if CJK.search(text) else "JPY"
    return _CURRENCY.get(sign, sign)


def _day(fact: Fact) -> str:
    """The last day of its time, where it has one that is named to the day."""
    days = [f"{p.year:04}-{p.month:02}-{p.day:02}" for p in fact.periods if p.year and p.month and p.day]
    return days[0] if len(days) == 1 else ""


def _quote(passage: Passage, number: int, start: int, end: int) -> Quote:
    """The row up to it: what it is called, and the figure."""
    text = passage.text
    begin = text.rfind("\n", 0, start) + 1
    begin += len(text[begin:start]) - len(text[begin:start].lstrip())
    if end - begin > _LONGEST_QUOTE:
        begin = start
    return Quote(number, begin, end, text[begin:end], 1.0)


def _phrase(passage: Passage, number: int, start: int, end: int) -> Quote:
    """The sentence that has it."""
    text = passage.text
    spans = split_sentences(plain(text))  # plain() keeps every place
    begin, behind = next(((a, b) for a, b in spans if a <= start < b), (start, end))
    if behind - begin > _LONGEST_QUOTE:
        begin, behind = start, end
    return Quote(number, begin, behind, text[begin:behind], 1.0)
