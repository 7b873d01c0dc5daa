"""GeneratorService over real gRPC: what every caller may count on, whichever reader answers."""

import asyncio

import grpc
import pytest
from prometheus_client import REGISTRY
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.prompt_files import versions
from quelea_generator.core.extractive.reader import ExtractiveReader
from quelea_generator.core.reader import Reader
from quelea_generator.service import NAME, GeneratorService
from quelea_generator.settings import GeneratorSettings
from quelea_kit.client import stream, unary
from quelea_kit.errors import InvalidInput, Overloaded, QueleaError, TooLarge, Unavailable
from quelea_kit.testing import running, wait_until_async
from support.deadlines import cut_short
from support.generator import TEXT, collect, evidence, model_reader, readers, request, served


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
async def test_every_marker_has_a_quote_and_every_quote_is_verbatim(reader: Reader) -> None:
    async with served(reader) as stub:
        text, quotes, finished = await collect(stub, request())
    assert "81,797" in text
    assert "[1]" in text
    assert quotes
    for quote in quotes:
        assert quote.number == 1
        assert TEXT[quote.start : quote.end] == quote.text
    assert (finished.reason, finished.reader, finished.model) == ("stop", reader.name, reader.model)
    assert 0 < finished.first_token_ms <= finished.total_ms


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
async def test_no_evidence_is_declined(reader: Reader) -> None:
    async with served(reader) as stub:
        text, quotes, finished = await collect(stub, pb.GenerateRequest(question="净利润是多少？"))
    assert (text, len(quotes), finished.reason) == ("根据已知信息无法回答该问题", 0, "declined")
    assert finished.decline_reason == pb.DECLINE_REASON_NO_EVIDENCE
    assert finished.decline_detail.startswith("No passage")


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
async def test_a_caller_who_reads_joined_events_gets_the_same_in_fewer_messages(reader: Reader) -> None:
    async with served(reader) as stub:
        apart = [reply async for reply in stream(stub.Generate(request(), timeout=60))]
        joined = [reply async for reply in stream(stub.Generate(request(joined=True), timeout=60))]
    assert not any(reply.more for reply in apart)
    events = [event for reply in joined for event in (reply, *reply.more)]
    kinds = [[event.WhichOneof("event") for event in found] for found in (apart, events)]
    assert kinds[0][-1] == kinds[1][-1] == "finished"
    for kind in ("delta", "quote"):
        said = [[str(getattr(e, kind).text) for e in found if e.HasField(kind)] for found in (apart, events)]
        assert "".join(said[0]) == "".join(said[1])
    assert len(joined) < len(apart)


async def test_offsets_are_code_points() -> None:
    text = "𝄞 前言。营业收入为15.82亿元。"
    async with served(ExtractiveReader()) as stub:
        _, quotes, _ = await collect(
            stub, pb.GenerateRequest(question="营业收入是多少？", evidence=[pb.Evidence(number=4, text=text)])
        )
    assert quotes[0].text == text[quotes[0].start : quotes[0].end] == "营业收入为15.82亿元。"


async def test_info_names_the_reader() -> None:
    async with served(ExtractiveReader(), evidence_tokens=1234) as stub:
        info = await unary(stub.GetInfo(pb.GetInfoRequest(), timeout=60))
    assert (info.reader, info.model, info.evidence_tokens) == ("extractive", "extractive-1", 1234)
    assert info.context_tokens == 0
    assert info.version
    async with served(model_reader(FakeEndpoint([], context=8192))) as stub:
        info = await unary(stub.GetInfo(pb.GetInfoRequest(), timeout=60))
    assert (info.reader, info.model, info.prompt_version) == ("openai", "fake", versions("answer"))
    assert info.context_tokens == 8192


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (request("  "), InvalidInput),
        (request("x" * 51), TooLarge),
        (request(evidence=[evidence(1), evidence(2), evidence(3)]), TooLarge),
        (request(evidence=[evidence(1, "x" * 1001)]), TooLarge),
        (request(evidence=[evidence(1), evidence(1)]), InvalidInput),
        (request(evidence=[evidence(0)]), InvalidInput),
        (request(as_of="June"), InvalidInput),
        (request(temperature=2.5), InvalidInput),
    ],
)
async def test_wrong_requests_are_refused(wanted: pb.GenerateRequest, error: type[QueleaError]) -> None:
    async with served(ExtractiveReader(), max_question_chars=50, max_evidence=2, max_evidence_chars=1000) as stub:
        with pytest.raises(error):
            await collect(stub, wanted)


async def test_one_too_many_is_refused_and_a_place_comes_free() -> None:
    gate = asyncio.Event()
    chat = FakeEndpoint(["one ", "two"], wait=gate)
    async with served(model_reader(chat), max_in_flight=1) as stub:
        first = stream(stub.Generate(request(), timeout=60))
        assert (await anext(first)).delta.text
        with pytest.raises(Overloaded) as refused:
            await collect(stub, request())
        assert refused.value.retry_after == 1.0
        gate.set()
        rest = [event async for event in first]
        assert rest[-1].finished.reason == "stop"
        text, _, _ = await collect(stub, request())
    assert text == "one two"


async def test_a_caller_that_leaves_ends_the_work() -> None:
    chat = FakeEndpoint(["one ", "two"], wait=asyncio.Event())
    async with served(model_reader(chat), max_in_flight=1) as stub:
        call = stub.Generate(request(), timeout=600)
        await call.read()
        call.cancel()
        await wait_until_async(lambda: chat.closed == 1, what="the model's stream is closed")
        await wait_until_async(lambda: REGISTRY.get_sample_value("quelea_generator_in_flight") == 0)


async def test_a_deadline_ends_the_work() -> None:
    chat = FakeEndpoint(["one ", "two"], wait=asyncio.Event())
    async with served(model_reader(chat)) as stub:

        async def read(seconds: float) -> None:
            async for _ in stream(stub.Generate(request(), timeout=seconds)):
                pass

        await cut_short(read, lambda: bool(chat.seen))
        await wait_until_async(lambda: chat.closed == len(chat.seen), what="the model's stream is closed")


async def test_errors_of_the_endpoint_keep_their_class() -> None:
    chat = FakeEndpoint(["half "], error=Overloaded("no room", retry_after=7.0))
    async with served(model_reader(chat)) as stub:
        with pytest.raises(Overloaded, match="no room") as caught:
            await collect(stub, request())
    assert caught.value.retry_after == 7.0


async def test_health_follows_the_endpoint() -> None:
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    chat = FakeEndpoint([])
    chat.failing = Unavailable("the endpoint does not list the model")
    reader = model_reader(chat)
    service = GeneratorService(reader, GeneratorSettings())
    async with (
        running(
            lambda server: pb_grpc.add_GeneratorServiceServicer_to_server(service, server), [NAME], ready=reader.ready
        ) as target,
        grpc.aio.insecure_channel(target) as open_channel,
    ):
        health = health_pb2_grpc.HealthStub(open_channel)

        async def status() -> int:
            return (await health.Check(health_pb2.HealthCheckRequest(service=NAME))).status

        assert await status() == health_pb2.HealthCheckResponse.NOT_SERVING
        chat.failing = None
        async with asyncio.timeout(60):
            while await status() != health_pb2.HealthCheckResponse.SERVING:  # noqa: ASYNC110  # another process's state
                await asyncio.sleep(0.05)


async def test_answers_are_counted() -> None:
    def count(reason: str) -> float:
        labels = {"reader": "extractive", "reason": reason}
        return REGISTRY.get_sample_value("quelea_generator_answers_total", labels) or 0.0

    stopped, declined = count("stop"), count("declined")
    async with served(ExtractiveReader()) as stub:
        await collect(stub, request())
        await collect(stub, request("What is the capital of France?"))
    assert (count("stop"), count("declined")) == (stopped + 1, declined + 1)
