"""Ends what is left of a stack when its supervisor is killed.

The kernel kills the supervisor's direct children (see launch.py); their children, such as a worker's pool, it does not.
The supervisor tells this process the process groups it has started ("+PGID", "-PGID", one a line); when the pipe
closes, the groups that were not taken back are told to stop, and killed five seconds later.
"""

import contextlib
import os
import signal
import sys
import time

GRACE_SECONDS = 5.0


def send(groups: set[int], number: int) -> set[int]:
    """Signal every group; returns those that still exist."""
    alive = set()
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
            alive.add(group)
    return alive


def main() -> None:
    """Read groups until the supervisor is gone, then end what remains."""
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line[0] == "+":
            groups.add(group)
        else:
            groups.discard(group)
    alive = send(groups, signal.SIGTERM)
    end = time.monotonic() + GRACE_SECONDS
    while alive and time.monotonic() < end:
        time.sleep(0.1)
        alive = send(alive, 0)
    send(alive, signal.SIGKILL)


if __name__ == "__main__":
    main()
