"""Calls of functions over an HTTP server that streams them as servers do, refuses them, or knows nothing of them."""

import contextlib
import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import SecretStr
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_generator.core.chat.chat_model import NO_FUNCTIONS, ChatPiece, ChatRequest, Function, FunctionCall
from quelea_generator.core.chat.prompt import Message
from quelea_kit.errors import Overloaded
from quelea_kit.testing import free_port, wait_until

SEARCH = Function("search", "Searches.", {"type": "object", "properties": {"query": {"type": "string"}}})
PROBE = [
    {"tool_calls": [{"index": 0, "id": "p", "function": {"name": "report_state", "arguments": '{"state":"ready"}'}}]}
]


@dataclass
class Script:
    """Deltas of the trial and of what comes after it; a status instead of the next answers."""

    probe: list[dict[str, Any]] = field(default_factory=lambda: PROBE)
    deltas: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    refuses: bool = False
    """All but the trial."""
    bodies: list[dict[str, Any]] = field(default_factory=list)


def fragment(index: int | None, name: str = "", arguments: Any = "") -> dict[str, Any]:
    given = {} if index is None else {"index": index}
    return {"tool_calls": [{**given, "function": {"name": name or None, "arguments": arguments}}]}


def application(script: Script) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def completions(request: Request) -> object:
        body = await request.json()
        script.bodies.append(body)
        if script.statuses:
            return JSONResponse({"error": {"message": "tools param requires --jinja flag"}}, script.statuses.pop(0))
        if script.refuses and not is_probe(body):
            return JSONResponse({"error": {"message": "maxLength is not supported in parameters"}}, 400)
        deltas = script.probe if is_probe(body) else script.deltas
        choices: list[dict[str, Any]] = [{"index": 0, "delta": one, "finish_reason": None} for one in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
        lines = [f"data: {json.dumps({'id': 'c', 'choices': [one]})}\n\n" for one in choices]
        return StreamingResponse(iter([*lines, "data: [DONE]\n\n"]), media_type="text/event-stream")

    return app


def is_probe(body: dict[str, Any]) -> bool:
    return any(one["function"]["name"] == "report_state" for one in body.get("tools", []))


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def base_url(script: Script) -> Iterator[str]:
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(application(script), host="127.0.0.1", port=port, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started, every=0.01)
    yield f"http://127.0.0.1:{port}/v1"
    server.force_exit = server.should_exit = True
    thread.join(10)


@contextlib.asynccontextmanager
async def endpoint(base_url: str, **options: Any) -> AsyncIterator[OpenAIEndpoint]:
    chat = OpenAIEndpoint(base_url, SecretStr(""), "tiny", **{"stall_seconds": 5.0, **options})
    try:
        yield chat
    finally:
        await chat.close()


async def read(chat: OpenAIEndpoint, max_tokens: int = 200) -> list[ChatPiece]:
    request = ChatRequest((Message("user", "u"),), "tiny", max_tokens, functions=(SEARCH,))
    return [piece async for piece in chat.stream(request)]


async def test_calls_come_in_fragments_and_whole_at_the_end(base_url: str, script: Script) -> None:
    script.deltas = [
        {"role": "assistant", "content": "Looking. "},
        fragment(0, "search", '{"que'),
        fragment(0, arguments='ry": "cash"}'),
        fragment(1, "search", '{"query": "debt"}'),
    ]
    async with endpoint(base_url) as chat:
        pieces = await read(chat)
    assert "".join(one.text for one in pieces) == "Looking. "
    (last,) = [one for one in pieces if one.finish]
    assert last.calls == (FunctionCall("search", '{"query": "cash"}'), FunctionCall("search", '{"query": "debt"}'))
    tool = script.bodies[-1]["tools"][0]
    assert tool == {"type": "function", "function": {"name": "search", "description": "Searches.",
                    "parameters": dict(SEARCH.parameters)}}  # fmt: skip


async def test_whole_calls_without_an_index_and_with_objects_are_read(base_url: str, script: Script) -> None:
    both = {"tool_calls": [{"function": {"name": "search", "arguments": {"query": "现金"}}}] * 2}
    script.deltas = [both]
    async with endpoint(base_url) as chat:
        pieces = await read(chat)
    assert pieces[-1].calls == (FunctionCall("search", '{"query": "现金"}'),) * 2


async def test_whole_calls_without_an_index_come_in_chunks_of_their_own(base_url: str, script: Script) -> None:
    script.deltas = [
        fragment(None, "search", '{"query": "cash"}'),
        fragment(None, "search", '{"que'),
        fragment(None, arguments='ry": "debt"}'),
    ]
    async with endpoint(base_url) as chat:
        pieces = await read(chat)
    assert pieces[-1].calls == (
        FunctionCall("search", '{"query": "cash"}'),
        FunctionCall("search", '{"query": "debt"}'),
    )


@pytest.mark.parametrize("keys", [("a", "b"), ("", "")])
async def test_whole_calls_that_all_have_the_index_0_are_told_apart(
    base_url: str, script: Script, keys: tuple[str, str]
) -> None:
    first, second = (fragment(0, "search", f'{{"query": "{word}"}}') for word in ("cash", "debt"))
    for one, key in zip((first, second), keys, strict=True):
        one["tool_calls"][0]["id"] = key
    script.deltas = [first, second, fragment(0, arguments=" ")]
    async with endpoint(base_url) as chat:
        pieces = await read(chat)
    assert pieces[-1].calls == (
        FunctionCall("search", '{"query": "cash"}'),
        FunctionCall("search", '{"query": "debt"}'),
    )


async def test_a_name_in_fragments_of_one_id_is_one_call(base_url: str, script: Script) -> None:
    parts = [fragment(0, "sea", '{"que'), fragment(0, "rch", 'ry": "cash"}'), fragment(1, "search", '{"query": "a"}')]
    for one in parts[:2]:
        one["tool_calls"][0]["id"] = "a"
    script.deltas = parts
    async with endpoint(base_url) as chat:
        pieces = await read(chat)
    assert pieces[-1].calls == (FunctionCall("search", '{"query": "cash"}'), FunctionCall("search", '{"query": "a"}'))


async def test_a_model_is_tried_once_and_its_adapters_by_themselves(base_url: str, script: Script) -> None:
    async with endpoint(base_url) as chat:
        await read(chat)
        await read(chat)
    assert [is_probe(body) for body in script.bodies] == [True, False, False]


@pytest.mark.parametrize(
    "probe",
    [
        [{"content": "The machine is ready."}],
        [fragment(0, "report_state", '{"state": "rea')],
        [fragment(0, "other", '{"state": "ready"}')],
        [],
    ],
)
async def test_a_model_that_fails_the_trial_is_not_asked(base_url: str, script: Script, probe: Any) -> None:
    script.probe = probe
    async with endpoint(base_url) as chat:
        assert await read(chat) == [ChatPiece(finish=NO_FUNCTIONS)]
        assert await read(chat) == [ChatPiece(finish=NO_FUNCTIONS)]
    assert len(script.bodies) == 1


@pytest.mark.parametrize("status", [400, 422, 500, 501])
async def test_a_server_that_refuses_the_field_has_none(base_url: str, script: Script, status: int) -> None:
    script.statuses = [status]
    async with endpoint(base_url) as chat:
        assert await read(chat) == [ChatPiece(finish=NO_FUNCTIONS)]
        assert await read(chat) == [ChatPiece(finish=NO_FUNCTIONS)]
    assert len(script.bodies) == 1


async def test_functions_that_a_server_refuses_though_the_trial_went_well(base_url: str, script: Script) -> None:
    script.refuses = True
    async with endpoint(base_url) as chat:
        assert await read(chat) == [ChatPiece(finish=NO_FUNCTIONS)]
        script.refuses = False
        assert (await read(chat))[-1].finish == "tool_calls"


async def test_a_server_that_is_full_is_tried_again(base_url: str, script: Script) -> None:
    script.statuses = [429]
    async with endpoint(base_url) as chat:
        with pytest.raises(Overloaded):
            await read(chat)
        assert (await read(chat))[-1].finish == "tool_calls"
    assert [is_probe(body) for body in script.bodies] == [True, True, False]


async def test_the_setting_decides_without_a_trial(base_url: str, script: Script) -> None:
    async with endpoint(base_url, function_calls="no") as chat:
        assert await read(chat) == [ChatPiece(finish=NO_FUNCTIONS)]
    assert not script.bodies
    async with endpoint(base_url, function_calls="yes") as chat:
        await read(chat)
    assert [is_probe(body) for body in script.bodies] == [False]


async def test_endless_arguments_are_ended(base_url: str, script: Script) -> None:
    script.deltas = [fragment(0, "search", '{"query": "')] + [fragment(0, arguments="no end ")] * 2000
    async with endpoint(base_url) as chat:
        pieces = await read(chat, max_tokens=50)
    assert pieces[-1].finish == "length"
    assert not pieces[-1].calls
