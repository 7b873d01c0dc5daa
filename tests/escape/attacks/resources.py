"""Taking more than one's share of memory, disk, descriptors and output."""

from escape.attack import KILLED, Attack
from support.sandbox import Ran

SHORT = {"wall_seconds": 3.0}


def _capped_output(ran: Ran) -> None:
    assert len(ran.stdout) + len(ran.stderr) <= 1 << 20
    assert ran.finished.dropped_output_bytes > 0


def _few_files(ran: Ran) -> None:
    assert 0 < len(ran.files) <= 64
    assert ran.finished.refused_files
    assert len(ran.finished.refused_files) <= 200, "the list of what was refused is bounded too"


def _no_big_file(ran: Ran) -> None:
    assert sum(len(file.data) for file in ran.files.values()) <= 16 << 20
    assert any("big" in line for line in ran.finished.refused_files)


ATTACKS = [
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
