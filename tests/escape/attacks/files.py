"""Reading and changing what belongs to the host: /proc, /sys, mounts, secrets."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import Attack

ATTACKS = [
    Attack(
        "proc-writes",
        "write to /proc/sys, sysrq-trigger, other processes' settings",
        "read-only or refused",
        """
for path in (
    "kernel/core_pattern", "kernel/hostname", "kernel/modprobe", "kernel/randomize_va_space", "kernel/panic",
    "vm/overcommit_memory", "vm/drop_caches", "fs/binfmt_misc/register", "net/ipv4/ip_forward", "kernel/unprivileged_bpf_disabled",
):
    attempt(path, lambda: write_file(f"/proc/sys/{path}", "1"))
attempt("sysrq", lambda: write_file("/proc/sysrq-trigger", "b"))
for path in ("oom_score_adj", "uid_map", "gid_map", "attr/current"):
    attempt(path, lambda: write_file(f"/proc/1/{path}", "-1000" if "oom" in path else "0 0 1"))
""",
        tried=15,
    ),
    Attack(
        "proc-reads",
        "read the host's memory, kernel addresses, keys, timers, scheduler",
        "masked, empty, or zeros",
        """
for path in ("kcore", "timer_list", "sched_debug", "keys", "latency_stats", "vmallocinfo", "kpagecount", "slabinfo", "1/mem", "1/environ", "1/stack", "kmsg", "iomem", "pagetypeinfo"):
    try:
        data = read_file(f"/proc/{path}", 256)
    except OSError as error:
        report(path, False, error)
        continue
    text = data.decode("latin-1")
    inside = path == "1/environ" or (path == "iomem" and "-" in text and set(text.split("-")[0].strip()) <= {"0"})
    report(path, bool(data) and not inside, text[:60])
symbols = [line.split()[0] for line in read_file("/proc/kallsyms").decode("latin-1").splitlines()[:-1]] if os.path.exists("/proc/kallsyms") else []
report("kallsyms", any(int(address, 16) for address in symbols))
""",
        tried=15,
    ),
    Attack(
        "sys-writes",
        "write to /sys: the uevent helper, devices, the CPU's power",
        "read-only",
        """
for path in ("kernel/uevent_helper", "kernel/mm/transparent_hugepage/enabled", "power/state", "module/overlay/parameters/metacopy", "devices/system/cpu/cpu1/online", "kernel/profiling"):
    attempt(path, lambda: write_file(f"/sys/{path}", "1"))
made = 0
for root, folders, names in os.walk("/sys", followlinks=False):
    folders[:] = folders[:20]
    for name in names[:20]:
        path = f"{root}/{name}"
        if os.access(path, os.W_OK):
            report(path, True)
        made += 1
    if made > 3000:
        break
report("anything writable in /sys", False, made)
""",
        tried=7,
    ),
    Attack(
        "sys-reads",
        "firmware, the host's block devices by content, kernel notes",
        "masked",
        """
for path in ("/sys/firmware/efi", "/sys/firmware/acpi/tables", "/sys/firmware/dmi/tables/DMI", "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/bpf", "/sys/kernel/security"):
    try:
        names = os.listdir(path) if os.path.isdir(path) else [read_file(path)]
    except OSError as error:
        report(path, False, error)
    else:
        report(path, bool(names), names[:3])
""",
        tried=7,
    ),
    Attack(
        "cgroup-limits",
        "raise its own limits, leave the group, use release_agent (CVE-2022-0492)",
        "read-only or not there",
        """
tried = 0
for root, folders, names in os.walk("/sys/fs/cgroup"):
    for name in names:
        if name in ("cgroup.procs", "tasks", "release_agent", "notify_on_release", "memory.limit_in_bytes", "memory.max", "pids.max", "cpu.max", "cpu.cfs_quota_us", "devices.allow"):
            attempt(f"{root}/{name}", lambda: write_file(f"{root}/{name}", "1"))
            tried += 1
    attempt(f"mkdir in {root}", lambda: os.mkdir(f"{root}/evil"))
    if tried > 60:
        break
attempt("release_agent", lambda: write_file("/sys/fs/cgroup/release_agent", "/work/x"))
""",
        tried=2,
    ),
    Attack(
        "host-mounts",
        "find a folder of the host among the mounts, and write to it",
        "none but the engine's three small files, read-only",
        """
for line in read_file("/proc/self/mountinfo", 1 << 20).decode().splitlines():
    fields = line.split()
    point, options, kind = fields[4], fields[5].split(","), fields[fields.index("-") + 1]
    if kind in ("proc", "sysfs", "tmpfs", "devpts", "cgroup", "cgroup2", "mqueue"):
        if kind in ("proc", "sysfs", "cgroup", "cgroup2"):
            # /proc itself is writable by mount; its parts that matter are covered read-only (see proc-writes).
            # Where the engine remaps users it leaves cgroups writable by mount, but to a root that nobody here is.
            mine = kind.startswith("cgroup") and not any(os.access(f"{root}/{name}", os.W_OK) for root, _, names in os.walk(point) for name in ["", *names])
            report(point, kind != "proc" and "rw" in options and not mine, options)
        continue
    if kind == "devtmpfs" and fields[3] in ("/null", "/zero", "/full", "/random", "/urandom", "/tty"):
        report(point, False, "one harmless node, in /dev or over what is masked, as where the engine remaps users")
        continue
    known = point in ("/", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname")
    report(point, not known or "ro" not in options, line)
""",
        tried=2,
    ),
    Attack(
        "docker-socket",
        "find the engine's socket, or any other",
        "no socket anywhere",
        """
import socket, stat
for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/market/door.sock", "/run/podman/podman.sock", "/run/user/0/docker.sock"):
    def dial():
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(path)
    attempt(path, dial)
found = []
for root, folders, names in os.walk("/"):
    folders[:] = [f for f in folders if f"{root}/{f}".replace("//", "/") not in ("/proc", "/sys", "/usr")]
    for name in names:
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.lstat(f"{root}/{name}").st_mode):
                found.append(f"{root}/{name}")
report("sockets", bool(found), found)
""",
        tried=7,
    ),
    Attack(
        "secrets-in-the-environment",
        "read the service's environment through its own, through /proc, through the guest's memory",
        "only what a container needs is there; nothing of the service's",
        """
names = set(os.environ)
for pid in (name for name in os.listdir("/proc") if name.isdigit()):
    with contextlib.suppress(OSError):
        names |= {part.split(b"=")[0].decode() for part in read_file(f"/proc/{pid}/environ", 1 << 16).split(b"\\0") if part}
secret = [name for name in names if any(word in name.upper() for word in ("CANARY", "SECRET", "KEY", "PASSWORD", "AWS", "DOCKER", "TOKEN"))]
report("environment", bool(secret), sorted(secret))
parts = ("quelea", "escape", "canary")
canary = "-".join(parts).encode()
mine = {id(parts), id(canary)}
hits = 0
for line in read_file("/proc/self/maps", 1 << 20).decode().splitlines():
    if line.split()[1].startswith("r") and line.endswith("[stack]"):
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        hits += ctypes.string_at(start, end - start).count(canary + b"-value")
report("memory", hits > 0, hits)
""",
        tried=2,
    ),
    Attack(
        "other-processes",
        "see processes of the host or of other containers",
        "its own only",
        """
seen = {}
for pid in (name for name in os.listdir("/proc") if name.isdigit()):
    with contextlib.suppress(OSError):
        seen[pid] = read_file(f"/proc/{pid}/cmdline").replace(b"\\0", b" ").decode()
report("processes", len(seen) > 3 or any("guest.py" not in line for line in seen.values()), seen)
attempt("signal a high pid", lambda: os.kill(20000, 0))
""",
        tried=2,
    ),
    Attack(
        "host-by-name",
        "learn the host's name and the engine's identifiers of neighbours",
        "a name of its own; no other container's identifier in sight",
        """
import re, socket
report("name", os.uname().nodename != "sandbox", os.uname().nodename)
ids = set(re.findall(r"[0-9a-f]{64}", read_file("/proc/self/mountinfo", 1 << 20).decode() + read_file("/proc/self/cgroup").decode()))
containers = {found for found in re.findall(r"/(?:docker|containers)/([0-9a-f]{64})", read_file("/proc/self/mountinfo", 1 << 20).decode() + read_file("/proc/self/cgroup").decode())}
report("containers", len(containers) > 1, containers)
""",
        tried=2,
    ),
]
