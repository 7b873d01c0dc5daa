"""Line items and topics of reports: the expressions that mean the same, and what filings call what is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import terms

Expression = tuple[str, ...]
"""Stemmed terms, so that "inventory" covers "Inventories"."""


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line item or topic, in every language."""

    key: str
    """Its table in the data: "cost_of_sales"."""
    names: tuple[str, ...]
    """Expressions that mean the same, the usual one first; none of a topic."""
    expressions: tuple[Expression, ...]
    """The names as terms, the longest first."""
    made_of: tuple[str, ...] = ()
    """Keys of the items that move it."""


@cache
def line_items() -> tuple[LineItem, ...]:
    """All of them, in the order of the data."""
    found: dict[str, dict[str, list[str]]] = {}
    for items in LANGUAGES.of("line_items.items").values():
        for key, item in items.items():
            one = found.setdefault(key, {"names": [], "made_of": []})
            for part in one:
                one[part] += item.get(part, ())
    return tuple(
        LineItem(key, tuple(one["names"]), _expressions(one["names"]), tuple(one["made_of"]))
        for key, one in found.items()
    )


def _expressions(names: list[str]) -> tuple[Expression, ...]:
    return tuple(sorted({tuple(terms(name)) for name in names} - {()}, key=lambda one: (-len(one), one)))


@cache
def generic_terms() -> frozenset[str]:
    """Terms of a row label that do not make it another item: total, net, provided, 合计."""
    return frozenset(terms(" ".join(LANGUAGES.words("line_items.generic"))))


@cache
def _asked() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    found = []
    for items in LANGUAGES.of("line_items.items").values():
        for item in items.values():
            if asked := item.get("asked"):
                whole = rf"\b(?:{asked})\b" if asked.isascii() else f"(?:{asked})"
                found.append((re.compile(whole, re.IGNORECASE), tuple(item["search"])))
    return tuple(found)


def filing_phrases(text: str) -> list[str]:
    """What filings may call what a question speaks of, in its own language, each phrase once."""
    return list(dict.fromkeys(phrase for asked, phrases in _asked() if asked.search(text) for phrase in phrases))
