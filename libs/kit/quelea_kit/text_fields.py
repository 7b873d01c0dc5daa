"""The length and form of texts, and the days, that callers send: one check for every way in.

Every reader of a question normalises it first (NFKC), which makes some characters eighteen (ﷺ), and sorts runs of
combining marks in time that grows with the square of the run. So the length that counts is the one after normalising,
and runs of marks are bounded as Unicode's stream-safe text format bounds them (UAX 15, section 13).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from itertools import groupby

from quelea_kit.errors import InvalidInput, TooLarge

_MOST_GROWTH = 18
"""Times that NFKC makes a text longer, at most (UAX 15)."""
_MOST_MARKS = 30
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def check_length(text: str | Iterable[str], field: str, most: int) -> None:
    """Whether a text, or several texts together, may be read: Unicode, and at most so many characters after NFKC.

    Raises:
        InvalidInput: Half a surrogate pair, or more than 30 combining marks in a row.
        TooLarge: Too long as sent or after normalising; the message has both lengths where they differ.
    """
    texts = [text] if isinstance(text, str) else list(text)
    sent = sum(map(len, texts))
    if sent > most:
        raise _too_long(field, f"{sent:,} characters", most)
    for one in texts:
        if one.isascii():
            continue
        if half := _LONE_SURROGATE.search(one):
            raise InvalidInput(
                f"{field} has half of a surrogate pair (U+{ord(half[0]):04X}), which is no character, "
                f"at position {half.start()}; send Unicode text.",
                details={"field": field},
            )
        if _most_marks(one) > _MOST_MARKS:
            raise InvalidInput(
                f"{field} has more than {_MOST_MARKS} combining marks in a row; leave them out.",
                details={"field": field},
            )
    if sent * _MOST_GROWTH > most:
        normalised = sum(map(normalised_length, texts))
        if normalised > most:
            raise _too_long(field, f"{normalised:,} characters after Unicode normalisation (NFKC)", most)


def check_day(text: str, field: str) -> date | None:
    """The day of a field, None where it is empty. Raises InvalidInput."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:  # it takes 20240203 and 2024-W05-6 as well
        raise InvalidInput(f"{field} must be YYYY-MM-DD, got {text[:40]!r}.", details={"field": field})
    return day


def normalised_length(text: str) -> int:
    """Characters after NFKC."""
    return len(text) if text.isascii() else len(unicodedata.normalize("NFKC", text))


def _most_marks(text: str) -> int:
    """The longest run of combining marks."""
    runs = groupby(text, lambda letter: unicodedata.combining(letter) > 0)
    return max((sum(1 for _ in run) for is_mark, run in runs if is_mark), default=0)


def _too_long(field: str, length: str, most: int) -> TooLarge:
    return TooLarge(f"{field} has {length}; the limit is {most:,}.", details={"field": field, "limit": str(most)})
