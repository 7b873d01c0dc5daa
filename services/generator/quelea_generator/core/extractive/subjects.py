"""Whose matters a question asks about: what is quoted has to be about one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from quelea_fintext.company_names import HOMONYMS
from quelea_fintext.glossary import entries
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import CJK, language_of, normalise

from quelea_generator.core.extractive.glosses import is_foreign
from quelea_generator.core.extractive.scoring import Candidate
from quelea_generator.core.model import Evidence

_SENTENCE = re.compile(r"(?<=[。！？!?\n])|(?<=\.)\s")
_DIGIT = re.compile(r"\d")
_NAMED = 1.5
"""Worth of naming the company in a round-up of several."""
_AROUND = 240
"""So many characters before a sentence are looked at for whom it speaks of."""


@dataclass(frozen=True, slots=True)
class Subjects:
    """The companies that a question names: `names` finds them in a text, `others` all other companies known here."""

    names: re.Pattern[str]
    others: re.Pattern[str]


def find_subjects(question: str, evidence: Sequence[Evidence]) -> Subjects | None:
    """The companies that a question names; None when it names none that is known, or none of them is spoken of.

    Known are the companies of the evidence and those of the kit's glossary. An English name counts as one when it is
    written with a capital: the fruit is no company.
    """
    groups = _groups({item.company for item in evidence if item.company})
    asked = [group for group in groups if any(not m.group().islower() for m in _pattern(group).finditer(question))]
    if not asked:
        return None
    mine = frozenset(name for group in asked for name in group)
    names = _pattern(mine)
    if not any(names.search(f"{item.company}\n{item.header}\n{item.text}") for item in evidence):
        return None
    return Subjects(names, _pattern(frozenset(name for group in groups for name in group) - mine))


def names_unmentioned_company(question: str, evidence: Sequence[Evidence]) -> bool:
    """The question names a company of the glossary and no passage has any of its names: all are about others."""
    asked = _companies_in(question)
    return bool(asked) and not any(_speaks_of(asked, item) for item in evidence)


def speaks_of_company(question: str, item: Evidence) -> bool:
    """The question names a company of the glossary, and the passage has one of its names."""
    return _speaks_of(_companies_in(question), item)


def _companies_in(question: str) -> list[frozenset[str]]:
    return [group for group in _known() if any(not m.group().islower() for m in _pattern(group).finditer(question))]


def _speaks_of(asked: Sequence[frozenset[str]], item: Evidence) -> bool:
    said = f"{item.company}\n{item.header}\n{item.text}"
    return any(_pattern(group).search(said) for group in asked)


def keep_topic(topic: str, ranked: Sequence[Candidate]) -> list[Candidate]:
    """Without the quotes of companies' papers that never say what the question begins with: they are about others.

    Papers in another language, which call it otherwise, stay.
    """
    if not topic:
        return list(ranked)
    saying = {item.filing for one in ranked if topic in f"{(item := one.evidence).header}\n{item.text}"}
    return [
        one
        for one in ranked
        if not one.evidence.company or one.evidence.filing in saying or is_foreign("zh", one.evidence)
    ]


def keep_places(question: str, ranked: Sequence[Candidate]) -> list[Candidate]:
    """Without the quotes of passages that are no company's and name none of the places that the question names.

    What a country's own press says of it goes without the country's name, so the home of either language is no such
    place where passages are in its language. A company's filing has places in its tables.
    """
    asked = [group for group in _places() if any(not m.group().islower() for m in _pattern(group).finditer(question))]
    if not asked:
        return list(ranked)
    home = {"zh": "中国", "en": "美国"}
    spoken: dict[int, bool] = {}
    for one in ranked:
        item = one.evidence
        if item.number not in spoken:
            here = home[language_of(item.text)]
            text = f"{item.header}\n{item.text}"
            spoken[item.number] = bool(item.company) or any(
                here in group or _pattern(group).search(text) for group in asked
            )
    return [one for one in ranked if spoken[one.evidence.number]]


def rank_named_first(subjects: Subjects, ranked: Sequence[Candidate]) -> list[Candidate]:
    """In a passage that is nobody's the sentence that names the company comes before those around it."""
    worth = [
        replace(one, score=one.score + _NAMED) if not one.evidence.company and subjects.names.search(one.text) else one
        for one in ranked
    ]
    return sorted(worth, key=lambda one: -one.score)


def is_about(subjects: Subjects, candidate: Candidate, *, figure: bool) -> bool:
    """Whether a quote is about one of the companies that the question names.

    Of a passage that is another company's, or that names none of them, only what names one itself. Where a figure is
    asked for or quoted, a passage that is nobody's (a round-up of several firms) is read sentence by sentence: a
    sentence that names only others, or that stands where others are spoken of, is theirs.
    """
    item, names = candidate.evidence, subjects.names
    if names.search(candidate.text):
        return True
    if item.company:
        return names.search(f"{item.company}\n{item.header.split('·')[0]}") is not None
    if names.search(item.header):
        return True
    if not names.search(item.text):
        return False
    if not figure and not _DIGIT.search(candidate.text):
        return True
    if subjects.others.search(candidate.text):
        return False
    before = item.text[max(0, candidate.span.start - _AROUND) : candidate.span.start]
    for sentence in reversed(_SENTENCE.split(before)):
        if names.search(sentence):
            return True
        if subjects.others.search(sentence):
            return False
    return True


def _groups(companies: set[str]) -> list[frozenset[str]]:
    """Names that stand for one company each: what the glossary calls it, and the evidence's name for it."""
    found = [set(group) for group in _known()]
    for company in sorted(companies):
        name = normalise(company)
        same = [group for group in found if any(name == one or name.startswith(_begins(one)) for one in group)]
        for group in same:
            group.add(name)
        if not same:
            found.append({name})
    return [frozenset(group) for group in found]


def _begins(name: str) -> str:
    """What a longer name of the same company begins with: "apple " of Apple Inc., 美的 of 美的集团."""
    return name if CJK.search(name) else f"{name} "


@lru_cache(maxsize=512)
def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return re.compile("|".join(map(_expression, ordered)) or r"(?!)", re.IGNORECASE)


def _expression(name: str) -> str:
    if CJK.search(name):
        return HOMONYMS.get(name, re.escape(name))
    return rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"


@cache
def _places() -> tuple[frozenset[str], ...]:
    """Countries, provinces, cities and parts of the world of the glossary."""
    return tuple(frozenset((*map(normalise, chinese), *english)) for chinese, english in entries("places"))


@cache
def _known() -> tuple[frozenset[str], ...]:
    """Companies of the glossary."""
    return tuple(
        frozenset(normalise(name) for name in (*chinese, *english)) for chinese, english in entries("companies")
    )


_STATEMENT = r"(?:资产负债表|利润表|现金流量表|(?:所有者|股东)权益变动表|财务报表|会计报表)"
_TITLE = re.compile(
    rf"(?P<parent>母公司{_STATEMENT}|\bparent[- ]company(?:[- ]only)?\b[^.\n]{{0,40}}\bstatements?\b)"
    rf"|合并(?:及母公司)?{_STATEMENT}|\bconsolidated\b[^.\n]{{0,60}}\b(?:statements?|balance sheets?)\b",
    re.IGNORECASE,
)
_ATTRIBUTED = LANGUAGES.pattern("passages.attributed")
_ASKED = LANGUAGES.pattern("passages.parent")
_OTHERS = 3.0
"""Cost of a row of the parent company alone, where the company as a whole is asked for."""


def separate_parent_company(question: str, ranked: Sequence[Candidate], *, figure: bool) -> list[Candidate]:
    """Candidates with the parent company's own rows set back; only those rows, where just it is asked for a figure.

    What belongs to the parent's shareholders (归属于母公司) is of the group's statement, in a question and in a row.
    """
    if _ASKED.search(_ATTRIBUTED.sub("", question)):
        return [one for one in ranked if _is_parents(one)] if figure else list(ranked)
    found = [
        replace(one, score=one.score - _OTHERS) if one.span.row is not None and _is_parents(one) else one
        for one in ranked
    ]
    return sorted(found, key=lambda one: -one.score)


def _is_parents(one: Candidate) -> bool:
    """By its own words, else by the last title above it, else by its table's head or its section."""
    item = one.evidence
    if _ASKED.search(_ATTRIBUTED.sub("", one.text)):
        return True
    for text in (item.text[: one.span.start], item.table_head, item.header.rsplit(" · ", 1)[-1]):
        titles = list(_TITLE.finditer(text))
        if titles:
            return titles[-1]["parent"] is not None
    return False
