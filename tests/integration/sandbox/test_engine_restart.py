"""The engine is killed and restarted under load: an engine of this test's own, beside the machine's."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator

import pytest
from quelea_kit.errors import Overloaded, Unavailable
from quelea_kit.testing import wait_until_async
from support.own_engine import OwnEngine, containers, own_engine_with_image
from support.sandbox import docker_sandbox

pytestmark = pytest.mark.usefixtures("engine")

FOREVER = "print('begun')\nimport time\nwhile True: time.sleep(0.1)"


@pytest.fixture(scope="module")
def own_engine(engine: None) -> Iterator[OwnEngine]:
    with own_engine_with_image() as own:
        yield own


async def test_runs_end_with_engine_and_the_pool_comes_back(own_engine: OwnEngine) -> None:
    async with docker_sandbox(
        preload="", docker_host=own_engine.address, max_containers=4, max_warm=3, engine_seconds=10, check_seconds=0.5
    ) as client:
        running = [await client.begin(FOREVER) for _ in range(3)]
        waiting = [asyncio.create_task(client.run(f"print({n})", timeout=110)) for n in range(6)]
        await asyncio.sleep(0.5)

        await asyncio.to_thread(own_engine.kill)
        ended = await asyncio.gather(*running)
        assert [one.reason for one in ended] == ["ENGINE"] * 3, [one.finished for one in ended]
        assert all(one.text == "begun\n" for one in ended)
        await wait_until_async(lambda: bool(client.service.pool.down))
        with pytest.raises(Unavailable) as refused:
            await client.run("print(1)")
        assert refused.value.retry_after

        await asyncio.to_thread(own_engine.start)
        await client.until_ready()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(clean(one) for one in results), results
        assert (await client.run("print('again')")).text == "again\n"
        await wait_until_async(lambda: containers(own_engine) <= 4, what="no leftovers of the old engine")
    assert containers(own_engine) == 0


async def test_an_engine_that_hangs_does_not_stop_the_clock(own_engine: OwnEngine) -> None:
    async with docker_sandbox(
        preload="", docker_host=own_engine.address, engine_seconds=3, check_seconds=0.5, min_warm=1
    ) as client:
        run = asyncio.create_task(client.run(FOREVER, timeout=110, limits={"wall_seconds": 4}))
        await wait_until_async(lambda: client.service.pool.counts.running == 1)
        assert own_engine.process is not None
        os.kill(own_engine.process.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            ran = await run
            assert ran.reason == "TIMEOUT" and time.monotonic() - began < 20
            await wait_until_async(lambda: bool(client.service.pool.down))
        finally:
            os.kill(own_engine.process.pid, signal.SIGCONT)
        await client.until_ready()
        assert (await client.run("print('again')")).text == "again\n"
    assert containers(own_engine) == 0


def clean(result: object) -> bool:
    """An answer, a refusal, or the word that the engine failed."""
    if isinstance(result, BaseException):
        return isinstance(result, Overloaded | Unavailable)
    return getattr(result, "reason", "") in ("OK", "ENGINE")
