"""System calls that have been ways out of containers, and that a run has no use for."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import Attack


def _calls(numbers: dict[str, int]) -> str:
    return f"for name, number in {numbers!r}.items():\n    syscall(name, number, 0, 0, 0, 0, 0)\n"


ATTACKS = [
    Attack(
        "ptrace",
        "trace process 1 and a child; read and write another's memory; take another's descriptor",
        "refused",
        """
child = os.fork()
if child == 0:
    time.sleep(5)
    os._exit(0)
for pid in (1, child):
    syscall(f"attach {pid}", 101, 16, pid, 0, 0)
    syscall(f"seize {pid}", 101, 0x4206, pid, 0, 0)
syscall("traceme", 101, 0, 0, 0, 0)
buffer = ctypes.create_string_buffer(64)
area = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 64)
syscall("process_vm_readv", 310, child, area, 1, area, 1, 0)
syscall("process_vm_writev", 311, child, area, 1, area, 1, 0)
syscall("pidfd_open", 434, child, 0)
syscall("pidfd_getfd", 438, 3, 0, 0)
syscall("kcmp", 312, 1, child, 0, 0, 0)
os.kill(child, 9)
""",
        tried=10,
    ),
    Attack(
        "keyrings",
        "add_key, request_key, keyctl: keys are not kept apart by containers",
        "refused",
        """
syscall("add_key", 248, b"user", b"quelea", b"x", 1, -3)
syscall("request_key", 249, b"user", b"quelea", None, -3)
syscall("keyctl", 250, 0, -3, 1)
try:
    report("/proc/keys", read_file("/proc/keys") != b"")
except OSError as error:
    report("/proc/keys", False, error)
""",
        tried=4,
    ),
    Attack(
        "bpf",
        "load a BPF program, make a map",
        "refused",
        "import struct\nfor command in range(6):\n    syscall(f'bpf {command}', 321, command, struct.pack('IIIII', 2, 4, 4, 1, 0) + bytes(100), 120)\n",
        tried=6,
    ),
    Attack(
        "io-uring",
        "io_uring, which passes by filters of system calls; asynchronous I/O",
        "refused",
        _calls(
            {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "io_setup": 206, "io_submit": 209}
        ),
        tried=5,
    ),
    Attack(
        "userfaultfd",
        "userfaultfd, with which races in the kernel are won",
        "refused",
        _calls({"userfaultfd": 323}) + "attempt('device', lambda: os.open('/dev/userfaultfd', os.O_RDWR))\n",
        tried=2,
    ),
    Attack(
        "perf-events",
        "perf_event_open, lookup_dcookie",
        "refused",
        _calls({"perf_event_open": 298, "lookup_dcookie": 212}),
        tried=2,
    ),
    Attack(
        "kernel-modules",
        "load a module, another kernel; reboot",
        "refused",
        _calls(
            {"init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246, "kexec_file_load": 320}
            | {"reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "syslog": 103, "vhangup": 153}
        ),
        tried=11,
    ),
    Attack(
        "clock-and-name",
        "set the clock, the host's name",
        "refused",
        """
attempt("clock", lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
attempt("name", lambda: __import__("socket").sethostname("owned"))
"""
        + _calls(
            {"settimeofday": 164, "adjtimex": 159, "clock_adjtime": 305, "sethostname": 170, "setdomainname": 171}
        ),
        tried=7,
    ),
    Attack(
        "ports-and-tables",
        "iopl, ioperm, modify_ldt: the processor's own ports and tables",
        "refused",
        _calls({"iopl": 172, "ioperm": 173, "modify_ldt": 154}),
        tried=3,
    ),
    Attack(
        "open-by-handle",
        "open a file of the host by its inode (the Shocker attack)",
        "refused",
        """
import struct
handle = struct.pack("IiQ", 8, 1, 2)
fd = os.open("/etc/hosts", os.O_RDONLY)
syscall("open_by_handle_at", 304, fd, handle, 0)
syscall("name_to_handle_at", 303, -100, b"/", ctypes.create_string_buffer(handle, 64), ctypes.create_string_buffer(8), 0)
""",
        tried=2,
    ),
    Attack(
        "other-abi",
        "the same calls by the 32-bit and the x32 entry, which a filter may forget",
        "the process is killed, or the call is refused",
        """
import mmap
child = os.fork()
if child == 0:
    # mov eax, 20 (getpid for 32 bit); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    os._exit(0 if call() == os.getpid() else 1)
report("int 0x80", os.waitpid(child, 0)[1] == 0)
child = os.fork()
if child == 0:
    got = libc.syscall(ctypes.c_long(0x40000000 + 39))
    os._exit(0 if got == os.getpid() else 1)
report("x32", os.waitpid(child, 0)[1] == 0)
""",
        tried=2,
    ),
    Attack(
        "lift-the-filter",
        "install a seccomp filter that allows everything, then try again",
        "filters only add up",
        """
import struct
program = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)
held = ctypes.create_string_buffer(program)
fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(held)))
libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(fprog)))
syscall("unshare", 272, 0x10000000)
syscall("keyctl", 250, 0, -3, 1)
""",
        tried=2,
    ),
    Attack(
        "personality",
        "switch off address randomisation and non-executable memory",
        "refused",
        "for value in (0x0040000, 0x0400000):\n    syscall(hex(value), 135, value)\n",
        tried=2,
    ),
    Attack(
        "splice-into-pages",
        "splice and vmsplice over read-only files (CVE-2022-0847)",
        "refused",
        _calls({"splice": 275, "tee": 276, "vmsplice": 278, "memfd_create": 319, "memfd_secret": 447}),
        tried=5,
    ),
    Attack(
        "terminal-tricks",
        "push input into a terminal (TIOCSTI), other ioctls",
        "refused",
        """
import fcntl
for name, request in {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCCONS": 0x541D, "FS_IOC_SETFLAGS": 0x40086602, "FITHAW": 0xC0045878}.items():
    for fd in (0, 1, 2):
        attempt(f"{name} {fd}", lambda: fcntl.ioctl(fd, request, b"x" * 8))
""",
        tried=15,
    ),
    Attack(
        "old-ipc",
        "System V shared memory, semaphores and queues; POSIX queues: another's might be there",
        "refused",
        _calls({"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "fanotify_init": 300, "quotactl": 179}),
        tried=6,
    ),
    Attack(
        "undefined-calls",
        "every system call number from 0 to 600 that the list does not allow, and odd ones",
        "EPERM, never a kernel's answer, for all that could change anything",
        """
dangerous = [101, 153, 154, 155, 156, 159, 161, 163, *range(164, 182), 212, 237, 238, 239, 246, 248, 249, 250, 256, 272, 279]
dangerous += [298, 300, 303, 304, 305, 308, 310, 311, 312, 313, 320, 321, 323, 425, 426, 427, *range(428, 434), 434, 438, 440, 442, 443, 444, 445, 446, 447, 448, 450, 454, 455, 456, 457, 458, 459, 460, 461, 462, 463, 464, 465, 466, 467]
for number in dangerous:
    syscall(f"call {number}", number, -1, -1, -1, -1, -1)
for number in (548, 600, 1023, 0x7FFF):
    syscall(f"call {number}", number, -1, -1, -1, -1, -1)
""",
        tried=70,
    ),
]
