"""What a question speaks of: companies, items of a report, periods, and where it says so. By rules, no catalogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from quelea_fintext.company_names import EVERYDAY, known_companies
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.line_items import line_items
from quelea_fintext.text import CJK, STOP_WORDS, language_of, words

from quelea_generator.core.dialogue.periods import FoundPeriod, Shift, find_periods, find_shift


@dataclass(frozen=True, slots=True)
class Part:
    """Words of the question and where they stand, in code points."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A question in parts, each in the order of the text."""

    text: str
    language: str
    companies: tuple[Part, ...]
    """Those of the catalogue where the text names one, else what looks like a name."""
    items: tuple[Part, ...]
    periods: tuple[FoundPeriod, ...]
    shift: Shift | None
    topics: tuple[Part, ...] = ()
    """Beside a catalogue: other names, of products, segments and places perhaps, and of companies that nobody knows."""
    sure: bool = False
    """The companies are the catalogue's."""


_NO_NAMES = frozenset(LANGUAGES.words("dialogue.no_names"))
"""Capitalised words that name no company."""
_NAME = re.compile(
    r"(?<![A-Za-z0-9&.])[A-Z][A-Za-z0-9&.\-]*(?<![.\-])(?:(?:\s+(?:of|and|&)\s+|\s+)[A-Z][A-Za-z0-9&.\-]*(?<![.\-]))*"
)
_NUMBERED = re.compile(r"(?<![\w$€£¥.,\-])(?![2-6][GD]\b|10[KQ]\b|[1-4][QH]\b)\d{1,3}[A-Z][A-Za-z]*(?![\w%])")
"""A name that begins with a digit: 3M."""
_CAMEL = re.compile(r"(?<![A-Za-z0-9])[a-z]{1,2}[A-Z][A-Za-z]+(?![A-Za-z0-9])")
_COMMON = frozenset(LANGUAGES.words("dialogue.common"))
_COMMON_ENDINGS = LANGUAGES.words("dialogue.common_endings")
_PERIODISH = re.compile(r"(?:Q[1-4]|[1-4]Q|H[12]|FY)(?:FY)?'?\d*", re.IGNORECASE)

_ASKING = frozenset(LANGUAGES.words("dialogue.asking"))
_ITEM_NOUN = LANGUAGES.pattern("dialogue.items", r"<>$", ignore_case=False)
_MODIFIER_STOP = (
    STOP_WORDS
    | _NO_NAMES - {*LANGUAGES.words("dialogue.modifiers")}
    | frozenset(LANGUAGES.words("dialogue.no_modifiers"))
)
_SEGMENTS = LANGUAGES.words("dialogue.segments")


@cache
def _items() -> re.Pattern[str]:
    names = {name for item in line_items() for name in item.names} | set(LANGUAGES.words("dialogue.more_items"))
    english, chinese = [], []
    for name in names:
        if CJK.search(name):
            chinese.append(re.escape(name))
        elif name not in LANGUAGES.words("dialogue.no_items"):
            pieces = [re.escape(word) for word in name.split()]
            pieces[-1] += r"(?:s|es)?"
            english.append(r"[\s\-]+".join(pieces))
    by_length = sorted(english, key=len, reverse=True)
    return re.compile(
        rf"(?<![A-Za-z])(?:{'|'.join(by_length)})(?![A-Za-z])|{'|'.join(sorted(chinese, key=len, reverse=True))}",
        re.IGNORECASE,
    )


def read_parts(text: str, known: Sequence[str] = ()) -> Parts:
    """The parts of a question, or of a piece of one; `known` are names of companies by a catalogue."""
    periods = tuple(find_periods(text))
    shift = find_shift(text)
    taken = [(one.start, one.end) for one in periods] + ([(shift.start, shift.end)] if shift else [])
    named = _known_names(text, known)
    taken += [(one.start, one.end) for one in named]
    camels = _camel_names(text, taken) if known else []
    items = tuple(_widen(text, match, taken) for match in _items().finditer(text) if _free(match.span(), taken))
    taken += [(one.start, one.end) for one in items]
    language = language_of(text)
    companies = _latin_names(text, taken)
    if language == "zh":
        rest = _chinese_rest(text, [*taken, *((one.start, one.end) for one in companies)])
        items = tuple(sorted((*items, *(one for one in rest if chinese_item(one.text))), key=lambda one: one.start))
        companies = companies or [one for one in rest if not chinese_item(one.text)][:1]
    topics = sorted([*companies, *camels], key=lambda one: one.start) if known else []
    return Parts(
        text, language, tuple(named or companies), items, periods, shift, topics=tuple(topics), sure=bool(named)
    )


def _known_names(text: str, known: Sequence[str]) -> list[Part]:
    """Where the text writes one of these names, the longest first, none over another."""
    found: list[Part] = []
    for name in sorted({name for name in known if name}, key=len, reverse=True):
        edges = (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])") if name.isascii() else ("", "")
        for match in re.finditer(f"{edges[0]}{re.escape(name)}{edges[1]}", text):
            if _free(match.span(), [(one.start, one.end) for one in found]):
                found.append(Part(*match.span(), match.group()))
    return sorted(found, key=lambda one: one.start)


def _camel_names(text: str, taken: list[tuple[int, int]]) -> list[Part]:
    """iPhone, eBay."""
    return [Part(*m.span(), m.group()) for m in _CAMEL.finditer(text) if _free(m.span(), taken)]


def _free(span: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    return all(span[1] <= start or span[0] >= end for start, end in taken)


_WORD_BEFORE = re.compile(r"(?<![\w\-])([A-Za-z][\w\-]*)\s+$")
_WORD_REACH = 80
"""Characters before an item in which the word before it stands."""


def _widen(text: str, match: re.Match[str], taken: list[tuple[int, int]]) -> Part:
    """The item with up to two words that say more about it: data center revenue."""
    start = match.start()
    for _ in range(2):
        before = _WORD_BEFORE.search(text, max(0, start - _WORD_REACH), start)
        if not before or before[1].lower() in _MODIFIER_STOP or not before[1][0].islower():
            break
        if not _free((before.start(), start), taken):
            break
        start = before.start()
    return Part(start, match.end(), text[start : match.end()])


def _latin_names(text: str, taken: list[tuple[int, int]]) -> list[Part]:
    found: list[Part] = []
    for match in _NAME.finditer(text):
        pieces = [(word.start() + match.start(), word.group()) for word in re.finditer(r"\S+", match.group())]
        while pieces and (_no_name(pieces[0][1]) or not _free((pieces[0][0], pieces[0][0] + 1), taken)):
            pieces.pop(0)
        while pieces and (_no_name(pieces[-1][1]) or not _free((pieces[-1][0], pieces[-1][0] + 1), taken)):
            pieces.pop()
        if pieces:
            start, end = pieces[0][0], pieces[-1][0] + len(pieces[-1][1])
            found.append(Part(start, end, text[start:end]))
    found.extend(
        Part(match.start("name"), match.end("name"), match["name"])
        for match in re.finditer(r"(?<![\w.])(?P<name>[a-z][a-z&\-]{2,})['’]s(?=\s)", text)
        if not is_common(match["name"]) and _free(match.span("name"), taken)
    )
    found.extend(
        Part(*match.span(), match.group())
        for match in _NUMBERED.finditer(text)
        if _free(match.span(), [*taken, *((one.start, one.end) for one in found)])
    )
    found.extend(
        Part(*match.span(), match.group())
        for match in re.finditer(r"(?<![\w.])[a-z][a-z&\-]{3,}(?!\w)", text)
        if match.group() in _small_names() and _free(match.span(), [*taken, *((one.start, one.end) for one in found)])
    )
    return sorted(found, key=lambda one: one.start)


@cache
def _small_names() -> frozenset[str]:
    """Well-known companies as one word in lower case: "and nvidia?"."""
    names = {name.lower() for company in known_companies() for name in company.names.get("en", ())}
    return frozenset(names - EVERYDAY)


def topic_of(said: Parts, base: Parts) -> Part | None:
    """A name that the catalogue does not know, after a company that it knows: a product or a segment of it.

    Only where the former question has such a name to put it for, or it says more about an item ("Data Center revenue");
    else it may be a company that nobody knows.
    """
    if said.sure or not base.sure or not said.topics:
        return None
    one = said.topics[-1]
    of_item = bool(said.items) and said.text[one.end : said.items[0].start].isspace()
    return one if base.topics or of_item else None


def end_of_modifiers(item: Part) -> int:
    """Where the words end that say more about an item (data center revenue), in code points; 0: there are none."""
    match = next((match for match in _items().finditer(item.text) if match.end() == len(item.text)), None)
    return item.start + len(item.text[: match.start()].rstrip()) if match and match.start() else 0


def is_segment(item: str) -> bool:
    """A part of a company, and no figure of it."""
    return item.endswith(_SEGMENTS)


def is_common(word: str) -> bool:
    """A small word that names no company: asking, time, place, manner, a word of reports."""
    low = word.lower()
    return low in _NO_NAMES or low in STOP_WORDS or low in _COMMON or low.endswith(_COMMON_ENDINGS)


def is_plain_name(fragment: str) -> bool:
    """One or two small words that are no words of asking: "and penrose?"."""
    words = fragment.split()
    return 0 < len(words) < 3 and all(
        re.fullmatch(r"[a-z][a-z&\-]{2,}", word) and not is_common(word) for word in words
    )


def _no_name(word: str) -> bool:
    return word.lower().rstrip(".,") in _NO_NAMES or bool(_PERIODISH.fullmatch(word)) or len(word) < 2


def _chinese_rest(text: str, taken: list[tuple[int, int]]) -> list[Part]:
    """What is left of a Chinese question without its items, periods and words of asking: the pieces of it."""
    pieces: list[list[int]] = []
    at = 0
    for word in words(text):
        start = text.find(word, at)
        if start < 0:  # written differently: full-width letters
            continue
        at = start + len(word)
        if word in _ASKING or not CJK.search(word) or not _free((start, at), taken):
            continue
        if pieces and pieces[-1][1] == start:
            pieces[-1][1] = at
        else:
            pieces.append([start, at])
    return [Part(start, end, text[start:end]) for start, end in pieces if 2 <= end - start <= 16]


def chinese_item(text: str) -> bool:
    """A Chinese noun that names an item of a report rather than a company: 海外业务, 毛利率."""
    return bool(_ITEM_NOUN.fullmatch(text))
