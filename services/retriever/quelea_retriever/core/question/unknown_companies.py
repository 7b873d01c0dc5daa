"""Names that a question treats as a company's although no list and no stored document has them."""

from __future__ import annotations

import re

from quelea_fintext.company_names import UNSPACED_LEGAL_FORM, listed_names
from quelea_fintext.glossary import known_phrases
from quelea_fintext.languages import LANGUAGES, find_all, groups_of
from quelea_fintext.text import CJK, lower, new_words

from quelea_retriever.core.question.companies import word_edges

_NAME = r"[A-Z][A-Za-z0-9&\-]+(?:\s+(?:&\s+)?[A-Z][A-Za-z0-9&\-]+){0,3}"
_LEGAL = re.compile(rf"\b(?P<name>{_NAME}),?\s+(?:{LANGUAGES.alternatives('companies.surely_legal')})\b")
_MEASURE = rf"(?:{LANGUAGES.alternatives('companies.measures', words_apart=True)})"
_POSSESSIVE = re.compile(rf"\b(?P<name>{_NAME})(?:'s|(?<=s)')\s+(?={_MEASURE}\b)")
_SUBJECT = re.compile(
    rf"\b(?:did|does|has|have|had|was|is)\s+(?P<name>{_NAME})\s+(?:{LANGUAGES.alternatives('companies.does')})\b"
)
_OPENERS = frozenset(LANGUAGES.words("companies.openers"))
_NO_COMPANY = frozenset(LANGUAGES.words("companies.not_names"))
_UNSPACED_LEGAL = re.compile(r"(?P<name>[\u4e00-\u9fffA-Za-z0-9（）()]{2,24}?(?:" + UNSPACED_LEGAL_FORM + "))")
_UNLISTED = LANGUAGES.grouped("companies.unlisted")
_LEAST = 3
"""Letters of a name."""
_MOST = 8
"""Names of one question: each is looked for in every candidate, and a pasted page has hundreds."""
_APART = 5
"""So near are the letters of what is abbreviated."""
_LONGEST = 6
"""Letters of a listed company's short name."""
_NOT_UNSPACED = LANGUAGES.pattern("companies.not_unspaced_names", ignore_case=False)
_UNSPACED_OPENERS = LANGUAGES.pattern("companies.unspaced_openers", r"^(?:<>|，)+", ignore_case=False)


def unknown_names(query: str) -> list[str]:
    """Names in the question that must be companies by the way they are used; empty when there is a doubt.

    Only for a question in which no known company was found. "Zyxel's revenue", "Zyxel Corp", "did Zyxel report",
    "某某股份有限公司", "某某股份2020年营业收入".
    """
    found: list[str] = []
    for pattern in (_LEGAL, _POSSESSIVE, _SUBJECT):
        for match in pattern.finditer(query):
            name = _trim(match["name"])
            if name and not any(word.lower() in _NO_COMPANY or word.isdigit() for word in name.split()):
                found.append(name)
    found += [_UNSPACED_OPENERS.sub("", _after_year(match["name"])) for match in _UNSPACED_LEGAL.finditer(query)]
    listed = [name for name in _listed(query) if not any(name in longer for longer in found)]
    if not found and not listed:
        for match in find_all(_UNLISTED, query):
            name = _UNSPACED_OPENERS.sub("", groups_of(match)["name"])
            if len(name) >= 3 and not _NOT_UNSPACED.search(name):
                found.append(name)
    return [name for name in dict.fromkeys([*found, *listed]) if len(name) > 2]


def new_names(query: str) -> list[str]:
    """Chinese words of a question that no dictionary has, which is how names are told: Chinese has no capitals.

    The first few of them. Not those of two letters, of which most are no word at all, nor terms of the glossary.
    Traditional letters are left alone: jieba's dictionary has few of them.
    """
    chinese = "".join(letter if CJK.match(letter) else " " for letter in query)
    names = [name for name in dict.fromkeys(new_words(chinese)) if len(name) >= _LEAST]
    if not names or not all(letter == " " or letter.encode("gb2312", "ignore") for letter in chinese):
        return []
    _, unknown = known_phrases(chinese)
    return [name for name in names if name in unknown][:_MOST]


def may_speak_of(text: str, name: str) -> bool:
    """Whether a Chinese text has two letters of the name side by side, for where a word ends is a guess, or all of them
    in order and near, as the text has what a term abbreviates: 市占率, 市场占有率.
    """
    if any(name[at : at + 2] in text for at in range(len(name) - 1)):
        return True
    start = text.find(name[0])
    while start >= 0:
        at = start
        for letter in name[1:]:
            at = text.find(letter, at + 1, at + _APART)
            if at < 0:
                break
        else:
            return True
        start = text.find(name[0], start + 1)
    return False


def strange_names(query: str) -> list[str]:
    """Words of a question that are written as names, wherever they stand: "the revenue of Zyxel", "did Zyxel grow".

    Most are no company's (a month, a segment, the title of a table), so what was found has to say what they are.
    """
    found = (_trim(match.group()) for match in re.finditer(_NAME, query))
    return [
        name
        for name in dict.fromkeys(found)
        if any(letter.islower() for letter in name)
        and not any(word.lower() in _NO_COMPANY or word.isdigit() for word in name.split())
    ]


def _listed(query: str) -> list[str]:
    """Names of listed companies, the longest at each place; a short one only where a word may begin and end."""
    if not CJK.search(query):
        return []
    names, low, edges = listed_names(), lower(query), word_edges(query)
    found, at = [], 0
    while at < len(low):
        for length in range(_LONGEST, _LEAST - 1, -1):
            if low[at : at + length] in names and (length > _LEAST or {at, at + length} <= edges):
                found.append(query[at : at + length])
                at += length - 1
                break
        at += 1
    return found


def _trim(name: str) -> str:
    words = name.split()
    while words and words[0] in _OPENERS:
        words.pop(0)
    return " ".join(words)


def _after_year(name: str) -> str:
    return re.split(r"年度?(?:的)?", name)[-1]
