"""Who talks and judges in an arena: a chat model, or Quelea itself.

`MODEL@http://host:port/v1` is any OpenAI-compatible endpoint; `quelea@http://host:port`, without `/v1`, is
`POST /v1/ask` of a Quelea gateway. Both ways to a gateway retrieve; without retrieval: name its model where it is
served.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from quelea_evaluation.endpoints.chat import Chat, Message, Reply, Sampling, milliseconds_since
from quelea_evaluation.endpoints.client import Address, Client, EndpointError

QUELEA = "quelea"
SECONDS = 200.0


class Speaker(Protocol):
    """Whoever answers messages."""

    name: str

    async def reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The next message.

        Raises:
            EndpointError: It failed, after all tries.
        """

    async def close(self) -> None:
        """Give the connections back."""


class Quelea:
    """`POST /v1/ask` of a gateway: the last message is the question, earlier ones its history.

    A gateway takes no system message, so what the item tells the system is not sent in conversations.
    """

    def __init__(self, url: str, key: str = "", seconds: float = SECONDS) -> None:
        self.name = QUELEA
        self._client = Client(url, key, seconds)

    async def reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The answer's text, with its citations among the details; a declined question is answered so too."""
        del sampling  # a gateway chooses words by its own settings
        turns = [dict(m) for m in messages if m["role"] != "system"]
        begun = time.monotonic()
        answer, tries = await self._client.ask({"question": turns[-1]["content"], "history": turns[:-1]})
        if not answer["answer"].strip():
            raise EndpointError("the answer has no text in 'answer'", passing=False)
        citations = answer.get("citations")
        details = {
            "citations": len(citations) if isinstance(citations, list) else 0,
            **{name: answer[name] for name in ("route", "reader", "model", "declined") if answer.get(name)},
        }
        took = milliseconds_since(begun)
        return Reply(answer["answer"], None, took, tries, str(answer.get("reader", "")), details=details)

    async def close(self) -> None:
        """Give the connections back."""
        await self._client.close()


def connect(address: Address, key: str = "", *, max_tokens: int = 0, seconds: float = SECONDS) -> Speaker:
    """Whoever is at an address."""
    if address.model == QUELEA and not address.url.endswith("/v1"):
        return Quelea(address.url, key, seconds)
    return Chat(address.url, address.model, key, seconds, max_tokens=max_tokens)


@dataclass
class Usage:
    """The sum of all calls to one speaker."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted_calls: int = 0
    """Calls to endpoints that did not say what they used: the sums are too small by these."""

    def add(self, reply: Reply) -> None:
        """One call more."""
        self.calls += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.uncounted_calls += reply.tokens is None

    def line(self) -> dict[str, int]:
        """As it stands in a line of JSON."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "uncounted_calls": self.uncounted_calls,
        }


def describe(reply: Reply) -> dict[str, Any]:
    """One call, as it stands in a line of JSON."""
    finish = {"finish_reason": reply.finish_reason} if reply.finish_reason not in ("", "stop") else {}
    return {
        "milliseconds": reply.milliseconds,
        "tokens": list(reply.tokens) if reply.tokens else None,
        "tries": reply.tries,
        "model": reply.model,
        **finish,
        **reply.details,
    }
