"""Whether a figure of the answer is a figure of the evidence: size, unit, sign, direction and time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from quelea_checker.matching.profiles import (
    Profile,
    WordZone,
    build_profile,
    distinctive_terms,
    distinctive_terms_across,
)
from quelea_checker.model import ONE, Figure, Period
from quelea_checker.reading import wording
from quelea_checker.reading.calendar import periods_contradict
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, content_terms, glossed_terms

_UNKNOWN = tuple(Decimal(10) ** power for power in (3, 4, 6, 8, 9))
_FAMILIES = (
    frozenset({"$", "USD", "HKD", "CAD", "AUD", "TWD", "SGD"}),
    frozenset({"¥", "CNY", "JPY"}),
)
_MILLION = Decimal(10) ** 6
_IN_FULL = Decimal(10) ** 7
_LEAST_WHOLE = 3
"""Digits of a whole amount whose scale is asked for."""
_MOST = 40
"""Facts of the right size that are looked at for one figure and multiplier."""
_HAIR = Decimal("0.005")
"""By what part of itself a figure that is called the least may still be too much."""


@dataclass(eq=False)
class Claim:
    """A figure of the answer with what is said of it.

    Attributes:
        sentence: Its sentence, plain; the figure's span is the sentence's.
        question: What was asked, plain.
        terms: Of both, without figures.
        periods: Times that it may be of, from its sentence.
        all_periods: All times of the sentence, or of the question when the sentence names none.
        direction: What the words about it say.
        excluded_passages: Passages, from 0, that are of another company than the one it is said of.
        is_cross_language: The evidence is in another language: terms are glossed.
        zone: The words about it; None: not known.
        other_figures: The other figures of its sentence.
    """

    figure: Figure
    sentence: str
    question: str
    terms: frozenset[str]
    periods: tuple[Period, ...]
    all_periods: tuple[Period, ...]
    direction: int
    excluded_passages: frozenset[int] = frozenset()
    is_cross_language: bool = False
    zone: WordZone | None = None
    other_figures: tuple[Figure, ...] = ()
    _named: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict, init=False, repr=False)
    near: list[Fact] | None = field(default=None, init=False, repr=False)
    """What find_facts_near() found."""

    def find_named_periods(self, fact: Fact) -> frozenset[int]:
        """Which of all its times the fact is of."""
        key = id(fact.periods), id(fact.years)  # both live as long as the evidence
        known = self._named.get(key)
        if known is None:
            known = self._named[key] = frozenset(
                at
                for at, period in enumerate(self.all_periods)
                if any(not periods_contradict(period, other, fact.years) for other in fact.periods)
            )
        return known

    def is_timely(self, fact: Fact) -> bool:
        """The fact is of one of all its times; where either names none, it may be."""
        return not self.all_periods or not fact.periods or bool(self.find_named_periods(fact))

    def profile(self) -> Profile:
        """How nearly each term is said of the figure."""
        return build_profile(
            self.zone or WordZone(),
            self.sentence,
            distinctive_terms_across if self.is_cross_language else distinctive_terms,
            self.question,
        )

    def terms_of(self, text: str) -> frozenset[str]:
        """The terms of a part of the sentence or the question."""
        return glossed_terms(text) if self.is_cross_language else content_terms(text)

    @cached_property
    def is_compound(self) -> bool:
        """It is said to be a compound rate: the growth of one year is none, nor is that of all of them."""
        figure = self.figure
        return figure.kind == "percent" and wording.says_compound(self.sentence, figure.start, figure.end)

    @cached_property
    def tolerance(self) -> Decimal:
        """By how much what it rounds may differ; of "about 3,000" by half a thousand, of "over 3" by one."""
        if not self.figure.about:
            return self.figure.tolerance
        number = self.figure.number
        if number == 0 or number != number.to_integral_value():
            return self.figure.tolerance
        whole = str(int(number))
        zeros = min(len(whole) - len(whole.rstrip("0")), len(whole) - 1)
        wide = 2 if zeros == 0 and self.figure.bound else 1
        return self.figure.step * (self.figure.scale or ONE) * Decimal(10) ** zeros / 2 * wide


def find_multipliers(figure: Figure, fact: Fact) -> tuple[Decimal, ...]:
    """By what the fact's printed size may be multiplied to be compared with the figure's."""
    scales = fact.unit.scales
    if fact.figure.number >= _IN_FULL and scales and min(scales) >= _MILLION:
        return () if figure.currency and not fact.figure.currency else (ONE,)  # a count of shares, printed in full
    if fact.figure.scale is not None or figure.kind != "number" or fact.figure.kind != "number":
        return (ONE,)
    whole = figure.currency and figure.step >= ONE and fact.figure.digits >= _LEAST_WHOLE
    if figure.scale is None and whole and min(scales, default=ONE) > ONE:
        return scales  # "$5,402" is not 5,402 in a table in millions; a price has cents
    if figure.scale is None:
        return (ONE, *(s for s in scales if s != ONE))
    return scales or (figure.scale, ONE, *(s for s in _UNKNOWN if s != figure.scale))


def same_kind(figure: Figure, fact: Fact) -> bool:
    """Percent is no amount of money; a bare number may be either."""
    kind, other = figure.kind, fact.figure.kind
    if kind == "percent":
        return other == "percent" or (other == "number" and fact.unit.percent is not False and not fact.figure.currency)
    if kind == "points":
        return other == "points" or (fact.change and fact.unit.percent is not False)
    if kind == "multiple":
        return other in {"multiple", "number"} and fact.figure.scale is None and not fact.figure.currency
    if other == "number":
        return not (fact.unit.percent is True and (figure.currency or figure.scale))
    return fact.table >= 0 and not figure.currency and figure.scale is None


def same_currency(figure: Figure, fact: Fact) -> bool:
    """Not two different ones; what is not said is not different."""
    said, found = figure.currency, fact.figure.currency or fact.unit.currency
    if not said or not found or said == found:
        return True
    return any(said in one and found in one and one & {said, found} & {"$", "¥"} for one in _FAMILIES)


def is_bounded(figure: Figure, size: Decimal) -> bool:
    """ "More than ten" is not said of nine and a half, nor "nearly ten" of ten and a half."""
    return not figure.bound or (size - figure.size) * figure.bound >= -min(figure.tolerance / 10, _HAIR * figure.size)


def find_scale(claim: Claim, fact: Fact, size: Decimal | None = None) -> Decimal | None:
    """Return the multiplier (1, 1,000, …) with which the fact's size, or `size`, equals the figure, or None."""
    figure = claim.figure
    own = fact.figure.size if size is None else size
    for times in find_multipliers(figure, fact):
        if abs(figure.size - own * times) <= claim.tolerance and is_bounded(figure, own * times):
            return times
    printed = size is None and figure.scale is None and fact.figure.scale is not None
    if printed and abs(figure.number - fact.figure.number) <= claim.tolerance:
        return ONE
    return None


def sign_fits(claim: Claim, fact: Fact, label: str) -> bool:
    """Neither the signs nor the directions contradict each other."""
    figure, found = claim.figure, fact.figure
    down = figure.negative and not figure.loose
    direction = claim.direction
    negative = found.negative and not found.loose
    if found.size == 0:
        return True
    if fact.table < 0:
        heading = -1 if negative else fact.direction
        said = -1 if down else direction
        if said * heading == -1:
            return False
        if down and not heading:
            return wording.is_negative(fact.words)
        return not (negative and not figure.negative) or direction == -1 or wording.is_negative(claim.sentence)
    if down and not negative:
        return wording.is_negative(label)
    if negative and not figure.negative:
        if fact.change and direction == 1:
            return False
        said = direction == -1 or wording.is_negative(f"{claim.sentence} {'' if fact.change else fact.words}")
        return said or wording.is_negative(claim.question)
    if fact.change and not negative and direction == -1 and not figure.negative:
        return wording.is_negative(fact.words)
    return True


def is_coincidence(claim: Claim, fact: Fact, times: Decimal) -> bool:
    """Whether few digits agree only by rounding, or by a scale that nothing states, without a word in common."""
    figure = claim.figure
    exact = figure.size == fact.figure.size * times or figure.number == fact.figure.number
    guessed = times not in (ONE, figure.scale) and times not in fact.unit.scales
    if (exact and not guessed) or not claim.terms or not fact.terms:
        return False
    if figure.digits >= 3 and not guessed:
        return False
    return not claim.terms & fact.terms


def find_facts_near(claim: Claim, evidence: Evidence) -> list[Fact]:
    """Facts that may be of the figure's size, each once, in whatever unit."""
    if claim.near is None:
        claim.near = list(_find_facts_near(claim, evidence))
    return claim.near


def _find_facts_near(claim: Claim, evidence: Evidence) -> Iterator[Fact]:
    figure, tolerance = claim.figure, claim.tolerance
    seen: set[int] = set()
    tried = {ONE, *_UNKNOWN, Decimal(10) ** 12, Decimal(10) ** 5, Decimal(100)} if figure.kind == "number" else {ONE}
    for times in sorted(tried):
        if times > ONE and figure.size < times / 1000:
            continue
        for fact in evidence.near((figure.size - tolerance) / times, (figure.size + tolerance) / times, _MOST):
            if id(fact) not in seen and fact.passage not in claim.excluded_passages:
                seen.add(id(fact))
                yield fact
