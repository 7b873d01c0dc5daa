"""The lines of financial statements, and the metrics, that a question asks for, and what else it asks for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Literal

from quelea_fintext.concepts import OPEN_END, concepts
from quelea_fintext.dates import find_dates
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import Balances, metrics
from quelea_fintext.numerals import CARDINAL_WORD, HAN_NUMERAL, how_many
from quelea_fintext.text import CJK, STOP_WORDS, language_of, normalise, stem
from quelea_fintext.times.periods import period_reader

Kind = Literal["concept", "metric", "label"]
Relation = Literal["", "change", "compound", "share"]
_TOKEN = re.compile(r"[a-z]+(?:[&/'’.-][a-z]+)*|\d[\d.,]*|%", re.IGNORECASE)
_WORDS = re.compile(r"[a-z]+")
_LATIN = re.compile(r"[a-z](?:[a-z&/' -]{0,80}[a-z])?")
_CHANGED = "同比增长"
_PARTS = re.compile(r"[-/]")
_PASSED = STOP_WORDS - {"to", "other", "before", "after", "under", "over", "all", "no", "not"}
"""Words that tell no names apart, as these do: "liabilities and equity", "liabilities to equity"."""
_MOST_WORDS = 14
_BRACKETS = re.compile(r"\([^()]{0,80}\)|（[^（）]{0,80}）")
_SPACE = re.compile(r"\s+")
_YEAR = re.compile(r"(?<![\d.,])\d{4}(?![\d.,%])")
"""What may be a year. Where no period was read of it, nobody knows what time is asked for."""
_OTHERS = re.compile(r"[\W_\d]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a question names."""

    kind: Kind
    id: str
    """Of the concept or metric; of a label what the caller calls it."""
    at: int
    """Where the question names it: lines of one question are in this order."""


@dataclass(frozen=True, slots=True)
class Series:
    """Several periods on end, up to the newest."""

    months: int
    """How long each is: 12 or 3."""
    count: int = 0
    """How many; 0: as many as there are."""


@dataclass(frozen=True, slots=True)
class AskedLines:
    """What a question asks of statements."""

    lines: tuple[Line, ...]
    relation: Relation = ""
    """What it asks of them: their change between two periods, its rate a year, or one as a share of the other."""
    sequential: bool = False
    """The change is from the quarter before, not from a year before."""
    balances: Balances | None = None
    """Which balances a metric is to take; None: the metric's own convention."""
    year: int = 365
    """Days of a year."""
    parent: bool = False
    """Of the parent company alone."""
    series: Series | None = None
    """It asks for the lines over several periods that it does not name."""
    others: tuple[str, ...] = ()
    """Words that say more than a line, a period and a company: of which product, why, and the like."""
    premise: int = 0
    """1 where it asks nothing but why a line rose, -1 where why it fell."""


Names = dict[tuple[str, ...], Line]


@lru_cache(maxsize=20_000)
def name_key(name: str) -> tuple[str, ...]:
    """What names are compared by: stems of an English name's words, the characters of a Chinese one."""
    if CJK.search(name):
        return tuple(_SPACE.sub("", normalise(name)))
    return tuple(token for token, _, _ in _tokens(name) if token not in _PASSED)


def names_said(concept: str, language: str) -> tuple[str, ...]:
    """What filers and readers call a concept in a language ("en" or "zh"), as far as a question may say it."""
    said = LANGUAGES.of("asked.said").get(language, {}).get(concept, ())
    skipped = {name_key(name) for name in LANGUAGES.words("asked.not_asked")}
    printed = (
        name
        for name in concepts()[concept].names
        if bool(CJK.search(name)) is (language == "zh") and name_key(name) not in skipped and OPEN_END not in name
    )
    return tuple(dict.fromkeys((*printed, *said)))


def _tokens(text: str) -> list[tuple[str, int, int]]:
    """Words of an English text with their places, stemmed; a hyphen between words is a space."""
    found: list[tuple[str, int, int]] = []
    for match in _TOKEN.finditer(text):
        word = match[0].lower().replace("’", "'").removesuffix("'s").rstrip("'.")
        for part in _PARTS.split(word) if "&" not in word and len(word) > 3 else [word.replace("/", "")]:
            if part:
                found += [(part if part in STOP_WORDS else stem(part), match.start(), match.end())]
    return found


@dataclass(frozen=True)
class _Vocabulary:
    """What one language has for questions."""

    names: Names
    frame: frozenset[str]
    change: frozenset[str]
    of_change: frozenset[str]
    series: frozenset[str]


@cache
def _vocabulary(language: str) -> _Vocabulary:
    chinese = language == "zh"
    names: Names = {}

    def add(kind: Kind, key_of: str, some: Iterable[str]) -> None:
        line = Line(kind, key_of, 0)
        for name in some:
            for form in {name, _BRACKETS.sub(" ", name)}:
                key = name_key(form)
                if key and bool(CJK.search(form)) is chinese:
                    names.setdefault(key, line)

    for key, some in LANGUAGES.of("asked.said").get(language, {}).items():
        add("concept", key, some)
    for metric in metrics().values():
        add("metric", metric.id, metric.names)
    for concept in concepts():
        add("concept", concept, names_said(concept, language))

    frame = _listed("frame", language) | (frozenset() if chinese else STOP_WORDS)
    change, of_change, series = (_listed(key, language) for key in ("change", "of_change", "series_words"))
    return _Vocabulary(names, frame, change, of_change, series)


@cache
def _listed(key: str, language: str) -> frozenset[str]:
    """Words of a list, as those of a question are compared with them."""
    listed = LANGUAGES.of(f"asked.{key}").get(language, "").split()
    return frozenset(listed if language == "zh" else (token for word in listed for token, _, _ in _tokens(word)))


def _has(text: str, key: str, language: str) -> str:
    """The phrase of that list that the text has; empty where it has none."""
    phrases = LANGUAGES.of(f"asked.{key}").get(language, ())
    for phrase in phrases:
        found = phrase in text if language == "zh" else re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)
        if found:
            return str(phrase)
    return ""


_SERIES_MONTHS = MappingProxyType(
    {"series_years": 12, "series_quarters": 3, "series_each_quarter": 3, "series_phrases": 12}
)


@cache
def _series_patterns(language: str) -> tuple[tuple[int, re.Pattern[str]], ...]:
    """What asks for several periods, with their months; a group holds their number."""
    number = HAN_NUMERAL if language == "zh" else CARDINAL_WORD
    others = LANGUAGES.of("asked.series_not").get(language, ())

    def pattern(phrase: str) -> str:
        said = re.escape(phrase).replace(r"\{n\}", rf"(\d{{1,2}}|{number})")
        if language == "zh":
            return said
        after = "".join(f"|{re.escape(one.removeprefix(phrase))}" for one in others if one.startswith(phrase))
        return rf"(?<!\w){said}(?!\w{after})"

    return tuple(
        (months, re.compile(pattern(phrase)))
        for key, months in _SERIES_MONTHS.items()
        for phrase in LANGUAGES.of(f"asked.{key}").get(language, ())
    )


def _without_series(text: str, language: str) -> tuple[str, Series | None]:
    found: Series | None = None
    for months, pattern in _series_patterns(language):
        match = pattern.search(text)
        if match is None:
            continue
        count = how_many(match[1]) if match.groups() else 0
        if found is None:
            found = Series(months, count)
        text = f"{text[: match.start()]} {text[match.end() :]}"
    return text, found


def read_asked_lines(
    question: str, *, companies: Sequence[str] = (), labels: Mapping[tuple[str, ...], str] | None = None
) -> AskedLines:
    """The lines that a question names, longest names first, and what else it says.

    Args:
        question: As asked.
        companies: Words of the question that name companies.
        labels: Printed labels of the statements that may answer, by `name_key`: to what the caller calls them.
    """
    language = language_of(question)
    text = normalise(question)
    for name in sorted(map(normalise, companies), key=len, reverse=True):
        if name.isascii():  # a Chinese character beside it is no part of it
            text = re.sub(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", " ", text)
        else:
            text = text.replace(name, " ")
    text, series = _without_series(text, language)
    text = without_periods(text)
    if language == "zh":
        text = in_chinese(text)
    vocabulary = _vocabulary(language)
    skipped = {name_key(name) for name in LANGUAGES.words("asked.not_asked")}
    own: Names = {key: Line("label", label, 0) for key, label in (labels or {}).items() if key not in skipped}
    computed_names = {key: line for key, line in vocabulary.names.items() if line.kind == "metric"}
    names = vocabulary.names | own | computed_names
    read = _read_chinese if language == "zh" else _read_english
    lines, rest = read(text, names)
    if len(lines) > 1 and (counting := _has(text, "counts", language)):
        lines, rest = read(text.replace(counting, " "), names)
    compound, share = _has(text, "compound", language), _has(text, "share", language)
    between = _words_of("compares", language) if len(set(companies)) > 1 else frozenset()
    changes = bool(vocabulary.change.intersection(rest) - between)
    if series is None and vocabulary.series.intersection(rest):
        series = Series(12)
    told = _words_in(text, "tells", language) - between
    relation: Relation = "compound" if compound else "change" if changes else ""
    if share and len(lines) > 1 and not relation:
        relation = "share"
        lines = _part_first(lines, text, share)
    computed = [line for line in lines if line.kind == "metric"]
    passed = vocabulary.frame | (vocabulary.change | vocabulary.of_change if relation else frozenset())
    for key in ("compound", "share", "average", "closing", "sequential"):
        if (phrase := _has(text, key, language)) and (key != "average" or computed):
            passed |= {phrase} if language == "zh" else {token for token, _, _ in _tokens(phrase)}
    average, closing = (bool(_has(text, key, language)) for key in ("average", "closing"))
    if computed and (average or closing):  # "days sales outstanding, by average receivables"
        used = frozenset(concept for line in computed for concept in metrics()[line.id].concepts)
        lines = tuple(line for line in lines if line.kind != "concept" or line.id not in used)
    alone = _words_of("parent", language).intersection(rest)
    passed |= alone | vocabulary.series | between
    if not relation and len(computed) < len(lines):  # "流动负债比率" is not the amount
        passed -= _words_of("ratio", language)
    more = [word for word in rest if word not in passed and not _is_number(word)]
    return AskedLines(
        lines=lines,
        parent=bool(alone),
        series=series,
        relation=relation,
        sequential=bool(_has(text, "sequential", language)),
        balances="average" if average and computed else "closing" if closing else None,
        year=360 if re.search(r"(?<!\d)360(?!\d)", text) else 365,
        others=(*sorted(told), *_YEAR.findall(text), *more),
        premise=_premise(text, rest, more, language) if relation == "change" and not _YEAR.search(text) else 0,
    )


def _words_in(text: str, key: str, language: str) -> set[str]:
    """The words of a list that a text has."""
    said = text if language == "zh" else _WORDS.findall(text)
    return {word for word in LANGUAGES.of(f"asked.{key}").get(language, "").split() if word in said}


def asks_why(question: str) -> bool:
    """Whether a question asks for a reason."""
    language = language_of(question)
    return not _listed("why", language).isdisjoint(_words_in(normalise(question), "tells", language))


def _premise(text: str, rest: Sequence[str], more: Sequence[str], language: str) -> int:
    """What a question that asks why takes for given of a line's change; 0 where it says more, or no direction.

    Why a growth rate fell says nothing of the line; a net loss that rose is an income that fell.
    """
    told, why = _words_in(text, "tells", language), _listed("why", language)
    if not told or not told <= why or not why.issuperset(more) or _words_in(text, "losses", language):
        return 0
    rises, falls, compared = (_listed(key, language) for key in ("rises", "falls", "compared"))
    said = [word for word in rest if word in (_listed("change", language) | rises | falls) - compared]
    return (said[0] in rises) - (said[0] in falls) if len(said) == 1 else 0


def plain_words(key: str) -> frozenset[str]:
    """What questions in Chinese say under a key of `asked.toml`, such as "frame" or "parts"."""
    said = LANGUAGES.of(f"asked.{key}").get("zh", ())
    return frozenset(said.split() if isinstance(said, str) else said)


def plain_names() -> Names:
    """What questions in Chinese call concepts and metrics, by their characters."""
    return _vocabulary("zh").names


def _words_of(key: str, language: str) -> frozenset[str]:
    phrases = LANGUAGES.of(f"asked.{key}").get(language, ())
    return frozenset(phrases if language == "zh" else (token for one in phrases for token, _, _ in _tokens(one)))


def _is_number(word: str) -> bool:
    return not _OTHERS.sub("", word)


def without_periods(text: str) -> str:
    """A question without the days and periods that it names."""
    for day in sorted(find_dates(text), key=lambda one: -one.start):
        text = f"{text[: day.start]} {text[day.end :]}"
    return period_reader().mention.sub(" ", text)


def _part_first(lines: tuple[Line, ...], text: str, share: str) -> tuple[Line, ...]:
    """The part, then the whole: which is named first after "percentage of", and before 占 comes the part."""
    at = text.find(share)
    after = [line for line in lines if line.at > at]
    if share in LANGUAGES.of("asked.share").get("zh", ()) or not after:
        return lines[:2]
    whole = after[0]
    part = next(line for line in lines if line is not whole)
    return part, whole


def _read_english(text: str, names: Names) -> tuple[tuple[Line, ...], list[str]]:
    tokens = [one for one in _tokens(text) if one[0] not in _PASSED]
    lines: dict[tuple[str, str], Line] = {}
    rest: list[str] = []
    at = 0
    while at < len(tokens):
        for length in range(min(_MOST_WORDS, len(tokens) - at), 0, -1):
            line = names.get(tuple(token for token, _, _ in tokens[at : at + length]))
            if line is not None:
                lines.setdefault((line.kind, line.id), Line(line.kind, line.id, tokens[at][1]))
                at += length
                break
        else:
            rest.append(tokens[at][0])
            at += 1
    return tuple(lines.values()), rest


def in_chinese(text: str) -> str:
    """A Chinese question, in lower case, with Chinese names of the lines that it names in English ("revenue同比")."""
    english, chinese = _vocabulary("en"), _vocabulary("zh")
    chinese_names: dict[tuple[str, str], str] = {}
    for key, line in chinese.names.items():
        chinese_names.setdefault((line.kind, line.id), "".join(key))

    def translate(match: re.Match[str]) -> str:
        lines, rest = _read_english(match[0], english.names)
        others = set(rest) - english.frame - english.change
        said = [chinese_names.get((line.kind, line.id), "") for line in lines]
        if others or not all(said):
            return match[0]
        return "".join(said) + (_CHANGED if english.change.intersection(rest) else "")

    return _LATIN.sub(translate, text)


def _read_chinese(text: str, names: Names) -> tuple[tuple[Line, ...], list[str]]:
    text = _SPACE.sub("", text)
    by_first: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for key in sorted(names, key=len, reverse=True):
        by_first[key[0]].append(key)
    lines: dict[tuple[str, str], Line] = {}
    left: list[str] = []
    at = 0
    while at < len(text):
        key = next((key for key in by_first[text[at]] if text.startswith("".join(key), at)), ())
        if not key:
            left.append(text[at])
            at += 1
            continue
        line = names[key]
        lines.setdefault((line.kind, line.id), Line(line.kind, line.id, at))
        left.append("\n")
        at += len(key)
    return tuple(lines.values()), _cut("".join(left))


def _cut(text: str) -> list[str]:
    """What is left of a Chinese question, cut into the words of the frame and what is none."""
    vocabulary = _vocabulary("zh")
    known = vocabulary.frame | vocabulary.change | vocabulary.series | _listed("why", "zh") | _phrases()
    words = sorted(known, key=len, reverse=True)
    rest: list[str] = []
    other = ""
    at = 0
    while at < len(text):
        word = next((word for word in words if text.startswith(word, at)), "")
        if not word and not _OTHERS.fullmatch(text[at]):
            other += text[at]
            at += 1
            continue
        if other:
            rest.append(other)
            other = ""
        if word:
            rest.append(word)
        at += len(word) or 1
    return [*rest, other] if other else rest


@cache
def _phrases() -> frozenset[str]:
    keys = ("compound", "share", "average", "closing", "sequential", "parent", "compares")
    return frozenset(phrase for key in keys for phrase in LANGUAGES.of(f"asked.{key}").get("zh", ()))
