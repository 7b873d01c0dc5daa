"""What a sentence adds to the evidence: a name that no passage has, a thing in another's place, a cause of its own."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from quelea_fintext.glossary import entries
from quelea_fintext.text import CJK, STOP_WORDS, stem, tagged, words

from quelea_checker.clauses import placed
from quelea_checker.opposites import plainly, signs
from quelea_checker.passage_facts import content

_ABOUT = 0.6
_NAME = re.compile(r"(?<![\w.])[A-Z][\w&'’-]*[A-Za-z](?:\s+(?:of|and|&|de)?\s*[A-Z][\w&'’-]*[A-Za-z])*")
_NO_NAME = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday"
    r"|Thursday|Friday|Saturday|Sunday|Company|Corporation|Group|Board|Management|Inc|Ltd|Co|Corp|Q[1-4]|FY|US|USA|USD"
    r"|EUR|RMB|CNY|GAAP|IFRS|CEO|CFO|COO|CTO|EPS|EBITDA|EBIT|ROE|ROA|R&D|IPO|M&A|AI|IT|GDP|CPI|PPI|PMI|YoY|QoQ|SEC"
    r"|Chinese|American|European|Note|Table|Section|Item|Part|Form|Exhibit|Figure|The|This|These|It|In|According|Source"
    r"|United|States|Fiscal|Year|Quarter|I|We|Our|Net|Total|However|Also)(?:'s)?",
)
_CAUSE_EN = re.compile(
    r"\b(?:because(?: of)?|due (?:primarily |mainly |in part )?to|as a result of|owing to|thanks to|driven(?: \w+)? by"
    r"|caused by|attributable to|on account of|as)\b(?P<cause>[^,;]+)",
    re.IGNORECASE,
)
_CAUSE_ZH = re.compile(
    r"(?:由于|因为|因(?!此|素)|受益于|得益于|受(?!让|托|理|益))(?P<cause>[^，；。]{2,40}?)(?:的?(?:影响|带动|推动|拖累|，|；|。)|$)"
)
_CLAUSE = re.compile(r"[,;，；]|\b(?:and|but|while|whereas)\b|但|而")
_LEAST = 0.34
"""Share of a cause's words that the evidence has beside its effect."""
_BRIEF = 60
_FORM = re.compile(r".*(?:ed|ing|ly)$")
"""Verbs and adverbs: another word in their place may say the same."""
_BEHIND = frozenset("the a an its their our his her of in on for with from at by into".split())
"""Words behind which, perhaps with an adjective between, a thing is named."""
_ADJECTIVES = frozenset("new first second third main other".split())
_LONGEST = 3


def names(sentence: str) -> list[str]:
    """Words of proper names in an English sentence; of its first word only when more of the name follows."""
    found: list[str] = []
    if sum(word[0].isupper() for word in re.findall(r"[A-Za-z]+", sentence)) * 2 > len(
        re.findall(r"[A-Za-z]+", sentence)
    ):
        return []  # a title
    for match in _NAME.finditer(sentence):
        parts = [part for part in re.split(r"\s+", match.group()) if part[0].isupper()]
        if not sentence[: match.start()].strip(' "“(*#-•'):
            parts = parts[1:] if len(parts) > 1 else []
        found += [part.removesuffix("'s").removesuffix("’s") for part in parts if not _NO_NAME.fullmatch(part)]
    return found


def has_foreign_name(sentence: str, known: Container[str], initials: str) -> bool:
    """A proper name that no passage has.

    Args:
        sentence: Without markers.
        known: Terms of every passage, of their headers and of the question.
        initials: First letters of the passages' words, in order: "AI" stands for "artificial intelligence".
    """
    for name in names(sentence):
        terms = [stem(word) for word in words(name) if word not in STOP_WORDS]
        if terms and not any(term in known for term in terms) and not (name.isupper() and name.lower() in initials):
            return True
    return False


def is_substituted(sentence: str, evidence: Sequence[str], known: Container[str]) -> bool:
    """A thing of the evidence's sentence is another in this one, between the same neighbours, and no passage has it."""
    said = _tokens(sentence)
    runs = list(_strange(said, known))
    if not runs:
        return False
    terms = frozenset(token.term for token in said)
    for text in evidence:
        found = _tokens(text)
        own = frozenset(token.term for token in found)
        if len(terms & own) >= _ABOUT * (len(terms) - 1) and any(_stands_for(run, said, found, terms) for run in runs):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Token:
    """A word: its term, what it stands behind as written, and whether it may be the name of a thing."""

    term: str
    behind: str
    thing: bool


def _strange(said: Sequence[_Token], known: Container[str]) -> Iterator[tuple[int, int]]:
    """Runs of at most three words that no passage has, the last a thing."""
    at = 0
    while at < len(said):
        end = at
        while end < len(said) and said[end].term not in known:
            end += 1
        if 0 < end - at <= _LONGEST and said[end - 1].thing:
            yield at, end
        at = max(end, at + 1)


def _stands_for(run: tuple[int, int], said: Sequence[_Token], found: Sequence[_Token], terms: frozenset[str]) -> bool:
    start, end = run
    before = said[start - 1].term if start else ""
    after = said[end].term if end < len(said) else ""
    if not before and not after:
        return False
    for first in range(len(found)):
        if (found[first - 1].term if first else "") != before or found[first].behind != said[start].behind:
            continue
        for last in range(first + 1, min(first + _LONGEST, len(found)) + 1):
            if (found[last].term if last < len(found) else "") == after and found[last - 1].thing:
                new = [token.term for token in found[first:last]]
                if not terms & set(new) and not is_same(said[end - 1].term, new[-1]):
                    return True
    return False


def is_same(one: str, other: str) -> bool:
    """The glossary, or how they are written, says that two terms are one thing's."""
    if CJK.match(one) or CJK.match(other):
        return bool(set(one) & set(other)) or other in _same(one)
    return one[:4] == other[:4] or other in _same(one)


@lru_cache(maxsize=1)
def _lines() -> dict[str, set[str]]:
    """Words that the glossary gives for one thing."""
    found: dict[str, set[str]] = {}
    for sides in entries():
        for side in sides:
            alone = {term for phrase in side for term in content(phrase)}
            for term in alone:
                found.setdefault(term, set()).update(alone)
    return found


def _same(word: str) -> set[str]:
    return _lines().get(word, set())


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[_Token, ...]:
    found = []
    if CJK.search(text):
        for word, kind in tagged(text):
            if word not in STOP_WORDS and CJK.match(word):
                thing = kind[0] == "n" and len(word) > 1 and not signs(word)
                found.append(_Token(word, "", thing))
        return tuple(found)
    behind = ""
    for word in words(text):
        if word not in STOP_WORDS and word[0].isalpha():
            thing = len(word) > 2 and behind in _BEHIND and not _FORM.match(word) and not signs(word)
            found.append(_Token(stem(word), behind if behind in _BEHIND else "", thing))
        if word not in _ADJECTIVES:
            behind = word
    return tuple(found)


def has_own_cause(sentence: str, evidence: Sequence[str]) -> bool:
    """It gives a cause of which the evidence says nothing beside the effect."""
    for pattern in (_CAUSE_EN, _CAUSE_ZH):
        for match in pattern.finditer(sentence):
            cause = _meaning(match["cause"])
            cause = frozenset(word for word in cause if word[-2:] not in {"+1", "-1"}) or cause
            before = _CLAUSE.split(sentence[: match.start()])[-1]
            after = _CLAUSE.split(sentence[match.end() :].lstrip(" ,，"))[0]
            effect = _meaning(before if len(content(before)) > 1 else after)
            if len(cause) >= 1 and len(effect) >= 2 and _is_own(cause, effect, evidence):
                return True
    return False


def _is_own(cause: frozenset[str], effect: frozenset[str], evidence: Sequence[str]) -> bool:
    told = [_meaning(text) for text in evidence]
    shares = [len(effect & one) / len(effect) for one in told]
    best = max(shares, default=0.0)
    if best < _ABOUT:
        return False
    around: set[str] = set()
    for at, share in enumerate(shares):
        if share >= best - 0.15:
            around |= set().union(*told[max(0, at - 1) : at + 2]) if len(evidence[at]) < _BRIEF else told[at]
    return len(cause & around) < _LEAST * len(cause)


@lru_cache(maxsize=4096)
def _meaning(text: str) -> frozenset[str]:
    """The words of a text; those that have an opposite as their signs."""
    plain = plainly(text)
    blank = list(plain)
    for sign in signs(plain):
        blank[sign.start : sign.end] = " " * (sign.end - sign.start)
    signed = {f"{one.axis}{one.end_of:+d}" for one in placed(text)}
    return content("".join(blank)) | signed
