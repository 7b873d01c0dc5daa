"""Bundles: what is written is read again; what a hostile archive holds is refused."""

from __future__ import annotations

import hashlib
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from quelea_kit.errors import InvalidInput
from quelea_search.core.web.urls import parse_url
from quelea_search.door.core.bundle import BundleLimits, read_bundle, write_bundle
from quelea_search.door.core.matching import match_of
from quelea_search.door.core.model import Question, Recorded
from quelea_search.door.samples.__main__ import write

URL = "https://push2his.eastmoney.com/api?secid=0.000001"


def recorded(url: str, body: bytes, fetched: float = 1.7e9, status: int = 200) -> Recorded:
    question = Question("GET", parse_url(url))
    match = match_of(question)
    headers = {"content-type": "application/json"}
    sha256 = hashlib.sha256(body).hexdigest()
    return Recorded(match.key, "GET", str(question.url), match.facts(), fetched, status, headers, sha256, len(body))


def opened(path: Path, limits: BundleLimits | None = None) -> tuple[Any, list[bytes]]:
    kept: list[bytes] = []
    return read_bundle(path, limits or BundleLimits(), kept.append), kept


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.binary(max_size=200), st.floats(0, 4e9), st.sampled_from([200, 404, 500])),
        max_size=12,
    )
)
def test_what_is_written_is_read_again(tmp_path: Path, facts: list[tuple[int, bytes, float, int]]) -> None:
    bodies = {hashlib.sha256(body).hexdigest(): body for _, body, _, _ in facts}
    calls = [recorded(f"{URL}&n={number}", body, when, status) for number, body, when, status in facts]
    path = tmp_path / "b.zip"
    with path.open("wb") as file:
        bundle_id = write_bundle(file, "run", calls, bodies.__getitem__, "made up")
    again = io.BytesIO()
    assert write_bundle(again, "run", calls, bodies.__getitem__, "made up") == bundle_id
    assert again.getvalue() == path.read_bytes()
    found, kept = opened(path)
    assert (found.id, found.run_id, found.note, list(found.calls)) == (bundle_id, "run", "made up", calls)
    assert sorted(kept) == sorted(bodies.values())


def manifest(*calls: dict[str, Any], **more: Any) -> bytes:
    return json.dumps(
        {"format": "quelea-market-bundle", "version": 1, "run_id": "r", "calls": list(calls), **more}
    ).encode()


BODY = b"{}"
SHA256 = hashlib.sha256(BODY).hexdigest()


def call(**more: Any) -> dict[str, Any]:
    return {
        "method": "GET",
        "url": URL,
        "match": {},
        "fetched": 1.0,
        "status": 200,
        "headers": {},
        "sha256": SHA256,
        "bytes": 2,
        **more,
    }


def archive(*entries: tuple[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as file, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")  # one of the bad archives has an entry twice
        for name, data in entries:
            file.writestr(name, data)
    return out.getvalue()


def good(**more: Any) -> bytes:
    return archive(("manifest.json", manifest(call(**more))), (f"bodies/{SHA256}", BODY))


BAD: dict[str, bytes | Callable[[], bytes]] = {
    "nothing": b"",
    "no zip": b"not a zip at all" * 100,
    "cut": good()[:-30],
    "no manifest": archive((f"bodies/{SHA256}", BODY)),
    "two manifests": archive(("manifest.json", manifest()), ("manifest.json", manifest())),
    "dots": archive(("manifest.json", manifest()), ("../../etc/passwd", b"x")),
    "absolute": archive(("manifest.json", manifest()), ("/etc/passwd", b"x")),
    "dots behind": archive(("manifest.json", manifest()), (f"bodies/../{SHA256}", b"x")),
    "nul": archive(("manifest.json", manifest()), (f"bodies/{SHA256}\x00.txt", BODY)),
    "upper case": archive(("manifest.json", manifest(call())), (f"bodies/{SHA256.upper()}", BODY)),
    "folder": archive(("manifest.json", manifest()), ("bodies/", b"")),
    "wrong hash": archive(("manifest.json", manifest(call(sha256="0" * 64))), (f"bodies/{'0' * 64}", BODY)),
    "missing body": archive(("manifest.json", manifest(call()))),
    "extra body": archive(("manifest.json", manifest()), (f"bodies/{SHA256}", BODY)),
    "bomb": lambda: archive(("manifest.json", manifest(call())), (f"bodies/{SHA256}", bytes(40 * 2**20))),
    "manifest bomb": lambda: archive(("manifest.json", b" " * (40 * 2**20))),
    "deep manifest": archive(("manifest.json", b"[" * 200_000)),
    "no json": archive(("manifest.json", b"\xff\xfe")),
    "a list": archive(("manifest.json", b"[]")),
    "another version": archive(("manifest.json", manifest(version=2))),
    "no calls": archive(("manifest.json", manifest(calls={}))),
    "method": good(method="DELETE"),
    "address": good(url="file:///etc/passwd"),
    "address with a user": good(url="https://a@b.com/"),
    "no address": good(url=None),
    "status": good(status=99),
    "status is no number": good(status=True),
    "size": good(bytes=3),
    "size below zero": good(bytes=-1),
    "time": good(fetched="yesterday"),
    "endless time": good(fetched=float("inf")),
    "no number": good(fetched=float("nan")),
    "headers": good(headers={"a": 1}),
    "match": good(match=[1]),
    "hash": good(sha256="../../x"),
    "call is no object": archive(
        ("manifest.json", json.dumps({"format": "quelea-market-bundle", "version": 1, "calls": [1]}).encode())
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_hostile_archive_is_refused_and_nothing_kept(name: str, tmp_path: Path) -> None:
    data = BAD[name]
    path = tmp_path / "b.zip"
    path.write_bytes(data() if callable(data) else data)
    kept: list[bytes] = []
    with pytest.raises(InvalidInput) as refused:
        read_bundle(path, BundleLimits(), kept.append)
    assert kept == []
    assert 20 < len(refused.value.message) < 400


def test_the_good_one_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(good())
    assert len(opened(path)[0].calls) == 1


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
def test_a_broken_byte_never_raises_anything_else(tmp_path: Path, data: st.DataObject) -> None:
    raw = bytearray(good())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "b.zip"
    path.write_bytes(raw)
    try:
        found, _ = opened(path)
    except InvalidInput:
        return
    assert all(each.sha256 == SHA256 for each in found.calls)


def test_too_many(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(archive(("manifest.json", manifest(*[call()] * 5)), (f"bodies/{SHA256}", BODY)))
    with pytest.raises(InvalidInput, match="5 calls"):
        opened(path, BundleLimits(calls=4))
    with pytest.raises(InvalidInput, match="unpacks"):
        opened(path, BundleLimits(total_bytes=1))


def test_an_encrypted_entry(tmp_path: Path) -> None:
    raw = bytearray(good())
    place = raw.find(b"PK\x01\x02")
    raw[place + 8] |= 1
    raw[6] |= 1
    path = tmp_path / "b.zip"
    path.write_bytes(raw)
    with pytest.raises(InvalidInput, match="encrypted"):
        opened(path)


def test_the_samples_are_the_same_every_time(tmp_path: Path) -> None:
    one, other = write(tmp_path / "1"), write(tmp_path / "2")
    assert one == other
    found, _ = opened(tmp_path / "1")
    assert len(found.calls) == one[1] > 60
    assert len({parse_url(each.url).host for each in found.calls}) >= 14
