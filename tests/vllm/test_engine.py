"""The engine alone: what the generator relies on is really there."""

from __future__ import annotations

import json
from typing import Any

from support.engine import ADAPTER, MODEL


def _chat(engine: Any, model: str, text: str, **more: Any) -> str:
    body = {"model": model, "messages": [{"role": "user", "content": text}], "temperature": 0, **more}
    reply = engine.http.post("/v1/chat/completions", json=body)
    assert reply.status_code == 200, reply.text
    return str(reply.json()["choices"][0]["message"]["content"])


def test_it_lists_the_model_and_its_adapter(engine: Any) -> None:
    names = {one["id"] for one in engine.http.get("/v1/models").json()["data"]}
    assert names == {MODEL, ADAPTER}


def test_an_adapter_is_chosen_by_model_name(engine: Any) -> None:
    question = "Write one sentence about net sales."
    assert _chat(engine, MODEL, question, max_tokens=24) != _chat(engine, ADAPTER, question, max_tokens=24)


def test_structured_output_follows_its_schema(engine: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"action": {"enum": ["search", "finish"]}, "step": {"enum": [1, 2, 3]}},
        "required": ["action", "step"],
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "action", "schema": schema, "strict": True}}
    answer = json.loads(_chat(engine, MODEL, "What next?", max_tokens=60, response_format=wanted))
    assert set(answer) == {"action", "step"}
    assert answer["action"] in ("search", "finish")
    assert answer["step"] in (1, 2, 3)


def test_it_counts_tokens_with_the_models_own_tokenizer(engine: Any) -> None:
    counted = engine.http.post("/tokenize", json={"model": MODEL, "prompt": "Net sales were 81,797 million."}).json()
    assert counted["count"] == len(counted["tokens"]) > 5
    assert counted["max_model_len"] == 2048


def test_a_shared_beginning_is_cached(engine: Any) -> None:
    beginning = "Net sales by segment, in millions, three months ended July 1, 2023. " * 40
    before = engine.metric("vllm:prefix_cache_hits_total")
    for question in ("First?", "Second?"):
        _chat(engine, MODEL, beginning + question, max_tokens=1)
    assert engine.metric("vllm:prefix_cache_hits_total") > before
