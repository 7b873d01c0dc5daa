"""Figures and times that a sentence cannot have right as a whole, whether or not each stands in the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from quelea_checker import comparing, extremes, fiscal_names, listed, superlatives
from quelea_checker.facts import Evidence
from quelea_checker.model import Figure


def broken(sentence: str, figures: Sequence[Figure], evidence: Evidence) -> set[int]:
    """Starts of figures that the sentence itself, or the order of the evidence's figures, speaks against.

    Args:
        sentence: Plain; the figures' spans are its.
        figures: All of the sentence, times included.
    """
    amounts = [figure for figure in figures if figure.period is None]
    times = [figure for figure in figures if figure.period is not None]
    found = set(fiscal_names.broken(sentence, times, evidence.titles))
    if amounts:
        found.update(superlatives.broken(sentence, figures, evidence))
        found.update(extremes.broken(sentence, amounts, evidence))
    if len(amounts) > 1:
        found.update(comparing.broken(sentence, amounts))
        found.update(listed.broken(sentence, figures, evidence))
    return found
