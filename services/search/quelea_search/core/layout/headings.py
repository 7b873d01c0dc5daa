"""Which lines are headings, and how deep, by what they say. Fonts are weighed by `kinds`.

Numbering and titles follow the rules of the filings of two markets, in order of their level, so they stand together.
"""

from __future__ import annotations

import re

LEAST, MAXIMUM = 3, 120
"""Characters of a heading, at most."""

_STATEMENT = (
    r"(?:(?:unaudited|interim|condensed|consolidated)\s+){0,4}"
    r"(?:statements?\s+of\s+(?:operations|income|earnings|comprehensive|cash|shareholders|stockholders|changes|financial"
    r"|equity|profit)\b.*|balance\s+sheets?\b.*"
    r"|(?:income|cash\s+flows?|comprehensive\s+income|(?:stock|share)holders’\s+equity)\s+statements?\b.*)"
)
_CHAPTER = (
    r"(?:Chapter|CHAPTER|Appendix|APPENDIX|Annex|ANNEX|Schedule|SCHEDULE|Part|PART)\s+"
    r"(?:\d{1,3}|[IVX]{1,5}|[A-Z](?:[–-]\d)?)\s*(?:[.:—–-].*|(?:TO\s)?[A-Z].*)?"
)
_SUBPART = (
    r"(?:Subpart|SUBPART|Section|SECTION|Article|ARTICLE)\s+(?:\d{1,3}[A-Z]?|[IVX]{1,5}|[A-Z])\s*(?:[.:—–-].*|[A-Z].*)?"
)
# Level 1: parts of a filing and chapters. Level 2: what stands inside them. Deeper: by numbering.
_PATTERNS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (1, re.compile(r"item\s+\d{1,2}[A-C]?\s*[.:—–-]?(?:\s+\S.*)?", re.I)),
    (1, re.compile(r"part\s+[IV]{1,3}\s*(?:[.:—–-].*)?", re.I)),
    (1, re.compile(r"第[一二三四五六七八九十百]{1,4}[章编篇节部](?:分)?(?:[\s、:：].*|\S{2,40})?")),
    (1, re.compile(_CHAPTER)),
    (2, re.compile(_SUBPART)),
    (2, re.compile(r"notes?\s+\d{1,2}[A-Z]?\s*[.:—–-].*", re.I)),
    (2, re.compile(_STATEMENT, re.I)),
    (2, re.compile(r"notes\s+to\s+(?:\w+\s+){0,4}financial\s+statements\b.*", re.I)),
    (2, re.compile(r"[一二三四五六七八九十]{1,3}\s*[、．.]\s*\S.*")),
    (3, re.compile(r"§\s*\d{1,4}\.\d{1,4}[a-z]?\s+[A-Z].*")),
    (3, re.compile(r"[(（][一二三四五六七八九十]{1,3}[)）]\s*\S.*")),
    (4, re.compile(r"\d{1,2}\s*、\s*[^\d\s].*")),
    (4, re.compile(r"[(（]\d{1,2}[)）][、.．]?\s*[\u4e00-\u9fff].*")),
)
# What each of them begins with: most lines are told from all by this one.
_BEGINS = re.compile(
    r"item|part|chapter|appendix|annex|schedule|subpart|section|article|note|unaudited|interim|condensed|consolidated"
    r"|statement|balance|income|cash|comprehensive|stock|share|[第一二三四五六七八九十§(（\d]",
    re.I,
)
_DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+(?=[A-Z\u4e00-\u9fff])\S.*")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_LEGAL = re.compile(
    r"[^.]{0,60}\b(?:inc|incorporated|corp|corporation|company|ltd|limited|llc|plc|co|n\.v|s\.a|ag|and subsidiaries)\.?"
    r"|\S{2,30}(?:有限公司|有限责任公司|股份公司)|table of contents|index|目\s*录"
    r"|(?:\S{2,30}(?:公司|银行)\s*)?(?:19|20)\d\d\s*年?.{0,4}(?:年度|季度)?报告(?:全文)?",
    re.I,
)
_CLOSED = tuple(".;,；，。、")
_OPEN_WORD = re.compile(
    r"\b(?:the|a|an|of|and|or|to|in|for|with|by|on|as|at|from|that|which|our|its|is|are|was|were)$", re.I
)
_DOTS = re.compile(r"\.{4,}|…{2,}|(?:\s\.){4,}")
_CHOICE = re.compile(r"[√☑☒□☐]\s*(?:不?适用|是|否)")
_DAY = re.compile(
    r"(?:\w+day,?\s+)?(?:\d{1,2}\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,?\s+(?:\d{1,2},?\s+)?\d{4}"
    r"|\d{4}\s*年\s*\d{1,2}\s*月(?:\s*\d{1,2}\s*日)?",
    re.I,
)
_BULLETS = "•▪■●○◦‣·*–—-"


def numbered_level(text: str) -> int:
    """Level of a heading that its numbering gives away ("Item 2.", "Note 4 –", "第三节", "（一）"), else 0."""
    if not LEAST <= len(text) <= MAXIMUM or _BEGINS.match(text) is None or _DOTS.search(text):
        return 0
    level = next((level for level, pattern in _PATTERNS if pattern.fullmatch(text)), 0)
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
    return _LEGAL.fullmatch(text.strip()) is not None


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
