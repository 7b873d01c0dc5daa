"""`quelea eval retrieval`: how well the right document, page and figure are found, and what each part is worth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quelea.embedder.v1 import embedder_pb2
from quelea.retriever.v1 import retriever_pb2

from quelea_evaluation.judging import passages as judge
from quelea_evaluation.metrics.rankings import Judged, measure
from quelea_evaluation.retrieval.ordinary import Bm25, fuse, windows
from quelea_evaluation.sets.model import EvaluationSet, Found, Question
from quelea_evaluation.stack.running import Stack, running_stack
from quelea_evaluation.stack.services import Embedder, Retriever

_DEPTH = 200
_CONCURRENT = 4


@dataclass(frozen=True)
class Variant:
    """One set-up that is measured."""

    name: str
    mode: retriever_pb2.SearchMode.ValueType = retriever_pb2.SEARCH_MODE_FUSED
    ignore_reading: bool = False
    plain_fusion: bool = False
    header: bool = True


VARIANTS = (
    Variant("dense, no header", retriever_pb2.SEARCH_MODE_DENSE, ignore_reading=True, header=False),
    Variant("sparse, no header", retriever_pb2.SEARCH_MODE_SPARSE, ignore_reading=True, header=False),
    Variant("fused, no header", ignore_reading=True, plain_fusion=True, header=False),
    Variant("dense + header", retriever_pb2.SEARCH_MODE_DENSE, ignore_reading=True),
    Variant("sparse + header", retriever_pb2.SEARCH_MODE_SPARSE, ignore_reading=True),
    Variant("fused + header", ignore_reading=True, plain_fusion=True),
    Variant("fused + header + reading", plain_fusion=True),
    Variant("all (default)"),
)


@dataclass(frozen=True)
class Row:
    """Measures of one variant on one group of questions, for one notion of right."""

    variant: str
    group: str
    right: str
    values: dict[str, float]


def evaluate(
    one: EvaluationSet, home: Path, variants: Sequence[Variant], say: Callable[[str], None], *, ordinary: bool = True
) -> list[Row]:
    """Ingest the set into stacks under home (kept) and measure every variant, and beside them the ordinary set-up."""
    rows: list[Row] = []
    for header in sorted({v.header for v in variants}, reverse=True):
        folder = home / (one.name if header else f"{one.name}-no-header")
        with running_stack(folder, {"QUELEA_RETRIEVER_HEADER": str(header).lower()}) as stack:
            ids = stack.ingest(one.documents, say)
            for variant in (v for v in variants if v.header == header):
                say(f"{one.name}: {variant.name}")
                rows += rows_of(variant.name, one, asyncio.run(search(one, stack, ids, variant)))
            if header and ordinary:
                say(f"{one.name}: the ordinary set-up and the floor")
                rows += asyncio.run(_ordinary(one, stack, ids))
    return rows


async def search(
    one: EvaluationSet, stack: Stack, ids: dict[str, str], variant: Variant
) -> list[tuple[Question, list[Found]]]:
    """Every question of the set with its ranked passages; `ids` is document id by the set's key."""
    retriever = Retriever(stack.address("retriever"))
    keys = {document_id: key for key, document_id in ids.items()}
    gate = asyncio.Semaphore(_CONCURRENT)

    async def ask(question: Question) -> tuple[Question, list[Found]]:
        request = retriever_pb2.SearchRequest(
            query=question.text,
            k=_DEPTH,
            mode=variant.mode,
            ignore_reading=variant.ignore_reading,
            plain_fusion=variant.plain_fusion,
        )
        async with gate:
            return question, await retriever.search(request, keys)

    return list(await asyncio.gather(*(ask(q) for q in one.questions)))


async def _ordinary(one: EvaluationSet, stack: Stack, ids: dict[str, str]) -> list[Row]:
    pieces: list[tuple[Found, str]] = []
    for document in one.documents:
        document_id = ids[document.key]
        pages = [stack.page(document_id, 1)]
        pages += [stack.page(document_id, n) for n in range(2, pages[0][1] + 1)]
        pieces += windows(document.key, document.filename, [text for text, _ in pages])
    embedder = Embedder(stack.address("embedder"))
    passages = await embedder.embed([text for _, text in pieces], embedder_pb2.EMBED_KIND_PASSAGE)
    queries = await embedder.embed([q.text for q in one.questions], embedder_pb2.EMBED_KIND_QUERY)
    bm25 = Bm25([text for _, text in pieces])
    results = []
    for question, vector in zip(one.questions, queries, strict=True):
        order = fuse(passages @ vector, bm25.scores(question.text))
        results.append((question, [pieces[i][0] for i in order]))
    everything = [found for found, _ in pieces]
    floor = [judge.density_floor(q, everything) for q in one.questions if q.figures]
    rows = rows_of("ordinary (900 characters, RRF)", one, results)
    if floor:
        rows.append(Row("floor: number density in the right document", "all", "figure", measure(floor)))
    return rows


def rows_of(variant: str, one: EvaluationSet, results: Sequence[tuple[Question, list[Found]]]) -> list[Row]:
    """Measures of every group of questions and every notion of right that the set has."""
    rights: list[tuple[str, Callable[[Question, Sequence[Found]], Judged], Callable[[Question], bool]]] = [
        ("document", judge.by_document, lambda _: True),
        ("figure", judge.by_figure, lambda q: bool(q.figures)),
        ("figure, rounding allowed", judge.by_rounded_figure, lambda q: bool(q.figures)),
        ("page", judge.by_page, lambda q: q.page is not None),
    ]
    groups: dict[str, Callable[[Question], bool]] = {"all": lambda _: True}
    if one.name == "docugami":
        groups |= {
            "single-document": lambda q: q.kind != "multi-document",
            "single-chunk": lambda q: q.kind == "single-chunk",
            "multi-document": lambda q: q.kind == "multi-document",
        }
    rows = []
    for right, judged, applies in rights:
        for group, member in groups.items():
            chosen = [judged(q, found) for q, found in results if applies(q) and member(q)]
            if chosen:
                rows.append(Row(variant, group, right, measure(chosen)))
    return rows
