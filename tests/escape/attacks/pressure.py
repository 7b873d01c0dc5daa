"""More pressure: on the scheduler, the table of processes, the page cache, the kernel's books of small things."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack
from escape.attacks.hoards import _within_its_memory
from escape.attacks.processes import _cpu

ANY = KILLED | {"OK"}
SHORT = {"wall_seconds": 4.0}

ATTACKS = [
    Attack(
        "niced-threads",
        "forty processes that spin, each with another priority and scheduler, yielding and waking each other",
        "the quota is of the container, whatever its processes are; killed at the time limit",
        """
for number in range(40):
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                os.sched_setscheduler(0, (os.SCHED_OTHER, os.SCHED_BATCH, os.SCHED_IDLE)[number % 3], os.sched_param(0))
            with contextlib.suppress(OSError):
                os.nice(number % 20)
            break
while True:
    for _ in range(1000):
        pass
    os.sched_yield()
""",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
        check=_cpu,
    ),
    Attack(
        "stop-everybody",
        "SIGSTOP and SIGCONT in turn to all processes, the container's first among them, from a session of its own",
        "the first process cannot be stopped from inside; killed at the time limit, from outside",
        """
import signal
if os.fork() == 0:
    os.setsid()
    while True:
        for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN):
            for pid in (-1, 1):
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
while True:
    time.sleep(0.1)
""",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
    ),
    Attack(
        "everybody-but-itself",
        "SIGTERM, SIGHUP and SIGKILL to -1 by a child that is of no session, so that only the guest is left",
        "the guest answers or has died; the run ends",
        """
import signal
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError):
            os.kill(-1, number)
    os._exit(0)
time.sleep(1)
report("alive", False)
""",
        ends=ANY | {"ENGINE"},
        tried=0,
        limits=SHORT,
    ),
    Attack(
        "ever-new-processes",
        "processes that begin and end without a pause, so that numbers are used up and accounting is outrun",
        "within the quota and the limit of processes; the host starts its own",
        """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(10):
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            break
while True:
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            os._exit(0)
""",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
        check=_cpu,
    ),
    Attack(
        "crash-storm",
        "children that crash one after the other, as fast as they can, for the kernel's log and dumps",
        "no dump anywhere; the log is the kernel's to limit; the host has room",
        """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
until = time.monotonic() + 2
while time.monotonic() < until:
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            ctypes.string_at(1)
report("dumps", any("core" in name for folder in ("/work", "/tmp") for name in os.listdir(folder)))
""",
        limits={"wall_seconds": 20.0},
    ),
    Attack(
        "everything-into-the-cache",
        "read and map every file of the image, again and again, to push others' pages out of the cache",
        "the cache that it fills is its own memory",
        """
import mmap
total, until, held = 0, time.monotonic() + 5, []
for folder, _, names in os.walk("/usr"):
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            fd = os.open(os.path.join(folder, name), os.O_RDONLY)
            area = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
            os.close(fd)
            total += sum(area[place] >= 0 and 4096 for place in range(0, len(area), 4096))
            held.append(area)
    if time.monotonic() > until:
        break
report("cache", False, total)
""",
        ends=ANY,
        limits={"wall_seconds": 30.0},
        check=_within_its_memory,
    ),
    Attack(
        "arguments-without-end",
        "start programs with megabytes of arguments and of environment, in all processes at once",
        "E2BIG, or charged to the run",
        """
big = {f"V{number}": "x" * 100_000 for number in range(15)}
for number in range(40):
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                os.execve(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(60)"], big)
            os._exit(0)
attempt("ten megabytes", lambda: os.execve(sys.executable, ["x"] * 100, {str(number): "x" * 120_000 for number in range(200)}))
time.sleep(1)
""",
        ends=ANY,
        tried=0,
        limits=SHORT,
        check=_within_its_memory,
    ),
    Attack(
        "watched-descriptors",
        "in forty processes, dozens of epolls that watch hundreds of descriptors each: a record in the kernel for each pair",
        "charged to the run, or refused at the limits of files and watches",
        """
import select
for _ in range(40):
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                watched = [os.pipe()[0] for _ in range(60)]
                polls = [select.epoll() for _ in range(60)]
                for poll in polls:
                    for fd in watched:
                        poll.register(fd, select.EPOLLIN | select.EPOLLET)
            time.sleep(60)
time.sleep(3)
report("watched", False)
""",
        ends=ANY,
        tried=0,
        limits={"wall_seconds": 10.0},
        check=_within_its_memory,
    ),
    Attack(
        "maps-past-the-end",
        "map a file of tmpfs, cut it while it is written to, map a hundred thousand pieces, fault in all of them",
        "SIGBUS for itself; the number of maps is limited, and their memory is its own",
        """
import mmap, signal
fd = os.open("/tmp/.map", os.O_CREAT | os.O_RDWR)
os.truncate(fd, 32 << 20)
if os.fork() == 0:
    area = mmap.mmap(fd, 32 << 20)
    os.truncate(fd, 0)
    area[16 << 20] = 1
    os._exit(0)
report("cut", os.WTERMSIG(os.wait()[1]) != signal.SIGBUS)
os.truncate(fd, 32 << 20)
held = []
try:
    for number in range(200_000):
        held.append(mmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE, offset=(number * 2 % 8192) * 4096))
        held[-1][0] = 1
except (OSError, ValueError) as error:
    report("maps", False, f"{len(held)} {error}")
else:
    report("maps", True, len(held))
""",
        ends=ANY,
        tried=1,
        limits={"wall_seconds": 30.0},
        check=_within_its_memory,
    ),
]
