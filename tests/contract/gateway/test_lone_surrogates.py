"""JSON can spell half of a surrogate pair, which no other wire can carry: every route says so, and none breaks."""

from __future__ import annotations

import pytest

HALF = "\\ud800"
ASK = '{"question": "What were net sales?"%s}'
BODIES = {
    "question": ("/v1/ask", '{"question": "What were H net sales?"}'),
    "history": ("/v1/ask", ASK % ', "history": [{"role": "user", "content": "H"}]'),
    "role": ("/v1/ask", ASK % ', "history": [{"role": "H", "content": "a"}]'),
    "as_of": ("/v1/ask", ASK % ', "as_of": "H"'),
    "model": ("/v1/ask", ASK % ', "model": "H"'),
    "companies": ("/v1/ask", ASK % ', "filters": {"companies": ["H"]}'),
    "unknown field": ("/v1/ask", ASK % ', "H": 1'),
    "streamed": ("/v1/ask", '{"question": "What were H net sales?", "stream": true}'),
    "query": ("/v1/search", '{"query": "H"}'),
    "answer": ("/v1/check", '{"answer": "Sales were H 5.", "passages": ["Sales were 5."]}'),
    "passage": ("/v1/check", '{"answer": "Sales were 5.", "passages": ["Sales were H 5."]}'),
    "document": ("/v1/check", '{"answer": "Sales were 5.", "passages": [{"text": "5", "document": "H"}]}'),
    "message": (
        "/v1/chat/completions",
        '{"model": "quelea", "messages": [{"role": "user", "content": "H net sales?"}]}',
    ),
    "part": (
        "/v1/chat/completions",
        '{"model": "quelea", "messages": [{"role": "user", "content": [{"type": "text", "text": "H net sales?"}]}]}',
    ),
    "stop": (
        "/v1/chat/completions",
        '{"model": "quelea", "stop": "H", "messages": [{"role": "user", "content": "a"}]}',
    ),
    "name of a model": ("/v1/chat/completions", '{"model": "H", "messages": [{"role": "user", "content": "a"}]}'),
    "run": ("/v1/agent/runs", '{"question": "H"}'),
}


@pytest.mark.parametrize("name", BODIES)
async def test_half_a_surrogate_pair_is_the_callers_fault(web, name: str) -> None:
    path, body = BODIES[name]
    reply = await web.post(path, content=body.replace("H", HALF).encode(), headers={"content-type": "application/json"})
    assert 400 <= reply.status_code < 500, reply.text
    assert reply.json()["error"]["message"]


async def test_a_whole_pair_is_a_character(web) -> None:
    body = '{"question": "What were Apple\'s total net sales \\ud83d\\ude42?"}'
    reply = await web.post("/v1/ask", content=body.encode(), headers={"content-type": "application/json"})
    assert reply.status_code == 200


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/search", "/v1/chat/completions", "/v1/check"])
async def test_the_length_after_normalising_counts(web, path: str) -> None:
    text = "ﷺ" * 3900
    body = {
        "/v1/ask": {"question": text},
        "/v1/search": {"query": text},
        "/v1/chat/completions": {"model": "quelea", "messages": [{"role": "user", "content": text}]},
        "/v1/check": {"answer": text, "passages": ["a"]},
    }[path]
    reply = await web.post(path, json=body)
    assert reply.status_code == 413, reply.text
    assert "70,200 characters after Unicode normalisation" in reply.json()["error"]["message"]
