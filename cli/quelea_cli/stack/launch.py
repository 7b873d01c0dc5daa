"""Become a command that dies with the process that started it.

Run as a script by a bare interpreter (`python -I -S launch.py PARENT_PID COMMAND ...`), so that the supervisor needs no
code between fork and exec, where its own threads could hold a lock.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Ask the kernel for SIGKILL when the parent dies, then exec."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we could ask
        sys.exit(1)
    os.execv(command[0], command)  # noqa: S606  # the supervisor's own command list, no shell


if __name__ == "__main__":
    main()
