"""Archives are unpacked into their folder, and nowhere else."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from quelea_kit.files import tar_archives


def archive_of(*members: tuple[tarfile.TarInfo, bytes]) -> tarfile.TarFile:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return tarfile.open(fileobj=io.BytesIO(out.getvalue()))


def of_type(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def test_files_and_folders_are_written_with_their_execute_bit(tmp_path: Path) -> None:
    run = tarfile.TarInfo("a/run")
    run.mode = 0o4777
    archive = archive_of((of_type("empty", tarfile.DIRTYPE), b""), (run, b"x"), (tarfile.TarInfo("a/b/c"), b"yz"))
    tar_archives.extract(archive, archive, tmp_path)
    assert (tmp_path / "empty").is_dir()
    assert (tmp_path / "a/b/c").read_bytes() == b"yz"
    assert [(tmp_path / name).stat().st_mode & 0o7777 for name in ("a/run", "a/b/c")] == [0o700, 0o600]


@pytest.mark.parametrize(
    "member",
    [
        tarfile.TarInfo("../outside"),
        tarfile.TarInfo("/outside"),
        of_type("link", tarfile.SYMTYPE, "/etc"),
        of_type("hard", tarfile.LNKTYPE, "/etc/passwd"),
        of_type("device", tarfile.CHRTYPE),
    ],
)
def test_what_would_reach_outside_is_refused(tmp_path: Path, member: tarfile.TarInfo) -> None:
    archive = archive_of((member, b""))
    with pytest.raises(tarfile.ExtractError):
        tar_archives.extract(archive, archive, tmp_path / "in")
    assert not list(tmp_path.rglob("*"))
