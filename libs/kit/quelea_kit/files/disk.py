"""The watermark of a volume: new work is refused while there is still room to finish, and to keep, what was taken.

A store that runs out of space in the middle of a write dies of it (Redis ends, a memory map raises SIGBUS). So whoever
makes data asks here first. Reading and deleting never ask.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from quelea_kit.errors import DiskFull
from quelea_kit.metrics import DISK_FREE, DISK_SHORT
from quelea_kit.settings import ServiceSettings

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""What a volume says that takes no more bytes, for now."""
_RETRY_SECONDS = 60.0


class Disk:
    """The volume that holds a folder.

    Args:
        folder: Need not exist yet; its nearest ancestor that does counts.
        settings: min_free_bytes and min_free_share.
    """

    def __init__(self, folder: Path, settings: ServiceSettings) -> None:
        self._folder = folder.absolute()
        self._bytes, self._share = settings.min_free_bytes, settings.min_free_share

    def check(self) -> None:
        """Raise DiskFull while less is free than the watermark, or the volume is read-only."""
        folder = next((one for one in (self._folder, *self._folder.parents) if one.exists()), self._folder)
        try:
            size, _, free = shutil.disk_usage(folder)
            read_only = _is_read_only(folder)
        except OSError as error:
            DISK_SHORT.set(1)
            raise disk_full(f"The disk cannot be used ({error.strerror}).") from error
        floor = max(self._bytes, int(size * self._share))
        DISK_FREE.set(free)
        DISK_SHORT.set(read_only or free < floor)
        if read_only:
            raise disk_full("The disk is mounted read-only; nothing new is stored until it is writable again.")
        if free < floor:
            raise disk_full(
                f"The disk has {free // 10**6} MB free and nothing new is stored below {floor // 10**6} MB; "
                "free some space, then try again.",
            )


def _is_read_only(folder: Path) -> bool:
    """Whether a volume takes no bytes at all.

    A file system that found an error stops writing without being mounted read-only (ext4: emergency_ro), so a file
    without a name is made there. Raises OSError.
    """
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return True
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
    except OSError as error:
        if error.errno == errno.EROFS:
            return True
        if error.errno in (errno.EIO, errno.ESHUTDOWN):
            raise
    return False


def disk_full(message: str) -> DiskFull:
    """The error, with the time to come back."""
    return DiskFull(message, retry_after=_RETRY_SECONDS)


def local_folder(url: str) -> Path | None:
    """The folder that an address of files names; None for an object store."""
    return Path(url.removeprefix("file://")) if "://" not in url.removeprefix("file://") else None
