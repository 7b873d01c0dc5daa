"""Backup and restore of jobs, dead letters, pages and schedules, and of the stored files:
`python -m quelea_search.admin --help`. Where they are is told by the service's settings (QUELEA_SEARCH_*).

The records in Redis are the truth (decision 0002: a document's record is its commit): what was queued or running at the
backup is queued after the restore, and a job whose document is in by then ends as `unchanged`.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import sys
from importlib.metadata import version
from typing import Any

from quelea_kit.errors import InvalidInput, QueleaError
from quelea_kit.files.backups import Backup, Kept, keep

from quelea_search.adapters import blob_copy
from quelea_search.adapters.redis_copy import Key, RedisCopy
from quelea_search.settings import SearchSettings

KIND = "search"
_KEYS = "redis.jsonl.gz"
_BLOBS = "blobs.tar"


def backup(settings: SearchSettings, place: str, *, number: int, blobs: bool) -> str:
    """Write a backup while everything goes on; what was done.

    Args:
        settings: Where Redis and the files are.
        place: Folder or fsspec URL.
        number: How many backups to keep there; 0 for all.
        blobs: The files of the blob store too.
    """
    copy, made = RedisCopy(settings.redis_url, settings.redis_prefix), Backup(place, KIND)
    keys: list[Key] = []
    files = 0
    try:
        if blobs:
            with made.file(_BLOBS) as out:
                files = blob_copy.pack(settings.blobs_url, out, lambda: keys.extend(copy.read()))
        else:
            keys = copy.read()
        with made.file(_KEYS) as out:
            out.write(gzip.compress(b"".join(_line(key) for key in keys), 3))
        made.finish(keys=len(keys), blobs=files, release=version("quelea-search"))
    except BaseException:
        made.abandon()
        raise
    gone = keep(place, KIND, number) if number else []
    said = f"{made.name}: {len(keys)} keys" + (f", {files} files" if blobs else "") + f", {made.size / 1e6:.1f} MB"
    return said + (f"; removed {', '.join(gone)}" if gone else "")


def restore(settings: SearchSettings, path: str, *, replace: bool, blobs: bool) -> str:
    """Put a backup back; what was done.

    Args:
        settings: Where Redis and the files are.
        path: A backup, or where the newest is.
        replace: Remove what Redis has of the knowledge base; else one that is not empty is refused.
        blobs: Put the files back too; what else is stored stays.
    """
    kept = Kept(path, KIND)
    if blobs and _BLOBS not in kept.files:
        raise InvalidInput(f"{kept.name} was made without files (--blobs).")
    with kept.open(_KEYS) as file:
        keys = [_key(json.loads(line)) for line in gzip.decompress(file.read()).splitlines()]
    files = 0
    if blobs:  # before the records: a job may begin as soon as it is queued
        with kept.open(_BLOBS) as file:
            files = blob_copy.unpack(settings.blobs_url, file)
    count = RedisCopy(settings.redis_url, settings.redis_prefix).write(keys, replace=replace)
    return f"{kept.name}: {count} keys" + (f" and {files} files" if blobs else "") + " are back"


def parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    made = argparse.ArgumentParser(prog="python -m quelea_search.admin", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True)
    out = commands.add_parser("backup", help="write a new backup; everything may be running")
    out.add_argument("--to", required=True, metavar="PLACE", help="folder of backups, or an fsspec URL")
    out.add_argument("--keep", type=int, default=0, metavar="N", help="then remove all but the newest N; 0 keeps all")
    back = commands.add_parser("restore", help="put a backup back into an empty Redis")
    back.add_argument("--from", dest="path", required=True, metavar="PLACE", help="a backup, or where the newest is")
    back.add_argument("--replace", action="store_true", help="remove what Redis has of the knowledge base")
    for command in (out, back):
        command.add_argument("--blobs", action="store_true", help="the files of the blob store too")
    return made


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when it worked."""
    options = parser().parse_args(arguments)
    settings = SearchSettings()
    try:
        if options.command == "backup":
            said = backup(settings, options.to, number=options.keep, blobs=options.blobs)
        else:
            said = restore(settings, options.path, replace=options.replace, blobs=options.blobs)
    except QueleaError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    sys.stdout.write(f"{said}\n")
    return 0


def _line(key: Key) -> bytes:
    told = {"name": key.name, "expires": key.expires, "value": base64.b64encode(key.value).decode()}
    return json.dumps(told).encode() + b"\n"


def _key(told: dict[str, Any]) -> Key:
    return Key(str(told["name"]), int(told["expires"]), base64.b64decode(told["value"]))


if __name__ == "__main__":
    sys.exit(main())
