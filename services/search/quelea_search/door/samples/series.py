"""Made-up prices: one walk for each name, the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True, slots=True)
class Bar:
    """One day."""

    day: date
    open: float
    close: float
    high: float
    low: float
    volume: int
    previous: float

    @property
    def amount(self) -> float:
        """Turnover in money."""
        return round(self.volume * (self.open + self.close) / 2, 2)

    @property
    def change(self) -> float:
        """In percent of the day before."""
        return round(100 * (self.close / self.previous - 1), 2)

    @property
    def amplitude(self) -> float:
        """In percent of the day before."""
        return round(100 * (self.high - self.low) / self.previous, 2)


def business_days(first: date, until: date, *, china: bool = False) -> Iterator[date]:
    """Mondays to Fridays; in China without the first week of October."""
    day = first
    while day <= until:
        if day.weekday() < 5 and not (china and day.month == 10 and day.day <= 7):
            yield day
        day += timedelta(days=1)


def walk(
    name: str,
    first: date,
    until: date,
    start: float,
    *,
    volume: int,
    step: float = 0.012,
    china: bool = False,
    digits: int = 2,
) -> list[Bar]:
    """The bars of a name; a later `until` only adds bars."""
    chance = random.Random(f"quelea {name}")  # noqa: S311  # made-up data from a fixed seed, no secret
    bars: list[Bar] = []
    last = start
    for day in business_days(first, until, china=china):
        opened = round(last * (1 + chance.gauss(0, step / 3)), digits)
        closed = round(opened * (1 + chance.gauss(0.0002, step)), digits)
        top = round(max(opened, closed) * (1 + abs(chance.gauss(0, step / 3))), digits)
        bottom = round(min(opened, closed) * (1 - abs(chance.gauss(0, step / 3))), digits)
        amount = int(volume * (0.7 + 0.6 * chance.random()))
        bars.append(Bar(day, opened, closed, top, bottom, amount, last))
        last = closed
    return bars


def drift(name: str, count: int, start: float, step: float, digits: int = 2) -> list[float]:
    """Values of a slow series: rates, indices."""
    chance = random.Random(f"quelea {name}")  # noqa: S311  # made-up data from a fixed seed, no secret
    values, last = [], start
    for _ in range(count):
        last = round(last + chance.gauss(0, step), digits)
        values.append(last)
    return values
