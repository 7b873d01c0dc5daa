"""The folder of the embedded store: who owns it, which shard in it is current, its backup and restore.

LOCK           flock; holds the owner's process id
CURRENT        name of the shard folder in use, replaced in one step
shard-000001/  Qdrant Edge's own files
shard-000002/  a copy whose index is being built: worthless unless CURRENT names it
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from quelea_kit.errors import Conflict, InvalidInput
from quelea_kit.files import tar_archives

CURRENT = "CURRENT"
LOCK = "LOCK"


class FolderLock:
    """Sole ownership of a folder, given back when the process ends in whatever way."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / LOCK).open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = owner_of(folder)
            self._file.close()
            raise Conflict(
                f"The store {folder} is in use by process {owner or 'unknown'}; stop it, or choose another "
                "folder with QUELEA_RETRIEVER_DATA_DIR.",
                details={"pid": str(owner or "")},
            ) from None
        self._file.seek(0)
        self._file.truncate()
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        """Let another process have the folder."""
        self._file.close()


def owner_of(folder: Path) -> int | None:
    """Process id written in the lock file; it owns the folder only while it lives."""
    try:
        return int((folder / LOCK).read_text().strip())
    except (OSError, ValueError):
        return None


def sync_folder(folder: Path) -> None:
    """fsync every file of a folder, and the folder (its own files only, not those of folders in it)."""
    for path in (folder, *[p for p in folder.iterdir() if p.is_file()]):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def current_shard(folder: Path) -> Path | None:
    """The shard in use, None in a folder that has none yet."""
    try:
        name = (folder / CURRENT).read_text().strip()
    except FileNotFoundError:
        return None
    return folder / name


def next_shard(folder: Path) -> Path:
    """A name that no shard of the folder has had since the current one."""
    now = current_shard(folder)
    number = int(now.name.rsplit("-", 1)[1]) + 1 if now else 1
    return folder / f"shard-{number:06d}"


def set_current(folder: Path, shard: Path) -> None:
    """Make a shard the one in use. All or nothing, and on disk when it returns."""
    temporary = folder / f"{CURRENT}.new"
    with temporary.open("w") as file:
        file.write(shard.name)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / CURRENT)
    sync_folder(folder)


def remove_others(folder: Path) -> None:
    """Delete shards that are not the current one: what a build or a change of shards left behind."""
    now = current_shard(folder)
    for path in folder.iterdir():
        if path.is_dir() and path.name.startswith(("shard-", "backup-", "restore-")) and path != now:
            shutil.rmtree(path, ignore_errors=True)


def pack(shard: Path, out: Path) -> None:
    """Write a shard that nobody changes meanwhile as FILE.tar.gz; the file is complete or not there."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}.", delete=False) as temporary:
        try:
            with tarfile.open(fileobj=temporary, mode="w:gz", compresslevel=1) as tar:
                tar.add(shard, arcname="shard")
            temporary.flush()
            os.fsync(temporary.fileno())
        except BaseException:
            Path(temporary.name).unlink(missing_ok=True)
            raise
    Path(temporary.name).replace(out)


def unpack(archive: Path, folder: Path) -> None:
    """Put the shard of a backup into a folder and make it current; the caller owns the folder's lock."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="restore-") as temporary:
        found = unpack_into(archive, Path(temporary))
        target = next_shard(folder)
        shutil.rmtree(target, ignore_errors=True)
        found.rename(target)
    set_current(folder, target)
    remove_others(folder)


def unpack_into(archive: Path, folder: Path) -> Path:
    """Unpack a backup's shard; its folder. InvalidInput when there is none."""
    try:
        with tarfile.open(archive, "r:gz") as tar:
            tar_archives.extract(tar, tar, folder)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise InvalidInput(f"{archive} is not a backup of Quelea's index: {error}") from error
    found = folder / "shard"
    if not (found / "edge_config.json").is_file():
        raise InvalidInput(f"{archive} is not a backup of Quelea's index: it has no shard.")
    return found
