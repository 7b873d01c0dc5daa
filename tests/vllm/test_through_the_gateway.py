"""Gateway → generator → vLLM. What is tested is the contract; a model of 135M parameters has no wit to test."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from quelea_kit.testing import wait_until, wait_until_async
from support.engine import ADAPTER, LONGEST, MODEL

from tests.vllm.test_generator_on_vllm import answered, reading, task

pytestmark = pytest.mark.slow(reason="a language model writes, on the CPU")

QUESTION = "What were the net sales of Acme Corp. in the second quarter of 2023? Explain at length."


@contextlib.contextmanager
def _stream(product: Any, **body: Any) -> Iterator[Iterator[tuple[str, Any]]]:
    """The events of a streamed answer; leaving early closes the connection."""
    asked = {"question": QUESTION, "stream": True, **body}
    with product.http.stream("POST", "/v1/ask", json=asked, timeout=300) as reply:
        assert reply.status_code == 200, reply.read()

        def events() -> Iterator[tuple[str, Any]]:
            name = ""
            for line in reply.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

        yield events()


def _last(product: Any, **body: Any) -> tuple[str, Any]:
    last = ("", None)
    with _stream(product, **body) as events:
        for last in events:  # noqa: B007  # only the last one counts
            pass
    return last


def test_a_streamed_answer(product: Any) -> None:
    with _stream(product) as found:
        events = list(found)
    names = [name for name, _ in events]
    assert names[0] == "started"
    assert names[-1] == "answer"
    assert names.count("delta") > 3
    answer = events[-1][1]
    assert (answer["reader"], answer["model"]) == ("openai", MODEL)
    # What a tiny model says is checked like any other: shown as the checks left it, or declined.
    verdicts = [data for name, data in events if name == "verdicts"]
    if answer["declined"]:
        assert answer["answer"] == "Unable to answer the question based on the information provided"
        assert answer["citations"] == []
    else:
        assert [one["text"] for one in verdicts] == [answer["answer"]]
    for citation in answer["citations"]:  # the model cites what it likes; what is shown must be true
        page = product.page(citation["document_id"], citation["page"])
        assert page["text"][citation["start"] : citation["end"]] == citation["quote"]


def test_sixteen_at_once(product: Any) -> None:
    with ThreadPoolExecutor(16) as pool:
        ends = list(pool.map(lambda _: _last(product), range(16)))
    assert [name for name, _ in ends] == ["answer"] * 16


def test_the_adapter_is_chosen_per_request(product: Any) -> None:
    # Streamed: an adapter is slow on a CPU, and only the next piece has a deadline then.
    said = {}
    for name in (MODEL, ADAPTER):
        with _stream(product, model=name) as found:
            events = list(found)
        assert events[-1][0] == "answer", events[-1]
        assert events[-1][1]["model"] == name
        said[name] = "".join(data["text"] for kind, data in events if kind == "delta")
    assert said[MODEL] != said[ADAPTER]


def test_the_openai_route_lists_and_takes_the_adapter(product: Any) -> None:
    def names() -> list[str]:
        return [one["id"] for one in product.http.get("/v1/models").json()["data"]]

    wait_until(lambda: ADAPTER in names(), seconds=90, what="the gateway has heard of the adapter")
    assert names() == ["quelea", MODEL, ADAPTER]
    asked = {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 16}
    for name in ("quelea", ADAPTER):
        reply = product.http.post("/v1/chat/completions", json={**asked, "model": name}, timeout=300)
        assert reply.status_code == 200, reply.text
        assert reply.json()["quelea"]["model"] == (ADAPTER if name == ADAPTER else MODEL)
        assert 0 < reply.json()["usage"]["completion_tokens"] <= 16
    reply = product.http.post("/v1/chat/completions", json={**asked, "model": "no-such-model"})
    assert reply.status_code == 404
    assert ADAPTER in reply.json()["error"]["message"]


def test_a_question_longer_than_the_models_context_is_refused(product: Any) -> None:
    question = "三星的智能手机出货量、市场份额、营业费用与现金流量分别是多少，并与其他公司相比较？" * 80
    reply = product.http.post("/v1/ask", json={"question": question}, timeout=300)
    assert reply.status_code == 413, reply.text
    details = reply.json()["error"]["details"]
    assert int(details["prompt_tokens"]) > int(details["context_tokens"]) == 2048


def test_a_model_that_is_not_served_is_named(product: Any) -> None:
    reply = product.http.post("/v1/ask", json={"question": QUESTION, "model": "no-such-model"})
    assert reply.status_code == 404
    assert "model" in reply.json()["error"]["message"]


def test_callers_that_leave_free_the_engine(product: Any, engine: Any, idle: Any) -> None:
    written = engine.metric("vllm:generation_tokens_total")
    with contextlib.ExitStack() as left:
        for _ in range(4):
            events = left.enter_context(_stream(product))
            next(name for name, _ in events if name == "delta")
        assert engine.metric("vllm:num_requests_running") > 0
    wait_until(idle, seconds=10, what="the engine's requests have been cancelled")
    assert engine.metric("vllm:generation_tokens_total") - written < 4 * LONGEST, "they were not written to their ends"


@pytest.mark.slow(reason="a vLLM takes a minute to start on the CPU")
async def test_an_engine_that_is_killed_under_load_and_comes_back(product: Any, engine: Any) -> None:
    """Behind the gateway, answers end in an error with their evidence; a generator that may wait long writes its own.

    One start of an engine shows both.
    """
    async with reading(engine, comeback_seconds=600.0, circuit_seconds=1.0) as patient:
        with ThreadPoolExecutor(16) as pool:
            ends = [pool.submit(_last, product) for _ in range(16)]
            working = "vllm:num_requests_running"
            await wait_until_async(lambda: engine.metric(working) > 0, seconds=60, what="the engine works")
            engine.kill()
            waiting = asyncio.create_task(answered(patient, task(passages=3)))
            async with asyncio.timeout(400):
                found = await asyncio.gather(*map(asyncio.wrap_future, ends))
        assert {name for name, _ in found} <= {"answer", "error"}
        errors = [data["error"] for name, data in found if name == "error"]
        assert errors
        for error in errors:
            assert error["code"] in ("UNAVAILABLE", "DEADLINE_EXCEEDED")
            assert error["details"]["evidence"]
        away = "the gateway says that its reader is away"
        await wait_until_async(lambda: _ready(product) is False, seconds=60, what=away)
        assert not waiting.done()
        engine.start()
        text, finished = await asyncio.wait_for(waiting, 700)
        assert text
        assert finished.model == MODEL
    await asyncio.to_thread(engine.until_ready)
    await wait_until_async(lambda: _ready(product) is True, seconds=60, what="the gateway is ready again")
    assert (await asyncio.to_thread(_last, product))[0] == "answer"


def _ready(product: Any) -> bool | None:
    try:
        return bool(product.http.get("/readyz").status_code == 200)
    except httpx2.HTTPError:
        return None
