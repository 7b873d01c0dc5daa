"""The rows of the evidence that the words of a stated computation name, one operand after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from quelea_checker.facts import Evidence
from quelea_checker.matching import Claim
from quelea_checker.passage_facts import Group, content
from quelea_checker.relevance import LOOKED

_TABLES = 12
_PIECES = 6
TIMES = content(
    "quarter quarterly annual fiscal year month half period end ended first second third fourth date 年 月 日"
)
_AND = re.compile(r"\s*(?:,\s*(?:and|plus)\b|,(?!\d)|\band\b|\bplus\b|、|加上|以及|[和与及])\s*", re.IGNORECASE)


def listed(claim: Claim, text: str, evidence: Evidence) -> list[list[Group]]:
    """The rows of "A, B and C": cut where each piece names a row, so that most words are of one."""
    cuts = [(m.start(), m.end()) for m in _AND.finditer(text)]
    if not 0 < len(cuts) < _PIECES:
        return []
    best: tuple[int, list[list[Group]]] = (0, [])
    for chosen in product((False, True), repeat=len(cuts)):
        at, pieces = 0, []
        for cut, taken in zip(cuts, chosen, strict=True):
            if taken:
                pieces.append(text[at : cut[0]])
                at = cut[1]
        pieces.append(text[at:])
        if len(pieces) < 2:
            continue
        rows = []
        for piece in pieces:
            terms = claim.heard(piece)
            rows.append(named(claim, terms, evidence) if terms else [])
        if all(rows):
            score = sum(len(r[0].name & claim.heard(p)) for r, p in zip(rows, pieces, strict=True))
            if score > best[0]:
                best = (score, rows)
    return best[1]


def named(claim: Claim, terms: frozenset[str], evidence: Evidence) -> list[Group]:
    """Rows that have all of the words that any row of their table has; of one label those of the section named."""
    near: dict[int, None] = {}
    for term in sorted(terms):
        for group in evidence.by_term.get(term, ())[:LOOKED]:
            if group.table >= 0 and group.passage not in claim.barred:
                near[group.table] = None
    if not near or len(near) > _TABLES:
        return []
    found: list[Group] = []
    most = 0
    for table in near:
        rows = [row for row in evidence.rows.get(table, ()) if row.name]
        said = terms & frozenset().union(*(row.name for row in rows))
        if said and len(said) >= most:
            close = _most_named(rows, terms) if claim.across else _closest(rows, said)
            found = [*(found if len(said) == most else ()), *close]
            most = len(said)
    told = max((len(row.terms & terms) for row in found), default=0)
    elsewhere = {term for term in terms if is_name(term, evidence)} if not claim.across else frozenset()
    return [row for row in found if len(row.terms & terms) == told and elsewhere <= row.terms]


def is_name(term: str, evidence: Evidence) -> bool:
    """A row or a section of any table is called so: "AWS operating income" is not that of the whole company."""
    return term not in TIMES and any(g.table >= 0 and term in g.terms for g in evidence.by_term.get(term, ())[:LOOKED])


def _closest(rows: Sequence[Group], said: frozenset[str]) -> list[Group]:
    """The row of the fewest words that has all that are said of any; none where two of unlike names are as close."""
    whole = [row for row in rows if said <= row.terms]
    least = min((len(row.name - said) for row in whole), default=0)
    close = [row for row in whole if len(row.name - said) == least]
    return close if len({row.label for row in close}) == 1 else []


def _most_named(rows: Sequence[Group], terms: frozenset[str]) -> list[Group]:
    """Rows named wholly, where none has more of the words: of terms that are ways to say the same, few are said."""
    most = max((len(row.name & terms) for row in rows), default=0)
    return [row for row in rows if len(row.name & terms) == most and (row.name <= terms or row.core <= terms)]
