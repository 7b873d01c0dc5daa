"""Retriever, search and generator that answer after set delays, in one process, to measure a gateway alone.

python mocks.py PORT_FILE RETRIEVE_MS FIRST_TOKEN_MS TOKEN_MS TOKENS [READER]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from quelea.common.v1 import common_pb2
from quelea.generator.v1 import generator_pb2, generator_pb2_grpc
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea.search.v1 import search_pb2, search_pb2_grpc
from quelea_kit.server import Server
from quelea_kit.settings import ServiceSettings

LINE = "Total net sales\t81,797\t82,959\tmillions of dollars in the third quarter of fiscal 2023"


def passages(count: int) -> retriever_pb2.SearchResponse:
    """The reply of every search: `count` passages of an invented filing, as long as real ones."""
    said = common_pb2.DocumentMetadata(
        title="Form 10-Q", uri="file:///filing.pdf", language="en", company="Apple Inc.", published="2023-08-04"
    )
    found = []
    for number in range(count):
        text = f"{LINE}\n" + f"Line {number} of a filing tells of products, services and where they were sold. " * 12
        passage = common_pb2.Passage(
            document_id=f"{number:032x}", page=number + 1, text=text, start=0, end=len(text), is_table=True
        )
        found.append(
            retriever_pb2.ScoredPassage(
                passage=passage, metadata=said, score=1 / (1 + number), cosine=0.9, header="Apple Inc. · 10-Q"
            )
        )
    return retriever_pb2.SearchResponse(
        passages=found,
        reading=retriever_pb2.Reading(companies=["Apple Inc."], text="reading: Apple"),
        best_cosine=0.9,
        timings=retriever_pb2.SearchTimings(total_ms=1),
    )


class Retriever(retriever_pb2_grpc.RetrieverServiceServicer):
    """One reply to everything."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._reply = passages(20)

    async def Search(self, request: retriever_pb2.SearchRequest, context: Any) -> retriever_pb2.SearchResponse:  # noqa: N802  # the wire's name
        await asyncio.sleep(self._seconds)
        return self._reply


class Generator(generator_pb2_grpc.GeneratorServiceServicer):
    """A first token after its delay, then one after another, by the clock and not by adding up sleeps."""

    def __init__(self, first: float, token: float, tokens: int, reader: str) -> None:
        self._first, self._token, self._reader = first, token, reader
        words = ["Total ", "net ", "sales ", "were ", "$81,797 ", "million ", "[1]. "] * tokens
        self._words = [*words[: tokens - 1], "[1]."]

    async def Generate(  # noqa: N802  # the wire's name
        self, request: generator_pb2.GenerateRequest, context: Any
    ) -> AsyncIterator[generator_pb2.GenerateResponse]:
        started = time.perf_counter()
        for number, word in enumerate(self._words):
            due = started + self._first + number * self._token
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            yield generator_pb2.GenerateResponse(delta=generator_pb2.TextDelta(text=word))
        quote = generator_pb2.Quote(number=1, start=0, end=len(LINE), text=LINE, score=1.0)
        yield generator_pb2.GenerateResponse(quote=quote)
        finished = generator_pb2.Finished(
            reason="stop",
            reader="openai",
            model="mock",
            prompt_version="1",
            total_ms=1000 * (time.perf_counter() - started),
        )
        yield generator_pb2.GenerateResponse(finished=finished)

    async def GetInfo(  # noqa: N802  # the wire's name
        self, request: generator_pb2.GetInfoRequest, context: Any
    ) -> generator_pb2.GetInfoResponse:
        return generator_pb2.GetInfoResponse(version="mock", reader=self._reader, model="mock", evidence_tokens=3000)


class Search(search_pb2_grpc.SearchServiceServicer):
    """A deployment without a web."""

    async def GetInfo(self, request: search_pb2.GetInfoRequest, context: Any) -> search_pb2.GetInfoResponse:  # noqa: N802  # the wire's name
        return search_pb2.GetInfoResponse(version="mock")


async def serve(port_file: Path, retrieve: float, first: float, token: float, tokens: int, reader: str) -> None:
    """Serve all three on one port until the process is ended; the port goes into the file."""

    def register(server: Any) -> None:
        retriever_pb2_grpc.add_RetrieverServiceServicer_to_server(Retriever(retrieve), server)
        generator_pb2_grpc.add_GeneratorServiceServicer_to_server(Generator(first, token, tokens, reader), server)
        search_pb2_grpc.add_SearchServiceServicer_to_server(Search(), server)

    names = [f"quelea.{name.lower()}.v1.{name}Service" for name in ("Retriever", "Search", "Generator")]
    settings = ServiceSettings(listen="127.0.0.1:0", log_level="warning", max_concurrent_calls=4096)
    server = Server(settings, names, register)
    await server.start()
    fresh = port_file.with_suffix(".new")
    fresh.write_text(json.dumps({"port": server.port, "pid": os.getpid()}), encoding="utf-8")
    fresh.replace(port_file)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(
        serve(
            Path(sys.argv[1]), *(float(a) / 1000 for a in sys.argv[2:5]), int(sys.argv[5]), (*sys.argv[6:], "openai")[0]
        )
    )
