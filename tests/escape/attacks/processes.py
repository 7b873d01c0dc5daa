"""Too many processes, too much time, and not going away."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack
from support.sandbox import Ran

SHORT = {"wall_seconds": 3.0}


def _pids(ran: Ran) -> None:
    most = max((int(line.split()[1]) for line in ran.text.splitlines() if line.startswith("made ")), default=0)
    assert 1 < most <= 64, f"{most} processes or threads"


def _cpu(ran: Ran) -> None:
    usage = ran.finished.usage
    # One processor's quota, and room for the clock's grain.
    assert usage.cpu_seconds <= usage.wall_seconds * 1.0 + 1.0, usage


def _quick(ran: Ran) -> None:
    assert ran.seconds < 20, "killed from outside within seconds"


ATTACKS = [
    Attack(
        "fork-bomb",
        "fork for ever, children too",
        "EAGAIN at the limit of processes; all killed at the time limit",
        """
count = 0
while True:
    try:
        if os.fork() == 0:
            while True:
                with contextlib.suppress(OSError):
                    os.fork()
        count += 1
        print("made", count, flush=True)
    except OSError:
        time.sleep(0.01)
""",
        ends=KILLED,
        tried=0,
        limits=SHORT,
        check=_pids,
    ),
    Attack(
        "thread-bomb",
        "start threads for ever",
        "refused at the limit, which counts threads",
        """
import threading
threads = 0
try:
    while threads < 5000:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        threads += 1
        print("made", threads, flush=True)
except RuntimeError as error:
    report("thread", False, str(error))
else:
    report("5000 threads", True)
""",
        check=_pids,
        ends=frozenset({"OK"}),
    ),
    Attack(
        "burn-the-processor",
        "spin in many processes at once",
        "the quota holds; killed at the time limit",
        "for _ in range(8):\n    if os.fork() == 0:\n        break\nwhile True:\n    pass\n",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
        check=_cpu,
    ),
    Attack(
        "sleep-for-ever",
        "do nothing, for ever",
        "killed at the time limit",
        "while True:\n    time.sleep(1000)\n",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
        check=_quick,
    ),
    Attack(
        "ignore-every-signal",
        "ignore SIGTERM, SIGINT, SIGHUP and all others that can be",
        "killed at the time limit",
        """
import signal
for number in range(1, 65):
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
while True:
    with contextlib.suppress(BaseException):
        time.sleep(1000)
""",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
        check=_quick,
    ),
    Attack(
        "survive-by-setsid",
        "fork twice, a session of its own, detached from all pipes",
        "gone with the container, although the run itself ended well",
        """
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for fd in range(0, 200):
            with contextlib.suppress(OSError):
                os.close(fd)
        while True:
            time.sleep(1000)
report("daemons", False)
""",
    ),
    Attack(
        "zombies",
        "children that nobody waits for",
        "the pids limit counts them; gone with the container",
        """
made = 0
try:
    for made in range(500):
        if os.fork() == 0:
            os._exit(0)
except OSError as error:
    report("zombies", made > 64, f"{made} {error}")
else:
    report("zombies", True, made)
""",
    ),
    Attack(
        "stop-itself",
        "SIGSTOP to a child that holds the pipes, and to itself",
        "killed at the time limit",
        "import signal\nif os.fork() == 0:\n    os.kill(os.getpid(), signal.SIGSTOP)\nos.kill(1, signal.SIGSTOP)\nos.wait()\n",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
    ),
    Attack(
        "overflow-the-stack",
        "endless recursion in C",
        "the process dies, the run says so",
        "import faulthandler\nlibc.memset(ctypes.c_void_p(1), 0, 1)\n",
        ends=frozenset({"DIED"}),
        tried=0,
    ),
    Attack(
        "kill-everybody",
        "SIGKILL to every process that it can see",
        "it sees only its own; the run ends with DIED",
        "import signal\nfor pid in (-1, 1, os.getppid()):\n    with contextlib.suppress(OSError):\n        os.kill(pid, signal.SIGKILL)\nos._exit(9)\n",
        ends=frozenset({"DIED"}),
        tried=0,
    ),
]
