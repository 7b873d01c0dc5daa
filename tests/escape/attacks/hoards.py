"""Hoarding what the kernel keeps for a process: memory that no `bytearray` asks for, tables, names, locks."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack
from support.sandbox import Ran

ANY = KILLED | {"OK"}
FOR_MEMORY = frozenset({"MEMORY", "ERROR", "DIED"})


def _within_its_memory(ran: Ran) -> None:
    assert ran.finished.usage.memory_peak_bytes <= 768 << 20, ran.finished.usage


ATTACKS = [
    Attack(
        "memory-in-pipes",
        "enlarge thousands of pipes and fill them",
        "charged to the run, or refused",
        """
import fcntl
held = 0
for _ in range(30):
    if os.fork() == 0:
        with contextlib.suppress(OSError):
            while True:
                reader, writer = os.pipe()
                with contextlib.suppress(OSError):
                    fcntl.fcntl(writer, 1031, 1 << 20)
                os.set_blocking(writer, False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        os.write(writer, bytes(1 << 16))
        time.sleep(3)
        os._exit(0)
time.sleep(4)
report("pipes", False)
""",
        ends=ANY,
        tried=0,
        limits={"wall_seconds": 10.0},
        check=_within_its_memory,
    ),
    Attack(
        "memory-in-sockets",
        "fill the buffers of thousands of UNIX sockets",
        "charged to the run, or refused",
        """
import socket
for _ in range(30):
    if os.fork() == 0:
        held = []
        with contextlib.suppress(OSError):
            while True:
                pair = socket.socketpair()
                held.append(pair)
                pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
                pair[0].setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        pair[0].send(bytes(1 << 16))
        time.sleep(3)
        os._exit(0)
time.sleep(4)
report("sockets", False)
""",
        ends=ANY,
        tried=0,
        limits={"wall_seconds": 10.0},
        check=_within_its_memory,
    ),
    Attack(
        "descriptors-in-flight",
        "send descriptors to itself, nested, so that no process has them open",
        "refused at the limit of open files of its user",
        """
import array, socket
sent = 0
try:
    for _ in range(200):
        one, two = socket.socketpair()
        for _ in range(20):
            one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [one.fileno(), two.fileno()] * 100))])
            sent += 200
        held = one.detach(), two.detach()
except OSError as error:
    report("in flight", sent > 100_000, f"{sent} {error}")
else:
    report("in flight", sent > 100_000, sent)
""",
    ),
    Attack(
        "memory-in-page-tables",
        "touch one page in every two megabytes of a huge reservation: tables, hardly any pages",
        "charged to the run all the same",
        """
import mmap
held = []
while True:
    area = mmap.mmap(-1, 64 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    for place in range(0, 64 << 30, 2 << 20):
        area[place] = 1
    held.append(area)
""",
        ends=FOR_MEMORY | {"TIMEOUT"},
        tried=0,
        limits={"wall_seconds": 30.0},
        check=_within_its_memory,
    ),
    Attack(
        "memory-in-deleted-files",
        "hold open files that were deleted, and files without a name",
        "ENOSPC at the size of the tmpfs",
        """
import tempfile
held, total = [], 0
try:
    while total < 1 << 30:
        file = open("/work/.gone", "wb") if len(held) % 2 else os.fdopen(os.open("/work", os.O_TMPFILE | os.O_WRONLY), "wb")
        held.append(file)
        total += file.write(bytes(4 << 20))
        with contextlib.suppress(OSError):
            os.unlink("/work/.gone")
except OSError as error:
    report("deleted files", total > 200 << 20, f"{total} {error}")
else:
    report("deleted files", True, total)
""",
        ends=frozenset({"OK", "MEMORY"}),
        tried=0,
    ),
    Attack(
        "reserve-by-fallocate",
        "reserve a tmpfs and a terabyte without writing a byte",
        "EFBIG, ENOSPC, or killed for memory",
        """
for folder in ("/work", "/tmp", "/dev/shm"):
    fd = os.open(f"{folder}/.reserved", os.O_CREAT | os.O_RDWR)
    attempt(f"{folder} 1 TiB", lambda: os.posix_fallocate(fd, 0, 1 << 40))
    attempt(f"{folder} far end", lambda: os.pwrite(fd, b"x", 1 << 40))
    os.unlink(f"{folder}/.reserved")
""",
        tried=6,
    ),
    Attack(
        "name-bombs",
        "look up 200,000 names that are not there, make and remove as many: the kernel remembers names",
        "charged to the run; the host keeps its memory",
        """
for number in range(200_000):
    try:
        os.stat(f"/work/{'n' * 200}{number}")
    except OSError:
        pass
for number in range(50_000):
    os.close(os.open(f"/tmp/{number}", os.O_CREAT))
    os.unlink(f"/tmp/{number}")
report("names", False)
""",
        ends=ANY,
        tried=0,
        limits={"wall_seconds": 20.0},
        check=_within_its_memory,
    ),
    Attack(
        "winding-paths",
        "links that lead through links, forty deep; links in a circle; a path of a megabyte",
        "ELOOP and ENAMETOOLONG, at once",
        """
os.mkdir("/work/.a")
for level in range(60):
    os.symlink(f"/work/.l{level - 1}/../.l{level - 1}/../.l{level - 1}" if level else "/work/.a", f"/work/.l{level}")
os.symlink("/work/.c2", "/work/.c1")
os.symlink("/work/.c1", "/work/.c2")
began = time.monotonic()
for path in ("/work/.l59", "/work/.c1/x", "/work/" + "a/" * 500_000, "/work/" + "../work/" * 600):
    attempt(path[:30], lambda: os.stat(path))
report("seconds", time.monotonic() - began > 5, time.monotonic() - began)
""",
        tried=5,
    ),
    Attack(
        "locks",
        "100,000 locks on a file, each with a record of its own in the kernel",
        "charged to the run; gone with it",
        """
import fcntl, struct
fd, made = os.open("/tmp/.locks", os.O_CREAT | os.O_RDWR), 0
with contextlib.suppress(OSError):
    for made in range(100_000):
        fcntl.fcntl(fd, fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, made * 2, 1, 0))
        if time.monotonic() % 10 > 9.99 and made > 20_000:
            break
report("locks", False, made)
""",
        ends=ANY,
        limits={"wall_seconds": 10.0},  # each takes the kernel longer than the one before
        tried=0,
        check=_within_its_memory,
    ),
]
