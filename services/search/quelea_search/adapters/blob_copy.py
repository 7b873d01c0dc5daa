"""The files of the blob store, into one tar stream and back."""

from __future__ import annotations

import io
import re
import tarfile
import time
from collections.abc import Callable
from typing import IO, Any, cast

from fsspec.core import url_to_fs
from quelea_kit.errors import InvalidInput

_NAME = re.compile(r"incoming/[0-9a-f]{32}|documents/[0-9a-f]{32}/(original|pages\.gz)")
_CHUNK = 1 << 20


def pack(url: str, out: Any, between: Callable[[], None]) -> int:
    """Write documents and bytes that wait as a tar; how many files.

    The bytes that wait come first and, where there are new ones, last, `between` being called in the middle: so what is
    read there (the records of the jobs) speaks of no job whose bytes are missing. Pages that were only read for an
    answer stay out.

    Args:
        url: Of the blob store.
        out: Has write().
        between: Reads the records.
    """
    fs, root = url_to_fs(url)
    root, done = str(root).rstrip("/"), set[str]()
    with tarfile.open(fileobj=cast("IO[bytes]", out), mode="w|") as tar:
        _add(fs, root, "incoming", tar, done)
        between()
        _add(fs, root, "documents", tar, done)
        _add(fs, root, "incoming", tar, done)
    return len(done)


def unpack(url: str, source: IO[bytes]) -> int:
    """Put the files where they were; what else is there stays. How many files."""
    fs, root = url_to_fs(url)
    root, count = str(root).rstrip("/"), 0
    try:
        with tarfile.open(fileobj=source, mode="r|") as tar:
            for member in tar:
                if not member.isfile() or not _NAME.fullmatch(member.name):
                    raise InvalidInput(f"{member.name!r} is no file of a blob store.")
                path, file = f"{root}/{member.name}", tar.extractfile(member)
                fs.makedirs(path.rpartition("/")[0], exist_ok=True)
                with fs.open(f"{path}.part", "wb") as into:
                    while chunk := (file.read(_CHUNK) if file else b""):
                        into.write(chunk)
                fs.mv(f"{path}.part", path)
                count += 1
    except tarfile.TarError as error:
        raise InvalidInput(f"The backup's files cannot be read: {error}") from error
    return count


def _add(fs: Any, root: str, folder: str, tar: tarfile.TarFile, done: set[str]) -> None:
    fs.invalidate_cache()
    for path in sorted(fs.find(f"{root}/{folder}")):
        name = f"{folder}/{str(path).rpartition(f'/{folder}/')[2]}"
        if name in done or not _NAME.fullmatch(name):
            continue
        try:
            data = fs.cat_file(path)  # one document's bytes, which have a limit
        except FileNotFoundError:
            continue  # its job has ended, or the document was replaced, just now
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = len(data), int(time.time()), 0o640
        tar.addfile(member, io.BytesIO(data))
        done.add(name)
