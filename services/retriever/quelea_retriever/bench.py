"""Search latency of the embedded store, without an embedder: `python -m quelea_retriever.bench`.

The store, the ranking and the thread between them are the real ones. Vectors are random; texts are made of words whose
frequencies fall as in real text, with figures among them, so that the ranking has as much to look at as it has in a
filing. Every hundredth passage belongs to another document.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt
from quelea_fintext.times.periods import ReportingPeriod

from quelea_retriever.adapters.embedder import Embedding
from quelea_retriever.adapters.embedders import Embedders
from quelea_retriever.adapters.fake_embedder import FakeEmbedder
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import Profile
from quelea_retriever.core.model import DocumentFacts, PassageRecord
from quelea_retriever.library import Library
from quelea_retriever.passage_vectors import vectorise
from quelea_retriever.search import Question, Searcher

_PER_DOCUMENT = 100
_WORDS = 130
_VOCABULARY = 20_000
_DAY = date(2024, 1, 1)
_FINANCE = (
    "net sales revenue gross margin operating income expenses cash flow total assets liabilities equity interest tax "
    "quarter year ended increase decrease compared million shares dividend segment products services research cost"
).split()


class _Texts:
    """Made-up prose."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        letters = np.array(list("aeiourstlnmdcp"))
        self._words = _FINANCE + [
            "".join(self._random.choice(letters, size)) for size in self._random.integers(3, 11, _VOCABULARY)
        ]

    def words(self, count: int) -> list[str]:
        """Words with frequencies as of Zipf."""
        ranks = (self._random.zipf(1.2, count) - 1) % len(self._words)
        return [self._words[rank] for rank in ranks]

    def passage(self) -> str:
        """A passage, one word in eight a figure, a new line now and then."""
        words = self.words(_WORDS)
        for at in range(0, _WORDS, 8):
            words[at] = f"{self._random.integers(1, 99_999):,}"
        return "\n".join(" ".join(words[at : at + 13]) for at in range(0, _WORDS, 13))

    def question(self) -> str:
        """A question of some ten words."""
        return f"What was the {' '.join(self.words(5))} of {' '.join(self._random.choice(_FINANCE, 4))}?"


class _RandomEmbedder(FakeEmbedder):
    """Unit vectors at random, at once."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension, "random")
        self._random = np.random.default_rng(0)

    async def embed(self, texts: Sequence[str], kind: str, seconds: float) -> Embedding:
        """One vector for each text."""
        vectors: npt.NDArray[np.float32] = self._random.normal(size=(len(texts), self.info.dimension)).astype("f4")
        return Embedding(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), self.info.model)


def _facts(number: int) -> DocumentFacts:
    quarter = number % 4 + 1
    return DocumentFacts(
        id=uuid.uuid5(uuid.NAMESPACE_OID, str(number)).hex,
        uri=f"bench:{number}",
        title=f"report {number}",
        company=f"Company{number // 8}",
        ticker=f"C{number // 8}",
        language="en",
        document_type="10-Q",
        period=ReportingPeriod(f"FY{2015 + number % 8} Q{quarter}", 2015 + number % 8, quarter),
        passages=_PER_DOCUMENT,
    )


async def _fill(library: Library, embedder: _RandomEmbedder, texts: _Texts, passages: int) -> float:
    """Write so many passages; passages a second in the store alone."""
    spent = 0.0
    for number in range(passages // _PER_DOCUMENT):
        facts = _facts(number)
        records = [
            PassageRecord(f"{number}-{n}", facts.id, n, n // 3 + 1, 0, len(text), text, n % 3 == 0, "Item 2 › Results")
            for n, text in enumerate(texts.passage() for _ in range(_PER_DOCUMENT))
        ]

        async def embed(wholes: Sequence[str]) -> Embedding:
            return await embedder.embed(wholes, "passage", 1.0)

        made = await vectorise(facts, records, embed, header=True)
        started = time.perf_counter()
        await library.put(facts, made)
        await library.commit(facts)
        spent += time.perf_counter() - started
    return passages / spent


async def _build(store: QdrantEdgeStore, searcher: Searcher, texts: _Texts) -> dict[str, object]:
    """Build the index while searches go on, five a second; how long they took at worst."""
    started, took = time.perf_counter(), []
    building = asyncio.create_task(store.maintain())
    while not building.done():
        await asyncio.sleep(0.2)
        before = time.perf_counter()
        await searcher.search(Question(texts.question(), 10, _DAY, plain=True), 60.0)
        took.append((time.perf_counter() - before) * 1000)
    await building
    p50, worst = float(np.median(took)), max(took)
    return {
        "index_seconds": round(time.perf_counter() - started, 1),
        "meanwhile": {"searches": len(took), "p50_ms": round(p50, 1), "max_ms": round(worst, 1)},
    }


async def measure(folder: Path, passages: int, searches: int, dimension: int, *, index: bool) -> dict[str, object]:
    """Fill a store and search it; milliseconds by stage."""
    texts, embedder = _Texts(seed=1), _RandomEmbedder(dimension)
    store = QdrantEdgeStore(folder, index_above=passages // 2 if index else 0)
    library = Library(store)
    await library.start()
    await store.ensure(Profile("random", dimension))
    rate = await _fill(library, embedder, texts, passages)
    searcher = Searcher(library, Embedders([embedder]))
    out: dict[str, object] = {"passages": passages, "written_per_second": round(rate)}
    if index:
        out |= await _build(store, searcher, texts)
    for name, plain in (("search", False), ("plain_fusion", True)):
        answers = []
        for _ in range(searches + 5):
            question = Question(texts.question(), 10, _DAY, plain=plain)
            answers.append(await searcher.search(question, 10.0))
        answers = answers[5:]  # the first ones find nothing cached
        for stage in ("store_ms", "rank_ms"):
            values = [getattr(answer, stage) for answer in answers]
            p50, p95 = np.percentile(values, [50, 95])
            out[f"{name}.{stage}"] = {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}
    await library.close()
    return out


def main() -> None:
    """Measure, and print a line of JSON for each size."""
    parser = argparse.ArgumentParser(prog="python -m quelea_retriever.bench", description=__doc__)
    parser.add_argument("--passages", type=int, nargs="+", default=[5_000, 50_000])
    parser.add_argument("--searches", type=int, default=50)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--index", action="store_true", help="build the HNSW index first")
    options = parser.parse_args()
    for passages in options.passages:
        with tempfile.TemporaryDirectory(prefix="quelea-bench-") as folder:
            result = asyncio.run(
                measure(Path(folder), passages, options.searches, options.dimension, index=options.index)
            )
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
