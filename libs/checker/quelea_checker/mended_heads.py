"""Heads of columns that a page's layout broke into more or fewer pieces than there are columns, put together again."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DAY = re.compile(r".*[A-Za-z]\s?\d{1,2},")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SIGN = re.compile(r"[$€£¥%]|\((?:[$€£¥%])\)")
_CHANGE = re.compile(r"(?:\$ |% )?(?:change|variance|increase|decrease|growth)", re.IGNORECASE)
_SHORT = 5
_DATES = re.compile(r"[A-Z][a-z]+\.? \d{1,2}, (?:19|20)\d\d")


def mended(pieces: Sequence[str], count: int) -> list[str]:
    """The pieces as `count` heads, where joining and parting them gives just as many; else as they are.

    "October 30," and "2022" are one head, so are "Change" and "%"; "July 30, 2023 April 30, 2023" are two.
    """
    if len(pieces) == count or not pieces:
        return list(pieces)
    if not any(len(piece) < _SHORT or piece.count(",") > 1 for piece in pieces):
        return list(pieces)  # no piece is half of a head, nor two
    joined: list[str] = []
    for piece in pieces:
        last = joined[-1] if joined else ""
        if (_DAY.fullmatch(last) and _YEAR.fullmatch(piece)) or (_CHANGE.fullmatch(last) and _SIGN.fullmatch(piece)):
            joined[-1] = f"{last} {piece}"
        else:
            joined.append(piece)
    if len(joined) == count:
        return joined
    parted = [part for piece in joined for part in _parts(piece)]
    return parted if len(parted) == count else list(pieces)


def _parts(piece: str) -> list[str]:
    dates = [match.group() for match in _DATES.finditer(piece)]
    return dates if len(dates) > 1 and not _DATES.sub("", piece).strip() else [piece]
