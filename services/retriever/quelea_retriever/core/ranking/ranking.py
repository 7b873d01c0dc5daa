"""From candidates with two scores each to a ranked list: fusion, readable signals, one list per filing, no repeats."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from quelea_fintext.text import language_of

from quelea_retriever.core.model import Candidate, Hit, Mode, PassageRecord, Reading
from quelea_retriever.core.ranking.language_scales import Mask, Scores, foreign, scale_cosines, scale_to_unit
from quelea_retriever.core.ranking.passage_view import ViewCache, alike
from quelea_retriever.core.ranking.question_view import QuestionView, join_gloss, question_view
from quelea_retriever.core.ranking.ranker import Ranker, packaged
from quelea_retriever.core.ranking.ranking_features import features_of

FUSION = {"dense": 0.4, "sparse": 0.6}
"""What both scores count where there is nothing else. Round numbers, set by hand
(docs/experiments/2026-11-22-ranking.md): texts from outside have no second stage that a fit could be measured by."""
VIEWS_HELD = 20_000
_VIEWS = ViewCache(VIEWS_HELD)


def rank(
    query: str,
    candidates: Sequence[Candidate],
    reading: Reading,
    k: int,
    mode: Mode = "fused",
    plain: bool = False,
    ranker: Ranker | None = None,
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
        ranker: the weights of the second stage; the packaged ones when None.
        gloss: the question in the words of the other language, for candidates in it.

    Of near-duplicates the one of the newest document is kept. In an interleaved list scores fall in order all the
    same: a hit is never scored above the one before it.
    """
    if not candidates or k < 1:
        return []
    others = foreign([c.facts.language for c in candidates], language_of(query))
    # Scaled over all candidates, of every group: a filing that says little of the thing keeps its low scores, so that
    # there the signals decide and not the best of bad matches.
    dense, sparse = scale_cosines([c.cosine for c in candidates], others), scale_to_unit([c.sparse for c in candidates])
    asked: tuple[QuestionView, QuestionView] | None = None
    if mode == "fused" and not plain:
        names = reading.mentions
        asked = question_view(query, names), question_view(join_gloss(query, gloss), names)
    weights = (ranker or packaged()).weights(chosen=reading.filing_chosen)
    rows: dict[str, npt.NDArray[np.float64]] = {}
    lists = []
    for number, members in enumerate(_group(candidates, reading)):
        group = [candidates[i] for i in members]
        if asked is None:
            score = _fuse(dense[members], sparse[members], mode)
        else:
            views = [_VIEWS.get(c.passage) for c in group]
            chosen = reading.filing_chosen
            found = features_of(dense[members], sparse[members], group, views, others[members], asked, chosen=chosen)
            rows |= {c.passage.id: row for c, row in zip(group, found, strict=True)}
            score = (found * weights).sum(axis=1)  # not @, which may add up two equal rows in different orders
        order = np.lexsort((-np.array([_age_key(c) for c in group]), -score))
        lists.append([Hit(group[i], float(score[i]), number) for i in order])
    hits: list[Hit] = []
    ceiling = math.inf
    for hit in _drop_repeats(_interleave(lists)):
        ceiling = min(ceiling, hit.score)
        row = rows.get(hit.candidate.passage.id)
        hits.append(replace(hit, score=ceiling, features=() if row is None else tuple(row.tolist())))
        if len(hits) == k:
            break
    return hits


def prepare(passages: Iterable[PassageRecord]) -> None:
    """Read passages before a search needs them. Safe for threads; of more than VIEWS_HELD the last are held."""
    for passage in passages:
        _VIEWS.get(passage)


def fuse_scores(cosines: npt.ArrayLike, sparses: npt.ArrayLike, others: Mask) -> Scores:
    """Both scores on one scale and added; `others` are in another language than the query."""
    return _fuse(scale_cosines(cosines, others), scale_to_unit(sparses), "fused")


def _fuse(dense: Scores, sparse: Scores, mode: Mode) -> Scores:
    """Both scaled scores added, or one of them alone."""
    return {"dense": dense, "sparse": sparse, "fused": FUSION["dense"] * dense + FUSION["sparse"] * sparse}[mode]


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
