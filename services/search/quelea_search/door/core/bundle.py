"""A bundle: all answered calls of a run and their bodies in one zip, which another door can replay.

    manifest.json              {"format": "quelea-market-bundle", "version": 1, "run_id": …, "note": …, "calls": […]}
    bodies/<SHA-256>           the bytes, each once

A call: method, url, match (see matching.Match), fetched (seconds since 1970), status, headers, sha256, bytes. The id of
a bundle is the SHA-256 of its manifest, 32 hexadecimal digits, so that the same bundle is stored once. An archive from
elsewhere is not believed: names, sizes and hashes are checked before anything is kept.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from quelea_kit.errors import InvalidInput, TooLarge

from quelea_search.core.web.errors import BadUrl
from quelea_search.core.web.urls import parse_url
from quelea_search.door.core.headers import keep_recorded
from quelea_search.door.core.matching import Match, normal_url
from quelea_search.door.core.model import Recorded

FORMAT = "quelea-market-bundle"
VERSION = 1
MANIFEST = "manifest.json"
LONGEST_URL = 16384
_BODY = re.compile(r"bodies/([0-9a-f]{64})")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST_NOTE = 1000
_PIECE = 256 * 1024
_METHODS = ("GET", "HEAD", "POST")
_LATEST = 253402300799.0  # the year 9999


@dataclass(frozen=True, slots=True)
class BundleLimits:
    """What an archive may hold."""

    calls: int = 20_000
    manifest_bytes: int = 32 * 1024 * 1024
    body_bytes: int = 16 * 1024 * 1024
    total_bytes: int = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle as the door lists it."""

    id: str
    run_id: str
    calls: int
    bytes: int
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Opened:
    """A checked manifest."""

    id: str
    run_id: str
    calls: tuple[Recorded, ...]
    note: str = ""

    def facts(self) -> Bundle:
        """As the door lists it."""
        times = [call.fetched for call in self.calls] or [0.0]
        sizes = {call.sha256: call.bytes for call in self.calls}
        return Bundle(self.id, self.run_id, len(self.calls), sum(sizes.values()), min(times), max(times))


def write_bundle(
    out: BinaryIO, run_id: str, calls: Sequence[Recorded], body: Callable[[str], bytes], note: str = ""
) -> str:
    """Write a bundle; the same calls give the same bytes.

    Args:
        out: Opened for writing.
        run_id: Of the run.
        calls: In order.
        body: The bytes of a hash.
        note: For the reader: where the data is from, its licence.

    Returns:
        The bundle's id.
    """
    manifest = _manifest(run_id, calls, note)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(MANIFEST), manifest)
        for sha256 in sorted({call.sha256 for call in calls}):
            archive.writestr(_entry(f"bodies/{sha256}"), body(sha256))
    return _id(manifest)


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # dated 1980, so that equal bundles have equal bytes
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _manifest(run_id: str, calls: Iterable[Recorded], note: str) -> bytes:
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION, "run_id": run_id, "note": note}
    data["calls"] = [
        {
            "method": call.method,
            "url": call.url,
            "match": dict(call.match),
            "fetched": call.fetched,
            "status": call.status,
            "headers": dict(call.headers),
            "sha256": call.sha256,
            "bytes": call.bytes,
        }
        for call in calls
    ]
    return json.dumps(data, ensure_ascii=False, indent=1).encode()


def _id(manifest: bytes) -> str:
    return hashlib.sha256(manifest).hexdigest()[:32]


def read_bundle(path: Path, limits: BundleLimits, keep: Callable[[bytes], object]) -> Opened:
    """Check an archive wholly, then hand its bodies over.

    Args:
        path: Of the archive.
        limits: What it may hold.
        keep: Told each body; called only when the whole archive is in order.

    Raises:
        InvalidInput: What is wrong with it.
        TooLarge: Which limit it is over.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, limits, keep)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        # RuntimeError: an encrypted entry; NotImplementedError: a packing that zipfile does not know.
        raise InvalidInput(
            f"This is not a bundle of the market-data door: {str(error)[:200] or type(error).__name__}."
        ) from error


def _read(archive: zipfile.ZipFile, limits: BundleLimits, keep: Callable[[bytes], object]) -> Opened:
    entries = archive.infolist()
    if len(entries) > limits.calls + 1:
        raise TooLarge(f"The bundle has {len(entries):,} entries; the limit is {limits.calls + 1:,}.")
    bodies: dict[str, zipfile.ZipInfo] = {}
    manifest: bytes | None = None
    for entry in entries:
        name = _BODY.fullmatch(entry.orig_filename)
        if entry.orig_filename == MANIFEST and manifest is None:
            manifest = _read_bounded(archive, entry, limits.manifest_bytes)
        elif name is not None and name[1] not in bodies:
            bodies[name[1]] = entry
        else:
            raise InvalidInput(
                f"The bundle has the entry {entry.orig_filename[:80]!r}; only {MANIFEST} and bodies/<SHA-256> belong "
                "there, each once."
            )
    if manifest is None:
        raise InvalidInput(f"The bundle has no {MANIFEST}.")
    opened = _parse(manifest, limits)
    missing = {call.sha256 for call in opened.calls} - set(bodies)
    if missing:
        raise InvalidInput(f"The bundle is missing the body {min(missing)} that its manifest lists.")
    extra = set(bodies) - {call.sha256 for call in opened.calls}
    if extra:
        raise InvalidInput(f"The bundle has the body {min(extra)} that its manifest does not list.")
    _check(archive, bodies, opened, limits)
    for entry in bodies.values():
        keep(_read_bounded(archive, entry, limits.body_bytes))
    return opened


def _check(archive: zipfile.ZipFile, bodies: dict[str, zipfile.ZipInfo], opened: Opened, limits: BundleLimits) -> None:
    total = 0
    sizes = {}
    for sha256, entry in bodies.items():
        data = _read_bounded(archive, entry, min(limits.body_bytes, limits.total_bytes - total))
        total += len(data)
        sizes[sha256] = len(data)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise InvalidInput(f"The body {sha256} of the bundle has a different hash: it was changed or damaged.")
    for call in opened.calls:
        if call.bytes != sizes[call.sha256]:
            raise InvalidInput(
                f"The manifest gives body {call.sha256} {call.bytes} bytes, but it has {sizes[call.sha256]}."
            )


def _read_bounded(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> bytes:
    """An entry's bytes; what it says of its own size is not believed."""
    data = bytearray()
    with archive.open(entry) as stream:
        while piece := stream.read(_PIECE):
            data += piece
            if len(data) > limit:
                raise TooLarge(
                    f"{entry.orig_filename[:80]!r} of the bundle unpacks to more than {max(limit, 0):,} bytes."
                )
    return bytes(data)


def _parse(manifest: bytes, limits: BundleLimits) -> Opened:
    try:
        data = json.loads(manifest)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{MANIFEST} of the bundle is not JSON.") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != VERSION:
        raise InvalidInput(f"{MANIFEST} of the bundle is not of the format {FORMAT}, version {VERSION}.")
    calls, run_id, note = data.get("calls"), data.get("run_id", ""), data.get("note", "")
    if not isinstance(note, str) or len(note) > _LONGEST_NOTE:
        raise InvalidInput(
            f"{MANIFEST} of the bundle has a note that is not a text of at most {_LONGEST_NOTE} characters."
        )
    if not isinstance(calls, list) or not isinstance(run_id, str) or len(run_id) > 200:
        raise InvalidInput(f"{MANIFEST} of the bundle has no list of calls, or no run_id of at most 200 characters.")
    if len(calls) > limits.calls:
        raise TooLarge(f"The bundle has {len(calls):,} calls; the limit is {limits.calls:,}.")
    read = tuple(_call(entry, number) for number, entry in enumerate(calls, start=1))
    return Opened(_id(manifest), run_id, read, note)


def _call(entry: Any, number: int) -> Recorded:
    def wrong(what: str) -> InvalidInput:
        return InvalidInput(f"Call {number} of the bundle's manifest: {what}.")

    if not isinstance(entry, dict):
        raise wrong("it is not an object")
    method, url, sha256, size = (entry.get(name) for name in ("method", "url", "sha256", "bytes"))
    fetched, status = entry.get("fetched"), entry.get("status")
    if method not in _METHODS:
        raise wrong(f"its method must be one of {', '.join(_METHODS)}")
    if not isinstance(sha256, str) or _SHA256.fullmatch(sha256) is None:
        raise wrong("its sha256 is not a SHA-256")
    if type(size) is not int or size < 0 or type(status) is not int or not 200 <= status <= 599:
        raise wrong("its size or status is out of range")
    if not isinstance(fetched, int | float) or isinstance(fetched, bool) or not 0 <= fetched <= _LATEST:
        raise wrong("its fetch time is not a number of seconds since 1970")
    try:
        address = parse_url(url if isinstance(url, str) else "", LONGEST_URL)
    except BadUrl as error:
        raise wrong(f"its address is invalid ({error.message})") from error
    match, headers = entry.get("match", {}), entry.get("headers", {})
    if not _is_texts(match) or not _is_texts(headers):
        raise wrong("its match or headers must map names to strings")
    facts = Match(
        method, normal_url(address), *(str(match.get(name, ""))[:200] for name in ("body", "accept", "content_type"))
    )
    kept = keep_recorded({name.lower(): value for name, value in headers.items()})
    return Recorded(facts.key, method, str(address), facts.facts(), float(fetched), status, kept, sha256, size)


def _is_texts(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= 100
        and all(isinstance(text, str) and len(text) <= LONGEST_URL for pair in value.items() for text in pair)
    )
