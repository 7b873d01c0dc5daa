"""Running headers and footers: lines that come back on many pages, and page numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

SHARE = 0.25
"""Of the pages, on which a line must stand to be a running line."""
MINIMUM_PAGES = 4
"""A document shorter than this has no running lines that could be told from text."""
OPENING = 24
"""Characters that a running line whose end changes begins with."""
CONSTANT = 0.5
"""Of a running line's occurrences, in which each of its numbers is the same, or grows with the page."""
RISING, DISTINCT = 0.9, 0.9
"""Share of the steps in which a section's number does not fall, and of different values among all."""
MOST_NUMBERS = 12
"""Numbers of a line that are looked at."""
LONGEST = 6
"""Digits of a page's number, and one more."""
EDGE = 4
"""Lines from the top or the bottom of a page within which a running line is looked for."""

_DIGITS = re.compile(r"\d+")
_SENTENCE_ENDS = (".", "。", "!", "！", "?", "？", ";", "；")
_CARRIED = re.compile(r"^(\d{1,4})(?=\s)|(?:^|[\s|-])(\d{1,4})$")
_COUNTED = re.compile(r"\bpage\s+\d{1,4}\s+of\s+\d{1,4}\s*$", re.I)
_PAGE_NUMBER = re.compile(
    r"[-–—\s]*(?:page\s*)?\(?(?:\d{1,4}|[ivxl]{1,6}|[FSA]-\d{1,3})\)?(?:\s*(?:/|of)\s*\d{1,4})?[-–—\s]*|第\s*\d+\s*页.{0,12}",
    re.I,
)


def key(line: str) -> str:
    """What a line is compared by: without case, space and digits (a page number changes)."""
    return _DIGITS.sub("#", "".join(line.split()).lower())


def running_keys(pages: Sequence[Sequence[str]]) -> set[str]:
    """Keys of the lines that stand near the edge of at least a quarter of the pages (and on four at least)."""
    if len(pages) < MINIMUM_PAGES:
        return set()
    seen: Counter[str] = Counter()
    numbers: dict[str, list[tuple[int, ...]]] = {}
    for number, lines in enumerate(pages):
        edges = {key(line): line for line in (*lines[:EDGE], *lines[-EDGE:])}
        seen.update(edges.keys())
        for k, line in edges.items():
            figures = (int(digits[-9:]) for digits in _DIGITS.findall(line)[:MOST_NUMBERS])
            numbers.setdefault(k, []).append((number, *figures))
    least = max(MINIMUM_PAGES - 1, math.ceil(SHARE * len(pages)))
    return {
        k
        for k, count in seen.items()
        if count >= least and len(k) <= 160 and k.strip("#") and not tells_figures(numbers[k])
    }


def tells_figures(occurrences: Sequence[tuple[int, ...]]) -> bool:
    """Whether a line that comes back says another figure each time: that is text, and no header.

    A header may name the section ("§ 225.28"): its number stays for some pages and hardly ever falls.

    Args:
        occurrences: Index of the page, then the numbers of the line on it.
    """
    for position in range(1, min(map(len, occurrences))):
        values = Counter(one[position] for one in occurrences)
        counted = Counter(one[position] - one[0] for one in occurrences)
        steady = max(values.most_common(1)[0][1], counted.most_common(1)[0][1]) >= CONSTANT * len(occurrences)
        rising = sum(1 for one, other in pairwise(occurrences) if one[position] <= other[position])
        section = rising >= RISING * (len(occurrences) - 1) and len(values) <= DISTINCT * len(occurrences)
        if not (steady or section):
            return True
    return False


def body_mask(pages: Sequence[Sequence[str]]) -> list[list[bool]]:
    """For each line of each page, whether it belongs to the body.

    Taken off, near the edges: running lines, bare page numbers, and a first or last line that carries the page number.
    """
    running = running_keys(pages)
    numbered = [_numbered_pages(pages, edge) for edge in (0, -1)] if len(pages) >= MINIMUM_PAGES else []
    openings = _openings(pages) if len(pages) >= MINIMUM_PAGES else set()
    offset = _page_offset(pages)
    masks: list[list[bool]] = []
    for number, lines in enumerate(pages):
        mask = [True] * len(lines)
        last = len(lines) - 1
        for i in {*range(len(lines))[:EDGE], *range(len(lines))[-EDGE:]}:
            outer = i in (0, 1, last - 1, last)
            bare = len(pages) >= MINIMUM_PAGES and _PAGE_NUMBER.fullmatch(lines[i]) is not None
            counted = len(pages) >= MINIMUM_PAGES and _COUNTED.search(lines[i]) is not None
            repeated = key(lines[i]) in running or (outer and key(lines[i])[:OPENING] in openings)
            bare_number = lines[i].strip()
            counting = bare_number.isdecimal() and len(bare_number) < LONGEST and int(bare_number) - number == offset
            mask[i] = not (not lines[i].strip() or repeated or counted or counting or (bare and outer))
        for edge, pages_numbered in zip((0, -1), numbered, strict=False):
            if number in pages_numbered:
                mask[edge] = False
        masks.append(mask)
    return masks


def _openings(pages: Sequence[Sequence[str]]) -> set[str]:
    """Beginnings that the outermost lines of half of the pages have in common ("Regulation YY 12 CFR 252.2 ...")."""
    seen: Counter[str] = Counter()
    for lines in pages:
        seen.update(
            {
                key(line)[:OPENING]
                for line in (*lines[:2], *lines[-2:])
                if len(line) <= 120 and not line.rstrip().endswith(_SENTENCE_ENDS)
            }
        )
    return {opening for opening, count in seen.items() if count >= len(pages) / 2 and len(opening) == OPENING}


def _page_offset(pages: Sequence[Sequence[str]]) -> int | None:
    """What the bare numbers near the edges are more than the index of their page, when a third of the pages agree."""
    offsets: Counter[int] = Counter()
    for number, lines in enumerate(pages):
        bare = {
            int(line)
            for line in (*lines[:EDGE], *lines[-EDGE:])
            if line.isascii() and line.isdecimal() and len(line) < LONGEST
        }
        offsets.update(value - number for value in bare)
    common = offsets.most_common(1)
    return common[0][0] if common and common[0][1] >= max(MINIMUM_PAGES, len(pages) // 3) else None


def _numbered_pages(pages: Sequence[Sequence[str]], edge: int) -> set[int]:
    """Pages whose first or last line is short and carries a number that grows with the page."""
    offsets: dict[int, int] = {}
    for number, lines in enumerate(pages):
        line = lines[edge] if lines else ""
        match = _CARRIED.search(line) if len(line) <= 100 else None
        if match:
            offsets[number] = int(match[1] or match[2]) - number
    common = Counter(offsets.values()).most_common(1)
    if not common or common[0][1] < max(MINIMUM_PAGES, len(pages) // 3):
        return set()
    return {number for number, offset in offsets.items() if offset == common[0][0]}


def running_lines(pages: Sequence[Sequence[str]], masks: Sequence[Sequence[bool]]) -> tuple[str, ...]:
    """The lines taken off, each kind once, most frequent first."""
    counts: Counter[str] = Counter()
    example: dict[str, str] = {}
    for lines, mask in zip(pages, masks, strict=True):
        for line, kept in zip(lines, mask, strict=True):
            if not kept and line.strip() and not _PAGE_NUMBER.fullmatch(line):
                counts[key(line)] += 1
                example.setdefault(key(line), line)
    return tuple(example[k] for k, _ in counts.most_common(8))
