"""Which candidates become the answer's quotes: the best, then what adds to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import terms

from quelea_generator.core.extractive.matching import names_item
from quelea_generator.core.extractive.question import Query
from quelea_generator.core.extractive.rows import find_figures, parse_row
from quelea_generator.core.extractive.scoring import REACHED, Candidate
from quelea_generator.core.extractive.spans import Span
from quelea_generator.core.extractive.table_heads import table_fit
from quelea_generator.core.model import Evidence

_ENOUGH = 0.45
"""A further quote must score at least this part of the best."""
_ABOUT = 0.4
"""A further quote must meet at least this part of what the best meets of the question."""
_NEW_FACET = 0.8
"""Worth of meeting a part of the question that no chosen quote meets."""
_NEW_FILING = 2.0
"""Worth of another filing, where things are compared."""
_REPEATED = 1.5
"""Cost of a row label that is chosen already."""

_GOES_ON = 0.6
"""A next sentence goes on with the chosen one when it scores at least this part of it."""
_LONGEST = 600
"""Longest quote of two sentences, in characters."""
_CONTINUES = LANGUAGES.pattern("passages.continues", ignore_case=False)
_OTHER_PERIOD = 2.0
"""Cost of a row whose table is of another period."""
_OF_A_PART = 1.5
"""Cost of a row of one of several parts, none of which was asked for."""
_WHOLE = LANGUAGES.pattern("passages.whole")
_HEADS_READ = 25
"""So many of the best candidates have their table's head read: reading heads is most of the work."""
_HEADED = 0.6
_LETTERS = re.compile(r"[a-z]{2,}|[\u3400-\u9fff]")
_STATEMENT = LANGUAGES.pattern("passages.statement")
"""Title of one of the primary statements, where the company's own figure of an item stands."""
_NAMED, _EXPLAINED = 0.9, 0.7
_MOST_ITEMS = 4
_SAME_WORDS = 0.75
"""A sentence with no figure of its own and this part of its words in a chosen quote says the same again."""
_OTHER_KIND = 0.4
"""Worth of a sentence beside rows, or a row beside sentences: one gives the figure, the other what it means."""


def select(query: Query, ranked: Sequence[Candidate], *, most: int = 3, pool: int = 60) -> list[Candidate]:
    """Up to `most` quotes, the best first; no two with the same figures or the same words."""
    left = rank_by_period(query, ranked[:pool])
    if each := _one_each(query, left):
        return each
    chosen: list[Candidate] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda candidate: candidate.score + _adds(query, candidate, chosen))
        longer = _with_next(query, best, ranked)
        best = best if any(_overlap(longer, other) for other in chosen) else longer
        chosen.append(best)
        least, about = _ENOUGH * chosen[0].score, _ABOUT * _meets(query, chosen[0])
        left = [
            candidate
            for candidate in left
            if candidate.score >= least
            and _meets(query, candidate) >= about
            and not _needless(query, candidate, chosen)
            and not _repeats(candidate, best)
        ]
    return chosen


def rank_by_period(query: Query, ranked: Sequence[Candidate]) -> list[Candidate]:
    """The best with rows of tables of another period set back."""
    head = [
        replace(
            one,
            score=one.score
            + _OTHER_PERIOD * table_fit(query, one.evidence, one.span)
            - _OF_A_PART * is_of_a_part(query, one),
        )
        if one.span.row
        else one
        for one in ranked[:_HEADS_READ]
    ]
    return sorted([*head, *ranked[_HEADS_READ:]], key=lambda one: -one.score)


def is_primary(evidence: Evidence) -> bool:
    """Whether a passage is of a primary statement: income, cash flows, balance sheet."""
    return _STATEMENT.search(f"{evidence.header.rsplit('·', 1)[-1]} {evidence.table_head}") is not None


def _one_each(query: Query, left: Sequence[Candidate]) -> list[Candidate]:
    """For a question that asks for several items of one time, the row of each, in its order; empty for any other
    question, and where one of them has no row."""
    items = [at for at, facet in enumerate(query.facets) if facet.others]
    if not 1 < len(items) <= _MOST_ITEMS or not query.wants_figure or query.percent or len(query.years) > 1:
        return []
    if query.reason or query.moves or query.breakdown or query.yes_no or (query.compares and not query.years):
        return []
    if any(
        facet.weight == 1 and not facet.others and not query.names.intersection(facet.own) for facet in query.facets
    ):
        return []  # a word that belongs to one of them
    found = []
    for at in items:
        rows = [one for one in left if one.span.row and one.matched[at] >= _NAMED and one not in found]
        rows = [one for one in rows if one.features.get("precision", 0.0) >= _EXPLAINED and "%" not in one.text]
        if not rows:
            return []
        found.append(max(rows, key=lambda one: one.score + one.features["precision"] + is_primary(one.evidence)))
    return found


def is_of_a_part(query: Query, candidate: Candidate) -> bool:
    """The row stands in its table under several headings, and the question has no word of the one above it: the
    operating income of one segment is not the company's. Or the heading names another item than the question."""
    heading = candidate.span.above.rsplit("\n", 1)[-1]
    row = candidate.span.row
    if row is None or not heading or _terms(heading) & query.words or _WHOLE.search(heading):
        return False
    items = [at for at, facet in enumerate(query.facets) if facet.others]
    if items and max(candidate.reached[at] for at in items) < _HEADED and names_item(heading):
        return True
    if any(r >= _HEADED > m for r, m in zip(candidate.reached, candidate.matched, strict=True)):
        return False  # the heading has a word of the question in the other language, or by another name
    label = row.label.lower()
    rows = (parse_row(text) for text in candidate.evidence.text.splitlines())
    return sum(other is not None and other.label.lower() == label for other in rows) > 1


def _needless(query: Query, candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    """The first quote is the very row that was asked for, and this one brings nothing else that the question names.

    It stays where several things are compared, where a reason or a change is asked for, and where it has a part of the
    question that no chosen quote has.
    """
    if query.compares or query.breakdown or query.reason or query.moves or query.yes_no:
        return False
    if not chosen[0].features.get("exact"):
        return False
    hard = [at for at, facet in enumerate(query.facets) if facet.weight == 1]
    have = [max(other.reached[at] for other in chosen) for at in hard]
    if query.wants_figure and min(have, default=0.0) >= REACHED:  # nothing is left
        return not _is_rival(candidate, chosen[0], hard)
    if not candidate.span.row or candidate.features.get("exact"):
        return False
    return all(candidate.reached[at] <= value for at, value in zip(hard, have, strict=True))


def _is_rival(candidate: Candidate, first: Candidate, hard: Sequence[int]) -> bool:
    """A row of the same label with other figures, which meets the question as well: it may be the one that is meant."""
    one, other = candidate.span.row, first.span.row
    if one is None or other is None or _LETTERS.findall(one.label.lower()) != _LETTERS.findall(other.label.lower()):
        return False
    if find_figures(candidate.text) & find_figures(first.text) or ("%" in candidate.text) != ("%" in first.text):
        return False
    return all(candidate.reached[at] >= first.reached[at] for at in hard)


def _meets(query: Query, candidate: Candidate) -> float:
    return sum(facet.weight * value for facet, value in zip(query.facets, candidate.reached, strict=True))


def _with_next(query: Query, best: Candidate, ranked: Sequence[Candidate]) -> Candidate:
    """The sentence together with the one after it, where an account is asked for and the second goes on with it."""
    if best.span.row or (query.wants_figure and not query.reason and not query.yes_no):
        return best
    text = best.evidence.text
    for other in ranked:
        span = other.span
        if other.evidence.number != best.evidence.number or span.row or best.span.end > span.start:
            continue
        if text[best.span.end : span.start].strip() or span.end - best.span.start > _LONGEST:
            continue
        if other.score >= _GOES_ON * best.score or _CONTINUES.match(other.text):
            joined = Span(best.span.start, span.end, None, best.span.above)
            matched = tuple(map(max, best.matched, other.matched))
            reached = tuple(map(max, best.reached, other.reached))
            return replace(best, span=joined, matched=matched, reached=reached)
    return best


def _adds(query: Query, candidate: Candidate, chosen: Sequence[Candidate]) -> float:
    """What the candidate brings that the chosen quotes do not have."""
    if not chosen:
        return 0.0
    worth = 0.0
    for index, facet in enumerate(query.facets):
        have = max(other.reached[index] for other in chosen)
        worth += _NEW_FACET * facet.weight * max(0.0, candidate.reached[index] - have)
    filings = {other.evidence.filing for other in chosen}
    if query.compares and candidate.evidence.filing not in filings:
        worth += _NEW_FILING
    if all((other.span.row is None) != (candidate.span.row is None) for other in chosen):
        worth += _OTHER_KIND
    if candidate.span.row and any(
        other.span.row and other.span.row.label.lower() == candidate.span.row.label.lower() for other in chosen
    ):
        worth -= 0.0 if query.compares and candidate.evidence.filing not in filings else _REPEATED
    return worth


@lru_cache(maxsize=2048)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _repeats(candidate: Candidate, chosen: Candidate) -> bool:
    """The candidate says what a chosen quote says: overlapping span, the same figures, or the same text."""
    if _overlap(candidate, chosen):
        return True
    if candidate.text == chosen.text:
        return True
    mine, theirs = find_figures(candidate.text), find_figures(chosen.text)
    if candidate.span.row is not None and chosen.span.row is not None:
        return bool(mine) and (mine <= theirs or theirs <= mine)
    if candidate.span.row is not None or chosen.span.row is not None:
        return False
    if not mine <= theirs:
        return False
    ours, others = _terms(candidate.text), _terms(chosen.text)
    return len(ours & others) >= _SAME_WORDS * len(ours)


def _overlap(one: Candidate, other: Candidate) -> bool:
    same = one.evidence.number == other.evidence.number
    return same and one.span.start < other.span.end and other.span.start < one.span.end
