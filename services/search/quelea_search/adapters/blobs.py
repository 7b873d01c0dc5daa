"""Originals and parsed pages in a folder or an object store (quelea_kit.files.storage).

    incoming/<job id>                   the bytes of a job that has not ended
    documents/<document id>/original    the bytes
    documents/<document id>/pages.gz    JSON lines: a header, then the text of each page
    web/<document id>/original, pages.gz  likewise, of pages that were read for an answer; for some days

Documents and pages of a tenant other than the default one lie a folder deeper: documents/of-<tenant>/<document id>/. A
call looks below the folder of its own tenant alone (quelea_kit.reach), so it touches no file of another, and what
another has takes as long to refuse as what nobody has.

A file appears under its name only when it is complete. Names are made of checked hexadecimal ids alone, so no caller
can reach another path. Every method blocks; the server calls them in threads.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import io
import json
import re
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from quelea_kit import reach
from quelea_kit.errors import NotFound, Unavailable
from quelea_kit.files.storage import PART, Storage
from quelea_kit.reach import DEFAULT_TENANT

_ID = re.compile(r"[0-9a-f]{32}")
_GZIP_LEVEL = 3
_GZIP = 16 + zlib.MAX_WBITS
"""How zlib is told to read what gzip wrote."""
_HEADER_BYTES = 8 << 10
"""Of a file's beginning in which its header is looked for, packed."""
_HEADER_TEXT = 64 << 10
"""Likewise, unpacked."""
_BROKEN_SECONDS = 3600.0
_NO_DOCUMENT = "There is no document with this id."
T = TypeVar("T")


class Upload:
    """Bytes on their way in; nothing is visible before `commit`."""

    def __init__(self, storage: Storage, name: str) -> None:
        self._storage = storage
        self._name = name
        self._hash = hashlib.sha256()
        self._file = storage.writer(name)
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
                raise NotFound("The upload was aborted.")
            self._file.commit()
            self._committed = True
        return self._hash.hexdigest()[:32]

    def abort(self) -> None:
        """Leave nothing behind, even when a commit is just under way in another thread."""
        with self._lock:
            self._aborted = True
            with contextlib.suppress(Unavailable):  # what is left is removed after an hour
                if self._committed:
                    self._storage.delete(self._name)
                else:
                    self._file.abort()


class Blobs:
    """The blob store of one knowledge base.

    Args:
        url: A folder, or an fsspec URL.
    """

    def __init__(self, url: str) -> None:
        self._storage = Storage(url, "The blob store")
        for folder in ("incoming", "documents", "web"):
            self._storage.make_folder(folder)

    def check(self) -> None:
        """InvalidInput when what the settings name cannot be written to, Unavailable when it does not answer."""
        self._storage.check()

    def upload(self, job_id: str) -> Upload:
        """Begin to store the bytes of a job."""
        return Upload(self._storage, self._incoming(job_id))

    def read_incoming(self, job_id: str) -> bytes:
        """The bytes of a job."""
        try:
            return self._storage.read(self._incoming(job_id))
        except FileNotFoundError as error:
            raise NotFound("The uploaded bytes are gone; submit the file again.") from error

    def delete_incoming(self, job_id: str) -> None:
        """Forget the bytes of a job; no error when there are none."""
        self._storage.delete(self._incoming(job_id))

    def has_incoming(self, job_id: str) -> bool:
        """Whether the bytes of a job are stored."""
        return self._storage.exists(self._incoming(job_id))

    def uploads(self) -> dict[str, float]:
        """Job id -> age in seconds of every complete upload; removes those that were broken off an hour ago."""
        found = {}
        for name, age in self._storage.ages("incoming").items():
            if _ID.fullmatch(name):
                found[name] = age
            elif name.endswith(PART) and age > _BROKEN_SECONDS:
                self._storage.delete(f"incoming/{name}")
        return found

    def keep(self, job_id: str, document_id: str, header: dict[str, Any], pages: Sequence[str]) -> None:
        """Store a document for good: its pages, then its bytes. The incoming copy stays until the job has ended."""
        folder = self._folder(document_id)
        # Of a worker that was killed at this very place: nobody else is at this document now.
        for broken in self._storage.names(folder):
            if broken.endswith(PART):
                self._storage.delete(f"{folder}/{broken}")
        self._storage.write(f"{folder}/pages.gz", _pack(header, pages))
        self._storage.write(f"{folder}/original", self.read_incoming(job_id))

    def cache_page(self, document_id: str, header: dict[str, Any], pages: Sequence[str], data: bytes) -> None:
        """Store a page of the web that was read for an answer; it opens as a document does, until it is trimmed."""
        folder = self._folder(document_id, "web")
        # The pages last: their age is the age of the whole.
        self._storage.write(f"{folder}/original", data)
        self._storage.write(f"{folder}/pages.gz", _pack(header, pages))

    def cached_original(self, document_id: str) -> bytes | None:
        """The bytes of a page that was read for an answer; None when it is no longer there."""
        if not _ID.fullmatch(document_id):
            return None
        return self._cat(f"{self._folder(document_id, 'web')}/original")

    def original_size(self, document_id: str) -> int:
        """Bytes of a document's original, or of that of a page that was read for an answer. Raises NotFound."""
        return self._of_original(document_id, self._storage.size)

    def read_original(self, document_id: str, start: int = 0, end: int | None = None) -> bytes:
        """The original's bytes, all or from `start` to before `end`. Raises NotFound."""
        return self._of_original(document_id, functools.partial(self._storage.read, start=start, end=end))

    def _of_original(self, document_id: str, ask: Callable[[str], T]) -> T:
        if not _ID.fullmatch(document_id):
            raise NotFound(_NO_DOCUMENT)
        for kind in ("documents", "web"):
            with contextlib.suppress(FileNotFoundError):
                return ask(f"{self._folder(document_id, kind)}/original")
        raise NotFound(_NO_DOCUMENT)

    def trim_cache(self, older_than_seconds: float) -> int:
        """Forget pages that were read for an answer so long ago; how many there were."""
        old = set()
        for path, age in self._storage.ages("web").items():
            folder, _, name = path.rpartition("/")
            if (name == "pages.gz" and age > older_than_seconds) or age > older_than_seconds + _BROKEN_SECONDS:
                old.add(folder)
        for folder in old:
            self._storage.delete(f"web/{folder}/pages.gz")
            self._storage.delete_folder(f"web/{folder}")
        return len(old)

    def header(self, document_id: str, *, stored: bool = False) -> dict[str, Any] | None:
        """What was stored with the document ("pages" is their number), or None when there is no such document.

        Args:
            document_id: The document.
            stored: Only when it is a document; not when it is a page that was just read for an answer.
        """
        return next(self.headers(document_id, stored=stored), None)

    def headers(self, document_id: str, *, stored: bool = False) -> Iterator[dict[str, Any]]:
        """What was stored under the id: with the document, then with a page that was read for an answer.

        Nothing but the header is read, whatever the document's size, and whoever goes on to the end asks the store as
        often for a document that is there as for one that is not.
        """
        if not _ID.fullmatch(document_id):
            return
        for kind in ("documents",) if stored else ("documents", "web"):
            line = self._first_line(f"{self._folder(document_id, kind)}/pages.gz")
            if line is not None:
                yield dict(json.loads(line))

    def page(self, document_id: str, number: int) -> tuple[dict[str, Any], str]:
        """The header and the text of one page; NotFound when there is no such page or document."""
        lines = self._lines(document_id)
        if lines is None:
            raise NotFound(_NO_DOCUMENT)
        header = dict(json.loads(lines[0]))
        if not 1 <= number <= header["pages"]:
            raise NotFound(f"The document has pages 1 to {header['pages']}.")
        return header, str(json.loads(lines[number]))

    def delete_document(self, document_id: str) -> bool:
        """Remove what is stored of a document; whether there was anything."""
        if not _ID.fullmatch(document_id):
            return False
        folder = self._folder(document_id)
        if not self._storage.exists(folder):
            return False
        # The pages first: without them nothing opens the document any more, whatever happens next.
        self._storage.delete(f"{folder}/pages.gz")
        self._storage.delete_folder(folder)
        return True

    def _lines(self, document_id: str) -> list[bytes] | None:
        if not _ID.fullmatch(document_id):
            return None
        packed = self._cat(f"{self._folder(document_id)}/pages.gz")
        if packed is None:
            packed = self._cat(f"{self._folder(document_id, 'web')}/pages.gz")
        return None if packed is None else gzip.decompress(packed).split(b"\n")

    def _first_line(self, path: str) -> bytes | None:
        try:
            begun = self._storage.read(path, end=_HEADER_BYTES)
        except FileNotFoundError:
            return None
        line, newline, _ = zlib.decompressobj(wbits=_GZIP).decompress(begun, _HEADER_TEXT).partition(b"\n")
        if newline:
            return line
        packed = self._cat(path)  # longer than headers are
        return None if packed is None else gzip.decompress(packed).partition(b"\n")[0]

    def _cat(self, path: str) -> bytes | None:
        try:
            return self._storage.read(path)
        except FileNotFoundError:
            return None

    def _incoming(self, job_id: str) -> str:
        return f"incoming/{_check_name(job_id)}"

    def _folder(self, document_id: str, kind: str = "documents") -> str:
        tenant = reach.current().tenant
        # No id has an "o" or a hyphen, so a tenant's folder is never a document's.
        within = kind if tenant == DEFAULT_TENANT else f"{kind}/of-{tenant}"
        return f"{within}/{_check_name(document_id)}"


def _check_name(name: str) -> str:
    if not _ID.fullmatch(name):
        raise NotFound("There is no file with this id.")
    return name


def _pack(header: dict[str, Any], pages: Sequence[str]) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=_GZIP_LEVEL, mtime=0) as packed:
        for line in ({**header, "pages": len(pages)}, *pages):
            packed.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
    return buffer.getvalue()
