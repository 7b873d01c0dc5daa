"""Backup and restore of the embedded store. Backup works while the service runs; restore needs it stopped."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

from quelea_kit.errors import Conflict, InvalidInput
from quelea_kit.files.backups import Backup, Kept, keep

from quelea_retriever.adapters import edge_files
from quelea_retriever.adapters.edge_shard import EdgeShard
from quelea_retriever.adapters.store import SCHEMA, schema_conflict
from quelea_retriever.maintenance import live_backup

KIND = "folder"
_FILE = "shard.tar.gz"


def backup(folder: Path, place: str, *, number: int, seconds: float) -> str:
    """Write the store of a folder as a backup; what was done.

    Args:
        folder: Of the store.
        place: Folder or fsspec URL.
        number: How many backups to keep there; 0 for all.
        seconds: Longest wait for a running service.
    """
    with tempfile.TemporaryDirectory(prefix="quelea-backup-", dir=folder if folder.is_dir() else None) as temporary:
        packed = Path(temporary) / _FILE
        running = _pack(folder, packed, seconds)
        profile, schema = _profile(packed, Path(temporary))
        made = Backup(place, KIND)
        try:
            with made.file(_FILE) as out, packed.open("rb") as file:
                while chunk := file.read(1 << 20):
                    out.write(chunk)
            made.finish(schema=schema, profile=profile, release=version("quelea-retriever"))
        except BaseException:
            made.abandon()
            raise
    gone = keep(place, KIND, number) if number else []
    said = f"{made.name}: {made.size / 1e6:.1f} MB" + (", from the running service" if running else "")
    return said + (f"; removed {', '.join(gone)}" if gone else "")


def restore(folder: Path, path: str) -> str:
    """Put a backup in the place of what the folder holds; Conflict while a service uses it."""
    kept = Kept(path, KIND)
    schema = int(kept.manifest["schema"])
    if schema > SCHEMA:
        raise Conflict(schema_conflict(schema))
    lock = edge_files.FolderLock(folder)
    try:
        with tempfile.TemporaryDirectory(prefix="restore-", dir=folder) as temporary:
            packed = Path(temporary) / _FILE
            with kept.open(_FILE) as file, packed.open("wb") as out:
                shutil.copyfileobj(file, out)
            edge_files.unpack(packed, folder)
    finally:
        lock.release()
    return f"{folder} now holds {kept.name}"


def _pack(folder: Path, out: Path, seconds: float) -> bool:
    """True when the running service did it."""
    try:
        lock = edge_files.FolderLock(folder)
    except Conflict as error:
        if not error.details.get("pid"):
            raise
        live_backup.ask(folder, int(error.details["pid"]), out, seconds)
        return True
    try:
        shard = edge_files.current_shard(folder)
        if shard is None:
            raise InvalidInput(f"{folder} holds no knowledge base.")
        edge_files.pack(shard, out)
    finally:
        lock.release()
    return False


def _profile(packed: Path, temporary: Path) -> tuple[dict[str, object], int]:
    """What the packed store says of itself; so a backup that cannot be opened is none."""
    shard = EdgeShard.load(edge_files.unpack_into(packed, temporary / "look"))
    try:
        return dataclasses.asdict(shard.profile()), shard.schema()
    finally:
        shard.close()
