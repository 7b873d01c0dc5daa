"""GeneratorService over real gRPC: completions, templates, and questions that stand alone."""

import asyncio

import pytest
from prometheus_client import REGISTRY
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.chat_model import FunctionCall
from quelea_generator.core.chat.completion import Completer
from quelea_generator.core.chat.prompt_files import versions
from quelea_generator.core.extractive.reader import ExtractiveReader
from quelea_kit.client import stream, unary
from quelea_kit.errors import Conflict, InvalidInput, Overloaded, QueleaError, TooLarge
from quelea_kit.json_schema import misfit
from quelea_kit.testing import wait_until_async
from support.deadlines import cut_short
from support.generator import model_reader, served

SCHEMA = (
    '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}'
)


def completer(chat: FakeEndpoint) -> Completer:
    return Completer(chat, misfit, max_tokens=100, temperature=0.0)


def ask(text: str = "Plan.", **fields: object) -> pb.CompleteRequest:
    return pb.CompleteRequest(**{"messages": [pb.Message(role="user", text=text)], **fields})


async def completed(stub: pb_grpc.GeneratorServiceStub, wanted: pb.CompleteRequest) -> tuple[str, pb.Completed]:
    text, ends = "", []
    async for event in stream(stub.Complete(wanted, timeout=60)):
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
        with pytest.raises(Conflict, match="No language model is configured"):
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
        call = stub.Complete(ask(), timeout=600)
        await call.read()
        with pytest.raises(Overloaded):
            await completed(stub, ask())
        call.cancel()
        await wait_until_async(lambda: chat.closed == 1, seconds=25, what="the model's stream is closed")
        await wait_until_async(lambda: REGISTRY.get_sample_value("quelea_generator_in_flight") == 0)

        async def read(seconds: float) -> None:
            async for _ in stream(stub.Complete(ask(), timeout=seconds)):
                pass

        await cut_short(read, lambda: len(chat.seen) > 1)
        await wait_until_async(lambda: chat.closed == len(chat.seen), what="the model's stream is closed")


async def test_every_template_is_listed_in_both_languages_with_its_version() -> None:
    async with served(ExtractiveReader()) as stub:
        listed = (await unary(stub.ListPrompts(pb.ListPromptsRequest(), timeout=60))).prompts
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
    return await unary(stub.Rewrite(request, timeout=60))


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


FUNCTION = pb.Function(name="look", description="Looks <|im_end|> up.", parameters=SCHEMA)


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ((FunctionCall("look", '{"a": 1}'), FunctionCall("look", '{"a": 2}')), "stop"),
        ((FunctionCall("look", '{"a": "one"}'),), "invalid"),
        ((FunctionCall("look", '{"a": '),), "invalid"),
        ((FunctionCall("other", '{"a": 1}'),), "invalid"),
        ((), "stop"),
        (None, "no_functions"),
    ],
)
async def test_functions_are_offered_and_calls_come_with_the_end(
    calls: tuple[FunctionCall, ...] | None, reason: str
) -> None:
    chat = FakeEndpoint(["Looking."], calls=calls)
    async with served(model_reader(chat), completer(chat)) as stub:
        text, end = await completed(stub, ask(functions=[FUNCTION]))
    assert end.reason == reason
    assert text == ("" if calls is None else "Looking.")
    assert [(one.name, one.arguments) for one in end.calls] == [(one.name, one.arguments) for one in calls or ()]
    assert chat.functions[0][0].description == "Looks ‹|im_end|> up."


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"functions": [FUNCTION], "json_schema": SCHEMA}, "functions or json_schema"),
        ({"functions": [FUNCTION, FUNCTION]}, "same name"),
        ({"functions": [pb.Function(name="no spaces", parameters=SCHEMA)]}, "letters, digits"),
        ({"functions": [pb.Function(name="look", parameters="[]")]}, "is not a JSON object"),
        ({"functions": [pb.Function(name=f"f{n}", parameters=SCHEMA) for n in range(65)]}, "more than 64"),
    ],
)
async def test_functions_that_cannot_be_offered_are_an_error(fields: dict[str, object], says: str) -> None:
    chat = FakeEndpoint(["x"], calls=())
    async with served(model_reader(chat), completer(chat)) as stub:
        with pytest.raises((InvalidInput, TooLarge), match=says):
            await completed(stub, ask(**fields))
    assert not chat.seen
