"""Numbers of a text as they compare, without unit or meaning: for look-ups, where the checker would be too much."""

from __future__ import annotations

import re
import unicodedata

_FIGURE = re.compile(r"\d+(?:[,，]\d{3})*(?:\.\d+)?")


def find_numbers(text: str) -> list[str]:
    """Numbers as they compare: full-width made ordinary, no thousands separators, no trailing zeros after the point."""
    found = []
    for match in _FIGURE.finditer(unicodedata.normalize("NFKC", text)):
        figure = match.group().replace(",", "").replace("，", "")
        if "." in figure:
            figure = figure.rstrip("0").rstrip(".")
        whole, point, part = figure.partition(".")
        found.append((whole.lstrip("0") or "0") + point + part)
    return found
