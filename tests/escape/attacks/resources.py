"""Taking more than one's share, and not going away."""

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


def _capped_output(ran: Ran) -> None:
    assert len(ran.stdout) + len(ran.stderr) <= 1 << 20
    assert ran.finished.dropped_output_bytes > 0


def _quick(ran: Ran) -> None:
    assert ran.seconds < 20, "killed from outside within seconds"


def _few_files(ran: Ran) -> None:
    assert 0 < len(ran.files) <= 64
    assert ran.finished.refused_files
    assert len(ran.finished.refused_files) <= 200, "the list of what was refused is bounded too"


def _no_big_file(ran: Ran) -> None:
    assert sum(len(file.data) for file in ran.files.values()) <= 16 << 20
    assert any("big" in line for line in ran.finished.refused_files)


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
        "memory-bomb",
        "allocate until nothing is left",
        "killed at its own limit; the host keeps its memory",
        "held = []\nwhile True:\n    held.append(bytearray(16 << 20))\n",
        ends=frozenset({"MEMORY", "ERROR", "DIED"}),
        tried=0,
        limits={"wall_seconds": 30.0},
    ),
    Attack(
        "memory-in-children",
        "spread the memory over many processes",
        "one limit for all of them together",
        """
for _ in range(20):
    if os.fork() == 0:
        held = bytearray(100 << 20)
        time.sleep(600)
time.sleep(600)
""",
        ends=KILLED,
        tried=0,
        limits={"wall_seconds": 10.0},
    ),
    Attack(
        "memory-in-shared-maps",
        "shared anonymous memory, which no process owns alone",
        "charged to the run all the same",
        """
import mmap
held = []
while True:
    area = mmap.mmap(-1, 32 << 20)
    for page in range(0, 32 << 20, 4096):
        area[page] = 1
    held.append(area)
""",
        ends=frozenset({"MEMORY", "ERROR", "DIED"}),
        tried=0,
        limits={"wall_seconds": 30.0},
    ),
    Attack(
        "fill-the-tmpfs",
        "write to /work, /tmp and /dev/shm until they are full",
        "ENOSPC at their size, or killed for memory; the host's disk is untouched",
        """
total = 0
for folder in ("/work", "/tmp", "/dev/shm"):
    for number in range(64):
        try:
            with open(f"{folder}/.f{number}", "wb") as file:
                for _ in range(16):
                    total += file.write(b"x" * (1 << 20))
        except OSError as error:
            report(folder, error.errno != errno.ENOSPC, str(error))
            break
report("size", total > 300 << 20, total)
for folder in ("/work", "/tmp", "/dev/shm"):
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            os.unlink(f"{folder}/{name}")
""",
        ends=frozenset({"OK", "MEMORY"}),
        tried=0,
    ),
    Attack(
        "all-inodes",
        "100,000 empty files",
        "ENOSPC at the number of inodes",
        """
for folder in ("/tmp", "/dev/shm"):
    made = 0
    try:
        for made in range(100_000):
            open(f"{folder}/{made}", "w").close()
    except OSError as error:
        report(folder, made > 4096, f"{made} {error}")
    else:
        report(folder, True, made)
""",
    ),
    Attack(
        "one-huge-file",
        "a file larger than the limit of a file",
        "EFBIG or SIGXFSZ or ENOSPC",
        """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def grow():
    with open("/work/.huge", "wb") as file:
        file.truncate(1 << 40)
attempt("1 TiB file", grow)
""",
    ),
    Attack(
        "open-files",
        "open files until the table is full",
        "EMFILE at the limit",
        """
held = []
try:
    while len(held) < 100_000:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    report("descriptors", len(held) > 4096, f"{len(held)} {error}")
else:
    report("descriptors", True, len(held))
for fd in held:
    os.close(fd)
""",
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
        "flood-stdout",
        "print for ever",
        "capped in bytes, the rest counted; killed at the time limit",
        "while True:\n    os.write(1, b'x' * 65536)\n",
        ends=frozenset({"TIMEOUT", "PROTOCOL"}),
        tried=0,
        limits=SHORT,
        check=_capped_output,
    ),
    Attack(
        "flood-every-descriptor",
        "write garbage into every pipe of the process",
        "the run ends with PROTOCOL; nothing of it is kept in memory",
        "os.set_blocking(1, True)\nwhile True:\n    forge(b'\\xff' * 65536)\n",
        ends=KILLED,
        tried=0,
        limits=SHORT,
    ),
    Attack(
        "flood-the-containers-stderr",
        "write for ever to the stderr of the container's first process",
        "drained and dropped; no log grows",
        """
for fd in pipes():
    with contextlib.suppress(OSError):
        os.set_blocking(fd, False)
end = time.monotonic() + 2
while time.monotonic() < end:
    sys.__stderr__.write("x" * 65536)
report("stderr", False)
""",
        ends=frozenset({"OK", "TIMEOUT"}),
        tried=0,
        limits=SHORT,
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
    Attack(
        "too-many-files-back",
        "1,500 files to give back",
        "a bounded number comes back, the others are named as refused",
        "for n in range(1500):\n    write_file(f'/work/{n}.txt')\nreport('files', False)\n",
        check=_few_files,
    ),
    Attack(
        "too-large-files-back",
        "60 MB of files to give back, one of them sparse",
        "no more than the limit comes back",
        """
with open("/work/big-a.bin", "wb") as file:
    file.write(b"x" * (20 << 20))
with open("/work/big-b.bin", "wb") as file:
    file.truncate(40 << 20)
report("files", False)
""",
        check=_no_big_file,
    ),
    Attack(
        "raise-its-own-limits",
        "setrlimit over the hard limits, a real-time scheduler, a better priority",
        "EPERM",
        """
import resource
for name in ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE"):
    what = getattr(resource, name)
    hard = resource.getrlimit(what)[1]
    report(name, hard == resource.RLIM_INFINITY, hard)
    attempt(f"{name} raised", lambda: resource.setrlimit(what, (hard + 1, hard + 1)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -10))
attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
""",
        tried=5,
    ),
]
