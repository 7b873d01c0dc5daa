"""What an endpoint's JSON says, read without trust: impossible numbers are none, text is what UTF-8 can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from quelea_generator.core.chat.chat_model import ChatPiece

_MOST_TOKENS = 100_000_000
"""Of a context or a count; what is larger is no count of tokens."""

_MOST_ADAPTERS = 100
"""Of one model that are told."""
_NAME_CHARS = 200
_DIGIT = re.compile(r"\d")
_BROKEN_OFF = ("abort", "error")
"""vLLM's reasons for an answer that is none."""


def read_token_count(value: object) -> int:
    """A count of tokens; 0 for what cannot be one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS else 0


def read_piece(chunk: Any) -> ChatPiece:
    """The piece of text in a chunk of a stream.

    Raises:
        AttributeError, LookupError, TypeError: It has another shape.
        ValueError: The engine says that it broke the answer off.
    """
    choices = chunk.get("choices")
    usage = chunk.get("usage")
    choice = choices[0] if choices else None
    delta = choice.get("delta") if choice else None
    text = (delta.get("content") if delta else None) or ""
    if not isinstance(text, str):
        raise TypeError("content is no text")
    finish = str(choice.get("finish_reason") or "")[:32] if choice else ""
    if finish in _BROKEN_OFF:
        raise ValueError(finish)
    counts = usage if isinstance(usage, dict) else {}
    return ChatPiece(
        text=text if text.isascii() else encodable(text),
        finish=finish,
        prompt_tokens=read_token_count(counts.get("prompt_tokens")),
        completion_tokens=read_token_count(counts.get("completion_tokens")),
        sureness=_read_sureness(choice.get("logprobs")) if choice else None,
    )


def _read_sureness(said: Any) -> float | None:
    """The lowest probability among tokens with a digit; None where there is none, or nothing is said."""
    tokens = (said.get("content") if said else None) or ()
    found = [one["logprob"] for one in tokens if _DIGIT.search(one["token"])]
    return math.exp(min(0.0, *found)) if found else None


def read_models(reply: Any, model: str) -> tuple[dict[str, int], tuple[str, ...]]:
    """What a list of models says: the context of each name (0 where unknown), and the adapters of a model.

    vLLM tells whose adapter a name is; of another endpoint's many models nobody knows which can answer. vLLM's
    `max_model_len` is llama.cpp's `meta.n_ctx`.

    Raises:
        AttributeError, LookupError, TypeError: It has another shape.
    """
    listed = {str(one["id"]): one for one in reply["data"]}
    own = listed.get(model, {})
    contexts = {name: _read_context(one) or _read_context(own) for name, one in listed.items()}
    base = own.get("parent") or model
    others = [name for name in listed if name != model and 0 < len(name) <= _NAME_CHARS and name.isprintable()]
    adapters = [name for name in others if name == base or listed[name].get("parent") == base]
    return contexts, tuple(adapters[:_MOST_ADAPTERS])


def read_running_context(reply: Any, model: str) -> int:
    """What Ollama says of the models in its memory: the context of this one; 0 where it is not among them.

    Raises:
        AttributeError, LookupError, TypeError: It has another shape.
    """
    names = (model, f"{model}:latest")
    return next((read_token_count(one.get("context_length")) for one in reply["models"] if one["name"] in names), 0)


def _read_context(listed: Mapping[str, Any]) -> int:
    return read_token_count(listed.get("max_model_len")) or read_token_count((listed.get("meta") or {}).get("n_ctx"))


def encodable(text: str) -> str:
    """JSON can say half of a character, and UTF-8 cannot: what no message could carry is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
