"""The tagged figures of an inline XBRL filing.

Source: Inline XBRL 1.1, section 11 (ix:nonFraction), and its transformation registry for the formats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from quelea_search.core.statements.model import FactPeriod, TaggedFigure

_ZERO = ("fixed-zero", "zerodash", "numdash", "fixed-empty")
_COMMA = ("num-comma-decimal", "numcommadecimal", "numdotcomma")
_NONE = ("no", "none")
_YEARS = range(1900, 2200)
"""In which the days of a filing lie."""
_SCALES = range(-30, 31)
"""Powers of ten by which a printed figure may be scaled."""
_LONGEST = 40
"""Characters of a printed figure."""


def tagged_figures(root: Any) -> tuple[TaggedFigure, ...]:
    """Every figure that a filing tags in its visible text and of which no dimension makes a part, in document order.

    Args:
        root: The filing as lxml.html reads it: tags in lower case, prefixes kept.
    """
    contexts = _contexts(root)
    units = {
        unit.get("id"): "/".join(one.text.rpartition(":")[2] for one in unit.iter("xbrli:measure") if one.text)
        for unit in root.iter("xbrli:unit")
    }
    found = []
    for element in root.iter("ix:nonfraction"):
        context = contexts.get(element.get("contextref"))
        printed = "".join(element.itertext()).strip()
        if context is None or not printed or len(printed) > _LONGEST or element.get("xsi:nil") == "true":
            continue
        if any(parent.tag == "ix:header" for parent in element.iterancestors()):
            continue
        value = _value(element, printed)
        if value is not None:
            period, whole = context
            unit = units.get(element.get("unitref"), "")
            inside = any(parent.tag == "ix:nonfraction" for parent in element.iterancestors())
            found.append(TaggedFigure(element.get("name") or "", value, unit, period, printed, whole, inside))
    return tuple(found)


def _contexts(root: Any) -> Mapping[str, tuple[FactPeriod, bool]]:
    """Period of each context, and whether it is of the whole company."""
    found = {}
    for context in root.iter("xbrli:context"):
        days = {
            name: _day(one.text)
            for name in ("startdate", "enddate", "instant")
            for one in context.iter(f"xbrli:{name}")
        }
        end = days.get("enddate") or days.get("instant")
        if end is not None:
            whole = not any(True for _ in context.iter("xbrldi:explicitmember", "xbrldi:typedmember"))
            found[context.get("id")] = (FactPeriod(end, days.get("startdate")), whole)
    return found


def _day(text: str | None) -> date | None:
    try:
        day = date.fromisoformat((text or "").strip()[:10])
    except ValueError:
        return None
    if day.year not in _YEARS:
        return None
    # A moment at 00:00 is the end of the day before (XBRL 2.1, 4.7.2).
    return day - timedelta(days=1) if (text or "").strip()[10:].startswith("T00:00:00") else day


def _value(element: Any, printed: str) -> Decimal | None:
    form = (element.get("format") or "").rpartition(":")[2].lower()
    if form in _ZERO or printed.lower() in _NONE:
        return Decimal(0)
    if form in _COMMA:
        printed = printed.replace(".", "").replace(",", ".")
    digits = re.sub(r"[,\s\xa0]", "", printed)
    try:
        scale = int((element.get("scale") or "0")[:_LONGEST])
        value = Decimal(digits).scaleb(scale) if scale in _SCALES else None
    except (InvalidOperation, ValueError):  # numbers in words
        return None
    if value is None or not value.is_finite():
        return None
    return -value if element.get("sign") == "-" else value
