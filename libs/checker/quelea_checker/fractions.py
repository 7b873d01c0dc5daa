"""Parts of a whole, and multiples, said in words: "just under a quarter of", "a tenth less", 三分之一强, doubled.

Each is a figure with the range of values that goes by its words.
"""

from __future__ import annotations

import re
from decimal import Decimal

from quelea_fintext.numerals import chinese, english

from quelea_checker.model import Figure

_NAMES = {
    "half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10,
}  # fmt: skip
_MULTIPLES = {"doubled": 2, "tripled": 3, "trebled": 3, "quadrupled": 4, "quintupled": 5}
_BIT = r"(?:(?:a (?:little|shade|touch|bit|fraction|whisker|hair)|slightly|just|somewhat|marginally|only just) )"
_HEDGE = (
    rf"(?:(?P<near>\b(?:nearly|almost|close to|approaching|not quite|nearer|(?:up to|at most)"
    rf"|{_BIT}?(?:less than|under|below|short of|shy of|fewer than)) )"
    rf"|(?P<over>\b(?:{_BIT}|well |comfortably |clearly )?(?:over|more than|above|at least|upwards of|in excess of) )"
    r"|(?P<about>\b(?:about|around|roughly|approximately|some|broadly) ))?"
)
_FRACTION = (
    r"(?:\b(?P<one>an?|one|two|three|four|five|six|seven|eight|nine)[ -]"
    r"(?P<of>third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth|half)s?\b"
    r"|(?<!first )(?<!second )(?<!latter )(?<!other )(?<!the )\b(?P<half>half)\b)"
)
_NO_TIME = r"(?! (?:the )?(?:fiscal |year|calendar |next|last|this|[\d']))"
_PART = re.compile(
    rf"(?P<what>{_HEDGE}{_FRACTION})"
    rf"(?= (?:of\b{_NO_TIME}|as (?:much|many|large|big|high)\b|(?:the (?:size|level|amount|value|number)|that) of\b"
    r"|(?:more|less|fewer|higher|lower|larger|smaller|bigger|greater|above|below|up|down)\b))",
    re.IGNORECASE,
)
""" "Two thirds of", "a tenth less than"."""
_ALONE = re.compile(rf"(?P<what>{_HEDGE[:-1]}{_FRACTION})(?=\s*(?:[.,;:)]|$))", re.IGNORECASE)
""" "That is a shade less than a fifth." """
_MOVED = re.compile(
    r"\b(?:by|up|down|rose|risen|fell|fallen|grew|grown|climbed|jumped|gained|increased|decreased|declined|dropped"
    rf"|shrank|slid|slipped|lost|added|advanced|surged|plunged) (?P<what>{_HEDGE}{_FRACTION})"
    r"(?! (?:an? )?(?:year|hour|million|billion|trillion|percent|per cent|point|of fiscal|of (?:19|20)))"
    r"|\b(?P<verb>halved)\b|(?P<zh>减半|腰斩)",
    re.IGNORECASE,
)
""" "Rose by almost a fifth"."""
_CHINESE = re.compile(
    r"(?P<near>接近|将近|近|不到|不足|低于)?(?P<over>超过|逾|超)?(?P<about>大约|约)?"
    r"(?:(?P<of>[二三四五六七八九十])分之(?P<one>[一二三四五六七八九])|(?P<half>一半|半数)|(?P<past>过半)(?![年月]))"
    r"(?P<more>[强多]|有余|以上)?(?P<less>弱)?"
)
_TIMES = re.compile(
    r"(?P<more>\b(?:more than|over) |超过?|逾|不止)?"
    r"(?P<near>\b(?:nearly|almost|close to) |接近|近|将近)?(?:\b(?P<en>doubled|tripled|trebled|quadrupled|quintupled)\b"
    r"|(?P<zh>翻(?:了)?[一两三]番|翻(?:了)?番|翻倍)(?P<zh_more>多|有余|以上)?)",
    re.IGNORECASE,
)
_TENTH = Decimal("0.1")
_PLAIN, _HEDGED, _OPEN = (Decimal(6), Decimal("0.3")), (Decimal(10), Decimal("0.4")), (Decimal(20), Decimal("0.5"))
"""The range of percentages that goes by a fraction as it stands, by a hedged one, and by a mere bound ("more than
half"): points at most, and a part of the fraction, as "a tenth" is less wide than "half".
"""
_BOUND = re.compile(
    r"(?:(?:well |comfortably |clearly )?(?:over|(?:more|less|fewer) than|above|under|below|at (?:least|most)|up to) ?"
    r"|超过?|逾|不到|不足|低于)",
    re.IGNORECASE,
)


def fractions(text: str) -> list[Figure]:
    """Multiples and fractions of a plain() text, those of percent as percentages; texts are left empty."""
    found = [_times(match) for match in _TIMES.finditer(text)]
    for pattern in (_MOVED, _PART, _ALONE, _CHINESE):
        found += map(_part, pattern.finditer(text))
    return found


def _times(match: re.Match[str]) -> Figure:
    more, near = match["more"] or match["zh_more"], match["near"]
    said = next((c for c in match["zh"] or "" if c in "一两三"), "")
    number = _MULTIPLES.get((match["en"] or "").lower()) or (2 ** " 一两三".index(said) if said else 2)
    step = Decimal(2) if more else Decimal("0.8") if near else Decimal("0.4")
    return Figure("", *match.span(), "multiple", Decimal(number), step, bound=1 if more else -1 if near else 0)


def _part(match: re.Match[str]) -> Figure:
    got = {name: value.lower() for name, value in match.groupdict().items() if value}
    one, whole = 1, 2
    if "of" in got:
        whole = _NAMES.get(got["of"]) or int(chinese(got["of"]) or 2)
        one = int(english(got["one"]) or chinese(got["one"]) or 1)
    percent = (Decimal(100 * one) / whole).quantize(_TENTH)
    bound = 1 if got.keys() & {"over", "more", "past"} else -1 if got.keys() & {"near", "less"} else 0
    span = match.span("what") if got.get("what") else match.span()
    merely = _BOUND.fullmatch(got.get("near") or got.get("over") or "")
    most, part = _OPEN if merely else _HEDGED if bound or "about" in got else _PLAIN
    return Figure("", *span, "percent", percent, min(most, percent * part), bound=bound)
