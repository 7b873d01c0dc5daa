"""A real generator on an endpoint that lies, babbles, breaks off or never stops: what the gateway's callers get."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from quelea_gateway.core.review import answer_review
from quelea_gateway.testing import Stand
from quelea_kit.testing import wait_until_async
from support.hostile_model import QUESTION, chunk

CHINESE = "织羽股份前三季度的营业收入是多少？"
REFUSAL = {
    QUESTION: "Unable to answer the question based on the information provided",
    CHINESE: "根据已知信息无法回答该问题",
}


async def post(desk: Stand, question: str = QUESTION, **more: Any) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=desk.url, trust_env=False, timeout=60) as client:
        return await client.post("/v1/ask", json={"question": question, **more})


async def ask(desk: Stand, question: str = QUESTION, **more: Any) -> Any:
    response = await post(desk, question, **more)
    assert response.status_code == 200, response.text
    return response.json()


GARBAGE = {
    "letters": "qwer asdf zxcv uiop hjkl bnmv tyui [1]",
    "one word again and again": "banana " * 400,
    "control characters": "\x00\x01\x02 \ufffd \u202e\u200b\u200b" * 20,
    "half of JSON": '{"answer": "the total net {"nested": [[[["',
    "tokens of a template": "<|im_start|>assistant <|im_end|> <|im_start|> </s> </s> [/INST]",
    "markers alone": "[1][2][3][4][5]",
    "figures alone": "918,273 645,546 [1] 372,819 [2] 777,777 [3]",
    "another subject": "The penguin colonies of Antarctica sleep quietly beneath glittering auroras every winter.",
}


@pytest.mark.parametrize("question", [QUESTION, CHINESE])
@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
async def test_garbage_is_declined_clearly(desk: Stand, model: Any, garbage: str, question: str) -> None:
    model.says = garbage
    answer = await ask(desk, question)
    assert (bool(answer["declined"]), answer["answer"]) == (True, REFUSAL[question])
    assert answer["citations"] == []
    assert answer["further_reading"]
    assert answer["notices"]


async def test_invented_markers_and_wrong_figures(desk: Stand, model: Any) -> None:
    model.says = (
        "Total net sales were $81,797 million [1]. Net income was $19,818 million【1】. "
        "Services were 21,213 million [42].\nSee `cell[7]`."
    )
    answer = await ask(desk)
    assert "[42]" not in answer["answer"]
    assert "`cell[7]`" in answer["answer"]
    assert [c["number"] for c in answer["citations"]] == [1, 1]
    verdicts = {figure["text"]: figure["verdict"] for figure in answer["grounding"]["figures"]}
    assert verdicts["$81,797 million"] == "supported"
    assert verdicts["$19,818 million"] == "contradicted"
    strict = await ask(desk, strict=True)
    assert "19,818" not in strict["answer"]
    assert "81,797" in strict["answer"]


@pytest.mark.parametrize(("said", "true"), [("81,797", True), ("81,977", False), ("18,797", False), ("71,797", False)])
async def test_a_figure_off_by_a_digit_is_caught(desk: Stand, model: Any, said: str, true: bool) -> None:
    model.says = f"Total net sales were ${said} million in the three months ended July 1, 2023 [1]."
    answer = await ask(desk, strict=True)
    assert bool(answer["declined"]) is not true
    assert (said in answer["answer"]) is true


@pytest.mark.parametrize("strict", [True, False])
async def test_a_model_that_never_stops_is_cut_and_let_go(
    desk: Stand, model: Any, strict: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_review, "MOST_CHARACTERS", 2_000)
    model.endless = True
    answer = await ask(desk, strict=strict)
    assert len(answer["answer"]) <= 2_200
    assert any("length" in notice for notice in answer["notices"])
    await wait_until_async(lambda: model.open == 0, what="the model was let go")


@pytest.mark.parametrize(
    "parts",
    [
        [chunk("Total net sales "), b'data: {"choices": [{"index": 0, "delta": {"con'],
        [chunk("Total net sales were"), b"data: {not json\n\n"],
        [b"<html><body>502 Bad Gateway</body></html>"],
    ],
    ids=["ends in JSON", "no JSON", "HTML"],
)
async def test_a_broken_stream_is_an_error_with_the_evidence(desk: Stand, model: Any, parts: list[bytes]) -> None:
    model.parts = parts
    response = await post(desk)
    assert response.status_code == 503, response.text
    error = response.json()["error"]
    assert error["details"]["evidence"]
    assert "generator" in error["message"] or "model" in error["message"].lower()


async def test_a_model_that_answers_in_the_other_language(desk: Stand, model: Any) -> None:
    model.says = "Operating revenue for the first three quarters was 1.236 billion yuan, up 18.4% [1]."
    answer = await ask(desk, CHINESE)
    assert "回答所用的语言与问题不同。" in answer["notices"]
    assert answer["language"] == "zh"


async def test_a_model_that_declines_in_the_wrong_language_or_with_more_words(desk: Stand, model: Any) -> None:
    model.says = f"Sales were 5 billion. {REFUSAL[QUESTION]}."
    for question in (QUESTION, CHINESE):
        answer = await ask(desk, question)
        assert (bool(answer["declined"]), answer["answer"]) == (True, REFUSAL[question])
