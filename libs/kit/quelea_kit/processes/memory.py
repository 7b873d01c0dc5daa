"""What a service does when it gets no memory: that call fails, and a process that gets none again and again ends.

Whoever started it starts it again, with a heap that nothing has leaked into.
"""

from __future__ import annotations

import errno
import time
from collections import deque
from collections.abc import Callable

from quelea_kit.errors import Overloaded

_FAILURES = 5
_WITHIN_SECONDS = 60.0
_RETRY_SECONDS = 10.0


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the process got no memory, or no thread, for what it was to do."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_out_of_memory(one) for one in error.exceptions)
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, RuntimeError):
        return str(error) == "can't start new thread"  # CPython has no class for it
    return isinstance(error, MemoryError)


def out_of_memory() -> Overloaded:
    """The error of a call that could not be served for want of memory."""
    return Overloaded(
        "There is not enough memory for this call just now; try again later, or with less.", retry_after=_RETRY_SECONDS
    )


class Shortages:
    """Counts what failed for want of memory.

    Args:
        give_up: Called with the reason when there were five within a minute.
        clock: Monotonic seconds.
    """

    def __init__(self, give_up: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._give_up = give_up
        self._now = clock
        self._when: deque[float] = deque(maxlen=_FAILURES)

    def note(self) -> None:
        """One more."""
        self._when.append(self._now())
        if len(self._when) == _FAILURES and self._when[-1] - self._when[0] <= _WITHIN_SECONDS:
            self._when.clear()
            self._give_up(f"{_FAILURES} calls within {_WITHIN_SECONDS:.0f} s found no memory")
