"""Large checks: elsewhere, bounded, with a deadline, and not lost with their process."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal

import httpx2
import pytest
from quelea_checker import CheckPassage
from quelea_gateway.adapters import check_pool
from quelea_gateway.adapters.check_pool import CheckPool
from quelea_gateway.testing import standing
from quelea_kit.testing import wait_until_async

# As much evidence as is let in, and an answer that takes a second or two, so that these tests take no minutes.
ROWS = "\n".join(f"Row {n} of things\t{n * 7919 % 99991:,}\t{n * 104729 % 99991:,}" for n in range(10_500))
CHANGES = " ".join(f"The change of things was {n:,}.5 million." for n in range(1000, 1500))
LARGEST = {"answer": CHANGES[:2_000], "passages": [ROWS[:199_000]]}
LARGE = {"answer": CHANGES[:1_000], "passages": [ROWS[:60_000]]}
"""Large enough for another process; a fraction of the work."""
SMALL = {"answer": "Sales were 5 million.", "passages": ["Sales were 5 million."]}


@pytest.fixture
async def calls(monkeypatch):
    """The processes that checks were done in: this one's id for small ones; those of large ones are its children."""
    pids = []
    straight = check_pool.quelea_checker.check_answer
    monkeypatch.setattr(
        check_pool.quelea_checker, "check_answer", lambda *a, **k: pids.append(os.getpid()) or straight(*a, **k)
    )
    return pids


@pytest.fixture
async def patient():
    """Of a gateway that gives the largest check more than its usual half minute, for slow machines."""
    async with standing(check_seconds=300) as stand, client(stand) as web:
        yield web


def processes():
    return [child for child in multiprocessing.active_children() if child.is_alive()]


async def test_small_checks_stay_and_large_ones_go_elsewhere(patient, calls):
    assert (await patient.post("/v1/check", json=SMALL)).status_code == 200
    assert calls == [os.getpid()]
    found = (await patient.post("/v1/check", json=LARGEST)).raise_for_status().json()
    assert calls == [os.getpid()]
    assert len(found["figures"]) >= LARGEST["answer"].count(".5 million")


async def test_a_short_answer_of_many_numbers_goes_elsewhere(web, calls):
    answer = f"Margins were {', '.join(f'{i}.5%' for i in range(700))}."
    found = (await web.post("/v1/check", json={**SMALL, "answer": answer}, timeout=300)).raise_for_status().json()
    assert calls == []
    assert len(found["figures"]) == 700


async def test_both_say_the_same():
    answer = "Total sales were 81.8 billion, 1.4% less than a year before [1]. Costs were 5."
    passages = [CheckPassage("In millions\t2023\t2022\nTotal sales\t81,797\t82,959", published="2023-08-03")]
    here = CheckPool(processes=1, waiting=0, seconds=60)
    elsewhere = CheckPool(processes=1, waiting=0, seconds=60, small=0)
    try:
        reports = [await one.check(answer, passages, question="How did sales change?") for one in (here, elsewhere)]
        assert reports[0] == reports[1]
        assert {figure.verdict for figure in reports[0].figures} >= {"supported", "not_found"}
    finally:
        await asyncio.gather(here.close(), elsewhere.close())


async def test_the_gateway_answers_during_the_largest_check(patient):
    check = asyncio.create_task(patient.post("/v1/check", json=LARGEST))
    answered = 0
    while not check.done():
        assert (await patient.get("/healthz")).status_code == 200
        answered += 1
    assert (await check).status_code == 200
    assert answered > 2  # one at the most were it done by the loop that answers


async def test_a_killed_process_is_replaced_and_its_check_done():
    async with standing(check_processes=1, check_seconds=300) as stand, client(stand) as web:
        (await web.post("/v1/check", json=LARGE)).raise_for_status()
        (worker,) = processes()
        check = asyncio.create_task(web.post("/v1/check", json=LARGE))
        await wait_until_async(lambda: stand.gateway.check_pool._under_way["large"] == 1, what="the check is under way")
        os.kill(worker.pid, signal.SIGKILL)
        assert (await check).status_code == 200
        (other,) = processes()
        assert other.pid != worker.pid


async def test_a_check_that_takes_too_long_is_given_up():
    # Time enough for a small one on a slow machine, and far too little for four of the largest in one.
    async with standing(check_processes=1, check_seconds=1) as stand, client(stand) as web:
        response = await web.post("/v1/check", json={**LARGEST, "answer": CHANGES[:8_000]})
        assert (response.status_code, response.json()["error"]["code"]) == (504, "DEADLINE_EXCEEDED")
        for _ in range(30):  # a busy machine may be late for a small one as well
            if (reply := await web.post("/v1/check", json=SMALL)).status_code == 200:
                break
        assert reply.status_code == 200


async def test_more_checks_than_can_wait_are_refused_at_once():
    async with standing(check_processes=1, check_queue=1, check_seconds=300) as stand, client(stand) as web:
        waiting = [asyncio.create_task(web.post("/v1/check", json=LARGE)) for _ in range(2)]
        await wait_until_async(
            lambda: stand.gateway.check_pool._under_way["large"] == 2, what="one waits for the other"
        )
        refused = await web.post("/v1/check", json=LARGE)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        assert refused.json()["error"]["code"] == "OVERLOADED"
        assert (await web.post("/v1/check", json=SMALL)).status_code == 200  # small ones do not wait behind large ones
        assert {reply.status_code for reply in await asyncio.gather(*waiting)} == {200}


def client(stand):
    return httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=300)
