"""The official client's parameters, through gateway and generator, on a real vLLM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import openai
import pytest
from pydantic import BaseModel
from support.engine import MODEL

pytestmark = pytest.mark.slow(reason="a language model writes, on the CPU")

QUESTION = "What were the net sales of Acme Corp. in the second quarter of 2023? Explain at length."


class Found(BaseModel):
    """What is wanted of an answer; nothing that a tiny model could write for ever."""

    company: Literal["Acme Corp.", "another company"]
    quarter: Literal[1, 2, 3, 4]


@pytest.fixture
def client(product: Any) -> Iterator[openai.OpenAI]:
    """One that waits long: the cores may have other work."""
    with openai.OpenAI(base_url=f"{product.url}/v1", api_key="unused", max_retries=0, timeout=600) as made:
        yield made


def _asked(**more: Any) -> Any:
    return {"model": "quelea", "messages": [{"role": "user", "content": QUESTION}], **more}


def test_json_that_fits_the_schema_or_a_refusal(client: openai.OpenAI) -> None:
    schema = {"name": "found", "schema": Found.model_json_schema(), "strict": True}
    done = client.chat.completions.create(**_asked(response_format={"type": "json_schema", "json_schema": schema}))
    choice = done.choices[0]
    own: Any = (done.model_extra or {})["quelea"]
    if own["declined"]:  # a tiny model's answer may fall at the checks
        assert choice.message.content is None
        assert choice.message.refusal
        return
    assert choice.message.refusal is None
    assert own["structured"]["model"] == MODEL
    assert done.usage is not None
    assert done.usage.completion_tokens > 10
    if choice.finish_reason == "length":  # it may find no end of white space; what was cut says so
        return
    assert Found.model_validate_json(choice.message.content or "").quarter in (1, 2, 3, 4)


def test_an_answer_ends_before_the_text_to_stop_at(client: openai.OpenAI) -> None:
    done = client.chat.completions.create(**_asked(stop=[" "], temperature=0.7, top_p=0.9, seed=7))
    assert done.usage is not None
    assert 0 < done.usage.completion_tokens < 10  # a word at most, whatever the checks then say of it
