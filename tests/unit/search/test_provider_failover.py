"""The order of providers, the circuit breaker, and which results are read."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
from quelea_kit.testing import wait_until_async
from quelea_search.adapters.providers.fake import FakeProvider
from quelea_search.core.web.candidates import line_up
from quelea_search.core.web.failover import AllFailed, Breaker, Failover, ProviderError
from quelea_search.core.web.model import Result
from quelea_search.core.web.query import web_query

QUERY = web_query("Apple", count=10, today=date(2023, 11, 1))
PAGE = Result("https://a.example.com/")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Budget:
    """Refuses the providers that it is told to."""

    def __init__(self, **waits: float) -> None:
        self.waits = waits
        self.taken: list[str] = []

    async def take(self, provider: str) -> float | None:
        self.taken.append(provider)
        return self.waits.get(provider)


def error(reason: str = "STATUS", retry_after: float | None = None) -> ProviderError:
    return ProviderError(reason, "it failed", retry_after=retry_after)


class Setup:
    def __init__(self, *providers: FakeProvider, budget: Budget | None = None, call_seconds: float = 5.0) -> None:
        self.clock = Clock()
        self.budget = budget or Budget()
        self.counted: list[tuple[str, str]] = []
        self.failover = Failover(
            providers,
            self.budget,
            failures=2,
            rest_seconds=60.0,
            call_seconds=call_seconds,
            clock=self.clock,
            count=lambda provider, outcome: self.counted.append((provider, outcome)),
        )

    async def search(self, seconds: float = 10.0):
        return await self.failover.search(QUERY, seconds)


async def test_the_first_that_answers_is_taken() -> None:
    first, second, third = (FakeProvider(name, [PAGE]) for name in ("one", "two", "three"))
    first.failures = [error("TIMEOUT")]
    setup = Setup(first, second, third)
    results, problems = await setup.search()
    assert (results.provider, results.items, results.cached) == ("two", (PAGE,), False)
    assert [(p.where, p.reason) for p in problems] == [("one", "TIMEOUT")]
    assert not third.queries
    assert setup.counted == [("one", "timeout"), ("two", "ok")]


async def test_an_empty_list_is_an_answer() -> None:
    first, second = FakeProvider("one"), FakeProvider("two", [PAGE])
    results, problems = await Setup(first, second).search()
    assert (results.provider, results.items, problems) == ("one", (), [])
    assert not second.queries


async def test_all_failed_names_each() -> None:
    first, second = FakeProvider("one"), FakeProvider("two")
    first.failures, second.failures = [error("STATUS")], [error("NOT_JSON")]
    with pytest.raises(AllFailed) as caught:
        await Setup(first, second).search()
    assert [(p.where, p.reason) for p in caught.value.problems] == [("one", "STATUS"), ("two", "NOT_JSON")]
    assert "one" in str(caught.value)
    assert "two" in str(caught.value)


async def test_a_used_up_budget_passes_on_and_is_no_failure() -> None:
    first, second = FakeProvider("one", [PAGE]), FakeProvider("two", [PAGE])
    setup = Setup(first, second, budget=Budget(one=12.0))
    for _ in range(5):
        results, problems = await setup.search()
        assert results.provider == "two"
        assert [(p.where, p.reason) for p in problems] == [("one", "BUDGET")]
    assert not first.queries
    setup.budget.waits.clear()
    assert (await setup.search())[0].provider == "one"


async def test_the_breaker_opens_rests_tries_and_closes() -> None:
    first, second = FakeProvider("one", [PAGE]), FakeProvider("two", [PAGE])
    setup = Setup(first, second)
    first.failures = [error(), error(), error()]
    for _ in range(2):
        assert (await setup.search())[0].provider == "two"
    assert len(first.queries) == 2
    _, problems = await setup.search()
    assert [p.reason for p in problems] == ["RESTING"]
    assert len(first.queries) == 2
    assert setup.budget.taken.count("one") == 2, "who rests costs no budget"
    setup.clock.now += 61
    assert (await setup.search())[0].provider == "two"  # the one try fails: it rests again
    assert len(first.queries) == 3
    assert [p.reason for p in (await setup.search())[1]] == ["RESTING"]
    setup.clock.now += 61
    assert (await setup.search())[0].provider == "one"
    assert setup.failover.breakers["one"].closed


async def test_retry_after_is_heeded_at_once_and_bounded() -> None:
    first, second = FakeProvider("one", [PAGE]), FakeProvider("two", [PAGE])
    setup = Setup(first, second)
    first.failures = [error("RATE_LIMITED", 30.0), error("RATE_LIMITED", 1e9)]
    await setup.search()
    setup.clock.now += 29
    assert [p.reason for p in (await setup.search())[1]] == ["RESTING"]
    setup.clock.now += 2
    assert [p.reason for p in (await setup.search())[1]] == ["RATE_LIMITED"]
    setup.clock.now += 901
    assert (await setup.search())[0].provider == "one"


async def test_one_that_hangs_costs_its_deadline_and_the_whole_call_no_more_than_its_own() -> None:
    first, second = FakeProvider("one", [PAGE]), FakeProvider("two", [PAGE])
    first.gate.clear()
    results, problems = await Setup(first, second, call_seconds=0.05).search()
    assert results.provider == "two"
    assert [p.reason for p in problems] == ["TIMEOUT"]
    with pytest.raises(AllFailed) as caught:
        await Setup(first, second).search(seconds=0.0)
    assert [p.reason for p in caught.value.problems] == ["TIMEOUT", "TIMEOUT"]


async def test_a_caller_who_leaves_says_nothing_about_the_provider() -> None:
    first = FakeProvider("one", [PAGE])
    setup = Setup(first)
    first.gate.clear()
    for _ in range(5):
        task = asyncio.create_task(setup.search())
        before = len(first.queries)
        await wait_until_async(lambda before=before: len(first.queries) > before)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    first.gate.set()
    assert (await setup.search())[0].provider == "one"


async def test_only_one_caller_tries_a_provider_that_rested() -> None:
    first, second = FakeProvider("one", [PAGE]), FakeProvider("two", [PAGE])
    setup = Setup(first, second)
    first.failures = [error(), error()]
    await setup.search()
    await setup.search()
    setup.clock.now += 61
    first.gate.clear()
    trying = asyncio.create_task(setup.search())
    await wait_until_async(lambda: len(first.queries) == 3)
    assert (await setup.search())[0].provider == "two"
    trying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trying
    first.gate.set()
    assert (await setup.search())[0].provider == "one", "the try that was given up does not block the next"


def test_a_breaker_forgets_failures_that_a_success_followed() -> None:
    breaker = Breaker(2, 60.0, Clock())
    for _ in range(5):
        breaker.failed()
        breaker.succeeded()
    assert breaker.closed


# -- which results are read ----------------------------------------------------------------------------------------


def test_two_pages_of_a_host_come_before_any_third_and_each_page_once() -> None:
    urls = [
        "https://a.example.com/1",
        "https://a.example.com/2?utm_source=x",
        "https://a.example.com/3",
        "https://www.b.example.org/1",
        "https://a.example.com/2#part",
        "https://b.example.org/2",
        "https://b.example.org/3",
        "ftp://c.example.net/",
        "https://user@c.example.net/",
        "https://c.example.net/1",
    ]
    lined_up = line_up([Result(url) for url in urls])
    assert [c.canonical_url.removeprefix("https://") for c in lined_up] == [
        "a.example.com/1",
        "a.example.com/2",
        "www.b.example.org/1",
        "b.example.org/2",
        "c.example.net/1",
        "a.example.com/3",
        "b.example.org/3",
    ]
    assert [c.position for c in lined_up] == [0, 1, 3, 5, 9, 2, 6]
    only = line_up([Result(url) for url in urls], allowed=lambda c: not c.canonical_url.endswith("/1"))
    assert [c.canonical_url.removeprefix("https://") for c in only] == [
        "a.example.com/2",
        "a.example.com/3",
        "b.example.org/2",
        "b.example.org/3",
    ]
