"""Becoming somebody else."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import Attack

ATTACKS = [
    Attack(
        "who-it-is",
        "be root, have a capability, be free of seccomp",
        "uid 65534, no capabilities, no-new-privileges, a filter",
        """
status = dict(line.split(":\\t", 1) for line in read_file("/proc/self/status").decode().splitlines() if ":\\t" in line)
report("uid", "0" in status["Uid"].split(), status["Uid"])
report("gid", "0" in status["Gid"].split() or status["Groups"].strip() not in ("", "65534"), status["Groups"])
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    report(name, int(status[name], 16) != 0, status[name])
report("no_new_privs", status["NoNewPrivs"] != "1")
report("seccomp", status["Seccomp"] != "2")
""",
        tried=9,
    ),
    Attack(
        "become-root",
        "setuid, setgid, setresuid, setgroups to 0; capset",
        "refused",
        """
attempt("setuid", lambda: os.setuid(0))
attempt("setgid", lambda: os.setgid(0))
attempt("setresuid", lambda: os.setresuid(0, 0, 0))
attempt("setgroups", lambda: os.setgroups([0]))
syscall("setfsuid stays", 122, 0, allowed=(65534,))
header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
syscall("capset", 126, header, data)
PR_CAP_AMBIENT = 47
syscall("ambient capability", 157, PR_CAP_AMBIENT, 2, 21, 0, 0)
""",
        tried=7,
    ),
    Attack(
        "setuid-file",
        "a setuid copy of the interpreter; setuid files of the image",
        "nosuid, noexec; the image has none",
        """
import shutil, stat, subprocess
shutil.copy(os.path.realpath(sys.executable), "/work/.py")
os.chmod("/work/.py", 0o6755)
attempt("run it", lambda: subprocess.run(["/work/.py", "-c", "1"], check=True))
found = []
for root, _, names in os.walk("/", onerror=None):
    if root.startswith(("/proc", "/sys")):
        continue
    for name in names:
        with contextlib.suppress(OSError):
            mode = os.lstat(f"{root}/{name}").st_mode
            if stat.S_ISREG(mode) and mode & 0o6000 and root != "/work":
                found.append(f"{root}/{name}")
report("setuid files in the image", bool(found), found[:5])
os.unlink("/work/.py")
""",
        tried=2,
    ),
    Attack(
        "run-what-it-wrote",
        "execute a file written to /work, /tmp, /dev/shm, or held in memory only",
        "noexec; memfd_create refused",
        """
import subprocess
for folder in ("/work", "/tmp", "/dev/shm", "/run/market", "/dev"):
    def run():
        with open(f"{folder}/.x", "wb") as file:
            file.write(read_file(os.path.realpath(sys.executable), 1 << 26))
        os.chmod(f"{folder}/.x", 0o755)
        return subprocess.run([f"{folder}/.x", "-c", "1"], check=True)
    attempt(folder, run)
attempt("memfd", lambda: os.memfd_create("x"))
attempt("a shell", lambda: subprocess.run("id", shell=True, check=True, capture_output=True))
""",
        tried=7,
    ),
    Attack(
        "write-to-the-image",
        "change the interpreter, the guest, /etc/passwd, a library; remount",
        "the root is read-only",
        """
import site
targets = ["/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/opt/quelea/guest.py", os.__file__]
targets += [f"{site.getsitepackages()[0]}/evil.pth", "/evil", "/usr/local/bin/evil", "/run/evil", "/proc/evil"]
for path in targets:
    attempt(path, lambda: write_file(path))
    if os.path.exists(path):
        attempt(f"unlink {path}", lambda: os.unlink(path))
""",
        tried=11,
    ),
    Attack(
        "user-namespace",
        "unshare and clone into new namespaces, where one is root",
        "EPERM for each of them; clone3 is not there",
        """
flags = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "uts": 0x4000000, "ipc": 0x8000000, "cgroup": 0x2000000, "time": 0x80}
for name, flag in flags.items():
    syscall(f"unshare {name}", 272, flag)
    if name != "time":
        child = libc.syscall(ctypes.c_long(56), ctypes.c_long(flag | 17), 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        report(f"clone {name}", child > 0, child)
arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
child = libc.syscall(ctypes.c_long(435), arguments, ctypes.c_long(88))
if child == 0:
    os._exit(0)
report("clone3", child > 0, child)
""",
        tried=16,
    ),
    Attack(
        "join-a-namespace",
        "setns into the namespaces of process 1 and of its parent",
        "refused",
        """
for name in os.listdir("/proc/1/ns"):
    def join():
        fd = os.open(f"/proc/1/ns/{name}", os.O_RDONLY)
        if libc.syscall(ctypes.c_long(308), ctypes.c_long(fd), 0):
            raise OSError(ctypes.get_errno(), "setns")
    attempt(name, join)
""",
        tried=5,
    ),
    Attack(
        "mount",
        "mount proc, tmpfs, a bind, an overlay; remount / writable; the newer mount calls",
        "refused",
        """
for kind in (b"proc", b"sysfs", b"tmpfs", b"overlay", b"cgroup", b"cgroup2", b"debugfs", b"devpts"):
    syscall(f"mount {kind.decode()}", 165, b"none", b"/work", kind, 0, None)
syscall("bind", 165, b"/proc/1/root", b"/work", None, 4096, None)
syscall("remount", 165, b"none", b"/", None, 32 | 4096, None)
syscall("umount", 166, b"/proc", 2)
for name, number in {"open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442}.items():
    syscall(name, number, -100, b"/", 0, 0, 0)
""",
        tried=18,
    ),
    Attack(
        "leave-the-root",
        "chroot, pivot_root, `..` above /, /proc/1/root, /proc/1/cwd",
        "there is nothing above; refused",
        """
attempt("chroot", lambda: os.chroot("/work"))
syscall("pivot_root", 155, b"/work", b"/work")
report("above", os.stat("/..").st_ino != os.stat("/").st_ino)
for path in ("/proc/1/root", "/proc/self/root", "/proc/1/cwd/../../../.."):
    try:
        names = set(os.listdir(path))
    except OSError as error:
        report(path, False, error)
    else:
        report(path, names != set(os.listdir("/")), sorted(names))
""",
        tried=6,
    ),
    Attack(
        "leaked-descriptors",
        "walk out through a descriptor that the runtime left open (CVE-2024-21626)",
        "every directory behind a descriptor is inside",
        """
for name in os.listdir("/proc/self/fd"):
    path = f"/proc/self/fd/{name}"
    with contextlib.suppress(OSError):
        if os.path.isdir(path):
            report(path, os.stat(f"{path}/../../../../../../..").st_ino != os.stat("/").st_ino, os.readlink(path))
report("working directory", os.readlink("/proc/self/cwd") != "/work", os.readlink("/proc/self/cwd"))
""",
        tried=1,
    ),
    Attack(
        "overwrite-the-runtime",
        "write to /proc/self/exe and /proc/1/exe (CVE-2019-5736)",
        "refused; the engine's own programs are not there",
        """
for pid in ("self", "1"):
    attempt(f"/proc/{pid}/exe", lambda: os.open(f"/proc/{pid}/exe", os.O_WRONLY))
    report(f"exe of {pid}", "python" not in os.readlink(f"/proc/{pid}/exe"), os.readlink(f"/proc/{pid}/exe"))
""",
        tried=4,
    ),
    Attack(
        "device-nodes",
        "make device nodes, open the host's disks and memory",
        "refused; /dev has null, zero, random and the like, nothing else",
        """
for name, device in {"disk": os.makedev(8, 0), "virtual disk": os.makedev(254, 0), "mem": os.makedev(1, 1)}.items():
    attempt(f"mknod {name}", lambda: os.mknod("/work/.dev", 0o60666, device))
syscall("mknodat", 259, -100, b"/work/.dev2", 0o20666, os.makedev(1, 1))
allowed = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "fd", "stdin", "stdout", "stderr", "core", "shm", "mqueue"}
report("/dev", not set(os.listdir("/dev")) <= allowed, sorted(set(os.listdir("/dev")) - allowed))
for path in ("/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/vda", "/dev/sda", "/dev/net/tun", "/dev/console", "/dev/tty"):
    attempt(path, lambda: os.open(path, os.O_RDWR))
""",
        tried=14,
    ),
]
