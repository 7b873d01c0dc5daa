"""What counts as a shortage of memory, and when a process gives up for it."""

from __future__ import annotations

import errno

import pytest
from quelea_kit.processes.memory import Shortages, is_out_of_memory, out_of_memory


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (RuntimeError("can't start new thread"), True),
        (ExceptionGroup("two", [ValueError("x"), ExceptionGroup("one", [MemoryError()])]), True),
        (OSError(errno.ENOENT, "No such file"), False),
        (RuntimeError("anything else"), False),
        (ExceptionGroup("one", [ValueError("x")]), False),
    ],
)
def test_what_is_a_shortage(error: Exception, is_one: bool) -> None:
    assert is_out_of_memory(error) is is_one


def test_its_call_is_told_to_come_back() -> None:
    told = out_of_memory()
    assert (told.grpc_code, told.http_status) == ("RESOURCE_EXHAUSTED", 429)
    assert told.retry_after


def test_five_within_a_minute_and_not_five_in_an_hour() -> None:
    now, given_up = [0.0], list[str]()
    shortages = Shortages(given_up.append, lambda: now[0])
    for _ in range(9):
        now[0] += 20
        shortages.note()
    assert given_up == []
    for _ in range(3):
        now[0] += 5
        shortages.note()
    assert len(given_up) == 1
