"""Unpacking tar archives that may have been tampered with.

`tarfile`'s own filters (PEP 706) are missing in Python before 3.11.4, which Debian 12 has.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path


def extract(archive: tarfile.TarFile, members: Iterable[tarfile.TarInfo], folder: Path) -> None:
    """Write files and folders of an archive into a folder; owners and times are not kept, execute bits are.

    Raises:
        tarfile.ExtractError: A member is no plain file or folder, or would lie outside.
    """
    root = folder.resolve()
    for member in members:
        target = (root / member.name).resolve()
        if not target.is_relative_to(root):
            raise tarfile.ExtractError(f"{member.name!r} would lie outside the folder")
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        content = archive.extractfile(member) if member.isfile() else None
        if content is None:
            raise tarfile.ExtractError(f"{member.name!r} is no plain file")
        target.parent.mkdir(parents=True, exist_ok=True)
        with content, target.open("wb") as file:
            shutil.copyfileobj(content, file)
        target.chmod(member.mode & 0o700 | 0o600)
