"""The gateway's client of plain completions, over gRPC: what the agent may count on."""

import pytest
from quelea.generator.v1 import generator_pb2
from quelea_gateway.core.model import NO_FUNCTIONS, CompletionEnd, Function, FunctionCall, Message
from quelea_kit.errors import Conflict, DeadlineExceeded, Overloaded, Unavailable
from quelea_kit.testing import wait_until_async

ASKED = [Message("system", "You plan."), Message("user", "Plan.")]


async def said(stand, **fields):
    events = [event async for event in stand.gateway.generator.complete(ASKED, **fields)]
    return "".join(event for event in events if isinstance(event, str)), events[-1]


async def test_text_comes_and_then_how_it_ended(stand):
    stand.world.completions = [['{"a": ', "1}"]]
    text, end = await said(
        stand, json_schema='{"type": "object"}', model="m", max_tokens=9, temperature=0.5, tenant="t"
    )
    assert text == '{"a": 1}'
    assert isinstance(end, CompletionEnd)
    assert (end.reason, end.prompt_tokens, end.completion_tokens) == ("stop", 100, 2)
    (request,) = stand.world.completion_requests
    assert [(one.role, one.text) for one in request.messages] == [("system", "You plan."), ("user", "Plan.")]
    assert (request.json_schema, request.model, request.max_tokens) == ('{"type": "object"}', "m", 9)
    assert (request.temperature, request.tenant) == (0.5, "t")


async def test_a_misfit_is_text_and_invalid(stand):
    stand.world.completions = [["no ", "JSON"]]
    text, end = await said(stand, json_schema="{}")
    assert (text, end.reason) == ("no JSON", "invalid")
    assert not stand.world.completion_requests[0].HasField("temperature")


async def test_errors_keep_their_class(stand):
    with pytest.raises(Conflict, match="extractive"):
        await said(stand)
    stand.world.completions = [Overloaded("full", retry_after=3.0)]
    with pytest.raises(Overloaded) as caught:
        await said(stand)
    assert caught.value.retry_after == 3.0
    await stand.services.stop("generator")
    with pytest.raises(Unavailable) as gone:
        await said(stand)
    assert gone.value.details["dependency"] == "generator"


async def test_leaving_cancels_the_call(stand):
    stand.world.completions, stand.world.completion_hangs = [["one ", "two"]], True
    stream = stand.gateway.generator.complete(ASKED)
    assert await anext(stream) == "one "
    await stream.aclose()
    await wait_until_async(lambda: stand.world.cancelled == ["Complete"], seconds=25)


async def test_a_completion_has_a_deadline(stand):
    stand.world.completions, stand.world.completion_hangs = [["one ", "two"]], True
    stand.gateway.generator._seconds = 0.3
    with pytest.raises(DeadlineExceeded):
        await said(stand)


async def test_an_end_without_completed_is_an_error(stand, monkeypatch):
    stand.world.completions = [["one"]]
    monkeypatch.setattr(stand.gateway.generator._stub, "Complete", lambda *args, **fields: _Cut())
    with pytest.raises(Unavailable):
        await said(stand)


class _Cut:
    """A call that ends after one piece."""

    def __aiter__(self):
        return self._events()

    async def _events(self):
        yield generator_pb2.CompleteResponse(delta=generator_pb2.TextDelta(text="half"))

    def cancel(self):
        return True


async def test_the_context_is_known(stand):
    stand.world.context_tokens = 4096
    assert (await stand.gateway.generator.info()).context_tokens == 4096


async def test_functions_go_along_and_calls_come_back(stand):
    look = Function("look", "Looks it up.", '{"type": "object"}')
    stand.world.completions = [["Looking."]]
    text, end = await said(stand, functions=[look])
    assert (text, end.reason, end.calls) == ("", NO_FUNCTIONS, ())
    stand.world.function_calls = [generator_pb2.FunctionCall(name="look", arguments='{"a": 1}')]
    text, end = await said(stand, functions=[look])
    assert (text, end.reason, end.calls) == ("Looking.", "stop", (FunctionCall("look", '{"a": 1}'),))
    (request,) = stand.world.completion_requests
    (sent,) = request.functions
    assert (sent.name, sent.description, sent.parameters) == ("look", "Looks it up.", '{"type": "object"}')
