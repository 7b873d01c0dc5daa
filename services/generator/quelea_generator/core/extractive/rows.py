"""Rows of tables as text has them: a label, then cells.

`Total net sales $ 81,797 82,959`, with spaces or tabs between, or `| 营业收入 | 15.8 | 11.2 |`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"[(（]?(?:US|HK|RMB)?[$€£¥￥]?[(（]?[-−+]?\d[\d,]*(?:\.\d+)?[BMK]?[)）]?[%％]?[)）]?[*]?"
    r"|[$€£¥￥(（)）%％]+|[—–-]+[%％]?|N/?[AM]|NM|\*+"
)
_UNIT = re.compile(r"(?:pts?|ppt|bps?|pct|x|个百分点|倍)\.?")
_JOINS = re.compile(r"[$€£¥￥(（]+")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z\u3400-\u9fff]")
_DATES = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?(?=\W|$)|[年月日]|\b[QF]Y?\d*\b", re.IGNORECASE
)
_SPAN_WORDS = re.compile(
    r"\b(?:three|six|nine|twelve|weeks?|months?|quarters?|years?|fiscal|periods?|ended|ending|as|of|at|and|the)\b",
    re.IGNORECASE,
)
_DAY = re.compile(r"\d{1,2},?|(?:19|20)\d\d,?")
_NUMBERED = re.compile(r"(?:(?:Item|Part|Note|Exhibit)\b|第[一二三四五六七八九十\d]+[章节部])\s*\d*", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SENTENCE = re.compile(r"[.。;；]\s")


@dataclass(frozen=True, slots=True)
class Row:
    """A table row: its label and its cells as printed, without the space around them."""

    label: str
    cells: tuple[str, ...]


@lru_cache(maxsize=4096)
def parse_row(line: str) -> Row | None:
    """The row that a line is, or None for any other text.

    A line is a row when it ends with at least one cell that holds a figure. One cell alone is enough only when the
    label looks like a label: short, and no sentence.
    """
    if not _DIGIT.search(line) or len(line) > 600:
        return None
    label, cells = _split(line)
    figures = [cell for cell in cells if _DIGIT.search(cell)]
    if not figures or not _LETTER.search(label):
        return None
    if not _LETTER.search(_DATES.sub("", label)) or _NUMBERED.match(line.lstrip("| \t")):
        return None  # the head of a table, or a line of a list of contents
    if all(_DAY.fullmatch(cell) for cell in figures) and not _LETTER.search(_SPAN_WORDS.sub("", _DATES.sub("", label))):
        return None  # "Twelve Months Ended September 30,"
    if all(_YEAR.fullmatch(cell) for cell in figures):
        return None  # years: the head of a table, or a sentence that ends with a year
    if len(cells) == 1:
        if len(label) > 90 or label.endswith((",", "，", "、")) or _SENTENCE.search(label):
            return None
        if re.fullmatch(r"\d{1,2}[)）]?", cells[0]):
            return None  # "Level 3", "(Note 4)", a page number
    return Row(label, cells)


def _split(line: str) -> tuple[str, tuple[str, ...]]:
    """Label and cells. With tabs or bars between the cells these decide; else cells are the figures at the end."""
    if "\t" in line or line.count("|") >= 2:
        parts = [part for part in (piece.strip() for piece in re.split(r"[|\t]", line)) if part]
        first = next((i for i, part in enumerate(parts) if i and _is_cell(part)), None)
        if first is None:
            return "", ()
        return " ".join(parts[:first]), tuple(" ".join(part.split()) for part in parts[first:])
    tokens = line.split()
    at = len(tokens)
    while at > 0 and (_TOKEN.fullmatch(tokens[at - 1]) or (at > 1 and _UNIT.fullmatch(tokens[at - 1]))):
        at -= 1
    while at < len(tokens) and _UNIT.fullmatch(tokens[at]):
        at += 1  # a unit that no figure stands before belongs to the label
    cells: list[str] = []
    for token in tokens[at:]:
        glue = bool(cells) and (
            _JOINS.fullmatch(cells[-1]) or token in {")", "）", "%", "％", ")%"} or _UNIT.fullmatch(token)
        )
        if glue:
            cells[-1] += f" {token}"
        else:
            cells.append(token)
    return " ".join(tokens[:at]).rstrip(" $"), tuple(cells)


def _is_cell(part: str) -> bool:
    return all(_TOKEN.fullmatch(token) or _UNIT.fullmatch(token) for token in part.split())


@lru_cache(maxsize=8192)
def find_figures(text: str) -> frozenset[str]:
    """Figures of a text as bare digits, without years and single digits: for telling quotes apart."""
    found = set()
    for match in re.finditer(r"\d[\d,]*(?:\.\d+)?", text):
        bare = match.group().replace(",", "").rstrip(".")
        if len(bare) > 1 and not _YEAR.fullmatch(bare):
            found.add(bare)
    return frozenset(found)
