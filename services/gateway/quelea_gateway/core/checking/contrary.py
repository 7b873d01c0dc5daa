"""Sentences made of the evidence's own words that say the contrary: with a "not" more or less, or who did it to whom
the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from quelea_gateway.core.checking.passage_facts import content

_COVERED = 0.75
"""Share of a sentence's terms that a clause of the evidence must have to be about the same."""
_CLAUSE = re.compile(r"[,;，；。!?！？]|\.(?=\s|$)|\b(?:but|while|whereas|although|and)\b|但|而且|同时")
_NOT = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|without|failed to|fails to|declined to|refused to|unable to)\b|n't\b"
    r"|未|没有|从不|否认|不(?=会|是|能|建议|拟|计划|打算|考虑|宣派|派付|存在|涉及|构成|影响|派发|分红|进行|计提|再|予|得)|无(?=重大|任何|需|法|须)",
    re.IGNORECASE,
)
_UNTOLD = re.compile(
    r"\bnot only\b|\bno (?:later|more|less|fewer|longer than)\b|\bno\."
    r"|不仅|未来|未分配|未经审计|未实现",
    re.IGNORECASE,
)
_DONE = (
    r"acquir(?:e[sd]?|ing)|sold|sells|bought|buys|purchas(?:e[sd]|ing)|su(?:ed|es)|owns?|owned|supplie[sd]|invested in"
    r"|merged into|sold to|lent to|overtook|outsold|beat|defeated|replaced|hired|licen[sc]e[sd] to|guarantee[sd]"
    r"|controls?|controlled"
)
_VERB = re.compile(
    rf"\b(?P<be>(?:was|were|is|are|been|being)\s+)?(?P<en>{_DONE})\b(?P<by>\s+by\b)?"
    r"|(?P<bei>被)|(?P<zh>收购|起诉|控股|入股|投资|兼并|超过|取代|担保|供货)",
    re.IGNORECASE,
)
_NEXT = 14
"""Characters behind a "not" in which stands what it denies."""
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
    said, found = _roles(one), _roles(other)
    if said is None or found is None or said[0] != found[0]:
        return False
    (_, doer, done), (_, doer2, done2) = said, found
    both = done & done2  # what it was done with: the assets that A sold to B
    straight, across = len(doer & doer2), len(doer & (done2 - both)) + len((done - both) & doer2)
    return bool(doer & done2 and done & doer2) and across > straight


def _roles(text: str) -> tuple[str, frozenset[str], frozenset[str]] | None:
    """(the verb's first letters, terms of who does it, terms of to whom), of a text with one such verb."""
    verbs = [match for match in _VERB.finditer(text) if not match["bei"]]
    if len(verbs) != 1:
        return None
    verb = verbs[0]
    name = (verb["en"] or verb["zh"])[:4].lower()
    before, after = text[: verb.start()], text[verb.end() :]
    passive = bool(verb["be"] and verb["by"])
    if verb["zh"] and "被" in before:
        before, _, doer = before.partition("被")
        return name, content(doer), content(before)
    if passive:
        before, after = after, before
    return name, content(before), content(after)
