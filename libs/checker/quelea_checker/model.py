"""The objects of the figure and citation checker."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

FigureVerdict = Literal["supported", "derived", "contradicted", "not_found"]
SentenceVerdict = Literal["supported", "partly", "contradicted", "not_found", "no_claim"]
UNSUPPORTED = frozenset({"contradicted", "not_found"})
"""Verdicts of what the evidence does not bear out: it says otherwise, or it says nothing of it."""
Kind = Literal["number", "percent", "points", "multiple", "period"]

ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class CheckPassage:
    """Evidence as the checker is given it.

    Attributes:
        text: The passage. Rows of tables are lines; cells stand between tabs or bars, or two spaces.
        table_head: Lines that head the passage's table and are not in its text: title, unit, column heads.
        header: What the passage is from: company, form, period.
        published: The document's day, YYYY-MM-DD; empty where unknown.
        document: Which document it is from, by any name: what one passage of it states, its unit say, holds for the
            others. Empty: passages of the same header are of the same document.
    """

    text: str
    table_head: str = ""
    header: str = ""
    published: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True)
class Period:
    """A time as a text names it; 0 where it does not say.

    Attributes:
        start: First code point.
        end: Behind the last code point.
        year: A fiscal label's year, or a date's; of "2018/19" the second.
        months: How long: 3 of a quarter, 12 of a year that is named as a whole.
        fiscal: The text calls the year fiscal, or it is a label such as Q3 2023 that may be fiscal.
        explicit: The text calls the year fiscal.
        label: Of a date, the fiscal year that its document calls it by where that is not the usual one; else 0.
        ends: Of a date, the fiscal quarter of its document that ends then; 0 where that is not known.
    """

    start: int
    end: int
    year: int = 0
    quarter: int = 0
    half: int = 0
    month: int = 0
    day: int = 0
    months: int = 0
    fiscal: bool = False
    explicit: bool = False
    label: int = 0
    ends: int = 0


@dataclass(frozen=True)
class Figure:
    """A figure of a text: text[start:end] in code points.

    Attributes:
        number: The number as printed, without its sign and scale; of basis points and 成 in percent.
        step: The value of one in the last printed place, in the same unit as number.
        scale: What a scale word multiplies by; None when there is none.
        negative: A minus sign, a triangle, or a bookkeeper's parentheses.
        loose: In parentheses amid prose: negative or a mere remark.
        currency: ISO code, "$" for any dollar, "¥" for yuan or yen; empty when none is named.
        about: Approximate by its own words ("about", 约): half a unit of its last digit that is not 0 may be missing.
        bound: 1 when its words call it the least ("more than", 逾), -1 the most ("nearly", 不足).
        period: Set for times, and number is 0 then.

    What is worked out of them is kept: every fact is set against many figures.
    """

    text: str
    start: int
    end: int
    kind: Kind
    number: Decimal
    step: Decimal = ONE
    scale: Decimal | None = None
    negative: bool = False
    loose: bool = False
    currency: str = ""
    about: bool = False
    bound: int = 0
    period: Period | None = None

    @cached_property
    def size(self) -> Decimal:
        """The number with its scale word, without its sign."""
        return self.number * (self.scale or ONE)

    @cached_property
    def value(self) -> Decimal:
        """The number with its scale word and its sign."""
        return -self.size if self.negative else self.size

    @cached_property
    def is_in_digits(self) -> bool:
        """It is no "half", no "doubled"."""
        return any(c.isdigit() for c in self.text)

    @cached_property
    def tolerance(self) -> Decimal:
        """By how much a value may differ that this figure is a rounding of."""
        return self.step * (self.scale or ONE) / 2

    @cached_property
    def digits(self) -> int:
        """Significant digits: how little luck there is in finding it. Zeros that end a whole number are none; a part in
        words, "two thirds", has two at most.
        """
        said = f"{self.number:f}"
        whole = said if "." in said else said.rstrip("0")
        count = len(whole.replace(".", "").lstrip("0")) or 1
        return count if self.kind != "percent" or self.is_in_digits else min(count, 2)


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """A figure of the answer, and where it comes from.

    Attributes:
        passage: Number of a passage that has it, from 1 as markers count; of a derived one that of its first operand;
            None when it is contradicted or not found.
        formula: Of a derived figure: "= 1,496.5 − 1,202.9"; else empty.
    """

    text: str
    start: int
    end: int
    verdict: FigureVerdict
    passage: int | None
    formula: str
    passages: tuple[int, ...] = ()
    """Every passage that supports it, or all that its formula draws on."""


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence of the answer: answer[start:end].

    Attributes:
        passages: Those that support it, the best first: of the cited ones if any do, else of all.
    """

    text: str
    start: int
    end: int
    verdict: SentenceVerdict
    passages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Near:
    """How alike a sentence of the evidence is to one of the answer, in another language, by an encoder's cosine."""

    passage: int
    """From 1."""
    text: str
    cosine: float


@dataclass(frozen=True, slots=True)
class MarkerFault:
    """A marker [n] that is wrong: answer[start:end]; `suggested` is the passage to name, if one is known."""

    number: int
    start: int
    end: int
    suggested: int | None


@dataclass(frozen=True, slots=True)
class MissingMarker:
    """A sentence without a marker that passage `suggested` supports; the marker belongs at `at`."""

    sentence: int
    at: int
    suggested: int


@dataclass(frozen=True, slots=True)
class Markers:
    """What is wrong with an answer's markers."""

    unresolved: tuple[MarkerFault, ...]
    corrections: tuple[MarkerFault, ...]
    missing: tuple[MissingMarker, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts on an answer, each list in the answer's order."""

    sentences: tuple[CheckedSentence, ...]
    figures: tuple[CheckedFigure, ...]
    markers: Markers
