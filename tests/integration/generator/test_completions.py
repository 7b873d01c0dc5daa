"""Completions over engines on real HTTP: schemas, endpoints that refuse them, garbage, turns, cancellation."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_generator.__main__ import build
from quelea_generator.service import NAME
from quelea_generator.settings import GeneratorSettings
from quelea_kit.client import channel, stream
from quelea_kit.errors import InvalidInput, Overloaded, TooLarge, Unavailable
from quelea_kit.testing import running, wait_until_async

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


async def ready(reader: Any) -> None:
    """A first completion has come; one question waits for it a second only, which a busy machine may not keep to."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(Unavailable):
                return await reader.ready()
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def served(*engines: Any, **settings: Any) -> AsyncIterator[pb_grpc.GeneratorServiceStub]:
    told = {"circuit_seconds": 0.3, "drain_seconds": 0.5, "completion_tokens": 100, **settings}
    made = GeneratorSettings(endpoint=",".join(engine.url for engine in engines), model="tiny", **told)
    service = build(made)
    try:
        await ready(service.reader)
        async with (
            running(
                lambda server: pb_grpc.add_GeneratorServiceServicer_to_server(service, server),
                [NAME],
                settings=made,
                ready=service.ready,
            ) as target,
            channel(target, NAME) as opened,
        ):
            yield pb_grpc.GeneratorServiceStub(opened)
    finally:
        await service.close()


async def complete(
    stub: pb_grpc.GeneratorServiceStub, text: str = "Plan.", schema: Any = None, **fields: Any
) -> tuple[str, str]:
    """The text and how it ended."""
    request = pb.CompleteRequest(
        messages=[pb.Message(role="system", text="You plan."), pb.Message(role="user", text=text)],
        json_schema=json.dumps(schema) if schema else "",
        **fields,
    )
    said, reason = "", ""
    async for event in stream(stub.Complete(request, timeout=60)):
        said += event.delta.text
        reason = event.completed.reason or reason
    return said, reason


async def test_a_schema_is_given_to_the_engine_and_checked_here(engines: list[Any]) -> None:
    engines[0].pieces = ['{"a": ', "7}"]
    async with served(engines[0]) as stub:
        assert await complete(stub, schema=SCHEMA, max_tokens=50) == ('{"a": 7}', "stop")
        engines[0].pieces = ['{"b": ', "7}"]
        assert await complete(stub, schema=SCHEMA) == ('{"b": 7}', "invalid")
        assert await complete(stub) == ('{"b": 7}', "stop")
    first, second, third = engines[0].bodies
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
    assert first["response_format"] == second["response_format"] == wanted
    assert (first["max_tokens"], second["max_tokens"], first["messages"][1]["content"]) == (50, 100, "Plan.")
    assert "response_format" not in third


@pytest.mark.parametrize(("question", "word"), [("Plan.", "JSON schema below"), ("请制定计划。", "只输出")])
async def test_an_engine_that_refuses_schemas_reads_them_in_the_prompt_from_then_on(
    engines: list[Any], question: str, word: str
) -> None:
    engines[0].pieces = ['{"a": 7}']
    engines[0].refuses_schemas = 1
    async with served(engines[0]) as stub:
        for _ in range(3):
            assert await complete(stub, question, schema=SCHEMA) == ('{"a": 7}', "stop")
    enforced = ["response_format" in body for body in engines[0].bodies]
    assert enforced == [True, False, False, False]
    for body in engines[0].bodies[1:]:
        assert body["messages"][1]["content"].startswith(question)
        assert word in body["messages"][1]["content"]
        assert json.dumps(SCHEMA) in body["messages"][1]["content"]


async def test_one_refused_schema_says_nothing_about_others_where_some_are_taken(engines: list[Any]) -> None:
    other = {"type": "object", "properties": {"b": {"type": "integer"}}}
    engines[0].pieces = ["{}"]
    async with served(engines[0]) as stub:
        await complete(stub, schema=other)
        engines[0].refuses_schemas = 1
        await complete(stub, schema=SCHEMA)
        await complete(stub, schema=SCHEMA)
        await complete(stub, schema=other)
    assert ["response_format" in body for body in engines[0].bodies] == [True, True, False, False, True]


async def test_a_request_that_is_wrong_without_the_schema_too_is_refused_and_proves_nothing(engines: list[Any]) -> None:
    engines[0].pieces = ['{"a": 7}']
    async with served(engines[0]) as stub:
        engines[0].statuses = [400, 400]
        with pytest.raises(InvalidInput):
            await complete(stub, schema=SCHEMA)
        assert len(engines[0].bodies) == 2
        await complete(stub, schema=SCHEMA)
    assert "response_format" in engines[0].bodies[2]


async def test_the_answer_has_the_room_that_the_prompt_leaves(engines: list[Any]) -> None:
    engines[0].context, engines[0].rate = 300, 1.0
    async with served(engines[0], completion_tokens=200) as stub:
        await complete(stub, "word " * 150)
        with pytest.raises(TooLarge, match="300") as caught:
            await complete(stub, "word " * 400)
    assert caught.value.details == {"prompt_tokens": "402", "context_tokens": "300"}
    (body,) = engines[0].bodies
    assert engines[0].tokens(body["messages"]) + body["max_tokens"] == 300


@pytest.mark.parametrize(
    "parts",
    [
        [b"data: {not json\n\n"],
        [b""],
        [b'data: {"choices": [{"index": 0, "delta": {"content": "{\\"a\\": "}}]}\n\n'],
        [b'data: {"choices": [{"index": 0, "delta": {"content": "{\\"a\\": "}}]}\n\ndata: {"choi'],
    ],
    ids=["no JSON", "nothing", "no end", "ends inside an event"],
)
async def test_garbage_is_an_unavailable_engine(engines: list[Any], parts: list[bytes]) -> None:
    async def body() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    engines[0].answer = body
    async with served(engines[0], attempts=1, comeback_seconds=1.0) as stub:
        with pytest.raises(Unavailable):
            await complete(stub, schema=SCHEMA)


@pytest.mark.parametrize("text", ["more{n} ", "the same ", " ", ""])
async def test_an_engine_that_never_stops_is_stopped(engines: list[Any], text: str) -> None:
    async def body() -> AsyncIterator[bytes]:
        number = 0
        while True:
            number += 1
            choice = {"index": 0, "delta": {"content": text.replace("{n}", str(number * 7919 % 10007))}}
            yield f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
            await asyncio.sleep(0)

    engines[0].answer = body
    async with served(engines[0]) as stub:
        said, reason = await complete(stub, schema=SCHEMA)
        assert reason == "length"
        assert len(said) <= 100 * 24 + 256
        await wait_until_async(lambda: engines[0].left > 0, what="the engine notices that nobody reads")


async def test_blanks_without_end_after_a_whole_object_do_not_spoil_it(engines: list[Any]) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b'data: {"choices": [{"index": 0, "delta": {"content": "{\\"a\\": 1}"}}]}\n\n'
        while True:
            yield b'data: {"choices": [{"index": 0, "delta": {"content": "\\n  "}}]}\n\n'
            await asyncio.sleep(0)

    engines[0].answer = body
    async with served(engines[0]) as stub:
        assert await complete(stub, schema=SCHEMA) == ('{"a": 1}', "stop")


async def test_completions_wait_in_the_queue_of_the_answers(engines: list[Any]) -> None:
    engines[0].gate.clear()
    async with served(engines[0], max_in_flight_per_engine=1, queue_length=1) as stub:
        first = asyncio.create_task(complete(stub, tenant="a"))
        await wait_until_async(lambda: len(engines[0].bodies) == 1)
        waiting = asyncio.create_task(complete(stub, tenant="b"))

        async def refused() -> Overloaded:
            async with asyncio.timeout(60):
                for seconds in (0.2 * 2**n for n in range(10)):  # until the second one is in the queue
                    probe = asyncio.create_task(complete(stub, tenant="b"))
                    done, _ = await asyncio.wait({probe}, timeout=seconds)
                    if done:
                        with pytest.raises(Overloaded) as caught:
                            probe.result()
                        return caught.value
                    probe.cancel()
                    await asyncio.gather(probe, return_exceptions=True)
            raise AssertionError("never refused")

        assert ((await refused()).retry_after or 0) >= 1
        engines[0].gate.set()
        assert [reason for _, reason in await asyncio.gather(first, waiting)] == ["stop", "stop"]


async def rewritten(stub: pb_grpc.GeneratorServiceStub) -> pb.RewriteResponse:
    history = [pb.Turn(role="user", text="What was Apple's revenue in fiscal 2023?")]
    return await stub.Rewrite(pb.RewriteRequest(question="and the year before?", history=history), timeout=60)


async def test_the_model_rewrites_follow_ups_and_the_rules_stand_by(engines: list[Any]) -> None:
    engines[0].pieces = ["How high was Apple's revenue", " in fiscal 2022?"]
    async with served(engines[0], rewrite_seconds=30.0) as stub:
        told = await rewritten(stub)
        assert (told.question, told.by) == ("How high was Apple's revenue in fiscal 2022?", "model")
        assert told.prompt_version.startswith("en-")
        (body,) = engines[0].bodies
        assert (body["temperature"], body["max_tokens"]) == (0, 96)
    async with served(engines[0], rewrite_seconds=2.0) as stub:  # time for a failure

        async def endless() -> AsyncIterator[bytes]:
            number = 0
            while True:
                number += 1
                choice = {"index": 0, "delta": {"content": f"and {number} "}}
                yield f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
                await asyncio.sleep(0)

        async def garbage() -> AsyncIterator[bytes]:
            yield b"data: {oops\n\n"

        async def half() -> AsyncIterator[bytes]:
            yield b'data: {"choices": [{"index": 0, "delta": {"content": "What was Apple\'s revenue"}}]}\n\n'

        for answer in (endless, garbage, half):
            engines[0].answer = answer
            told = await rewritten(stub)
            assert (told.question, told.by) == ("What was Apple's revenue in fiscal 2022?", "rules")
        engines[0].stop()
        told = await rewritten(stub)
        assert (told.question, told.by) == ("What was Apple's revenue in fiscal 2022?", "rules")
