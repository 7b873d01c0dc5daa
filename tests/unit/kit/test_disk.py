"""The watermark of a volume."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from quelea_kit.errors import DiskFull
from quelea_kit.files.disk import Disk, local_folder
from quelea_kit.settings import ServiceSettings


def test_room_enough_is_silent_even_before_the_folder_exists(tmp_path: Path) -> None:
    Disk(tmp_path / "not/yet", ServiceSettings(min_free_bytes=1, min_free_share=0)).check()
    assert REGISTRY.get_sample_value("quelea_disk_short") == 0
    assert REGISTRY.get_sample_value("quelea_disk_free_bytes")


@pytest.mark.parametrize("floor", [{"min_free_bytes": 10**18}, {"min_free_share": 1.0}])
def test_below_the_floor_new_work_is_refused_with_a_time_to_come_back(tmp_path: Path, floor: dict[str, float]) -> None:
    with pytest.raises(DiskFull, match="MB free and nothing new is stored below") as caught:
        Disk(tmp_path, ServiceSettings(**floor)).check()  # type: ignore[arg-type]
    assert caught.value.retry_after
    assert caught.value.http_status == 507
    assert REGISTRY.get_sample_value("quelea_disk_short") == 1


def test_a_volume_that_stopped_writing_is_read_only_whatever_its_mount_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ext4 with errors=remount-ro after an error: rw,emergency_ro."""

    def refuse(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DiskFull, match="read-only"):
        Disk(tmp_path, ServiceSettings(min_free_bytes=1, min_free_share=0)).check()
    assert REGISTRY.get_sample_value("quelea_disk_short") == 1


def test_only_folders_have_a_disk() -> None:
    assert local_folder("/data/blobs") == Path("/data/blobs")
    assert local_folder("file:///data/blobs") == Path("/data/blobs")
    assert local_folder("s3://bucket/prefix") is None
