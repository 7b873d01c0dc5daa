"""Which search provider is asked, and when one that fails is left alone.

The package circuitbreaker is not used: its breaker counts a cancelled call as a success, lets every waiting caller try
at once when the rest is over, cannot be told "come back in 30 s" (Retry-After), and keeps a global table by name.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from quelea_search.core.web.model import Problem, Result, Results
from quelea_search.core.web.query import WebQuery

_LONGEST_REST = 900.0
"""However long a provider asks to be left alone, it is tried again after this many seconds."""

Clock = Callable[[], float]
Count = Callable[[str, str], None]
"""Told (provider, outcome) of every provider that was asked or passed over."""


class ProviderError(Exception):
    """A provider gave no list. Neither the message nor anything behind it holds a key or the address that was asked.

    Args:
        reason: "TIMEOUT", "RATE_LIMITED", "KEY_REFUSED", "STATUS", "NOT_JSON", "TOO_LARGE", "CONNECTION", ...
        message: One sentence for the operator.
        retry_after: Seconds for which it wants to be left alone.
    """

    def __init__(self, reason: str, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.retry_after = retry_after


class AllFailed(Exception):
    """No provider gave a list; the problems name each."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{problem.where}: {problem.message}" for problem in problems))
        self.problems = tuple(problems)


class Finder(Protocol):
    """What is asked: adapters/providers."""

    @property
    def name(self) -> str:
        """As in the setting web_providers."""

    async def search(self, query: WebQuery) -> list[Result]:
        """The list, best first. Raises ProviderError."""


class Budget(Protocol):
    """How often a provider may be asked: adapters/provider_budget.py."""

    async def take(self, provider: str) -> float | None:
        """Count one call. None: go ahead; else the seconds until there is room. Never raises."""


class Breaker:
    """Circuit breaker of one provider.

    Closed until so many failures in a row; then open for rest_seconds; then one caller may try, and decides.

    Args:
        failures: In a row, that open it.
        rest_seconds: How long it stays open.
        clock: Monotonic seconds.
    """

    def __init__(self, failures: int, rest_seconds: float, clock: Clock = time.monotonic) -> None:
        self._limit = failures
        self._rest_seconds = rest_seconds
        self._now = clock
        self._failures = 0
        self._open_until: float | None = None
        self._trying = False

    @property
    def closed(self) -> bool:
        """Whether calls simply go through."""
        return self._open_until is None

    def enter(self) -> float:
        """0.0 when the caller may call and must then say how it went; else the seconds to stay away."""
        if self._open_until is None:
            return 0.0
        left = self._open_until - self._now()
        if left > 0:
            return left
        if self._trying:
            return self._rest_seconds
        self._trying = True
        return 0.0

    def succeeded(self) -> None:
        """The call gave a list."""
        self._failures, self._open_until, self._trying = 0, None, False

    def failed(self, retry_after: float | None = None) -> None:
        """The call failed; retry_after opens at once."""
        self._failures += 1
        reopened, self._trying = self._trying, False
        if retry_after is not None:
            self._open_until = self._now() + min(max(retry_after, 0.0), _LONGEST_REST)
        elif reopened or self._failures >= self._limit:
            self._open_until = self._now() + self._rest_seconds

    def abandoned(self) -> None:
        """The caller left before the call ended: that says nothing about the provider."""
        self._trying = False


class Failover:
    """Providers in the order of the settings.

    Args:
        finders: In order.
        budget: Of calls.
        failures: See Breaker.
        rest_seconds: See Breaker.
        call_seconds: Deadline of one call.
        clock: Monotonic seconds.
        count: For the metrics.
    """

    def __init__(
        self,
        finders: Sequence[Finder],
        budget: Budget,
        *,
        failures: int,
        rest_seconds: float,
        call_seconds: float,
        clock: Clock = time.monotonic,
        count: Count = lambda _provider, _outcome: None,
    ) -> None:
        self._finders = tuple(finders)
        self._budget = budget
        self._call_seconds = call_seconds
        self._now = clock
        self._count = count
        self.breakers = {finder.name: Breaker(failures, rest_seconds, clock) for finder in finders}

    @property
    def names(self) -> tuple[str, ...]:
        """The providers, in order."""
        return tuple(finder.name for finder in self._finders)

    async def search(self, query: WebQuery, seconds: float) -> tuple[Results, list[Problem]]:
        """The first list that a provider gives within the time, and what went wrong before it.

        An empty list is an answer. Raises AllFailed.
        """
        end = self._now() + seconds
        problems: list[Problem] = []
        for finder in self._finders:
            left = end - self._now()
            if left <= 0:
                problems.append(self._skip(finder.name, "TIMEOUT", "there was no time left to ask it"))
                continue
            try:
                items = await self._ask(finder, query, min(left, self._call_seconds))
            except ProviderError as error:
                problems.append(Problem(finder.name, error.reason, error.message))
                continue
            return Results(finder.name, tuple(items), time.time()), problems
        raise AllFailed(problems)

    async def _ask(self, finder: Finder, query: WebQuery, seconds: float) -> list[Result]:
        breaker, name = self.breakers[finder.name], finder.name
        away = breaker.enter()
        if away:
            self._count(name, "resting")
            raise ProviderError("RESTING", f"it failed recently and is skipped for another {away:.0f} s")
        settled = False
        try:
            wait = await self._budget.take(name)
            if wait is not None:
                self._count(name, "over_budget")
                raise ProviderError("BUDGET", f"its call budget is used up for another {wait:.0f} s")
            try:
                async with asyncio.timeout(seconds):
                    items = await finder.search(query)
            except TimeoutError:
                raise ProviderError("TIMEOUT", f"it did not answer within {seconds:.1f} s") from None
        except ProviderError as error:
            if error.reason != "BUDGET":
                settled = True
                breaker.failed(error.retry_after)
                self._count(name, error.reason.lower())
            raise
        else:
            settled = True
            breaker.succeeded()
            self._count(name, "ok" if items else "empty")
            return items
        finally:
            if not settled:
                breaker.abandoned()

    def _skip(self, name: str, reason: str, message: str) -> Problem:
        self._count(name, "skipped")
        return Problem(name, reason, message)
