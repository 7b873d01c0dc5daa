"""No question stops the reader: what is slow to read is refused or ended, and others are served meanwhile."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_generator.__main__ import build
from quelea_generator.adapters.reading_pool import ReadingPool
from quelea_generator.core.extractive.reader import ExtractiveReader
from quelea_generator.service import NAME, GeneratorService
from quelea_generator.settings import GeneratorSettings
from quelea_kit.client import channel, stream
from quelea_kit.errors import DeadlineExceeded, InvalidInput, TooLarge
from quelea_kit.testing import running
from support.generator import request

LONG = 7900
HOSTILE = {
    "conjunctions": "What was " + "revenue and " * 328,
    "between and": "between " * 250 + " and " * 250,
    "Chinese conjunctions": "收入和" * 2000,
    "shares of shares": "share of " * 880,
    "shares in Chinese": "收入占" * 2600,
    "ratios": "ratio of a to " * 560,
    "mixed scripts": "revenue和收入 and " * 480,
    "digits": "1" * LONG,
    "grouped digits": "1," * (LONG // 2),
    "spaced digits": "1 " * (LONG // 2),
    "brackets": "(" * LONG,
    "square brackets": "[1]" * (LONG // 3),
    "white space": "what" + " " * LONG + "x",
    "lines": "what\n" * (LONG // 5),
    "zero width": "what was revenue" + "\u200b" * (LONG - 20),
    "letters with a mark": "e\u0301" * (LONG // 2),
    "one word": "a" * LONG,
    "capitals": "Aa " * (LONG // 3),
    "years": "2023 " * (LONG // 5),
    "quarters": "first quarter 2023 " * (LONG // 19),
    "Chinese quarters": "2023年第三季度" * (LONG // 9),
    "how much": "how much " * (LONG // 9),
    "changes": "by what percentage did it change " * (LONG // 34),
    "full stops": "." * LONG,
    "Chinese digits": "二" * LONG,
}
GROWS = {"ligatures": "ﷺ" * 4000, "units": "㌕" * 4000}
# Backtracking without end, in C and with the interpreter held.
HANG = (re.fullmatch, "(a+)+", "a" * 60 + "b")


@asynccontextmanager
async def generator(service: GeneratorService, settings: GeneratorSettings) -> AsyncIterator[grpc.aio.Channel]:
    def register(server: grpc.aio.Server) -> None:
        pb_grpc.add_GeneratorServiceServicer_to_server(service, server)

    async with running(register, [NAME], settings=settings, ready=service.ready) as target:
        try:
            async with channel(target, NAME) as made:
                yield made
        finally:
            await service.close()


async def ask(to: grpc.aio.Channel, question: str) -> str:
    call = pb_grpc.GeneratorServiceStub(to).Generate(request(question), timeout=60)
    return "".join([event.delta.text async for event in stream(call)])


async def test_innocent_questions_are_answered_beside_hostile_ones() -> None:
    settings = GeneratorSettings(drain_seconds=0.5)
    async with generator(build(settings), settings) as to:
        for name, question in HOSTILE.items():
            hostile = asyncio.create_task(ask(to, question))
            assert "81,797" in await ask(to, "What were total net sales?"), name
            await hostile  # within its deadline, which asking passes on, and without an error
        for question in GROWS.values():
            with pytest.raises(TooLarge, match="after Unicode normalisation"):
                await ask(to, question)


async def test_follow_ups_are_rewritten_beside_hostile_ones() -> None:
    settings = GeneratorSettings(drain_seconds=0.5)
    history = [pb.Turn(role="user", text="What was Apple's revenue in Q3 2023?"), pb.Turn(role="assistant", text="81")]
    async with generator(build(settings), settings) as to:
        stub = pb_grpc.GeneratorServiceStub(to)

        async def rewrite(question: str, turns: list[pb.Turn]) -> str:
            wanted = pb.RewriteRequest(question=question, history=turns, as_of="2024-06-01")
            return (await stub.Rewrite(wanted, timeout=60)).question

        for name, question in HOSTILE.items():
            hostile = [rewrite(question, history), rewrite("And in Q2?", [pb.Turn(role="user", text=question)])]
            told, *_ = await asyncio.gather(rewrite("And in Q2?", history), *hostile)
            assert "Apple" in told, name


async def test_reading_that_takes_too_long_is_ended_while_others_are_served() -> None:
    settings = GeneratorSettings(drain_seconds=0.5)
    pool = ReadingPool(processes=2, seconds=2.0)

    async def run(call, task):
        return await (pool.run(*HANG) if "hang" in task.question else pool.run(call, task))

    async with generator(GeneratorService(ExtractiveReader(run), settings, reading=pool), settings) as to:
        for _ in range(2):  # the second meets the process that took the ended one's place
            slow = asyncio.create_task(ask(to, "Does this hang?"))
            while not slow.done():
                assert "81,797" in await ask(to, "What were total net sales?")
            with pytest.raises(DeadlineExceeded, match="longer than 2 seconds"):
                await slow


async def test_what_is_no_utf_8_is_the_callers_fault() -> None:
    settings = GeneratorSettings(drain_seconds=0.5)
    whole = request("What were QQQ?").SerializeToString().replace(b"QQQ", b"\xed\xa0\x80")  # U+D800 as bytes
    async with generator(build(settings), settings) as to:
        for rpc, make in (("Generate", to.unary_stream), ("Rewrite", to.unary_unary)):
            call = make(f"/{NAME}/{rpc}", request_serializer=bytes)(whole, timeout=30)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await (call.read() if rpc == "Generate" else call)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert "UTF-8" in str(caught.value.details())


async def test_marks_in_a_row_are_refused() -> None:
    settings = GeneratorSettings(drain_seconds=0.5)
    async with generator(build(settings), settings) as to:
        with pytest.raises(InvalidInput, match="combining marks"):
            await ask(to, "What is e" + "\u0301\u0316" * 2000)
