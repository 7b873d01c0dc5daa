"""Finds the characters of a text in another that says the same with other spaces and in another order.

A page's text was made of what is printed: spaces, line breaks and hyphens were mended, running headers taken off,
columns put one after the other. So its characters come in long runs that are printed just so, somewhere on the page.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

_RUNS = (32, 16, 8)
"""Lengths of runs that stand in both texts exactly once, longest first; each is then grown to both sides."""
_NEAR = 400
"""Characters: what occurs more than once is taken from no farther away from what was found beside it."""
_LONGEST_GAP = 2_000
"""Characters of a gap that is compared one by one: that takes time which grows with the square of it."""
_BREAKS = str.maketrans({"\ufffe": "-", "\x02": "-", "\xad": None, "\u2010": "-", "\u2011": "-"})


@dataclass(frozen=True, slots=True)
class Folded:
    """The characters that are compared.

    Attributes:
        text: Without spaces and invisible characters, compatible characters as one.
        places: For each of them, where it stands in what was folded.
    """

    text: str
    places: list[int]


def fold(pieces: Iterable[str]) -> Folded:
    """What counts of some characters; a piece's place is its number.

    Args:
        pieces: Characters, or what stands for one.
    """
    text: list[str] = []
    places: list[int] = []
    for place, piece in enumerate(pieces):
        if piece.isascii() and piece.isalnum():  # nearly all
            text.append(piece)
            places.append(place)
            continue
        for character in unicodedata.normalize("NFKC", piece.translate(_BREAKS)):
            if not character.isspace() and unicodedata.category(character)[0] != "C":
                text.append(character)
                places.append(place)
    return Folded("".join(text), places)


def align(wanted: str, printed: str) -> list[int]:
    """For each character of `wanted` its place in `printed`, -1 where it has none. No place is given twice.

    Takes time that grows with the lengths, not with their product.
    """
    places = [-1] * len(wanted)
    taken = bytearray(len(printed))
    for size in _RUNS:
        for start, place in _unique(wanted, printed, places, taken, size):
            if places[start] < 0 and not taken[place]:
                _grow(wanted, printed, places, taken, start, place)
    for start, end in list(_gaps(places)):
        _fill(wanted, printed, places, taken, start, end)
    for start, end in list(_gaps(places)):
        _look_near(wanted, printed, places, taken, start, end)
    return places


def _unique(wanted: str, printed: str, places: list[int], taken: bytearray, size: int) -> Iterator[tuple[int, int]]:
    """Runs of a size without a place that stand once in what is left of either text."""
    here: dict[str, int] = {}
    for start, end in _gaps(places):
        for at in range(start, end - size + 1):
            run = wanted[at : at + size]
            here[run] = -1 if run in here else at
    there: dict[str, int] = {}
    at = 0
    while here and at <= len(printed) - size:
        used = taken.rfind(1, at, at + size)
        if used >= 0:
            at = used + 1
            continue
        run = printed[at : at + size]
        if here.get(run, -1) >= 0:
            there[run] = -1 if run in there else at
        at += 1
    yield from ((here[run], place) for run, place in there.items() if place >= 0)


def _grow(wanted: str, printed: str, places: list[int], taken: bytearray, start: int, place: int) -> None:
    for step in (1, -1):
        at, there = (start, place) if step > 0 else (start - 1, place - 1)
        while (
            0 <= at < len(wanted)
            and 0 <= there < len(printed)
            and places[at] < 0
            and not taken[there]
            and wanted[at] == printed[there]
        ):
            places[at], taken[there] = there, 1
            at, there = at + step, there + step


def _gaps(places: list[int]) -> Iterator[tuple[int, int]]:
    """Stretches without a place: from, to."""
    start = -1
    for at, place in enumerate(places):
        if place < 0 and start < 0:
            start = at
        elif place >= 0 and start >= 0:
            yield start, at
            start = -1
    if start >= 0:
        yield start, len(places)


def _fill(wanted: str, printed: str, places: list[int], taken: bytearray, start: int, end: int) -> None:
    """A gap, from what is printed between its two sides."""
    before = places[start - 1] if start else -1
    after = places[end] if end < len(places) else -1
    room = after - before - 1
    if before >= 0 and 0 < room <= end - start + _NEAR and max(room, end - start) <= _LONGEST_GAP:
        matcher = SequenceMatcher(None, wanted[start:end], printed[before + 1 : after], autojunk=False)
        for block in matcher.get_matching_blocks():
            _place(places, taken, start + block.a, before + 1 + block.b, block.size)


def _look_near(wanted: str, printed: str, places: list[int], taken: bytearray, start: int, end: int) -> None:
    """A gap that is printed in one piece, before or after what was found beside it."""
    run, reach = wanted[start:end], end - start + _NEAR
    for beside in (places[start - 1] if start else -1, places[end] if end < len(places) else -1):
        if beside < 0:
            continue
        for place in (
            printed.find(run, beside + 1, beside + 1 + reach),
            printed.rfind(run, max(0, beside - reach), beside),
        ):
            if place >= 0 and not any(taken[place : place + len(run)]):
                _place(places, taken, start, place, len(run))
                return


def _place(places: list[int], taken: bytearray, start: int, place: int, size: int) -> None:
    for step in range(size):
        if places[start + step] < 0 and not taken[place + step]:
            places[start + step], taken[place + step] = place + step, 1
