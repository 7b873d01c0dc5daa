"""The base image's file system, as a tar: the same bytes each time, and nothing in it that a run has no use for."""

from __future__ import annotations

import importlib.util
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

RECIPE = Path(__file__).resolve().parents[3] / "deploy" / "images" / "rootfs.py"


@pytest.fixture(scope="module")
def rootfs() -> ModuleType:
    """The recipe, which is no package."""
    spec = importlib.util.spec_from_file_location("quelea_rootfs", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_same_machine_gives_the_same_bytes(rootfs: ModuleType, tmp_path: Path) -> None:
    small = {path: source for path, source in rootfs.contents().items() if path.startswith(("etc", "usr/local/bin"))}
    small |= {path: source for path, source in rootfs.contents().items() if "/json/" in path}
    assert rootfs.fingerprint(small) == rootfs.fingerprint(dict(reversed(small.items())))
    assert rootfs.fingerprint(small) != rootfs.fingerprint({**small, "etc/more": b""})
    for name in ("a.tar", "b.tar"):
        rootfs.write(small, tmp_path / name)
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_interpreter_and_linker_are_there_and_no_shell_no_setuid_no_installer(
    rootfs: ModuleType, tmp_path: Path
) -> None:
    files = rootfs.contents()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    names = {Path(path).name for path in files}
    assert f"usr/local/bin/{version}" in files
    assert f"usr/local/lib/{version}/json/__init__.py" in files
    assert {"libc.so.6", "libstdc++.so.6", "libgcc_s.so.1"} <= names
    assert any(name.startswith("ld-linux") for name in names)
    assert not names & {"sh", "bash", "busybox", "apt-get", "dpkg", "su", "sudo", "mount"}
    assert not [path for path in files if "/site-packages/" in path or "/ensurepip/" in path or "/test/" in path]
    rootfs.write({path: files[path] for path in files if path.startswith("usr/local/bin")}, tmp_path / "base.tar")
    with tarfile.open(tmp_path / "base.tar") as tar:
        assert not [entry.name for entry in tar if entry.isfile() and entry.mode & 0o6000]
        assert tar.getmember("tmp").mode == 0o1777


def test_a_machine_that_lacks_a_library_is_told_which(rootfs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rootfs, "WHEEL_LIBRARIES", ("libnosuch.so.9",))
    with pytest.raises(rootfs.Machine, match=r"libnosuch\.so\.9"):
        rootfs.contents()
