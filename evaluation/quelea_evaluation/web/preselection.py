"""What preselecting paragraphs by their words loses: hit@5 with all of them ranked, and with the preselected ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quelea.retriever.v1 import retriever_pb2
from quelea.search.v1 import search_pb2, search_pb2_grpc
from quelea_kit.client import channel, unary

from quelea_evaluation.stack.running import running_stack
from quelea_evaluation.stack.services import Retriever
from quelea_evaluation.web.asking import FRESH, SAMPLE_WEB, WebQuestion, strip_spaces, web_questions

ALL, KEPT, PAGES = 200, 24, 5
_SECONDS = 300.0


@dataclass(frozen=True)
class Loss:
    """Shares of the questions, 0 to 1, and milliseconds."""

    questions: int
    read: float
    """A page that was read holds the answer; no ranking can do better."""
    hit_all: float
    hit_kept: float
    passages_all: float
    """Passages ranked for one question, mean; at most ALL."""
    passages_kept: float
    rank_ms_all: float
    rank_ms_kept: float


async def _find_candidates(address: str, query: str, passages: int) -> list[retriever_pb2.RankCandidate]:
    async with channel(address, "quelea.search.v1.SearchService", idempotent=["SearchWeb"]) as connection:
        stub = search_pb2_grpc.SearchServiceStub(connection)
        request = search_pb2.SearchWebRequest(query=query, max_pages=PAGES, max_passages=passages)
        answer = await unary(stub.SearchWeb(request, timeout=_SECONDS))
    return [
        retriever_pb2.RankCandidate(
            text=one.passage.text,
            metadata=page.metadata,
            section=one.passage.section,
            table_head=one.passage.table_head,
        )
        for page in answer.pages
        for one in page.passages
    ]


async def _hits(
    search: str, retriever: Retriever, question: WebQuestion, passages: int
) -> tuple[bool, bool, int, float]:
    """(held by what was given, in the first five, passages, milliseconds of ranking)."""
    given = await _find_candidates(search, question.question, passages)
    ranked = await retriever.rank(question.question, given, _SECONDS)
    texts = [strip_spaces(given[one.index].text) for one in ranked.ranked]
    wanted = strip_spaces(question.holds)
    return (
        any(wanted in text for text in texts),
        any(wanted in text for text in texts[:5]),
        len(texts),
        ranked.timing.compute_ms,
    )


def preselection(home: Path, say: Callable[[str], None], questions: Sequence[WebQuestion] | None = None) -> Loss:
    """Over the sample web, with an empty knowledge base under home."""
    asked = web_questions() if questions is None else list(questions)

    async def measure(search: str, retrieval: str) -> Loss:
        retriever = Retriever(retrieval)
        every, kept = [], []
        for number, question in enumerate(asked, start=1):
            every.append(await _hits(search, retriever, question, ALL))
            kept.append(await _hits(search, retriever, question, KEPT))
            say(f"preselection: {number} of {len(asked)} questions")

        def mean(values: Sequence[float]) -> float:
            return sum(values) / len(values)

        return Loss(
            questions=len(asked),
            read=mean([one[0] for one in every]),
            hit_all=mean([one[1] for one in every]),
            hit_kept=mean([one[1] for one in kept]),
            passages_all=mean([one[2] for one in every]),
            passages_kept=mean([one[2] for one in kept]),
            rank_ms_all=mean([one[3] for one in every]),
            rank_ms_kept=mean([one[3] for one in kept]),
        )

    with running_stack(home / "preselection", FRESH, SAMPLE_WEB) as stack:
        return asyncio.run(measure(stack.address("search"), stack.address("retriever")))
