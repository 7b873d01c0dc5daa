"""Sentences made of the evidence's own words that say the contrary: with a "not" more or less, or who did it to whom
the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from quelea_fintext.text import stem

from quelea_checker.opposites import plainly, signs
from quelea_checker.passage_facts import content

_COVERED = 0.75
"""Share of a sentence's terms that a clause of the evidence must have to be about the same."""
_CLAUSE = re.compile(r"[,;，；。!?！？]|\.(?=\s|$)|\b(?:but|while|whereas|although|and)\b|但|而且|同时")
_NOT = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|without|fail(?:ed|s|ing|ure) to"
    r"|declin(?:ed|es|ing) to|refused to|unable to)\b|n't\b"
    r"|未|没有|从不|否认|不(?=会|是|能|建议|拟|计划|打算|考虑|宣派|派付|存在|涉及|构成|影响|派发|分红|进行|计提|再|予|得)|无(?=重大|任何|需|法|须)",
    re.IGNORECASE,
)
_UNTOLD = re.compile(
    r"\bnot only\b|\bno (?:later|more|less|fewer|longer than)\b|\bno\."
    r"|不仅|未来|未分配|未经审计|未实现",
    re.IGNORECASE,
)
_ZH_VERB = re.compile(
    r"收购|起诉|控股|入股|投资|兼并|超过|取代|担保|供货|供应|转让|出售|授权|出租|租赁|委托|聘请|处罚|指控|推荐|采购|增资|任命"
)
_ZH_PARTS = re.compile(r"(?P<by>被|由)|(?P<to>向|给|对)|(?P<it>将|把)")
_EN_VERB = re.compile(
    r"\b(?P<be>(?:was|were|is|are|been|being)\s+)?(?P<verb>[a-z]{3,}(?:ed|s)|sold|bought|sued|lent|beat|overtook|won"
    r"|grew|rose|fell|outsold|overtakes)\b(?P<by>\s+by\b)?"
)
_FROM_TO = re.compile(r"\b(from|to)\b")
_THAN = re.compile(r"\bthan\b")
_NEXT = 14
"""Characters behind a "not" in which stands what it denies."""
_LONG = 20
"""Terms of a sentence that has more than one doer, most likely."""
_LEAST = 2
"""Terms of a sentence that is compared."""


def is_contrary(sentence: str, evidence: Iterable[str]) -> bool:
    """Whether every clause of the evidence that is about the same says the opposite, and there is one.

    Args:
        sentence: Without markers.
        evidence: Sentences of prose.
    """
    terms = content(sentence)
    if len(terms) < _LEAST:
        return False
    against = False
    for text in evidence:
        for clause in (text, *_CLAUSE.split(text)):
            own = content(clause)
            if len(own & terms) < _COVERED * len(terms):
                continue
            if clause is text and len(own) > 1.5 * len(terms):
                continue  # a long sentence says more than one thing
            if not _denies(clause, sentence) and not _is_swapped(sentence, clause):
                return False
            against = True
    return against


def _denies(clause: str, sentence: str) -> bool:
    """One of the two says "not", of what the other speaks of too: "did not approve" of "approved"."""
    if _negated(clause) == _negated(sentence):
        return False
    one, other = (clause, sentence) if _negated(clause) else (sentence, clause)
    spoken = content(other)
    return any(content(one[match.end() : match.end() + _NEXT]) & spoken for match in _NOT.finditer(one))


def _negated(text: str) -> bool:
    return len(_NOT.findall(_UNTOLD.sub(" ", text))) % 2 == 1


def _is_swapped(one: str, other: str) -> bool:
    """ "A acquired B" and "B acquired A": who does it in the one has it done to in the other."""
    if max(len(content(one)), len(content(other))) > _LONG:
        return False
    found = {role[0]: role[1:] for role in _once(other)}
    for verb, doer, done, turned in _once(one):
        if verb not in found:
            continue
        doer2, done2, turned2 = found[verb]
        both = done & done2  # what it was done with: the assets that A sold to B
        straight, across = len(doer & doer2), len(doer & (done2 - both)) + len((done - both) & doer2)
        crossed = bool(doer & done2 and done & doer2) and across > straight
        if crossed and turned == turned2:
            return True
    return False


_Role = tuple[str, frozenset[str], frozenset[str], str]


def _once(text: str) -> list[_Role]:
    """The roles of the verbs that stand in a text once."""
    found = list(_roles(text))
    return [one for one in found if sum(one[0] == other[0] for other in found) == 1]


def _roles(text: str) -> Iterator[_Role]:
    """(the verb's first letters, terms of who does it, terms of to whom, what turns it round) for each verb."""
    for match in _EN_VERB.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        if match["be"]:
            if not match["by"]:
                continue
            before, after = after, before
        way = _FROM_TO.search(text[match.end() :])
        turned = way.group() if way else ""
        if _THAN.search(text):
            turned += "".join(sorted(str(s.end_of) for s in signs(plainly(text)) if s.axis in {"speed", "change"}))
        yield stem(match["verb"])[:5], content(before), content(after), turned
    for match in _ZH_VERB.finditer(text):
        yield match.group(), *_zh_roles(text[: match.start()], text[match.end() :]), ""


def _zh_roles(before: str, after: str) -> tuple[frozenset[str], frozenset[str]]:
    """Who does it and to whom: A 向 B, 由 A 向 B, B 被 A, A 将 X … 给 B."""
    doer, done = before, after
    for match in reversed(list(_ZH_PARTS.finditer(before))):
        head, tail = doer[: match.start()], doer[match.end() :]
        if match["by"]:
            doer, done = tail, f"{head}，{done}"
        else:
            doer, done = head, f"{tail}，{done}"
    return content(doer), content(done)
