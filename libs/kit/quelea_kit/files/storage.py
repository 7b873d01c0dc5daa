"""Files in a folder or in an object store, under one address: what every service that keeps some asks of either.

A folder, or a URL that fsspec knows; s3://bucket/prefix is the one that is tested. Credentials and endpoint of S3 come
from the environment, as botocore has it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL_S3, AWS_CA_BUNDLE.

A file appears under its name only when it is complete: a folder gets it by another name first, an object store shows
an object when it is whole. Nothing is remembered between two calls, as other processes write too. All calls block, none
for ever: a store that refuses is given up in seconds, one that hangs within a minute, any single call in two. Make one
after a fork, not before.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
import uuid
from collections.abc import Iterator
from typing import Any

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from quelea_kit.errors import InvalidInput, Unavailable
from quelea_kit.files.disk import NO_SPACE, disk_full

PART = ".part"
"""End of the name of a file that is under way, or was broken off."""
_S3 = ("s3://", "s3a://")
_CONNECT_SECONDS = 3
_READ_SECONDS = 15
_ATTEMPTS = 3
_CALL_SECONDS = 120.0
_BLOCK = 8 << 20  # bytes of a stream that are in memory; an object of S3 has at most 10,000 of them
_LARGE_BLOCK = 32 << 20
_CREDENTIALS = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL_S3"


class Storage:
    """The files under an address. Names are relative, with slashes; the caller has checked them.

    Args:
        url: A folder, or an fsspec URL.
        what: How messages call it, for example "The blob store".

    Raises:
        InvalidInput: Nothing speaks this kind of URL.
    """

    def __init__(self, url: str, what: str) -> None:
        self._url, self._what = url, what
        self._s3 = url.startswith(_S3)
        self._errors: tuple[type[Exception], ...] = (OSError,)
        self._bounds: dict[str, Any] = {}
        options: dict[str, Any] = {}
        if self._s3:
            self._errors = _errors_of_s3()
            self._bounds = {"timeout": _CALL_SECONDS}
            config = {
                "connect_timeout": _CONNECT_SECONDS,
                "read_timeout": _READ_SECONDS,
                "retries": {"mode": "standard", "total_max_attempts": _ATTEMPTS},
            }
            # A listing that is remembered hides what another process wrote.
            options = {"config_kwargs": config, "use_listings_cache": False, "skip_instance_cache": True}
        try:
            self._fs, root = url_to_fs(url, **options)
        except (ValueError, ImportError) as error:
            raise InvalidInput(f"{what} cannot be at {url}: {error}.") from error
        if self._s3:
            self._fs.retries = 1  # botocore's are enough; s3fs would multiply them
        self._local = isinstance(self._fs, LocalFileSystem)
        self._root = str(root).rstrip("/")

    def check(self) -> None:
        """Whether there is something to write to.

        Raises:
            InvalidInput: The bucket does not exist, or may not be used; the message says what to do.
            Unavailable: The store does not answer.
        """
        if not self._s3:
            return
        bucket, key, _ = self._fs.split_path(self._root)
        asked = {"Bucket": bucket, "Prefix": f"{key}/" if key else "", "MaxKeys": 1}
        try:
            with self._failures():
                self._fs.call_s3("list_objects_v2", **asked, **self._bounds)
        except Unavailable as error:
            if isinstance(error.__cause__, FileNotFoundError | PermissionError):
                raise InvalidInput(error.message) from error
            raise

    def read(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        """The bytes of a file, or those from `start` to before `end`; FileNotFoundError."""
        part: dict[str, Any] = {"start": start, "end": end} if start or end is not None else {}
        with self._failures():
            return bytes(self._fs.cat_file(self._path(name), **part, **self._bounds))

    def size(self, name: str) -> int:
        """Bytes of a file; FileNotFoundError."""
        self._fs.invalidate_cache()
        with self._failures():
            return int(self._fs.info(self._path(name), **self._bounds)["size"])

    def write(self, name: str, data: bytes, *, durable: bool = True) -> None:
        """Store a file, in the place of what has its name.

        Args:
            name: Of the file.
            data: Its bytes.
            durable: On a disk, wait until they are on it.
        """
        if self._local:
            with self.writer(name, durable=durable) as writer:
                writer.write(data)
            return
        with self._failures():
            self._fs.pipe_file(self._path(name), data, **self._bounds)

    def writer(self, name: str, *, durable: bool = True, direct: bool = False) -> Writer:
        """A file that comes piece by piece.

        Args:
            name: Of the file.
            durable: On a disk, `commit` waits until the bytes are on it.
            direct: Under its own name at once, for what may be seen half written: saves large files a copy in the
                store. Up to 320 GB; else up to 80 GB, and nothing of it is visible before its `commit`.
        """
        return Writer(self, name, durable=durable, direct=direct)

    @contextlib.contextmanager
    def opened(self, name: str) -> Iterator[Any]:
        """A file, to be read piece by piece; FileNotFoundError. Errors of the block's own pass."""
        with self._failures():
            file = self._fs.open(self._path(name), "rb", block_size=_BLOCK)
        with file:
            yield _Reading(self, file)

    def exists(self, name: str) -> bool:
        """Whether there is such a file, or a folder with files."""
        self._fs.invalidate_cache()
        try:
            with self._failures():
                self._fs.info(self._path(name), **self._bounds)  # `exists` takes a missing bucket for a missing file
        except FileNotFoundError:
            return False
        return True

    def names(self, folder: str = "") -> list[str]:
        """The last parts of the names of files and folders in a folder, in order; none when it does not exist."""
        self._fs.invalidate_cache()
        try:
            with self._failures():
                paths = self._fs.ls(self._path(folder), detail=False, **self._bounds)
        except FileNotFoundError:
            return []
        return sorted(str(path).rstrip("/").rsplit("/", 1)[-1] for path in paths)

    def ages(self, folder: str) -> dict[str, float]:
        """Every file below a folder (its name within it), and the seconds since it was written."""
        self._fs.invalidate_cache()
        base, now = f"{self._path(folder)}/", time.time()
        with self._failures():
            found = self._fs.find(self._path(folder), detail=True, **self._bounds)
        return {str(path).rpartition(base)[2]: _age(entry, now) for path, entry in found.items()}

    def delete(self, name: str) -> None:
        """Forget a file; no error when there is none."""
        with contextlib.suppress(FileNotFoundError), self._failures():
            self._fs.rm_file(self._path(name), **self._bounds)

    def delete_folder(self, folder: str) -> None:
        """Forget all files below a folder, and it; no error when there is none."""
        if self._local:
            with contextlib.suppress(FileNotFoundError), self._failures():
                self._fs.rm(self._path(folder), recursive=True)
            return
        # One by one: when many are deleted at once, s3fs does not tell which were refused, and not every store can.
        for name in self.ages(folder):
            self.delete(f"{folder}/{name}")

    def make_folder(self, folder: str) -> None:
        """A folder without files, where there are such; an object store has none."""
        if self._local:
            with self._failures():
                self._fs.makedirs(self._path(folder), exist_ok=True)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Unavailable for what is no FileNotFoundError of a file."""
        try:
            yield
        except FileNotFoundError as error:
            if _code(error) == "NoSuchBucket":
                bucket = self._fs.split_path(self._root)[0]
                raise Unavailable(
                    f"{self._what} is at {self._url}, but there is no bucket {bucket}: create it, or correct the "
                    "address or AWS_ENDPOINT_URL_S3."
                ) from error
            raise
        except self._errors as error:
            if isinstance(error, OSError) and error.errno in NO_SPACE:
                raise disk_full(f"{self._what} takes nothing new: {error.strerror}. Free some space.") from error
            why = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
            hint = ""
            if self._s3 and (isinstance(error, PermissionError) or type(error).__name__ == "NoCredentialsError"):
                hint = f" Check {_CREDENTIALS}, and that the key may list, get, put and delete there."
            raise Unavailable(f"{self._what} at {self._url} cannot be used: {why.rstrip('.')}.{hint}") from error


class Writer:
    """Bytes on their way in. As a context it commits at the end, and aborts on an error.

    Args:
        storage: Where to.
        name: Of the file.
        durable: On a disk, wait until the bytes are on it.
        direct: Under its own name at once.
    """

    def __init__(self, storage: Storage, name: str, *, durable: bool, direct: bool) -> None:
        self._storage, self._name, self._durable = storage, name, durable
        self._part = name if direct else f"{name}.{uuid.uuid4().hex}{PART}"
        storage.make_folder(name.rpartition("/")[0])
        with storage._failures():
            block = _LARGE_BLOCK if direct else _BLOCK
            self._file = storage._fs.open(storage._path(self._part), "wb", block_size=block)

    def write(self, data: bytes) -> int:
        """Add bytes."""
        with self._storage._failures():
            self._file.write(data)
        return len(data)

    def commit(self) -> None:
        """Make the file visible."""
        fs, part, path = self._storage._fs, self._storage._path(self._part), self._storage._path(self._name)
        with self._storage._failures():
            self._file.flush()
            if self._durable:
                with contextlib.suppress(AttributeError, OSError, io.UnsupportedOperation):
                    os.fsync(self._file.fileno())
            self._file.close()
            if part == path:
                return
            if self._storage._local:
                os.replace(part, path)  # noqa: PTH105  # both are text here
                return
            fs.cp_file(part, path, **self._storage._bounds)
        self._storage.delete(self._part)

    def abort(self) -> None:
        """Leave nothing behind; not after a commit."""
        with contextlib.suppress(Exception):
            self._file.close()
        self._storage.delete(self._part)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.commit()
        else:
            with contextlib.suppress(Unavailable):  # the error that is under way says more
                self.abort()


class _Reading:
    """A file whose errors are ours."""

    def __init__(self, storage: Storage, file: Any) -> None:
        self._storage, self._file = storage, file

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or all that are left."""
        with self._storage._failures():
            return bytes(self._file.read(size))


def _errors_of_s3() -> tuple[type[Exception], ...]:
    """What comes out of the client when the store or the wire fails; loaded only where there is an object store."""
    from aiohttp import ClientError as WireError  # noqa: PLC0415  # half a second of imports
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  # as above
    from botocore.parsers import ResponseParserError  # noqa: PLC0415  # as above

    return (OSError, BotoCoreError, ClientError, ResponseParserError, WireError)


def _code(error: BaseException) -> str:
    """Of the answer of S3 that is behind an error of s3fs."""
    response: Any = getattr(error.__cause__, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def _age(entry: dict[str, Any], now: float) -> float:
    """Every file system calls the time otherwise."""
    changed: Any = entry.get("mtime") or entry.get("LastModified") or entry.get("created")
    return now - float(changed.timestamp() if hasattr(changed, "timestamp") else changed or now)
