"""What an endpoint says of its tokens' probabilities."""

import math
from typing import Any

import pytest
from quelea_generator.adapters.chunks import read_piece
from quelea_generator.adapters.request_body import request_body
from quelea_generator.core.chat.chat_model import ChatRequest
from quelea_generator.core.chat.prompt import Message


def chunk(*tokens: tuple[str, float]) -> dict[str, Any]:
    content = [{"token": token, "logprob": logprob} for token, logprob in tokens]
    text = "".join(token for token, _ in tokens)
    return {"choices": [{"delta": {"content": text}, "logprobs": {"content": content}}]}


def test_the_least_sure_digit_counts_and_words_do_not() -> None:
    piece = read_piece(chunk(("was ", -3.0), ("81", math.log(0.9)), (",7", math.log(0.6))))
    assert piece.sureness == pytest.approx(0.6)
    assert read_piece(chunk(("was ", -3.0))).sureness is None
    assert read_piece({"choices": [{"delta": {"content": "81"}, "logprobs": None}]}).sureness is None


def test_no_digit_is_more_than_certain() -> None:
    assert read_piece(chunk(("81", 0.5))).sureness == 1.0


@pytest.mark.parametrize(
    "content", [[{"token": "8"}], [{"token": 8, "logprob": 0}], "8", [{"token": "8", "logprob": "x"}]]
)
def test_another_shape_is_refused(content: Any) -> None:
    with pytest.raises((AttributeError, LookupError, TypeError)):
        read_piece({"choices": [{"delta": {"content": "8"}, "logprobs": {"content": content}}]})


def test_they_are_asked_for_only_where_they_are_wanted() -> None:
    asked = ChatRequest((Message("user", "?"),), "m", 10, sureness=True)
    assert request_body(asked)["logprobs"] is True
    assert "logprobs" not in request_body(ChatRequest(asked.messages, "m", 10))
