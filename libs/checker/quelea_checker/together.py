"""What a sentence calls the sum of several things, "A and B together", is no figure of one of them."""

from __future__ import annotations

import re
from itertools import pairwise

from quelea_checker import wording
from quelea_checker.facts import TOTAL, Evidence
from quelea_checker.matching import Claim
from quelea_checker.passage_facts import Fact

_WORD = re.compile(
    r"\b(?:together|combined|altogether|jointly|in aggregate)\b|合计|合共|共计|总计|之和|加总|加起来|两者共",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\band\b|\bplus\b|[,&，、与和及]", re.IGNORECASE)
_APART = re.compile(r"[;；。]|\b(?:while|whereas|but|although)\b|而", re.IGNORECASE)
_CLAUSES = re.compile(r"[;；。，]|,(?!\d)|\b(?:while|whereas|but)\b")
_DIGIT = re.compile(r"\d")


def before(claim: Claim) -> str:
    """The words before a figure, since another amount or a contrast."""
    start = max((other.end for other in claim.others if other.end <= claim.figure.start), default=0)
    return _APART.split(claim.sentence[start : claim.figure.start])[-1]


def is_said(claim: Claim) -> bool:
    """The words before the figure put several things together."""
    return bool(_WORD.search(before(claim)))


def fit(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """The fact is not of one of the things that the sentence puts together."""
    text = before(claim)
    word = _WORD.search(text)
    names = text[: word.start()] if word else text
    if not (word or _behind(claim)) or not _JOINT.search(names):
        return True
    return _cell_fits(claim, names, fact, evidence) if fact.table >= 0 else _prose_fits(claim, names, fact)


def _behind(claim: Claim) -> bool:
    figure = claim.figure
    _, last = wording.clause(claim.sentence, figure.start, figure.end)
    return bool(_WORD.search(claim.sentence[figure.end : last])) and not any(
        figure.end <= other.start < last for other in claim.others
    )


def _cell_fits(claim: Claim, names: str, fact: Fact, evidence: Evidence) -> bool:
    """Not where its row and another one of its table are both named."""
    own = evidence.groups[fact.group]
    said = claim.heard(names)
    if not own.name or not own.name <= said or TOTAL.search(own.label):
        return True
    return not any(
        row.name and row.name <= said and not row.name & own.name and not TOTAL.search(row.label)
        for row in evidence.rows.get(fact.table, ())
        if row is not own and row.facts
    )


def _prose_fits(claim: Claim, names: str, fact: Fact) -> bool:
    """Not where its clause names one of them, and another clause with a figure the other."""
    cuts = [0, *(match.end() for match in _CLAUSES.finditer(fact.words)), len(fact.words)]
    clauses = [fact.words[a:b] for a, b in pairwise(cuts)]
    own = next((text for text, a in zip(clauses, cuts, strict=False) if a <= fact.figure.start < a + len(text)), "")
    if _WORD.search(own):
        return True
    parts = [terms for part in _JOINT.split(names) if (terms := claim.heard(part))]
    here = claim.heard(own)
    rest = [claim.heard(text) for text in clauses if text != own and _DIGIT.search(text)]
    return not (
        any(part <= here for part in parts)
        and any(not part <= here and any(part <= there for there in rest) for part in parts)
    )
