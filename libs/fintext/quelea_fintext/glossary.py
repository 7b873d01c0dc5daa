"""What a text would be called in the other language: known words of finance, Chinese to English and back.

No translation: a bag of phrases to search with, from glossary.txt. What it does not know is left out.
"""

from __future__ import annotations

import re
from functools import cache

from quelea_fintext.company_names import EVERYDAY, known_companies
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import CJK, language_of, normalise, stem

ALTERNATIVES = 2
"""So many of the ways to say a thing in the other language are given, the usual ones."""

_WORD = re.compile(r"[a-z0-9&]+(?:[-'][a-z0-9&]+)*")
_LONGEST = 6
_SECTION = "# -- "


@cache
def entries(section: str = "") -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Every line of the glossary, or of one section ("companies"): the Chinese ways to say a thing, and the English."""
    text = (LANGUAGES.folder / "zh" / "glossary.txt").read_text("utf-8")
    found = []
    within = ""
    for line in text.splitlines():
        if line.startswith(_SECTION):
            within = line.removeprefix(_SECTION)
        if line and not line.startswith("#") and section in ("", within):
            chinese, english = line.split(" = ")
            found.append((tuple(chinese.split("|")), tuple(english.split("|"))))
    if section in ("", "companies"):
        found += _companies(everyday=section == "companies")
    return tuple(found)


def _companies(*, everyday: bool) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Companies with a name in both languages; in a text at large a name that is an everyday word is the word."""
    found = []
    for one in known_companies():
        english = tuple(name for name in one.names["en"] if everyday or name.lower() not in EVERYDAY)
        if english and (chinese := one.names.get("zh")):
            found.append((chinese, english))
    return found


def gloss_phrases(text: str) -> list[str]:
    """What the text speaks of, in the other language, in its order, each phrase once; longest matches win."""
    return list(dict.fromkeys(phrase for phrases in known_phrases(text)[0] for phrase in phrases))


def known_phrases(text: str) -> tuple[list[tuple[str, ...]], str]:
    """For each known phrase of a text, in its order, the ways to say it in the other language; and the text without."""
    return _to_english(text) if language_of(text) == "zh" else _to_chinese(text)


def _to_english(text: str) -> tuple[list[tuple[str, ...]], str]:
    known, longest = _chinese()
    plain = normalise(text)
    found: list[tuple[str, ...]] = []
    rest: list[str] = []
    at = 0
    while at < len(plain):
        longest_here = min(longest, len(plain) - at) if CJK.match(plain[at]) else 0
        for length in range(longest_here, 0, -1):
            if phrases := known.get(plain[at : at + length]):
                found.append(phrases)
                rest.append(" ")
                at += length
                break
        else:
            rest.append(plain[at])
            at += 1
    return found, "".join(rest)


def _to_chinese(text: str) -> tuple[list[tuple[str, ...]], str]:
    known = _english()
    tokens = _stems(text)
    found: list[tuple[str, ...]] = []
    rest: list[str] = []
    at = 0
    while at < len(tokens):
        for length in range(min(_LONGEST, len(tokens) - at), 0, -1):
            if phrases := known.get(tuple(tokens[at : at + length])):
                found.append(phrases)
                at += length
                break
        else:
            rest.append(tokens[at])
            at += 1
    return found, " ".join(rest)


@cache
def _chinese() -> tuple[dict[str, tuple[str, ...]], int]:
    known: dict[str, tuple[str, ...]] = {}
    for chinese, english in entries():
        for one in chinese:
            known.setdefault(normalise(one), english[:ALTERNATIVES])
    return known, max(map(len, known))


@cache
def _english() -> dict[tuple[str, ...], tuple[str, ...]]:
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    for chinese, english in entries():
        for one in english:
            key = tuple(_stems(one))
            # A word that stands for several things gives each of them once.
            known[key] = tuple(dict.fromkeys((*known.get(key, ()), *chinese[:ALTERNATIVES])))[: 2 * ALTERNATIVES]
    return known


def _stems(text: str) -> list[str]:
    return [stem(word.removesuffix("'s")) for word in _WORD.findall(normalise(text).replace("’", "'"))]
