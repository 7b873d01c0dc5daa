"""A deadline that ends a call while it is being served, however slow the machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from quelea_kit.errors import DeadlineExceeded


async def cut_short(call: Callable[[float], Awaitable[object]], served: Callable[[], bool]) -> None:
    """Calls with a deadline (s) until one was cut that was being served: the shortest may end on their way there."""
    for seconds in (0.3, 1.2, 5.0, 20.0):
        with pytest.raises(DeadlineExceeded):
            await call(seconds)
        if served():
            return
    pytest.fail("no call reached the server within its deadline")
