"""From candidates with two scores each to a ranked list: fusion, readable signals, one list per filing, no repeats."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from quelea_fintext.text import language_of

from .language_scales import Mask, Scores, foreign, scale_cosines, scale_to_unit
from .model import Candidate, Hit, Mode, PassageRecord, Reading
from .passage_view import ViewCache, alike
from .question_view import QuestionView, join_gloss, question_view
from .ranking_signals import Signals, signals_of


@dataclass(frozen=True)
class Weights:
    """How much each part counts. Round numbers, set by hand.

    docs/experiments/2026-11-22-ranking.md has what each is worth.
    """

    dense: float = 0.4
    sparse: float = 0.6
    row: float = 0.3
    """A table row is labelled with just the words of the question."""
    quoted: float = 0.1
    """For each word, up to three, of a row label that stands in the question as it is written in the table."""
    years: float = 0.1
    """The share of the question's years that the passage names."""
    table: float = 0.1
    """A table, when an amount is asked for."""
    coverage: float = 0.2
    """The share of the question's words found in the best passages of the same document."""
    routes: float = 0.2
    """For each heading, up to two, under which such an answer stands; only inside a chosen filing."""
    density: float = 0.2
    """Distinct figures, of 40, when an amount is asked for; only inside a chosen filing."""
    sums: float = 0.2
    """Sums of money or percentages, up to three, whatever is asked; only inside a chosen filing."""


DEFAULT = Weights()
BEST_OF_DOCUMENT = 4
"""A document is judged by so many of its passages, so that a long one does not cover everything."""
VIEWS_HELD = 20_000
_VIEWS = ViewCache(VIEWS_HELD)


def rank(
    query: str,
    candidates: Sequence[Candidate],
    reading: Reading,
    k: int,
    mode: Mode = "fused",
    plain: bool = False,
    weights: Weights = DEFAULT,
    gloss: Sequence[str] = (),
) -> list[Hit]:
    """The best k of the candidates, best first.

    Args:
        query: the question.
        candidates: each passage once, with both scores exact (a passage that only one of the two searches found
            must have its other score computed, not guessed).
        reading: what the question was read to ask about; its groups are interleaved, first group first.
        k: how many hits at most.
        mode: by both scores, by the cosine alone, or by the sparse score alone; only "fused" has a second stage.
        plain: by dense + sparse fusion alone, without the second stage.
        weights: for measuring what each part is worth.
        gloss: the question in the words of the other language, for candidates in it.

    Of near-duplicates the one of the newest document is kept. In an interleaved list scores fall in order all the
    same: a hit is never scored above the one before it.
    """
    if not candidates or k < 1:
        return []
    others = foreign([c.facts.language for c in candidates], language_of(query))
    # Scaled over all candidates, of every group: a filing that says little of the thing keeps its low scores, so that
    # there the signals decide and not the best of bad matches.
    fused = fuse_scores([c.cosine for c in candidates], [c.sparse for c in candidates], others, mode, weights)
    asked: tuple[QuestionView, QuestionView] | None = None
    if mode == "fused" and not plain:
        names = reading.mentions
        asked = question_view(query, names), question_view(join_gloss(query, gloss), names)
    lists = []
    for members in _group(candidates, reading):
        group, score = [candidates[i] for i in members], fused[members]
        if asked is not None:
            score = _score_stages(score, group, others[members], asked, reading.filing_chosen, weights)
        order = np.lexsort((-np.array([_age_key(c) for c in group]), -score))
        lists.append([Hit(group[i], float(score[i])) for i in order])
    hits: list[Hit] = []
    ceiling = math.inf
    for hit in _drop_repeats(_interleave(lists)):
        ceiling = min(ceiling, hit.score)
        hits.append(Hit(hit.candidate, ceiling))
        if len(hits) == k:
            break
    return hits


def prepare(passages: Iterable[PassageRecord]) -> None:
    """Read passages before a search needs them. Safe for threads; of more than VIEWS_HELD the last are held."""
    for passage in passages:
        _VIEWS.get(passage)


def fuse_scores(
    cosines: npt.ArrayLike, sparses: npt.ArrayLike, others: Mask, mode: Mode = "fused", weights: Weights = DEFAULT
) -> Scores:
    """Both scores on one scale and added, or one of them alone; `others` are in another language than the query."""
    cosine, sparse = scale_cosines(cosines, others), scale_to_unit(sparses)
    return {"dense": cosine, "sparse": sparse, "fused": weights.dense * cosine + weights.sparse * sparse}[mode]


def _group(candidates: Sequence[Candidate], reading: Reading) -> list[list[int]]:
    """The candidates of each group of the reading, by position; what belongs to none comes in a last list."""
    if len(reading.groups) < 2:
        return [list(range(len(candidates)))]
    of_document: dict[str, int] = {}
    for number, group in enumerate(reading.groups):
        for document in group:
            of_document.setdefault(document, number)
    lists: dict[int, list[int]] = defaultdict(list)
    for position, candidate in enumerate(candidates):
        lists[of_document.get(candidate.passage.document_id, len(reading.groups))].append(position)
    return [lists[number] for number in sorted(lists)]


def _score_stages(
    fused: Scores,
    group: Sequence[Candidate],
    others: Mask,
    asked: tuple[QuestionView, QuestionView],
    chosen: bool,
    weights: Weights,
) -> Scores:
    """With the second stage added: candidates of each language by the question in their own words."""
    score = fused.copy()
    for members, question in ((~others, asked[0]), (others, asked[1])):
        part = [group[i] for i in np.flatnonzero(members).tolist()]
        if part:
            signals = signals_of(question, part, [_VIEWS.get(c.passage) for c in part])
            score[members] = _second_stage(fused[members], part, signals, chosen, weights)
    return score


def _second_stage(
    fused: Scores, group: Sequence[Candidate], signals: Signals, chosen: bool, weights: Weights
) -> Scores:
    score = (
        fused
        + weights.row * signals.row
        + weights.quoted * signals.quoted
        + weights.years * signals.years
        + weights.table * signals.table
    )
    if chosen:
        return score + weights.routes * signals.routes + weights.density * signals.density + weights.sums * signals.sums
    return score + weights.coverage * _of_documents(score, group, signals)


def _of_documents(score: Scores, group: Sequence[Candidate], signals: Signals) -> Scores:
    """What a document adds to each of its passages: how much of the question its best passages cover together."""
    members: dict[str, list[int]] = defaultdict(list)
    for i in np.argsort(-score, kind="stable"):
        members[group[i].passage.document_id].append(int(i))
    covered = np.zeros_like(score)
    for own in members.values():
        covered[own] = signals.covered_by(own[:BEST_OF_DOCUMENT])
    return covered


def _age_key(candidate: Candidate) -> int:
    """Days as a number, larger for newer documents; decides between equal scores only."""
    day = candidate.facts.period.end_date or candidate.facts.published
    digits = day.replace("-", "")
    return int(digits) if digits.isdigit() else 0


def _interleave(lists: Sequence[list[Hit]]) -> Iterator[Hit]:
    for turn in range(max(len(hits) for hits in lists)):
        for hits in lists:
            if turn < len(hits):
                yield hits[turn]


def _drop_repeats(hits: Iterator[Hit]) -> Iterator[Hit]:
    """Leave out near-duplicates of what came before; equals come newest first, so the newest copy is kept."""
    kept: dict[int, list[Candidate]] = defaultdict(list)
    for hit in hits:
        view = _VIEWS.get(hit.candidate.passage)
        shared = Counter(id(other) for mark in view.signature for other in kept[mark])
        likely = {id(other): other for mark in view.signature for other in kept[mark]}
        if any(alike(view, _VIEWS.get(likely[key].passage)) for key, _ in shared.most_common(3)):
            continue
        for mark in view.signature:
            kept[mark].append(hit.candidate)
        yield hit
