"""A root file system with nothing in it but this machine's CPython and the shared libraries that it needs.

No shell, no package manager, no setuid file. Same interpreter and libraries in, same bytes out.
"""

from __future__ import annotations

import hashlib
import io
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

# Of the standard library: what a sandbox has no use for (windows, terminals, installers, its own tests).
LEFT_OUT = {"test", "idlelib", "tkinter", "turtledemo", "turtle.py", "ensurepip", "lib2to3", "curses", "venv"}
LEFT_OUT |= {"site-packages", "__pycache__", "pydoc_data", "antigravity.py"}
LEFT_OUT_EXTENSIONS = re.compile(
    r"^(_tkinter|_curses|_curses_panel|readline|_gdbm|_dbm|nis|_test.*|xx.*|ossaudiodev)\."
)
# What a manylinux wheel may take for granted, beside what the interpreter itself is linked with.
WHEEL_LIBRARIES: tuple[str, ...] = (
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libm.so.6",
    "libdl.so.2",
    "librt.so.1",
    "libpthread.so.0",
)
WHEEL_LIBRARIES += ("libutil.so.1", "libresolv.so.2", "libz.so.1", "libexpat.so.1")
FILES = {
    "etc/passwd": "root:x:0:0::/nonexistent:/nonexistent\nsandbox:x:65534:65534::/work:/nonexistent\n",
    "etc/group": "root:x:0:\nsandbox:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "etc/hosts": "127.0.0.1 localhost\n",
}
FOLDERS = ("dev", "proc", "sys", "etc", "work", "run/market", "usr/share", "opt/quelea")


EPOCH = 315_619_200  # 1980-01-02: fixed, and late enough for a zip


class Machine(Exception):
    """This machine lacks what a base image is made of."""


def _find_linked(paths: list[Path]) -> list[Path]:
    # What the dynamic linker would load, by absolute path; one ldd for all, since each call costs a process a file.
    done = subprocess.run(["ldd", *map(str, paths)], capture_output=True, text=True, check=False)  # noqa: S603, S607 - the machine's own files
    missing = set(re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE))
    if missing:
        raise Machine(f"the interpreter needs {', '.join(sorted(missing))}, which this machine lacks")
    return [Path(found) for found in re.findall(r"(/\S+) \(0x", done.stdout)]


def _libraries(roots: list[Path]) -> dict[str, Path]:
    """Where in the image → which file: everything that the roots load, and what wheels expect."""
    # Debian's users have no /sbin on their path.
    command = shutil.which("ldconfig", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin") or "ldconfig"
    cache = subprocess.run([command, "-p"], capture_output=True, text=True, check=True)  # noqa: S603  # the linker's own list
    known = dict(re.findall(r"^\s*(\S+) \(libc6,x86-64[^)]*\) => (\S+)", cache.stdout, re.MULTILINE)[::-1])
    missing = [name for name in ("libc.so.6", *WHEEL_LIBRARIES) if name not in known]
    if missing:
        raise Machine(f"this machine has no {', '.join(missing)} for x86-64")
    wheels = [Path(known[name]) for name in WHEEL_LIBRARIES]
    # An interpreter built by hand has its libpython beside it: in the image it lies where the linker looks.
    usual = Path(known["libc.so.6"]).parent
    files: dict[str, Path] = {}
    for found in sorted({*_find_linked([*roots, *wheels]), *wheels}):
        folder = found.parent if str(found).startswith(("/lib", "/usr/lib")) else usual
        files[f"{folder}/{found.name}".lstrip("/")] = found.resolve()
    return files


def _standard_library(stdlib: Path) -> list[Path]:
    chosen = []
    for folder, below, names in os.walk(stdlib):
        # Pruned on the way down: site-packages of a developer's machine holds gigabytes.
        below[:] = [name for name in below if name not in LEFT_OUT and not name.startswith("config-")]
        for name in names:
            if name in LEFT_OUT or (folder.endswith("lib-dynload") and LEFT_OUT_EXTENSIONS.match(name)):
                continue
            chosen.append(Path(folder, name))
    return sorted(chosen)


def contents() -> dict[str, bytes | Path | str]:
    """Path in the image → bytes, a file of this machine, or the target of a link (a string)."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    stdlib = Path(sysconfig.get_path("stdlib"))
    interpreter = Path(sys.base_prefix, "bin", version).resolve()
    if sys.platform != "linux" or not interpreter.is_file():
        raise Machine(f"no {interpreter}: a base image is made from a CPython on Linux, or give BASE=some/image")
    files: dict[str, bytes | Path | str] = {path: text.encode() for path, text in FILES.items()}
    modules = _standard_library(stdlib)
    roots = [interpreter, *(path for path in modules if path.suffix == ".so")]
    for path in modules:
        files[f"usr/local/lib/{version}/{path.relative_to(stdlib)}"] = path
    files[f"usr/local/bin/{version}"] = interpreter
    files["usr/local/bin/python3"] = files["usr/local/bin/python"] = version
    files.update(_libraries(roots))
    return files


def fingerprint(files: dict[str, bytes | Path | str]) -> str:
    """SHA-256 over this recipe, and every path and its bytes: the identity of the base."""
    total = hashlib.sha256(sys.version.encode() + Path(__file__).read_bytes())
    for path in sorted(files):
        content = files[path]
        data = (
            content.read_bytes()
            if isinstance(content, Path)
            else content
            if isinstance(content, bytes)
            else content.encode()
        )
        total.update(f"{path}\0{len(data)}\0".encode() + hashlib.sha256(data).digest())
    return total.hexdigest()


def _entry(name: str, mode: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode, info.mtime, info.uid, info.gid = mode, EPOCH, 0, 0
    return info


def write(files: dict[str, bytes | Path | str], out: Path) -> None:
    """The tar for `docker import`, with bytecode that never checks its source's time."""
    folders = {"tmp": 0o1777, **dict.fromkeys(FOLDERS, 0o755)}
    for path in files:
        for parent in Path(path).parents:
            if str(parent) != ".":
                folders.setdefault(str(parent), 0o755)
    with tarfile.open(out, "w") as tar, tempfile.TemporaryDirectory() as scratch:
        for folder in sorted(folders):
            info = _entry(folder, folders[folder])
            info.type = tarfile.DIRTYPE
            tar.addfile(info)
        for path in sorted(files):
            content = files[path]
            if isinstance(content, str):
                info = _entry(path, 0o777)
                info.type, info.linkname = tarfile.SYMTYPE, content
                tar.addfile(info)
                continue
            data = content if isinstance(content, bytes) else content.read_bytes()
            executable = path.startswith("usr/local/bin/") or ".so" in path
            info = _entry(path, 0o755 if executable else 0o644)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
            if isinstance(content, Path) and path.endswith(".py"):
                _add_bytecode(tar, path, content, Path(scratch))


def _add_bytecode(tar: tarfile.TarFile, path: str, source: Path, scratch: Path) -> None:
    compiled = scratch / "module.pyc"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    try:
        py_compile.compile(str(source), str(compiled), f"/{path}", doraise=True, invalidation_mode=mode)
    except py_compile.PyCompileError:
        return  # a template, not a module
    data = compiled.read_bytes()
    where = Path(path)
    info = _entry(f"{where.parent}/__pycache__/{where.stem}.{sys.implementation.cache_tag}.pyc", 0o644)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))
