"""Hoarding what the kernel keeps for a process: memory that no `bytearray` asks for, tables, queues, terminals."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack
from support.sandbox import Ran

ANY = KILLED | {"OK"}
FOR_MEMORY = frozenset({"MEMORY", "ERROR", "DIED"})
SHORT = {"wall_seconds": 5.0}


def _within_its_memory(ran: Ran) -> None:
    assert ran.finished.usage.memory_peak_bytes <= 768 << 20, ran.finished.usage


def _within_its_processor(ran: Ran) -> None:
    usage = ran.finished.usage
    assert usage.cpu_seconds <= usage.wall_seconds * 1.0 + 1.0, usage


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
        limits={"wall_seconds": 20.0},
        tried=0,
        check=_within_its_memory,
    ),
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
