"""Originals and parsed pages in a folder or an object store (fsspec).

    incoming/<job id>                   the bytes of a job that has not ended
    documents/<document id>/original    the bytes
    documents/<document id>/pages.gz    JSON lines: a header, then the text of each page
    web/<document id>/original, pages.gz  likewise, of pages that were read for an answer; for some days

A file appears under its name only when it is complete. Names are made of checked hexadecimal ids alone, so no caller
can reach another path. Every method blocks; the server calls them in threads.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import threading
import time
import uuid
from collections.abc import Sequence
from typing import Any

from fsspec.core import url_to_fs
from quelea_kit.errors import NotFound, Unavailable

_ID = re.compile(r"[0-9a-f]{32}")
_GZIP_LEVEL = 3
_BROKEN_SECONDS = 3600.0


class Upload:
    """Bytes on their way in; nothing is visible before `commit`."""

    def __init__(self, fs: Any, path: str) -> None:
        self._fs = fs
        self._path = path
        self._part = f"{path}.{uuid.uuid4().hex}.part"
        self._hash = hashlib.sha256()
        self._file = fs.open(self._part, "wb")
        self._lock = threading.Lock()
        self._committed = self._aborted = False
        self.size = 0

    def write(self, data: bytes) -> None:
        """Add the next bytes."""
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def commit(self) -> str:
        """Make the file visible; returns the document id (SHA-256, first 32 hexadecimal digits)."""
        with self._lock:
            if self._aborted:
                raise NotFound("The upload was given up.")
            _close(self._file)
            self._fs.mv(self._part, self._path)
            self._committed = True
        return self._hash.hexdigest()[:32]

    def abort(self) -> None:
        """Leave nothing behind, even when a commit is just under way in another thread."""
        with self._lock:
            self._aborted = True
            with contextlib.suppress(Exception):
                self._file.close()
            with contextlib.suppress(FileNotFoundError):
                self._fs.rm_file(self._path if self._committed else self._part)


class Blobs:
    """The blob store of one knowledge base.

    Args:
        url: A folder, or an fsspec URL.
    """

    def __init__(self, url: str) -> None:
        self._fs, root = url_to_fs(url)
        self._root = root.rstrip("/")
        for folder in ("incoming", "documents", "web"):
            self._fs.makedirs(f"{self._root}/{folder}", exist_ok=True)

    def upload(self, job_id: str) -> Upload:
        """Begin to store the bytes of a job."""
        return Upload(self._fs, self._incoming(job_id))

    def read_incoming(self, job_id: str) -> bytes:
        """The bytes of a job."""
        path = self._incoming(job_id)
        try:
            return bytes(self._fs.cat_file(path))
        except FileNotFoundError as error:
            raise NotFound("The uploaded bytes are gone; submit the file again.") from error
        except OSError as error:
            raise Unavailable(f"The blob store does not give the uploaded file: {error}.") from error

    def delete_incoming(self, job_id: str) -> None:
        """Forget the bytes of a job; no error when there are none."""
        self._remove(self._incoming(job_id))

    def has_incoming(self, job_id: str) -> bool:
        """Whether the bytes of a job are stored."""
        return bool(self._fs.exists(self._incoming(job_id)))

    def uploads(self) -> dict[str, float]:
        """Job id -> age in seconds of every complete upload; removes those that were broken off an hour ago."""
        now, found = time.time(), {}
        self._fs.invalidate_cache()
        for entry in self._fs.ls(f"{self._root}/incoming", detail=True):
            name = entry["name"].rsplit("/", 1)[-1]
            age = _age(entry, now)
            if _ID.fullmatch(name):
                found[name] = age
            elif name.endswith(".part") and age > _BROKEN_SECONDS:
                self._remove(entry["name"])
        return found

    def keep(self, job_id: str, document_id: str, header: dict[str, Any], pages: Sequence[str]) -> None:
        """Store a document for good: its pages, then its bytes. The incoming copy stays until the job has ended."""
        folder = self._folder(document_id)
        self._fs.makedirs(folder, exist_ok=True)
        # Of a worker that was killed at this very place: nobody else is at this document now.
        for broken in self._fs.glob(f"{folder}/*.part"):
            self._remove(broken)
        self._write(f"{folder}/pages.gz", _pack(header, pages))
        self._write(f"{folder}/original", self.read_incoming(job_id))

    def cache_page(self, document_id: str, header: dict[str, Any], pages: Sequence[str], data: bytes) -> None:
        """Store a page of the web that was read for an answer; it opens as a document does, until it is trimmed."""
        folder = self._folder(document_id, "web")
        self._fs.makedirs(folder, exist_ok=True)
        # The pages last: their age is the age of the whole.
        self._write(f"{folder}/original", data)
        self._write(f"{folder}/pages.gz", _pack(header, pages))

    def cached_original(self, document_id: str) -> bytes | None:
        """The bytes of a page that was read for an answer; None when it is no longer there."""
        if not _ID.fullmatch(document_id):
            return None
        return self._cat(f"{self._folder(document_id, 'web')}/original")

    def trim_cache(self, older_than_seconds: float) -> int:
        """Forget pages that were read for an answer so long ago; how many there were."""
        now, old = time.time(), set()
        self._fs.invalidate_cache()
        for path, entry in self._fs.find(f"{self._root}/web", detail=True).items():
            folder, _, name = path.rpartition("/")
            age = _age(entry, now)
            if (name == "pages.gz" and age > older_than_seconds) or age > older_than_seconds + _BROKEN_SECONDS:
                old.add(folder)
        for folder in old:
            self._remove(f"{folder}/pages.gz")
            with contextlib.suppress(FileNotFoundError):
                self._fs.rm(folder, recursive=True)
        return len(old)

    def header(self, document_id: str, *, stored: bool = False) -> dict[str, Any] | None:
        """What was stored with the document ("pages" is their number), or None when there is no such document.

        Args:
            document_id: The document.
            stored: Only when it is a document; not when it is a page that was just read for an answer.
        """
        lines = self._lines(document_id, stored=stored)
        return None if lines is None else dict(json.loads(lines[0]))

    def page(self, document_id: str, number: int) -> tuple[dict[str, Any], str]:
        """The header and the text of one page; NotFound when there is no such page or document."""
        lines = self._lines(document_id)
        if lines is None:
            raise NotFound("There is no document with this id.")
        header = dict(json.loads(lines[0]))
        if not 1 <= number <= header["pages"]:
            raise NotFound(f"The document has pages 1 to {header['pages']}.")
        return header, str(json.loads(lines[number]))

    def delete_document(self, document_id: str) -> bool:
        """Remove what is stored of a document; whether there was anything."""
        if not _ID.fullmatch(document_id):
            return False
        folder = self._folder(document_id)
        if not self._fs.exists(folder):
            return False
        # The pages first: without them nothing opens the document any more, whatever happens next.
        self._remove(f"{folder}/pages.gz")
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm(folder, recursive=True)
        return True

    def _lines(self, document_id: str, *, stored: bool = False) -> list[bytes] | None:
        if not _ID.fullmatch(document_id):
            return None
        packed = self._cat(f"{self._folder(document_id)}/pages.gz")
        if packed is None and not stored:
            packed = self._cat(f"{self._folder(document_id, 'web')}/pages.gz")
        return None if packed is None else gzip.decompress(packed).split(b"\n")

    def _cat(self, path: str) -> bytes | None:
        try:
            return bytes(self._fs.cat_file(path))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable(f"The blob store does not give a stored file: {error}.") from error

    def _write(self, path: str, data: bytes) -> None:
        part = f"{path}.{uuid.uuid4().hex}.part"
        file = self._fs.open(part, "wb")
        try:
            file.write(data)
            _close(file)
            self._fs.mv(part, path)
        except BaseException:
            with contextlib.suppress(Exception):
                file.close()
            self._remove(part)
            raise

    def _remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(path)

    def _incoming(self, job_id: str) -> str:
        return f"{self._root}/incoming/{_checked(job_id)}"

    def _folder(self, document_id: str, kind: str = "documents") -> str:
        return f"{self._root}/{kind}/{_checked(document_id)}"


def _checked(name: str) -> str:
    if not _ID.fullmatch(name):
        raise NotFound("There is nothing with this id.")
    return name


def _pack(header: dict[str, Any], pages: Sequence[str]) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=_GZIP_LEVEL, mtime=0) as packed:
        for line in ({**header, "pages": len(pages)}, *pages):
            packed.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
    return buffer.getvalue()


def _age(entry: dict[str, Any], now: float) -> float:
    """Seconds since a file of a listing was written; every file system calls the time otherwise."""
    changed: Any = entry.get("mtime") or entry.get("LastModified") or entry.get("created")
    return now - float(changed.timestamp() if hasattr(changed, "timestamp") else changed or now)


def _close(file: Any) -> None:
    """Close, after the bytes have reached the disk where there is one."""
    file.flush()
    with contextlib.suppress(AttributeError, OSError, io.UnsupportedOperation):
        os.fsync(file.fileno())
    file.close()
