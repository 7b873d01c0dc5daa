"""Retriever, search and generator that answer after set delays, in one process, to measure a gateway alone.

python mocks.py PORT_FILE RETRIEVE_MS FIRST_TOKEN_MS TOKEN_MS TOKENS [READER [FILINGS [GATHER_MS]]]

Replies are made and serialised before the first call, and there are no interceptors: what a mock costs is taken from
the gateway, which runs on the same cores.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
from direct import Direct
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from quelea.common.v1 import common_pb2
from quelea.generator.v1 import generator_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea.search.v1 import search_pb2

NAMES = {name: f"quelea.{name.lower()}.v1.{name}Service" for name in ("Retriever", "Search", "Generator")}
GATHERED = (0.02, 0.03, 0.04, 0.05)
"""Seconds that gateways ask for."""
REGIONS = ("Americas", "Europe", "Greater China", "Japan", "Rest of Asia Pacific")


def line(filing: int) -> str:
    """The row of a filing that answers the question, its figures its own."""
    return f"Total net sales\t{81_797 + filing:,}\t{82_959 + filing:,}"


def table(filing: int, number: int) -> str:
    """A passage: rows of a table and a few sentences, about 1,000 characters as those of the samples."""
    size = 1_000 + 37 * filing + number
    rows = [f"{region}\t{size * (at + 3):,}\t{size * (at + 4):,}" for at, region in enumerate(REGIONS)]
    prose = [
        f"Sales in {region} were ${size * (at + 3):,} million, or {at + 2}.{number % 10} % more than the year before, "
        f"as more of product {number} was sold through its stores."
        for at, region in enumerate(REGIONS)
    ]
    return "\n".join([line(filing) if number == 0 else f"Net sales of product {number}", *rows, *prose])


def passages(count: int, filing: int = 0) -> retriever_pb2.SearchResponse:
    """The reply to a search: `count` passages of an invented filing, as long as real ones."""
    said = common_pb2.DocumentMetadata(
        title="Form 10-Q", uri="file:///filing.pdf", language="en", company="Apple Inc.", published="2023-08-04"
    )
    found = []
    for number in range(count):
        text = table(filing, number)
        passage = common_pb2.Passage(
            document_id=f"{filing:016x}{number:016x}", page=number + 1, text=text, start=0, end=len(text),
            is_table=True, table_head="In millions of dollars\tQ3 2023\tQ3 2022",
        )  # fmt: skip
        found.append(
            retriever_pb2.ScoredPassage(
                passage=passage, metadata=said, score=1 / (1 + number), cosine=0.9, header="Apple Inc. · 10-Q · Q3 2023"
            )
        )
    return retriever_pb2.SearchResponse(
        passages=found,
        reading=retriever_pb2.Reading(companies=["Apple Inc."], periods=["Q3 2023"], text="reading: Apple"),
        best_cosine=0.9,
        timings=retriever_pb2.SearchTimings(total_ms=1),
    )


def sent(pieces: list[str], each: float, gather: float) -> list[tuple[float, str]]:
    """(when, text) as our generator sends pieces that come so far apart: what comes within `gather` of the last in one.

    The last piece takes with it whatever waits, for what follows it is no text.
    """
    messages: list[tuple[float, str]] = []
    waiting, due = "", 0.0
    for number, piece in enumerate(pieces):
        now = number * each
        if waiting and now > due:
            messages.append((due, waiting))
            waiting, due = "", due + gather
        waiting += piece
        if now >= due or number == len(pieces) - 1:
            messages.append((now, waiting))
            waiting, due = "", now + gather
    return messages


def answer(
    filing: int, tokens: int, reader: str, each: float, gather: float
) -> list[tuple[float, generator_pb2.GenerateResponse]]:
    """Events of an answer in so many pieces: a quoted row from the extractive reader, else a sentence with figures.

    Each with the seconds after the first piece when it is due.
    """
    row, quoting = line(filing), reader == "extractive"
    now, before = row.split("\t")[1:]
    text = f"{row} [1]" if quoting else (
        f"Apple's total net sales in the third quarter of fiscal 2023 were ${now} million [1], "
        f"compared with ${before} million in the same quarter of the year before [1]."
    )  # fmt: skip
    ends = [len(text) * number // tokens for number in range(tokens + 1)]
    pieces = [text[start:end] for start, end in itertools.pairwise(ends)]
    texts = sent(pieces, each, gather)
    events = [(due, generator_pb2.GenerateResponse(delta=generator_pb2.TextDelta(text=said))) for due, said in texts]
    end = events[-1][0]
    if quoting:
        quote = generator_pb2.Quote(number=1, start=0, end=len(row), text=row, score=1.0)
        events.append((end, generator_pb2.GenerateResponse(quote=quote)))
    done = generator_pb2.Finished(reason="stop", reader=reader, model="mock", prompt_version="1")
    events.append((end, generator_pb2.GenerateResponse(finished=done)))
    return events


def written(events: list[tuple[float, generator_pb2.GenerateResponse]], *, joined: bool) -> list[tuple[float, bytes]]:
    """The events as our generator sends them; joined: those that are due together in one message."""
    if not joined:
        return [(due, event.SerializeToString()) for due, event in events]
    messages = []
    for due, together in itertools.groupby(events, key=lambda event: event[0]):
        first, *more = (event for _, event in together)
        reply = generator_pb2.GenerateResponse()
        reply.CopyFrom(first)
        reply.more.extend(more)
        messages.append((due, reply.SerializeToString()))
    return messages


class Mocks:
    """Behaviour of the three services.

    Args:
        seconds: Of a search; until the first piece; between pieces, by the clock and not by adding up sleeps.
        tokens: Pieces of an answer.
        filings: Searches come upon so many filings, one after another: few are kept in the gateway's memory of
            passages, with many every check reads its passages anew.
        gather: Seconds within which pieces are sent in one message, or those that the caller asks for when these are
            more, as our generator does; 0: each by itself.
    """

    def __init__(
        self, seconds: tuple[float, float, float], tokens: int, reader: str, filings: int, gather: float
    ) -> None:
        self._retrieve, self._first, token = seconds
        self._gather = gather
        steps = {gather, *(max(gather, step) for step in GATHERED)} if gather else {gather}
        self._answers = {
            (step, joined): [
                written(answer(filing, tokens, reader, token, step), joined=joined) for filing in range(filings)
            ]
            for step in steps
            for joined in (False, True)
        }
        self._found: Iterator[bytes] = itertools.cycle([passages(20, n).SerializeToString() for n in range(filings)])
        self.direct = Direct(self._retrieve, [self._first + due for due, _ in self._answers[gather, True][0]])
        self._filings = {line(filing): filing for filing in range(filings)}
        info = generator_pb2.GetInfoResponse(version="mock", reader=reader, model="mock", evidence_tokens=3000)
        self._info = info.SerializeToString()

    async def search(self, request: bytes, context: Any) -> bytes:
        """The next filing's passages."""
        await asyncio.sleep(self._retrieve)
        return next(self._found)

    async def generate(self, request: generator_pb2.GenerateRequest, context: Any) -> AsyncIterator[bytes]:
        """The answer from the filing that the request's evidence is from."""
        started = time.perf_counter()
        gather = max(self._gather, request.gather_ms / 1000) if self._gather else 0.0
        filing = self._filings[request.evidence[0].text.partition("\n")[0]]
        for due, event in self._answers[gather, request.joined][filing]:
            wait = started + self._first + due - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            yield event

    async def generator_info(self, request: bytes, context: Any) -> bytes:
        """What the reader is."""
        return self._info

    async def search_info(self, request: bytes, context: Any) -> bytes:
        """A deployment without a web."""
        return search_pb2.GetInfoResponse(version="mock").SerializeToString()

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """Replies go out as the bytes that they are."""
        unary = grpc.unary_unary_rpc_method_handler
        generate = grpc.unary_stream_rpc_method_handler(
            self.generate, request_deserializer=generator_pb2.GenerateRequest.FromString
        )
        methods = {
            "Retriever": {"Search": unary(self.search)},
            "Generator": {"Generate": generate, "GetInfo": unary(self.generator_info)},
            "Search": {"GetInfo": unary(self.search_info)},
        }
        return [grpc.method_handlers_generic_handler(NAMES[name], found) for name, found in methods.items()]


async def serve(port_file: Path, mocks: Mocks) -> None:
    """Serve all three on one port until the process is ended; the port goes into the file."""
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers(tuple(mocks.handlers()))
    states = health.aio.HealthServicer()
    for name in ("", *NAMES.values()):
        await states.set(name, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(states, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    fresh = port_file.with_suffix(".new")
    fresh.write_text(json.dumps({"port": port, "direct": await mocks.direct.serve()}), encoding="utf-8")
    fresh.replace(port_file)
    await asyncio.Event().wait()


if __name__ == "__main__":
    retrieve, first, token = (float(given) / 1000 for given in sys.argv[2:5])
    reader, filings, gather = (*sys.argv[6:9], *("openai", "1", "20")[len(sys.argv[6:9]) :])
    mocks = Mocks((retrieve, first, token), int(sys.argv[5]), reader, int(filings), float(gather) / 1000)
    asyncio.run(serve(Path(sys.argv[1]), mocks))
