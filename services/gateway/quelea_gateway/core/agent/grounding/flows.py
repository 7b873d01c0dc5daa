"""What a value of code draws on: inputs, and numbers that somebody typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from quelea_gateway.core.agent.decision.parsing import canonical

Known = Callable[[str], str]
"""What has a number: "passage 3", "call 4", "the question"; empty: nothing."""

_NUMBER = re.compile(r"(?<![\d.])(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?")
_DATE = re.compile(r"\b(?:19|20)\d{2}[-/]?(?:0[1-9]|1[0-2])(?:[-/]?(?:0[1-9]|[12]\d|3[01]))?\b")

_CONSTANTS = frozenset({"0", ".5", "1", "2", "4", "7", "12", "24", "52", "60", "250", "252", "360", "365", "366"})
"""Of arithmetic and of the calendar, beside the powers of ten; years are none either."""
_YEARS = range(1900, 2101)
_YEAR = 4
"""Digits of one."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What a value draws on.

    Attributes:
        numbers: Typed, and found in nothing that the run knows.
        texts: Numbers within typed texts; they count once something makes numbers of the text.
        inputs: "passage 3", "file a.csv", "akshare.stock_us_daily", …
    """

    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    inputs: frozenset[str] = frozenset()

    def __or__(self, other: Flow) -> Flow:
        return Flow(self.numbers | other.numbers, self.texts | other.texts, self.inputs | other.inputs)


NOTHING = Flow()


def join(flows: Iterable[Flow]) -> Flow:
    """All of them together."""
    found = NOTHING
    for one in flows:
        found |= one
    return found


def numbers_in(text: str) -> Iterator[str]:
    """The numbers that a text prints, but for dates."""
    for match in _NUMBER.finditer(_DATE.sub(" ", text)):
        yield canonical(match[0])


def is_constant(number: str) -> bool:
    """Whether a number is one of arithmetic or of the calendar, and no data."""
    plain = number.replace(".", "").strip("0")
    if number in _CONSTANTS or plain in ("", "1"):
        return True
    return number.isdigit() and len(number) == _YEAR and int(number) in _YEARS
