"""One replica of the engine as the pool sees it: what it has to do for us, and whether it works."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

from quelea_kit.errors import DeadlineExceeded, Overloaded, QueleaError, Unavailable

from quelea_generator.core.chat.chat_model import ChatEndpoint
from quelea_generator.core.chat.routing import Load

_FRESH_SECONDS = 5.0
"""An engine whose text is not older than this works: nobody needs to ask it."""
_LONGEST_REFUSAL = 5.0
"""An engine that says 429 is asked again after its Retry-After, at the latest after this."""


class Endpoint(ChatEndpoint, Protocol):
    """What an engine is reached through: OpenAIEndpoint."""

    name: str

    async def probe(self) -> None:
        """Raise a QueleaError unless a completion of one token comes back. Dear."""
        ...


@dataclass(slots=True, eq=False)
class Engine:
    """A replica.

    Attributes:
        endpoint: Where it is.
        slots: Most requests in flight.
        stall_seconds: Longest silence that is no failure.
        up: A one-token completion has come back, and nothing has failed since.
        in_flight: Requests that it works on for us.
        outstanding: Tokens of them that are still to be read or written, estimated.
        trouble: Why it is not up.
        strikes: Failures since an answer last came to its end.
        down_since: When it last stopped being up, seconds of time.monotonic().
    """

    endpoint: Endpoint
    slots: int
    stall_seconds: float
    up: bool = False
    in_flight: int = 0
    outstanding: int = 0
    trouble: QueleaError = field(default_factory=lambda: Unavailable("It has not completed a test request yet."))
    down_since: float = field(default_factory=time.monotonic)
    strikes: int = 0
    refuses_until: float = 0.0
    last_text: float = float("-inf")

    @property
    def name(self) -> str:
        """Its address."""
        return self.endpoint.name

    @property
    def load(self) -> Load:
        """What routing looks at."""
        return Load(self.name, self.outstanding, self.in_flight, self.slots if self.takes else self.in_flight)

    @property
    def takes(self) -> bool:
        """It may be asked now."""
        return self.up and self.in_flight < self.slots and time.monotonic() >= self.refuses_until

    def refuse(self, error: Overloaded) -> float:
        """It said 429. Returns for how many seconds it is left alone: it works, and it is full."""
        seconds = min(_LONGEST_REFUSAL, error.retry_after or 1.0)
        self.refuses_until = time.monotonic() + seconds
        return seconds

    def is_failure(self, error: QueleaError) -> bool:
        """Whether an answer's error says something about the engine, and not about the request or how busy it is."""
        if isinstance(error, DeadlineExceeded):  # silence for one answer, while others get their text, is a full batch
            return time.monotonic() - self.last_text > self.stall_seconds
        return isinstance(error, Unavailable)

    def fail(self, error: QueleaError) -> bool:
        """It is left alone until a completion has come back. Returns whether it was up until now."""
        was_up = self.up
        if was_up:
            self.up, self.down_since = False, time.monotonic()
            self.strikes += 1
        self.trouble = error
        return was_up

    async def trouble_now(self) -> QueleaError | None:
        """Cheaply, why an engine that is up does not answer now. A full one that is slow to say so is still up."""
        if time.monotonic() - self.last_text < _FRESH_SECONDS:
            return None
        try:
            await self.endpoint.check()
        except Overloaded:
            return None
        except DeadlineExceeded as error:
            return None if self.in_flight else error
        except QueleaError as error:
            return error
        return None
