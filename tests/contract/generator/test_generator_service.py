"""GeneratorService over real gRPC: what every caller may count on, whichever reader answers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import grpc
import pytest
from prometheus_client import REGISTRY
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.adapters.json_schema import misfit
from quelea_generator.core.completing import Completer
from quelea_generator.core.extractive import ExtractiveReader
from quelea_generator.core.model_reader import ModelReader
from quelea_generator.core.prompt_files import versions
from quelea_generator.core.reader import Reader
from quelea_generator.service import NAME, GeneratorService
from quelea_generator.settings import GeneratorSettings
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import Conflict, DeadlineExceeded, InvalidInput, Overloaded, QueleaError, TooLarge, Unavailable
from quelea_kit.testing import running, wait_until_async

TEXT = "Three months ended March 30,\n2024 2023\nTotal net sales 81,797 82,959\nNet income 19,881 19,442"


def evidence(number: int = 1, text: str = TEXT) -> pb.Evidence:
    return pb.Evidence(
        number=number,
        text=text,
        is_table=True,
        company="Norbert Mills",
        period_end="2024-03-30",
        period_label="FY2024 Q3",
    )


def request(question: str = "What were total net sales?", **fields: object) -> pb.GenerateRequest:
    return pb.GenerateRequest(**{"question": question, "evidence": [evidence()], "as_of": "2024-06-01", **fields})


def model_reader(chat: FakeEndpoint) -> ModelReader:
    return ModelReader(chat, evidence_tokens=1000, history_tokens=100, max_tokens=100, temperature=0.0)


@asynccontextmanager
async def served(
    reader: Reader, completer: Completer | None = None, **limits: object
) -> AsyncIterator[pb_grpc.GeneratorServiceStub]:
    settings = GeneratorSettings(drain_seconds=0.5, **limits)
    service = GeneratorService(reader, settings, completer)
    async with (
        running(
            lambda server: pb_grpc.add_GeneratorServiceServicer_to_server(service, server),
            [NAME],
            settings=settings,
            ready=reader.ready,
        ) as target,
        channel(target, NAME) as open_channel,
    ):
        yield pb_grpc.GeneratorServiceStub(open_channel)


async def collect(
    stub: pb_grpc.GeneratorServiceStub, wanted: pb.GenerateRequest
) -> tuple[str, Sequence[pb.Quote], pb.Finished]:
    text, quotes, finished = "", [], []
    async for event in stream(stub.Generate(wanted, timeout=10)):
        if event.HasField("delta"):
            assert not quotes
            text += event.delta.text
        elif event.HasField("quote"):
            quotes.append(event.quote)
        else:
            finished.append(event.finished)
    assert len(finished) == 1
    return text, quotes, finished[0]


def readers() -> list[Reader]:
    return [ExtractiveReader(), model_reader(FakeEndpoint(["Sales were 81,797 ", "[1]."]))]


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


async def test_offsets_are_code_points() -> None:
    text = "𝄞 前言。营业收入为15.82亿元。"
    async with served(ExtractiveReader()) as stub:
        _, quotes, _ = await collect(
            stub, pb.GenerateRequest(question="营业收入是多少？", evidence=[pb.Evidence(number=4, text=text)])
        )
    assert quotes[0].text == text[quotes[0].start : quotes[0].end] == "营业收入为15.82亿元。"


async def test_info_names_the_reader() -> None:
    async with served(ExtractiveReader(), evidence_tokens=1234) as stub:
        info = await unary(stub.GetInfo(pb.GetInfoRequest(), timeout=5))
    assert (info.reader, info.model, info.evidence_tokens) == ("extractive", "extractive-1", 1234)
    assert info.context_tokens == 0
    assert info.version
    async with served(model_reader(FakeEndpoint([], context=8192))) as stub:
        info = await unary(stub.GetInfo(pb.GetInfoRequest(), timeout=5))
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
        first = stream(stub.Generate(request(), timeout=10))
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
        call = stub.Generate(request(), timeout=10)
        await call.read()
        call.cancel()
        await wait_until_async(lambda: chat.closed == 1, seconds=5, what="the model's stream is closed")
        await wait_until_async(lambda: REGISTRY.get_sample_value("quelea_generator_in_flight") == 0, seconds=5)


async def test_a_deadline_ends_the_work() -> None:
    chat = FakeEndpoint(["one ", "two"], wait=asyncio.Event())
    async with served(model_reader(chat)) as stub:
        with pytest.raises(DeadlineExceeded):
            async for _ in stream(stub.Generate(request(), timeout=0.3)):
                pass
        await wait_until_async(lambda: chat.closed == 1, seconds=5, what="the model's stream is closed")


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
        async with asyncio.timeout(10):
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


SCHEMA = (
    '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}'
)


def completer(chat: FakeEndpoint) -> Completer:
    return Completer(chat, misfit, max_tokens=100, temperature=0.0)


def ask(text: str = "Plan.", **fields: object) -> pb.CompleteRequest:
    return pb.CompleteRequest(**{"messages": [pb.Message(role="user", text=text)], **fields})


async def completed(stub: pb_grpc.GeneratorServiceStub, wanted: pb.CompleteRequest) -> tuple[str, pb.Completed]:
    text, ends = "", []
    async for event in stream(stub.Complete(wanted, timeout=10)):
        assert not ends
        text += event.delta.text
        if event.HasField("completed"):
            ends.append(event.completed)
    assert len(ends) == 1
    return text, ends[0]


async def test_a_completion_streams_and_says_how_it_ended() -> None:
    chat = FakeEndpoint(["one ", "two"])
    messages = [pb.Message(role=role, text=role) for role in ("system", "user", "assistant", "user")]
    async with served(model_reader(chat), completer(chat)) as stub:
        text, end = await completed(stub, ask(messages=messages, tenant="team"))
    assert (text, end.reason, end.model, end.prompt_tokens, end.completion_tokens) == ("one two", "stop", "fake", 4, 2)
    assert 0 < end.first_token_ms <= end.total_ms
    assert [message.role for message in chat.seen[0]] == ["system", "user", "assistant", "user"]
    assert (chat.tenants, chat.schemas) == (["team"], [None])


@pytest.mark.parametrize(
    ("pieces", "max_tokens", "reason"),
    [
        (['{"a": ', "1}"], 100, "stop"),
        (['{"a": "one"}'], 100, "invalid"),
        (['{"a": 1, "b": 2}'], 100, "invalid"),
        (['{"a": NaN}'], 100, "invalid"),
        (['{"a": '], 100, "invalid"),
        (["Sure! ", '{"a": 1}'], 100, "invalid"),
        (["[" * 50_000], 100, "invalid"),
        ([], 100, "invalid"),
        (['{"a": ', "1", "}"], 2, "length"),
        (['{"a": 1}', "  ", " "], 2, "stop"),
    ],
)
async def test_what_does_not_fit_the_schema_is_streamed_and_invalid(
    pieces: list[str], max_tokens: int, reason: str
) -> None:
    chat = FakeEndpoint(pieces)
    async with served(model_reader(chat), completer(chat)) as stub:
        text, end = await completed(stub, ask(json_schema=SCHEMA, max_tokens=max_tokens))
    assert (text, end.reason) == ("".join(pieces[:max_tokens]), reason)
    assert chat.schemas[0]["required"] == ["a"]


async def test_a_schema_that_points_outside_fetches_nothing_and_fits_nothing() -> None:
    chat = FakeEndpoint(["1"])
    async with served(model_reader(chat), completer(chat)) as stub:
        _, end = await completed(stub, ask(json_schema='{"$ref": "http://127.0.0.1:9/schema.json"}'))
    assert end.reason == "invalid"


async def test_without_a_language_model_there_are_no_completions() -> None:
    async with served(ExtractiveReader()) as stub:
        with pytest.raises(Conflict, match="extractive"):
            await completed(stub, ask())


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (pb.CompleteRequest(), InvalidInput),
        (ask(" "), InvalidInput),
        (ask(messages=[pb.Message(role="tool", text="x")]), InvalidInput),
        (ask(messages=[pb.Message(role="user", text="x")] * 4), TooLarge),
        (ask("x" * 51), TooLarge),
        (ask(json_schema="{"), InvalidInput),
        (ask(json_schema="[]"), InvalidInput),
        (ask(json_schema='{"type": "thing"}'), InvalidInput),
        (ask(json_schema='{"a": "' + "x" * 100_000 + '"}'), TooLarge),
        (ask(temperature=3), InvalidInput),
        (ask(tenant="x" * 201), InvalidInput),
    ],
)
async def test_wrong_completions_are_refused(wanted: pb.CompleteRequest, error: type[QueleaError]) -> None:
    chat = FakeEndpoint(["x"])
    async with served(model_reader(chat), completer(chat), max_messages=3, max_prompt_chars=50) as stub:
        with pytest.raises(error) as caught:
            await completed(stub, wanted)
        assert type(caught.value) is error
    assert not chat.seen


@pytest.mark.parametrize("counts", [True, False])
async def test_a_prompt_longer_than_the_context_names_both_counts(counts: bool) -> None:
    chat = FakeEndpoint(["x"], context=200, counts=counts)
    async with served(model_reader(chat), completer(chat)) as stub:
        with pytest.raises(TooLarge, match=r"\d+ tokens .* of 200") as caught:
            await completed(stub, ask("word " * 300))
        assert int(caught.value.details["prompt_tokens"]) >= 300
        assert caught.value.details["context_tokens"] == "200"
        text, _ = await completed(stub, ask("word " * 10))
    assert (text, len(chat.seen)) == ("x", 1)


async def test_marks_of_chat_templates_do_not_pass_and_code_does() -> None:
    chat = FakeEndpoint(["x"])
    marks = "<|im_end|>\n<|im_start|>system <｜User｜> [INST] <<SYS>> <start_of_turn>"
    code = "if a < b | c[0] > d: print('<div>', x[i] << 2)"
    async with served(model_reader(chat), completer(chat)) as stub:
        await completed(stub, ask(f"{marks}\n{code}"))
    seen = chat.seen[0][0].content
    assert not [mark for mark in ("<|im", "<｜", "[INST", "<<SYS", "<start") if mark in seen]
    assert seen.endswith(code)


async def test_a_caller_that_leaves_ends_its_completion() -> None:
    chat = FakeEndpoint(["one ", "two"], wait=asyncio.Event())
    async with served(model_reader(chat), completer(chat), max_in_flight=1) as stub:
        call = stub.Complete(ask(), timeout=10)
        await call.read()
        with pytest.raises(Overloaded):
            await completed(stub, ask())
        call.cancel()
        await wait_until_async(lambda: chat.closed == 1, seconds=5, what="the model's stream is closed")
        with pytest.raises(DeadlineExceeded):
            async for _ in stream(stub.Complete(ask(), timeout=0.3)):
                pass
        await wait_until_async(lambda: chat.closed == 2, seconds=5, what="the model's stream is closed")


async def test_every_template_is_listed_in_both_languages_with_its_version() -> None:
    async with served(ExtractiveReader()) as stub:
        listed = (await unary(stub.ListPrompts(pb.ListPromptsRequest(), timeout=5))).prompts
    names = {one.name for one in listed}
    assert names >= {"answer", "schema"}
    assert {(one.name, one.language) for one in listed} == {(name, lang) for name in names for lang in ("en", "zh")}
    assert ",".join(one.version for one in listed if one.name == "answer") == versions("answer")
    assert all(one.text.startswith("version: ") for one in listed)


async def rewritten(stub: pb_grpc.GeneratorServiceStub, question: str, **fields: object) -> pb.RewriteResponse:
    history = [
        pb.Turn(role="user", text="What was Apple's revenue in fiscal 2023?"),
        pb.Turn(role="assistant", text="7"),
    ]
    request = pb.RewriteRequest(**{"question": question, "history": history, "as_of": "2024-06-01", **fields})
    return await unary(stub.Rewrite(request, timeout=10))


async def test_the_extractive_reader_rewrites_by_rules() -> None:
    async with served(ExtractiveReader()) as stub:
        told = await rewritten(stub, "and the year before?")
        assert (told.question, told.by) == ("What was Apple's revenue in fiscal 2022?", "rules")
        same = await rewritten(stub, "What was Tesla's revenue in 2022?")
        assert (same.question, same.by, same.prompt_version) == ("What was Tesla's revenue in 2022?", "", "")
        first = await rewritten(stub, "and the year before?", history=[])
        assert (first.question, first.by) == ("and the year before?", "")
        with pytest.raises(InvalidInput):
            await rewritten(stub, " ")
        with pytest.raises(InvalidInput):
            await rewritten(stub, "why?", as_of="soon")
