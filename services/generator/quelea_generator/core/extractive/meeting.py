"""How well a line of text meets one thing that a question asks for."""

from __future__ import annotations

from quelea_generator.core.extractive.glosses import says
from quelea_generator.core.extractive.question import Unit

_APART = 3
"""Longest expression whose words count when they stand apart."""


def meets(unit: Unit, line: str, abroad: bool) -> float:
    """How well a line of terms meets a unit: 1 in the question's words, less in others, less when words stand apart.

    `abroad`: the line is of another language, in which the unit's gloss counts.
    """
    for blocker in unit.blockers:
        phrase = f" {' '.join(blocker)} "
        while phrase in line:  # again: of two beside one another the first takes the space between them
            line = line.replace(phrase, " ~ ")
    if f" {' '.join(unit.own)} " in line:
        return 1.0
    if abroad and unit.gloss and line.strip():
        bare = line.replace(" ", "")
        if any(says(one, line, bare) for one in unit.gloss):
            return 0.9
    if any(f" {' '.join(one)} " in line for one in unit.long):
        return 0.9
    best = 0.0
    for other in unit.others:
        if f" {' '.join(other)} " in line:
            return 0.9
        if 1 < len(other) <= _APART and all(f" {word} " in line for word in other):
            best = 0.7
    if len(unit.own) == 1:
        return best
    share = sum(f" {word} " in line for word in unit.own) / len(unit.own)
    return max(best, 0.8 if share == 1 else 0.4 * share)
