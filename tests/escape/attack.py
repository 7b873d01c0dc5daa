"""What an attack is: code for the sandbox, and what must hold outside while and after it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from support.sandbox import Ran

PRELUDE = '''
import contextlib, ctypes, errno, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def report(what, escaped, why=""):
    """One line a try: the suite fails on ESCAPED, and where nothing was tried."""
    print("ESCAPED" if escaped else "blocked", what, why, flush=True)

def attempt(what, call):
    """A try that must raise."""
    try:
        got = call()
    except (Exception, SystemExit) as error:
        report(what, False, f"{type(error).__name__}: {error}"[:120])
        return None
    report(what, True, repr(got)[:200])
    return got

def syscall(what, number, *arguments, allowed=()):
    """A system call that must fail."""
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    name = errno.errorcode.get(ctypes.get_errno(), "?")
    report(what, result >= 0 and result not in allowed, f"{result} {name}")
    return result

def write_file(path, text="x"):
    with open(path, "w") as file:
        file.write(text)

def read_file(path, size=4096):
    with open(path, "rb") as file:
        return file.read(size)

def pipes():
    """Every descriptor that leads out of this process, the protocol's among them."""
    import stat
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            mode = os.fstat(int(name)).st_mode
            if int(name) > 2 and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
                found.append(int(name))
    return found

def forge(data):
    """Bytes into the protocol, as if the guest had written them."""
    for fd in pipes():
        with contextlib.suppress(OSError):
            os.set_blocking(fd, True)
            os.write(fd, data)

def frame(kind, payload):
    return kind + len(payload).to_bytes(4, "big") + payload
'''

ENDED_OK = frozenset({"OK"})
KILLED = frozenset({"TIMEOUT", "MEMORY", "DIED", "PROTOCOL", "ERROR"})
OVER = "UNSPECIFIED"
"""No step came to it: the session had ended."""


def _nothing(_: Ran) -> None:
    return None


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes:
        name: Unique; the test's and the table's.
        tries: What it tries, in a line.
        holds: What must hold, in a line.
        code: Runs after PRELUDE. Tries are reported with `attempt`, `syscall` or `report`.
        ends: How the run may end.
        tried: Reports that must have come, at least; 0 where the ending itself is what shows the attack ran.
        check: More that must hold, of what came back; asserts.
        limits: Of the run.
        input: Files that go in.
        then: A second step, of the same session: then the attack is a session, and ends and check are of this step.
        then_input: Files that go in with it.
    """

    name: str
    tries: str
    holds: str
    code: str
    ends: frozenset[str] = ENDED_OK
    tried: int = 1
    check: Callable[[Ran], None] = _nothing
    limits: dict[str, float] = field(default_factory=dict)
    input: dict[str, bytes] = field(default_factory=dict)
    then: str = ""
    then_input: dict[str, bytes] = field(default_factory=dict)
