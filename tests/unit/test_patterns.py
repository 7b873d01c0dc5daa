"""No regular expression of the product takes more than linear time: whoever sends a text could stop a service with it.

Each is run over long repeats of what it is made of itself, on processor time, against the same four times as long.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support.patterns import Found, modules, patterns_of, repeats

_SHORT, _TIMES = 800, 4
_QUICK = 0.0003
"""Seconds over the short text below which even work that grows with its square is harmless."""
_SLOW = 0.15
"""Seconds over the long text that are too many, however they grow."""
_GROWTH = 2.2 * _TIMES
_END_SECONDS = 1


class _EndlessError(Exception):
    """A match that does not end."""


@contextmanager
def ended_in_time() -> Iterator[None]:
    """Raises within the block after a second of processor time: `re` looks for signals while it matches."""

    def end(*_: object) -> None:
        raise _EndlessError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, _END_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def seconds(one: Found, text: str) -> float:
    """Processor time of this thread for every match of the pattern in the text, as the product uses it."""
    began = time.thread_time()
    if one.anchored:
        one.pattern.match(text)
        one.pattern.fullmatch(text)
    else:
        for _ in one.pattern.finditer(text):
            pass
    return time.thread_time() - began


def least(one: Found, text: str, enough: float, times: int) -> float:
    """The least of so many measures, or the first that is no more than `enough`."""
    taken = float("inf")
    for _ in range(times):
        if (taken := min(taken, seconds(one, text))) <= enough:
            break
    return taken


def worst(one: Found) -> str:
    """The repeat that takes more than linear time; empty where none does."""
    for before, body, after in repeats(one.pattern):

        def text(length: int, before: str = before, body: str = body, after: str = after) -> str:
            return before + body * (length // len(body) + 1) + after

        try:
            with ended_in_time():
                short = seconds(one, text(_SHORT))
                if short < _QUICK:
                    continue
                # The least of several: another process may take the cache, none makes it quicker.
                short = min([short, *(seconds(one, text(_SHORT)) for _ in range(2))])
                long = least(one, text(_TIMES * _SHORT), min(_SLOW, _GROWTH * max(short, _QUICK)), 3)
                grows = long > _GROWTH * short > _GROWTH * _QUICK
                if grows and long < _SLOW:  # or was the machine busy just then?
                    short, long = long, least(one, text(_TIMES * _TIMES * _SHORT), _GROWTH * long, 5)
                    grows = long > _GROWTH * short
                    if not grows:
                        continue
        except _EndlessError:
            return f"{before!r} + {body!r} * n + {after!r}: no end"
        if grows or long > _SLOW:
            told = f"{1000 * short:.2f} ms, {_TIMES} times as long {1000 * long:.2f} ms"
            return f"{before!r} + {body!r} * n + {after!r}: {told}"
    return ""


def test_every_pattern_takes_linear_time() -> None:
    found = patterns_of(modules())
    assert len(found) > 700  # else they are looked for in the wrong place
    slow = {one.where: worst(one) for one in found.values()}
    assert not {where: told for where, told in slow.items() if told}


@pytest.mark.parametrize(
    "pattern",
    [r"(?:a+)+b", r"\s+$", r"(\w+),", r"\bfrom\b.*\bto\b", r"^(?P<part>.+?) and (?P<whole>.+?) combined\b", r"x*x*y"],
)
def test_patterns_that_take_more_are_found(pattern: str) -> None:
    one = Found(re.compile(pattern), "here")
    assert any(worst(one) for _ in range(3))  # a busy machine may make the short text slow as well
