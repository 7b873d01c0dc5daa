"""A real language model on llama.cpp, run by `quelea up --reader llama`: the product as a laptop has it."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import psutil
import pytest
from support.stack import Stack

QUESTION = "What was Harrow Lines' operating income in the three months ended June 30, 2021?"
pytestmark = pytest.mark.slow(reason="a language model writes, on the CPU")


def test_the_model_writes_a_cited_answer(product: Stack) -> None:
    answer = product.ask(QUESTION)
    assert answer["reader"] == "openai"
    assert not answer["declined"]
    assert "77" in answer["answer"], answer
    assert "no language model" not in answer["answer"]
    quotes = [one["quote"] for one in answer["citations"]]
    assert any("$77 million" in quote for quote in quotes)


def test_quotes_come_before_the_model_has_written(product: Stack) -> None:
    """The first sentence of a small model is held until it is known whether its figure stands."""
    body = {"question": QUESTION, "stream": True}
    with product.http.stream("POST", "/v1/ask", json=body) as reply:
        events = [line.removeprefix("event: ") for line in reply.iter_lines() if line.startswith("event: ")]
    assert events.index("quotes") < events.index("delta") < events.index("answer")


def test_a_schema_is_enforced_by_grammar(product: Stack) -> None:
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["yes", "no"]}, "pages": {"type": "integer"}},
        "required": ["verdict", "pages"],
        "additionalProperties": False,
    }
    written = complete(product, "Write a poem about ships.", schema)
    found = json.loads(written)
    assert set(found) == {"verdict", "pages"}
    assert found["verdict"] in {"yes", "no"}


def test_nobody_else_on_this_machine_may_use_it(product: Stack) -> None:
    body = {"messages": [{"role": "user", "content": "1"}], "max_tokens": 1}
    refused = httpx2.post(
        f"{engine_of(product)['QUELEA_GENERATOR_ENDPOINT']}/chat/completions", json=body, trust_env=False, timeout=30
    )
    assert refused.status_code == 401


def test_killed_it_comes_back_and_answers(product: Stack) -> None:
    before = product.kill("engine")
    product.wait_until(lambda: product.is_back("engine", before), 120, "another engine")
    answer: dict[str, Any] = {}

    def answered() -> bool:
        reply = product.http.post("/v1/ask", json={"question": QUESTION})
        if reply.status_code == 200:
            answer.update(reply.json())
        return bool(answer)

    product.wait_until(answered, 180, "an answer of the new engine")
    assert "77" in answer["answer"], answer


def complete(stack: Stack, prompt: str, schema: dict[str, Any]) -> str:
    """A plain completion under a schema, at the engine as the generator asks it."""
    generator = engine_of(stack)
    body = {
        "model": generator["QUELEA_GENERATOR_MODEL"],
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": 60,
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}},
    }
    key = {"Authorization": f"Bearer {generator['QUELEA_GENERATOR_API_KEY']}"}
    address = f"{generator['QUELEA_GENERATOR_ENDPOINT']}/chat/completions"
    reply = httpx2.post(address, json=body, headers=key, trust_env=False, timeout=120)
    return str(reply.raise_for_status().json()["choices"][0]["message"]["content"])


def engine_of(stack: Stack) -> dict[str, str]:
    """Address, model and key of the engine, as the generator was told."""
    return psutil.Process(stack.pids["generator"]).environ()
