"""A run's limits: what it asks for, the server's defaults, the server's maximum."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

from quelea_kit.errors import InvalidInput, TooLarge

from quelea_sandbox.core.model import Limits, Shape

LEAST = Limits(memory_bytes=64 << 20, cpus=0.05, pids=8, wall_seconds=0.05, output_bytes=1, files_bytes=1)
"""Less than this and no guest starts."""


@dataclass(frozen=True, slots=True)
class LimitRules:
    """What is given to a run that asks for nothing, and the most that one may ask for."""

    defaults: Limits
    maximum: Limits

    def __post_init__(self) -> None:
        for field in fields(Limits):
            least, default, most = (getattr(one, field.name) for one in (LEAST, self.defaults, self.maximum))
            if not least <= default <= most:
                raise ValueError(f"the default of {field.name} ({default}) is not between {least} and {most}")

    def resolve(self, asked: dict[str, float]) -> Limits:
        """Limits of a run; 0 or absent means the default.

        Raises:
            InvalidInput: Not a number, negative, or too little to start with.
            TooLarge: More than the maximum.
        """
        limits = self.defaults
        for name, value in asked.items():
            if not math.isfinite(value) or value < 0:
                raise InvalidInput(f"limits.{name} must be 0 (the server's default) or more.")
            if value == 0:
                continue
            least, most = getattr(LEAST, name), getattr(self.maximum, name)
            if value > most:
                raise TooLarge(f"limits.{name} is {value:g}; this server's maximum is {most:g}.")
            if value < least:
                raise InvalidInput(f"limits.{name} is {value:g}; the minimum is {least:g}.")
            limits = replace(limits, **{name: type(getattr(limits, name))(value)})
        return limits


def shape_of(limits: Limits, *, market: bool) -> Shape:
    """The container that a run with these limits needs."""
    return Shape(limits.memory_bytes, limits.cpus, limits.pids, market)
