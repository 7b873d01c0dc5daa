"""Hoarding of the processor's time and of what rings, waits and watches: timers, signals, terminals, schedulers."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack
from support.sandbox import Ran

ANY = KILLED | {"OK"}
SHORT = {"wall_seconds": 5.0}


def _within_its_processor(ran: Ran) -> None:
    usage = ran.finished.usage
    assert usage.cpu_seconds <= usage.wall_seconds * 1.0 + 1.0, usage


ATTACKS = [
    Attack(
        "timers",
        "POSIX timers and timer descriptors until none is left, all of them ringing",
        "refused at the limits of pending signals and open files; the quota of the processor holds",
        """
import struct
for _ in range(8):
    if os.fork() == 0:
        identity, made = ctypes.c_int(), 0
        for made in range(200_000):
            event = ctypes.create_string_buffer(struct.pack("Qii48x", 0, 0, 1), 64)
            if libc.syscall(222, 1, event, ctypes.byref(identity)):
                break
            libc.syscall(223, identity, 0, struct.pack("qqqq", 0, 1000, 0, 1000), None)
        os.write(1, f"blocked timers {made}\\n".encode())
        while True:
            pass
while True:
    pass
""",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
        check=_within_its_processor,
    ),
    Attack(
        "watchers",
        "epoll within epoll, event descriptors and signal descriptors, in every process",
        "ELOOP, EMFILE and the limit of processes",
        """
import select
chain = [select.epoll()]
try:
    for _ in range(50):
        outer = select.epoll()
        outer.register(chain[-1].fileno())
        chain.append(outer)
except OSError as error:
    report("nested", len(chain) > 10, f"{len(chain)} {error}")
made = 0
try:
    while made < 100_000:
        os.eventfd(0)
        made += 1
except OSError as error:
    report("events", made > 4096, f"{made} {error}")
""",
        tried=2,
    ),
    Attack(
        "terminals",
        "open pseudo-terminals in every process until the machine has none left",
        "bounded by open files and processes; the host keeps its reserve",
        """
for _ in range(50):
    if os.fork() == 0:
        made = 0
        with contextlib.suppress(OSError):
            while True:
                os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
                made += 1
        time.sleep(3)
        os._exit(0)
time.sleep(4)
report("terminals", False)
""",
        ends=ANY,
        limits={"wall_seconds": 10.0},
    ),
    Attack(
        "locked-memory",
        "lock memory against swapping, ask for huge pages, poison pages of the machine",
        "refused, or within the memory of the run",
        """
import mmap
area = mmap.mmap(-1, 8 << 20)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
syscall("mlock", 149, address, 8 << 20)
syscall("mlockall", 151, 3)
syscall("mlock2", 325, address, 8 << 20, 1)
for name, advice in {"hardware poison": 100, "soft offline": 101, "mergeable in all processes": 12}.items():
    result = libc.syscall(ctypes.c_long(28), ctypes.c_long(address), ctypes.c_long(8 << 20), ctypes.c_long(advice))
    report(name, result == 0 and advice >= 100, f"{result} {ctypes.get_errno()}")
syscall("huge pages", 9, 0, 1 << 30, 3, 0x40022, -1, 0)
""",
        tried=7,
    ),
    Attack(
        "signal-storm",
        "timers of a microsecond and children that signal each other without end",
        "the quota of the processor holds; killed at the time limit",
        """
import signal
for number in (signal.SIGALRM, signal.SIGUSR1, signal.SIGVTALRM, signal.SIGPROF):
    signal.signal(number, lambda *_: None)
for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
    signal.setitimer(which, 1e-6, 1e-6)
for _ in range(20):
    if os.fork() == 0:
        break
while True:
    with contextlib.suppress(OSError):
        os.kill(0, signal.SIGUSR1)
""",
        ends=KILLED,
        tried=0,
        limits=SHORT,
        check=_within_its_processor,
    ),
    Attack(
        "better-scheduling",
        "real-time and deadline schedulers, priority of its disk requests, another's priority",
        "refused",
        """
import struct
for name, policy in {"fifo": 1, "round robin": 2, "deadline": 6}.items():
    attribute = ctypes.create_string_buffer(struct.pack("IIQiIQQQ", 48, policy, 0, 0, 1 if policy < 6 else 0, 10**6, 10**7, 10**7), 48)
    syscall(f"sched_setattr {name}", 314, 0, attribute, 0)
    syscall(f"sched_setscheduler {name}", 144, 0, policy, struct.pack("i", 1))
syscall("ioprio_set", 251, 1, 0, 1 << 13)
attempt("priority of all its user's processes", lambda: os.setpriority(os.PRIO_USER, 65534, -5))
attempt("oom score", lambda: write_file("/proc/self/oom_score_adj", "-1000"))
""",
        tried=9,
    ),
]
