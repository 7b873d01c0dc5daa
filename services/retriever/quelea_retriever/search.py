"""From a question to ranked passages: read it, choose documents, search the store, rank."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np
import numpy.typing as npt
from quelea_fintext.glossary import gloss_phrases
from quelea_fintext.nouns import in_nouns
from quelea_fintext.text import language_of
from quelea_kit.errors import Conflict

from quelea_retriever.adapters.embedder import Embedding, Kind
from quelea_retriever.adapters.embedders import Embedders
from quelea_retriever.adapters.store import Found, Profile, SparseVector, Store, profile_conflict
from quelea_retriever.core import search_terms, sparse_vectors
from quelea_retriever.core.figures.asked_figures import find_figures
from quelea_retriever.core.figures.common_period import missing_periods
from quelea_retriever.core.figures.figure_search import AskedFigure, FigureSearch, plan_figures
from quelea_retriever.core.model import Candidate, Hit, Mode, PassageRecord, RankText, Reading
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query, settle_period, settle_subject
from quelea_retriever.core.ranking import language_scales, ranking
from quelea_retriever.core.ranking.question_view import join_gloss
from quelea_retriever.core.ranking.ranker import Ranker
from quelea_retriever.fact_library import FactLibrary
from quelea_retriever.filters import DocumentFilter
from quelea_retriever.library import Library
from quelea_retriever.passage_vectors import indexed_text
from quelea_retriever.ranker_files import RankerFiles
from quelea_retriever.snapshot import Snapshot

Ranked = tuple[int, float, float]
"""Position of a text in the request, fused score, cosine."""

_LEAST_OF_GROUP = 30


@dataclass(frozen=True)
class Question:
    """A checked search request."""

    query: str
    k: int
    as_of: date
    filters: DocumentFilter = field(default_factory=DocumentFilter)
    mode: Mode = "fused"
    ignore_reading: bool = False
    plain: bool = False


@dataclass(frozen=True)
class Answer:
    """Ranked passages, and where the time went (milliseconds)."""

    hits: list[Hit]
    reading: Reading
    best_cosine: float
    figures: list[AskedFigure]
    stating: dict[str, PassageRecord]
    """By id: the passages that print the facts in the figures."""
    encoder: str
    """Of the cosines."""
    ranker: Ranker
    embed_ms: float
    store_ms: float
    rank_ms: float


@dataclass(frozen=True)
class _Plan:
    """How a question is searched. Groups are document ids; None is every document."""

    reading: Reading
    catalogue: Catalogue
    """Of the documents that may be searched."""
    language: str
    own: list[tuple[str, ...] | None]
    """With documents in the question's language."""
    other: list[tuple[str, ...] | None]
    """With documents in another one, which are searched with the question's gloss too; only those of `languages`."""
    languages: tuple[str, ...]
    """Those of documents, without the question's own."""
    sparse: SparseVector
    glossed: SparseVector
    gloss: tuple[str, ...]
    asked: str
    """The question with nouns for its verbs, and with what its abbreviations stand for."""
    figures: FigureSearch | None
    """Where statements are looked into for what is asked; None: nowhere."""

    def with_words(self, query: str, names: Sequence[str]) -> _Plan:
        """The plan that looks for these words too, which are of the language of English filings."""
        wider = join_gloss(in_nouns(query), names)
        return replace(
            self,
            asked=wider if self.language == "en" else self.asked,
            gloss=(*self.gloss, *names),
            sparse=search_terms.search_vector(wider, self.reading),
            glossed=search_terms.search_vector(wider, self.reading, self.gloss),
        )


class Searcher:
    """Search and Rank.

    Args:
        library: The live documents.
        embedder: For the query, and for the texts of Rank.
        candidates: Passages taken from each of the two searches, for each group of documents.
        facts: Figures of the documents' statements.
        rankers: Weights of the second stage; the packaged ones when None.
    """

    def __init__(
        self,
        library: Library,
        embedder: Embedders,
        candidates: int = 200,
        facts: FactLibrary | None = None,
        rankers: RankerFiles | None = None,
    ) -> None:
        self._library = library
        self._facts = facts or FactLibrary(library)
        self._embedder = embedder
        self._candidates = candidates
        self._rankers = rankers or RankerFiles()
        self._narrowed: tuple[Snapshot, DocumentFilter, tuple[str, ...], Catalogue] | None = None

    async def embed(self, texts: Sequence[str], kind: Kind, seconds: float, stored: Profile | None) -> Embedding:
        """Vectors that fit those of a store; Conflict when no embedder has its model any more."""
        embedding = await self._embedder.embed(texts, kind, seconds, stored.model if stored else "")
        if stored is not None and embedding.model != stored.model:
            now = Profile(embedding.model, embedding.vectors.shape[1], stored.header)
            raise Conflict(profile_conflict(stored, now))
        return embedding

    async def search(self, question: Question, seconds: float) -> Answer:
        """The best passages, within the given seconds."""
        started = time.perf_counter()
        async with self._library.reading() as snapshot:
            stored = (snapshot.store or self._library.store).profile
            embedding = await self.embed([question.query], "query", seconds, stored)
            vector, ranker = embedding.vectors[0], self._rankers.of(embedding.model)
            embedded = time.perf_counter()
            plan = await asyncio.to_thread(self._prepare, question, snapshot)
            prepared = time.perf_counter()
            found = await self._find(snapshot, vector, plan)
            if names := await asyncio.to_thread(search_terms.other_names, question.query, found):
                plan = plan.with_words(question.query, names)
                again = await self._find(snapshot, vector, plan)  # scores by all the words, also of what is known
                scored = {one.passage.id for one in again}
                found = again + [one for one in found if one.passage.id not in scored]
            figures, stating = await self._find_figures(snapshot, plan)
        searched = time.perf_counter()
        hits, reading, best = await asyncio.to_thread(_rank, question, found, plan, ranker)
        if reading.company_missing:  # which is known only now: anybody's figures were looked for
            figures, stating = [], {}
        if figures:  # whatever the filing is called by which the question names its period, it is there
            reading = reading.noting(*missing_periods(plan.figures, figures)) if plan.figures else reading
            reading = replace(reading, period_missing=False, period_newer=False)
        ranked = time.perf_counter()
        return Answer(
            hits=hits,
            reading=reading,
            best_cosine=best,
            figures=figures,
            stating=stating,
            encoder=embedding.model,
            ranker=ranker,
            embed_ms=(embedded - started) * 1000,
            store_ms=(searched - prepared) * 1000,
            rank_ms=(prepared - embedded + ranked - searched) * 1000,
        )

    async def rank(self, query: str, texts: Sequence[RankText], seconds: float) -> list[Ranked]:
        """Each text, best first. Nothing is stored; a text whose cosine is known is not encoded again.

        The same encoders and the same fusion as in a search; the IDF is that of the texts themselves.
        """
        cosines = np.array([np.nan if text.cosine is None else text.cosine for text in texts])
        stored = self._library.store.profile
        unknown = [i for i, text in enumerate(texts) if text.cosine is None]
        if unknown:
            wholes = [indexed_text(texts[i].header, texts[i].table_head, texts[i].text) for i in unknown]
            (query_vector,) = (await self.embed([query], "query", seconds, stored)).vectors
            cosines[unknown] = (await self.embed(wholes, "passage", seconds, stored)).vectors @ query_vector
        return await asyncio.to_thread(_rank_texts, query, texts, cosines)

    def _prepare(self, question: Question, snapshot: Snapshot) -> _Plan:
        """What the question asks about, and which documents are searched with which words."""
        allowed, catalogue = self._narrow(snapshot, question.filters)
        reading = Reading() if question.ignore_reading else read_query(question.query, catalogue, question.as_of)
        groups: list[tuple[str, ...] | None] = [allowed]
        if reading.groups:
            groups = [group for group in reading.groups if group]
        language = language_of(question.query)
        others = snapshot.other_languages(language)
        gloss = tuple(gloss_phrases(in_nouns(question.query))) if others else ()
        asked = in_nouns(question.query)
        sparse = search_terms.search_vector(asked, reading)

        def part(group: tuple[str, ...] | None, abroad: bool) -> tuple[str, ...] | None:
            return group and tuple(one for one in group if snapshot.is_abroad(one, language) is abroad)

        return _Plan(
            reading=reading,
            catalogue=catalogue,
            language=language,
            own=[group for group in groups if part(group, False) != ()],
            other=[some for group in groups if others and (some := part(group, True)) != ()],
            languages=others,
            sparse=sparse,
            glossed=search_terms.search_vector(asked, reading, gloss) if gloss else sparse,
            gloss=gloss,
            asked=asked,
            figures=None
            if question.ignore_reading
            else plan_figures(question.query, reading, catalogue, question.as_of),
        )

    async def _find_figures(
        self, snapshot: Snapshot, plan: _Plan
    ) -> tuple[list[AskedFigure], dict[str, PassageRecord]]:
        """What statements say to the question, and the passages that print it."""
        if plan.figures is None:
            return [], {}
        stated, passages = await self._facts.of_documents(snapshot, plan.figures.documents)
        figures = await asyncio.to_thread(find_figures, plan.figures, stated)
        used = dict.fromkeys(operand.passage_id for figure in figures for operand in figure.operands)
        return figures, {key: passages[key] for key in used}

    async def _find(self, snapshot: Snapshot, vector: npt.NDArray[np.float32], plan: _Plan) -> list[Candidate]:
        """Candidates of both languages; documents in the other one only as found with its words."""
        store, limit = snapshot.store or self._library.store, self._candidates
        found = await search_live(store, snapshot, vector, plan.sparse, plan.own, limit)
        if not plan.other:
            return found
        others = await search_live(store, snapshot, vector, plan.glossed, plan.other, limit, plan.languages)
        return [one for one in found if one.facts.language in ("", plan.language)] + others

    def _narrow(self, snapshot: Snapshot, filters: DocumentFilter) -> tuple[tuple[str, ...] | None, Catalogue]:
        """The ids that the filters leave (None: all), and the catalogue of just those; the last one is kept."""
        if not filters:
            return None, snapshot.catalogue
        last = self._narrowed
        if last is not None and last[0] is snapshot and last[1] == filters:
            return last[2], last[3]
        wanted = [record.facts for record in snapshot.by_document.values() if filters.matches(record.facts)]
        ids, catalogue = tuple(facts.id for facts in wanted), Catalogue.build(wanted)
        self._narrowed = (snapshot, filters, ids, catalogue)
        return ids, catalogue


async def search_live(
    store: Store,
    snapshot: Snapshot,
    dense: npt.NDArray[np.float32],
    sparse: SparseVector,
    groups: Sequence[tuple[str, ...] | None],
    limit: int,
    languages: tuple[str, ...] | None = None,
) -> list[Candidate]:
    """Candidates of live documents: the best `limit` by each score for each group of document ids (None: all).

    Those of all languages, or of some.
    """
    found: dict[str, Candidate] = {}
    # Of many groups only the first few of each are shown: twice `limit` in all is enough, but not crumbs of each.
    limit = min(limit, max(_LEAST_OF_GROUP, 2 * limit // max(1, len(groups))))
    for group in groups:
        if group == () or not snapshot.by_version:
            continue
        hits = await store.search(dense, sparse, snapshot.scope(group, languages), limit)
        live = _live(hits, snapshot)
        if len(live) < len(hits):  # of a version that this replica does not know yet, or no longer: leave those out
            only = snapshot.scope(tuple(snapshot.by_document) if group is None else group, languages)
            live = _live(await store.search(dense, sparse, only, limit), snapshot)
        for candidate in live:
            found.setdefault(candidate.passage.id, candidate)
    return list(found.values())


def _live(hits: list[Found], snapshot: Snapshot) -> list[Candidate]:
    return [
        Candidate(hit.passage, snapshot.by_version[hit.version].facts, hit.cosine, hit.sparse)
        for hit in hits
        if hit.version in snapshot.by_version
    ]


def _rank(question: Question, found: list[Candidate], plan: _Plan, ranker: Ranker) -> tuple[list[Hit], Reading, float]:
    """The best of those that may answer, the reading, and the best cosine of any of them."""
    reading = plan.reading
    kept: Sequence[Candidate] = found
    if not question.ignore_reading:
        reading, kept = settle_subject(question.query, plan.reading, found)
        reading = settle_period(question.query, plan.reading, reading, kept, plan.catalogue, question.as_of)
    hits = ranking.rank(plan.asked, kept, reading, question.k, question.mode, question.plain, ranker, plan.gloss)
    return hits, reading, max((one.cosine for one in kept), default=0.0)


def _rank_texts(query: str, texts: Sequence[RankText], cosines: npt.NDArray[np.float64]) -> list[Ranked]:
    documents = [sparse_vectors.sparse_document(t.header, t.section, t.table_head, t.text) for t in texts]
    others = language_scales.foreign([language_of(f"{t.header} {t.text}") for t in texts], language_of(query))
    asked = search_terms.search_vector(query, Reading(), gloss_phrases(query) if others.any() else ())
    overlaps = _overlaps(asked, documents)
    # Not ranking.rank itself, which leaves out near-duplicates: here every text gets its place.
    scores = ranking.fuse_scores(cosines, overlaps, others)
    return [(int(i), float(scores[i]), float(cosines[i])) for i in np.argsort(-scores, kind="stable")]


def _overlaps(query: SparseVector, documents: Sequence[SparseVector]) -> list[float]:
    """Sparse scores as the store computes them: weights multiplied, times the IDF over these documents."""
    asked = dict(zip(query[0].tolist(), query[1].tolist(), strict=True))
    rows = [
        {index: weight for index, weight in zip(ids.tolist(), weights.tolist(), strict=True) if index in asked}
        for ids, weights in documents
    ]
    having = Counter(index for row in rows for index in row)
    idf = {index: math.log(1 + (len(rows) - n + 0.5) / (n + 0.5)) for index, n in having.items()}
    return [sum(asked[index] * weight * idf[index] for index, weight in row.items()) for row in rows]
