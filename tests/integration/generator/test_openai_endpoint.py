"""The openai reader against a real HTTP server that speaks the OpenAI protocol, made here; a real vLLM: tests/vllm."""

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import SecretStr
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_generator.core.chat.chat_model import ChatPiece, ChatRequest
from quelea_generator.core.chat.prompt import Message
from quelea_kit.errors import (
    DeadlineExceeded,
    InvalidInput,
    NotFound,
    Overloaded,
    QueleaError,
    TooLarge,
    Unavailable,
)
from quelea_kit.testing import free_port, wait_until, wait_until_async

KEY = "sk-test-0123456789"
MESSAGES = (Message("system", "s"), Message("user", "u"))


@dataclass
class Script:
    """What the server does next, and what it saw."""

    pieces: list[str] = field(default_factory=lambda: ["Sales ", "rose ", "[1]."])
    failures: list[int] = field(default_factory=list)
    """Statuses of the next answers, before one that works."""
    headers: dict[str, str] = field(default_factory=dict)
    endless: bool = False
    silent: bool = False
    breaks_after: int = -1
    names: list[str] = field(default_factory=lambda: ["tiny"])
    running: list[dict[str, object]] = field(default_factory=list)
    """What Ollama says of the models in its memory."""
    error_event: bool = False
    bodies: list[dict[str, object]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)
    sent: int = 0


def chunk(text: str | None = None, finish: str | None = None, usage: dict[str, int] | None = None) -> str:
    choices = [] if usage else [{"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}]
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": choices}
    return f"data: {json.dumps({**body, 'usage': usage})}\n\n"


def application(script: Script) -> FastAPI:
    app = FastAPI()

    @app.get("/v1/models")
    async def models(request: Request) -> JSONResponse:
        script.keys.append(request.headers.get("authorization", ""))
        data = [{"id": name, "object": "model", "created": 1, "owned_by": "test"} for name in script.names]
        return JSONResponse({"object": "list", "data": data})

    @app.get("/api/ps")
    async def running() -> JSONResponse:
        return JSONResponse({"models": script.running} if script.running else {}, 200 if script.running else 404)

    @app.post("/v1/chat/completions")
    async def completions(request: Request) -> object:
        script.bodies.append(await request.json())
        script.keys.append(request.headers.get("authorization", ""))
        if script.failures:
            status = script.failures.pop(0)
            body = {"error": {"message": f"refused with {status}", "type": "t", "code": None}}
            return JSONResponse(body, status_code=status, headers=script.headers)
        if not script.bodies[-1].get("stream"):
            message = {"role": "assistant", "content": "1"}
            choice = {"index": 0, "message": message, "finish_reason": "length"}
            one = {"id": "c", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [choice]}
            return JSONResponse(one)
        return StreamingResponse(events(script), media_type="text/event-stream")

    return app


async def events(script: Script) -> AsyncIterator[str]:
    try:
        if script.silent:
            await asyncio.sleep(60)
        if script.error_event:
            yield 'data: {"error": {"message": "out of memory", "code": 500}}\n\n'
            return
        for index, piece in enumerate(script.pieces):
            if index == script.breaks_after:
                raise RuntimeError("the connection breaks")
            script.sent += 1
            yield chunk(piece)
        while script.endless:
            script.sent += 1
            yield chunk(f"more{script.sent} ")
            await asyncio.sleep(0.01)
        yield chunk(finish="stop")
        yield chunk(usage={"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14})
        yield "data: [DONE]\n\n"
    except (asyncio.CancelledError, GeneratorExit):
        script.left.set()
        raise


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def base_url(script: Script) -> Iterator[str]:
    port = free_port()
    config = uvicorn.Config(application(script), host="127.0.0.1", port=port, log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started, every=0.01)
    yield f"http://127.0.0.1:{port}/v1"
    server.force_exit = True
    server.should_exit = True
    thread.join(10)


@contextlib.asynccontextmanager
async def endpoint(base_url: str, **options: object) -> AsyncIterator[OpenAIEndpoint]:
    chat = OpenAIEndpoint(base_url, SecretStr(KEY), "tiny", **{"stall_seconds": 5.0, **options})
    try:
        yield chat
    finally:
        await chat.close()


async def read(chat: OpenAIEndpoint, max_tokens: int = 9) -> list[ChatPiece]:
    return [piece async for piece in chat.stream(ChatRequest(tuple(MESSAGES), "tiny", max_tokens, 0.5))]


async def test_an_answer_streams_with_its_counts(base_url: str, script: Script) -> None:
    async with endpoint(base_url) as chat:
        pieces = await read(chat)
    assert "".join(piece.text for piece in pieces) == "Sales rose [1]."
    assert [piece.finish for piece in pieces if piece.finish] == ["stop"]
    assert (pieces[-1].prompt_tokens, pieces[-1].completion_tokens) == (11, 3)
    body = script.bodies[0]
    assert body["messages"] == [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    assert (body["model"], body["max_tokens"], body["temperature"], body["stream"]) == ("tiny", 9, 0.5, True)
    assert script.keys == [f"Bearer {KEY}"]


async def test_further_fields_go_along_and_change_none_of_its_own(base_url: str, script: Script) -> None:
    async with endpoint(base_url, extra={"reasoning_effort": "none", "stream": False}) as chat:
        await read(chat)
    assert (script.bodies[0]["reasoning_effort"], script.bodies[0]["stream"]) == ("none", True)


async def test_ollama_lists_a_model_with_its_tag_and_tells_its_context_once_it_runs(
    base_url: str, script: Script
) -> None:
    script.names = ["tiny:latest", "other:8b"]
    script.running = [{"name": "other:8b", "context_length": 9}, {"name": "tiny:latest", "context_length": 4096}]
    async with endpoint(base_url) as chat:
        await chat.check()
        assert chat.context("tiny") == 0
        await chat.probe()
        await chat.check()
        assert chat.context("tiny") == 4096


@pytest.mark.parametrize("running", [[], [{"name": "tiny"}], [{"size": 1}]])
async def test_a_context_that_nobody_tells_is_unknown(base_url: str, script: Script, running: list[dict]) -> None:
    script.running = running
    async with endpoint(base_url) as chat:
        await chat.probe()
        assert chat.context("tiny") == 0


async def test_leaving_closes_the_connection(base_url: str, script: Script) -> None:
    script.endless = True
    async with endpoint(base_url) as chat:
        async with contextlib.aclosing(chat.stream(ChatRequest(tuple(MESSAGES), "tiny", 9))) as pieces:
            assert (await anext(pieces)).text == "Sales "
        await wait_until_async(script.left.is_set, what="the server notices that its client left")


async def test_a_cancelled_task_closes_the_connection(base_url: str, script: Script) -> None:
    script.endless = True
    async with endpoint(base_url) as chat:
        task = asyncio.create_task(read(chat, max_tokens=100_000))
        await wait_until_async(lambda: script.sent > 3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wait_until_async(script.left.is_set, what="the server notices that its client left")


async def test_cancelling_before_the_first_token_closes_the_connection(base_url: str, script: Script) -> None:
    script.silent = True
    async with endpoint(base_url, stall_seconds=600.0) as chat:
        task = asyncio.create_task(read(chat))
        await wait_until_async(lambda: bool(script.bodies))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wait_until_async(script.left.is_set, what="the server notices that its client left")


@pytest.mark.parametrize(
    ("status", "error"),
    # Of 401, 403, 404 and 307 the caller is not to blame: key, model and address are this service's settings.
    [
        (500, Unavailable),
        (502, Unavailable),
        (503, Unavailable),
        (504, DeadlineExceeded),
        (400, InvalidInput),
        (413, TooLarge),
        (401, Unavailable),
        (403, Unavailable),
        (404, Unavailable),
        (307, Unavailable),
    ],
)
async def test_a_request_is_sent_once(base_url: str, script: Script, status: int, error: type[QueleaError]) -> None:
    script.failures = [status]
    async with endpoint(base_url) as chat:
        with pytest.raises(error) as caught:
            await read(chat)
    assert type(caught.value) is error
    assert caught.value.details["endpoint_status"] == str(status)
    assert ("behind" in caught.value.details) is (error in (Unavailable, DeadlineExceeded))
    assert len(script.bodies) == 1


async def test_a_model_that_the_caller_named_is_not_found(base_url: str, script: Script) -> None:
    script.failures = [404]
    async with endpoint(base_url) as chat:
        with pytest.raises(NotFound):
            async for _ in chat.stream(ChatRequest(tuple(MESSAGES), "finance", 9)):
                pass


async def test_a_redirect_takes_neither_prompt_nor_key_along(base_url: str, script: Script) -> None:
    script.failures, script.headers = [307, 302], {"Location": f"{base_url}/chat/completions"}
    async with endpoint(base_url) as chat:
        for _ in range(2):
            with pytest.raises(Unavailable, match="elsewhere"):
                await read(chat)
    assert len(script.bodies) == 2


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("900", 60.0), ("soon", 1.0), ("", 1.0)])
async def test_a_full_endpoint_is_overloaded_with_its_retry_after(
    base_url: str, script: Script, header: str, seconds: float
) -> None:
    script.failures, script.headers = [429], {"Retry-After": header} if header else {}
    async with endpoint(base_url) as chat:
        with pytest.raises(Overloaded) as caught:
            await read(chat)
    assert caught.value.retry_after == seconds
    assert len(script.bodies) == 1


async def test_nobody_there_is_unavailable() -> None:
    async with endpoint(f"http://127.0.0.1:{free_port()}/v1", connect_seconds=1.0) as chat:
        with pytest.raises(Unavailable):
            await read(chat)
        with pytest.raises(Unavailable):
            await chat.check()


async def test_silence_ends_in_time_and_is_not_tried_again(base_url: str, script: Script) -> None:
    script.silent = True
    async with endpoint(base_url, stall_seconds=0.3) as chat, asyncio.timeout(60):
        with pytest.raises(DeadlineExceeded):
            await read(chat)
    assert len(script.bodies) <= 1  # none where a slow machine was not even asked in that time


async def test_a_broken_answer_is_not_started_again(base_url: str, script: Script) -> None:
    script.breaks_after = 2
    seen: list[str] = []
    async with endpoint(base_url) as chat:
        with pytest.raises(Unavailable):
            async for piece in chat.stream(ChatRequest(tuple(MESSAGES), "tiny", 9)):
                seen.append(piece.text)  # noqa: PERF401  # what came before the break must be kept
    assert seen == ["Sales ", "rose "]
    assert len(script.bodies) == 1


async def test_an_error_event_is_unavailable(base_url: str, script: Script) -> None:
    script.error_event = True
    async with endpoint(base_url) as chat:
        with pytest.raises(Unavailable):
            await read(chat)


async def test_ready_means_that_the_model_is_listed(base_url: str) -> None:
    async with endpoint(base_url) as chat:
        await chat.check()
        chat.model = "other"
        with pytest.raises(Unavailable, match="'other'; it lists tiny"):
            await chat.check()


async def test_the_key_is_never_logged(base_url: str, script: Script, caplog: pytest.LogCaptureFixture) -> None:
    script.failures = [401]
    with caplog.at_level(logging.DEBUG):
        async with endpoint(base_url) as chat:
            with pytest.raises(Unavailable, match="refuses our key") as caught:
                await read(chat)
    assert KEY not in caplog.text
    assert KEY not in f"{caught.value!r}{caught.value.__cause__!r}"
