"""Which lines are headings, and how deep, by what they say. Fonts are weighed by `kinds`.

Numbering and titles are data of the languages: each follows the rules of its market's filings.
"""

from __future__ import annotations

import re

from quelea_fintext.languages import LANGUAGES

LEAST, MAXIMUM = 3, 120
"""Characters of a heading, at most."""

_LEVELS = [(level, LANGUAGES.pattern(f"headings.level_{level}")) for level in range(1, 5)]
_BEGINS = LANGUAGES.pattern("headings.begins")
"""What a heading of any level begins with."""
_DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+(?=[A-Z\u4e00-\u9fff])\S.*")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_NAMES = LANGUAGES.pattern("headings.names")
_CLOSED = tuple(".;,；，。、")
_OPEN_WORD = LANGUAGES.pattern("headings.open_words")
_DOTS = re.compile(r"\.{4,}|…{2,}|(?:\s\.){4,}")
_CHOICE = LANGUAGES.pattern("headings.choice")
_DAY = LANGUAGES.pattern("headings.day")
_BULLETS = "•▪■●○◦‣·*–—-"


def numbered_level(text: str) -> int:
    """Level of a heading that its numbering gives away ("Item 2.", "Note 4 –", "第三节", "（一）"), else 0."""
    if not LEAST <= len(text) <= MAXIMUM or _BEGINS.match(text) is None or _DOTS.search(text):
        return 0
    level = next((level for level, pattern in _LEVELS if pattern.fullmatch(text)), 0)
    if level == 1:
        return 0 if len(text.split()) > 16 or text.endswith((";", ",", "；", "，")) else 1
    if level and text.endswith(_CLOSED) and not text.startswith("§"):
        return 0
    if level and _CHINESE.search(text):
        closed = _CHINESE.match(text[-1]) is not None or text[-1] in "）)”》"
        if not closed or len(text) > 45 or ("，" in text and len(text) > 30):
            return 0
    return level


def decimal_level(text: str) -> int:
    """Level of "2.1 Scope of application": the count of its numbers + 1; 0 for anything else."""
    match = _DECIMAL.fullmatch(text)
    if match is None or len(text) > MAXIMUM or text.endswith(_CLOSED) or _DOTS.search(text):
        return 0
    if len(text.split()) > 14:
        return 0
    return min(5, match[1].rstrip(".").count(".") + 2)


def is_name(text: str) -> bool:
    """A company's name, or a report's: it stands above many statements and is no section."""
    return _NAMES.fullmatch(text.strip()) is not None


def may_head(text: str) -> bool:
    """Whether a line that stands out by its font may be a heading: short, open-ended, with letters, no figures only."""
    if not 2 <= len(text) <= MAXIMUM or text[0] in _BULLETS or _DOTS.search(text) or _CHOICE.search(text):
        return False
    if text.endswith((",", ";", "，", "；", "。", "、")) or (text.endswith(".") and len(text.split()) > 6):
        return False
    half = len(text) // 2
    if _DAY.fullmatch(text) or (len(text) % 2 and text[:half] == text[half + 1 :]):
        return False  # a date, or the words of a drawing, printed twice
    letters = sum(1 for c in text if c.isalpha())
    if letters < 2 or letters * 2 < len(text.replace(" ", "")):
        return False
    return not _OPEN_WORD.search(text) and not is_name(text)
