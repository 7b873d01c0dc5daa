"""Useful pages are told in the background: bounded, with a deadline, and no error of it reaches an answer."""

import asyncio

import pytest
from quelea_gateway.core.model import Kept
from quelea_gateway.core.web.model import KeepOrder, Useful
from quelea_gateway.core.web.useful_page_reporter import UsefulPageReporter
from quelea_kit.errors import Unavailable

ORDER = KeepOrder("q", "searxng", (Useful("d", "https://x.test/", 0.9),))
KEPT = (Kept("https://x.test/", "kept", "j1"),)


def reporter(keep, *, seconds=60.0, most=4):
    reports = []
    return UsefulPageReporter(keep, seconds=seconds, most=most, report=lambda *said: reports.append(said)), reports


async def test_what_became_of_the_pages_arrives():
    async def keep(order):
        return KEPT

    made, reports = reporter(keep)
    assert await asyncio.wait_for(made.send(ORDER), 60) == KEPT
    await made.close(60)
    assert reports == [(ORDER, KEPT, "")]


@pytest.mark.parametrize("error", [Unavailable("away"), ValueError("broken")], ids=["ours", "any"])
async def test_an_error_is_reported_and_the_next_order_goes_on(error):
    failures = [error]

    async def keep(order):
        if failures:
            raise failures.pop()
        return KEPT

    made, reports = reporter(keep)
    assert await asyncio.wait_for(made.send(ORDER), 60) == ()
    assert await asyncio.wait_for(made.send(ORDER), 60) == KEPT
    await made.close(60)
    assert str(error) in reports[0][2]
    assert reports[1][2] == ""


async def test_a_call_that_hangs_has_a_deadline():
    async def keep(order):
        await asyncio.sleep(3600)

    made, reports = reporter(keep, seconds=0.02)
    assert await asyncio.wait_for(made.send(ORDER), 60) == ()
    await made.close(60)
    assert "no answer in 0.02 s" in reports[0][2]


async def test_the_queue_is_bounded_and_what_is_dropped_is_reported():
    go = asyncio.Event()

    async def keep(order):
        await go.wait()
        return KEPT

    made, reports = reporter(keep, most=3)
    sent = [made.send(ORDER) for _ in range(5)]  # nothing of it has run yet: three wait, two do not fit
    assert [one is None for one in sent] == [False, False, False, True, True]
    assert len(reports) == 2
    go.set()
    assert await asyncio.wait_for(asyncio.gather(*sent[:3]), 60) == [KEPT] * 3
    await made.close(60)


async def test_closing_waits_a_moment_and_takes_no_more():
    async def keep(order):
        await asyncio.sleep(3600)

    made, _ = reporter(keep, seconds=3600)
    made.send(ORDER)
    await asyncio.wait_for(made.close(0.01), 60)
    assert made.send(ORDER) is None
