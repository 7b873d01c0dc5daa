"""What calls took, added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quelea_evaluation.arena.endpoints import Reply


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
        if reply.tokens is None:
            self.uncounted_calls += 1
        else:
            self.prompt_tokens += reply.tokens[0]
            self.completion_tokens += reply.tokens[1]

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
    return {
        "milliseconds": reply.milliseconds,
        "tokens": list(reply.tokens) if reply.tokens else None,
        "tries": reply.tries,
        "model": reply.model,
        **reply.details,
    }
