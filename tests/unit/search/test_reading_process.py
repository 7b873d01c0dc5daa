"""Reading processes: what they give back, what they may cost, how they end."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator

import pytest
from quelea_kit.testing import wait_until
from quelea_search.core.errors import CrashedReader, ReaderKilled, ReadTimeout, TooLarge, Unreadable
from quelea_search.jobs.reading_process import NurseryLost, Reading, ReadingBounds, Stopped

BOUNDS = ReadingBounds(seconds=30.0, seconds_per_mb=10.0, most_seconds=120.0, memory_mb=128)


@pytest.fixture
def reading() -> Iterator[Reading]:
    made = Reading(BOUNDS)
    yield made
    made.close()


def work(number: int, text: str = "") -> tuple[int, str]:
    return number + 1, text


def refuse() -> None:
    raise Unreadable("It is broken.", details={"page": "3"})


def fault() -> None:
    raise ZeroDivisionError("of the parser")


def hang() -> None:
    re.match(r"(a+)+$", "a" * 60 + "b")  # holds the interpreter


def sleep() -> None:
    signal.pause()


def fill() -> int:
    return len([bytearray(1 << 20) for _ in range(100_000)])


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def be_killed(mb: int = 0) -> None:
    held = b"x" * (mb << 20)
    os.kill(os.getpid(), signal.SIGKILL)
    assert held


def as_broken() -> None:
    held = []
    try:
        while True:
            held.append(b"x" * (1 << 20) + bytes([len(held) % 256]))
    except MemoryError:
        raise Unreadable("The library says that the file is broken.") from None


def lives_with(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_results_and_errors_come_back_as_they_are(reading: Reading) -> None:
    assert reading.run(0, work, 41, text="x" * 3_000_000) == (42, "x" * 3_000_000)
    with pytest.raises(Unreadable, match=r"It is broken\.") as refused:
        reading.run(0, refuse)
    assert refused.value.details == {"page": "3"}
    with pytest.raises(ZeroDivisionError, match="of the parser") as found:
        reading.run(0, fault)
    assert "in fault" in found.value.__notes__[0]
    assert reading.run(0, os.getpid) not in (os.getpid(), reading.run(0, os.getpid))


def test_a_file_has_processor_time_by_its_size() -> None:
    assert BOUNDS.processor_seconds(0) == 30.0
    assert BOUNDS.processor_seconds(2_000_000) == 50.0
    assert BOUNDS.processor_seconds(10**9) == 120.0


def test_more_processor_time_ends_it_whatever_it_does() -> None:
    reading = Reading(ReadingBounds(seconds=1, seconds_per_mb=0, most_seconds=120, memory_mb=0))
    with pytest.raises(ReadTimeout, match="longer than 1 s of processor time; split it"):
        reading.run(0, hang)
    assert reading.used.seconds > 0.5
    assert reading.run(0, work, 1) == (2, "")
    reading.close()


def test_waiting_ends_by_the_clock() -> None:
    reading = Reading(ReadingBounds(seconds=100, seconds_per_mb=0, most_seconds=0.2, memory_mb=0))
    with pytest.raises(ReadTimeout, match=r"longer than 0\.2 s; split it"):
        reading.run(0, sleep)
    reading.close()


def test_more_memory_is_refused_with_what_to_do(reading: Reading) -> None:
    for call in (fill, as_broken):
        with pytest.raises(TooLarge, match=r"needs more than 128 MB of memory; split it\."):
            reading.run(0, call)
        assert reading.used.peak_mb < 300


def test_a_crash_is_forgiven_once(reading: Reading) -> None:
    with pytest.raises(CrashedReader, match="crashed the reader 2 times"):
        reading.run(0, crash)
    assert reading.run(0, work, 1) == (2, "")


def test_who_is_killed_from_outside_is_no_crash(reading: Reading) -> None:
    with pytest.raises(ReaderKilled, match="killed from outside") as lost:
        reading.run(0, be_killed)
    assert lost.value.reason == "WORKER_LOST"
    with pytest.raises(ReaderKilled, match=r"at \d{2,} MB"):
        reading.run(0, be_killed, 100)  # of 128 MB: much, but within its bound
    assert reading.run(0, work, 1) == (2, "")


def test_who_waits_no_longer_can_end_it(reading: Reading) -> None:
    reading.stop()  # nothing runs
    found: list[BaseException] = []

    def run() -> None:
        try:
            reading.run(0, sleep)
        except Stopped as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def stopped() -> bool:
        reading.stop()
        return bool(found)

    wait_until(stopped, what="it is stopped")
    thread.join()
    assert reading.run(0, work, 1) == (2, "")


def test_a_nursery_that_is_gone_is_said() -> None:
    reading = Reading(BOUNDS)
    nursery = reading.run(0, os.getppid)
    os.kill(nursery, signal.SIGTERM)  # it ends with its parent, not before
    assert reading.run(0, work, 1) == (2, "")
    os.kill(nursery, signal.SIGKILL)
    with pytest.raises(NurseryLost):
        reading.run(0, work, 1)
    reading.close()
    assert not lives_with(nursery)
