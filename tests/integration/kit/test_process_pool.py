"""Processes for bytes of strangers: they hang, crash and eat memory without harm."""

from __future__ import annotations

import asyncio
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from quelea_kit.processes.process_pool import ProcessPool, WorkCrashed, WorkTimeout
from quelea_kit.testing import wait_until

# Backtracking without end, in C and with the interpreter held: no thread or signal handler of Python gets a turn.
HANG = (re.fullmatch, "(a+)+", "a" * 60 + "b")


@pytest.fixture
async def pool() -> AsyncIterator[ProcessPool]:
    pool = ProcessPool(2, memory_mb=1024, preload=[])
    await pool.warm()
    yield pool
    await pool.close()


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def test_work_is_done_elsewhere(pool) -> None:
    assert await pool.run(30.0, math.factorial, 20) == math.factorial(20)
    assert await pool.run(30.0, os.getpid) != os.getpid()
    with pytest.raises(ZeroDivisionError):
        await pool.run(30.0, divmod, 1, 0)


async def test_work_that_hangs_in_c_ends_and_nothing_else_is_lost(pool) -> None:
    began = time.monotonic()
    hung = asyncio.create_task(pool.run(1.0, *HANG))
    beats = 0
    while not hung.done():
        assert await pool.run(30.0, math.factorial, 5) == 120  # the other process goes on, and so does the server
        beats += 1
    with pytest.raises(WorkTimeout):
        await hung
    assert beats > 1
    assert time.monotonic() - began < 20
    assert await asyncio.gather(*(pool.run(30.0, math.factorial, 5) for _ in range(4))) == [120] * 4


async def test_a_patient_pool_counts_processor_time() -> None:
    pool = ProcessPool(1, memory_mb=0, preload=[], patience=600.0)
    try:
        await pool.warm()
        assert await pool.run(0.5, time.sleep, 1.0) is None  # waiting is no work
        with pytest.raises(WorkTimeout):
            await pool.run(0.5, *HANG)  # by the clock it would go on for minutes
        assert await pool.run(30.0, math.factorial, 5) == 120
    finally:
        await pool.close()


async def test_a_crash_is_told_from_a_time_out(pool) -> None:
    with pytest.raises(WorkCrashed):
        await pool.run(30.0, os._exit, 3)
    with pytest.raises(WorkCrashed):
        await pool.run(30.0, os.abort)
    assert await pool.run(30.0, math.factorial, 5) == 120


async def test_memory_has_a_limit(pool) -> None:
    with pytest.raises(MemoryError):
        await pool.run(30.0, bytearray, 4 * 2**30)
    assert await pool.run(30.0, math.factorial, 5) == 120


async def test_a_caller_who_leaves_gets_the_process_back_after_its_clock(pool) -> None:
    calls = [asyncio.create_task(pool.run(1.0, *HANG)) for _ in range(2)]
    await asyncio.sleep(0)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    async with asyncio.timeout(60):
        assert await pool.run(20.0, math.factorial, 5) == 120


async def test_processes_end_with_the_pool() -> None:
    pool = ProcessPool(1, memory_mb=0, preload=[])
    pid = await pool.run(30.0, os.getpid)
    assert alive(pid)
    await pool.close()
    wait_until(lambda: not alive(pid), what="the process has ended")


SCRIPT = """
import asyncio, os, time
from quelea_kit.processes.process_pool import ProcessPool

async def main():
    pool = ProcessPool(1, memory_mb=0, preload=[])
    print(await pool.run(30.0, os.getpid), flush=True)
    await pool.run(600.0, time.sleep, 600)

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_processes_end_when_the_server_is_killed(tmp_path) -> None:
    script = tmp_path / "server.py"
    script.write_text(SCRIPT)
    server = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    assert server.stdout is not None
    pid = int(server.stdout.readline())
    assert alive(pid)
    server.kill()
    server.wait(30)
    wait_until(lambda: not alive(pid), what="the process has ended")
