"""The blob store: complete files or none, and no way out of its folder."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path
from random import Random

import pytest
from quelea_kit.errors import NotFound
from quelea_kit.files.storage import Storage
from quelea_kit.reach import Reach, within
from quelea_search.adapters import blob_copy
from quelea_search.adapters.blobs import Blobs

JOB, DOCUMENT = "0" * 32, "a" * 32


@pytest.fixture(params=["folder", "memory", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "s3":
        return Blobs(request.getfixturevalue("bucket").url)
    return Blobs(str(tmp_path / "b") if request.param == "folder" else f"memory://{tmp_path.name}")


def put(blobs: Blobs, data: bytes = b"data") -> str:
    upload = blobs.upload(JOB)
    upload.write(data[:2])
    upload.write(data[2:])
    return upload.commit()


def test_the_id_is_the_hash_of_the_bytes(blobs: Blobs) -> None:
    assert put(blobs) == "3a6eb0790f39ac87c94f3856b2dd2c5d"  # sha256("data")
    assert blobs.read_incoming(JOB) == b"data"
    blobs.delete_incoming(JOB)
    blobs.delete_incoming(JOB)
    with pytest.raises(NotFound):
        blobs.read_incoming(JOB)


def test_an_upload_is_invisible_until_it_is_complete(blobs: Blobs) -> None:
    upload = blobs.upload(JOB)
    upload.write(b"half")
    with pytest.raises(NotFound):
        blobs.read_incoming(JOB)
    upload.abort()
    with pytest.raises(NotFound):
        blobs.read_incoming(JOB)


def test_pages_come_back_as_they_were(blobs: Blobs) -> None:
    put(blobs)
    pages = ["one\nline 2\r\n", "", "第三页 \u2028 \u0085 \ud800"]
    blobs.keep(JOB, DOCUMENT, {"id": DOCUMENT, "metadata": {"title": "标题"}}, pages)
    header = {"id": DOCUMENT, "metadata": {"title": "标题"}, "pages": 3}
    assert blobs.header(DOCUMENT) == header
    assert [blobs.page(DOCUMENT, n) for n in (1, 2, 3)] == [(header, page) for page in pages]
    for number in (0, 4):
        with pytest.raises(NotFound, match="pages 1 to 3"):
            blobs.page(DOCUMENT, number)


def test_of_a_long_document_the_header_alone_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs, read = Blobs(str(tmp_path)), []
    original = Storage.read

    def watched(self: Storage, name: str, start: int = 0, end: int | None = None) -> bytes:
        data = original(self, name, start, end)
        read.append(len(data))
        return data

    monkeypatch.setattr(Storage, "read", watched)
    put(blobs)
    random = Random(18)
    words = [" ".join(f"{random.random()}" for _ in range(5_000)) for _ in range(3)]
    for title in ("short", words[0]):
        blobs.keep(JOB, DOCUMENT, {"title": title}, words)
        read.clear()
        assert blobs.header(DOCUMENT) == {"title": title, "pages": 3}
        assert (sum(read) < 10_000) is (title == "short")


def test_deleting_a_document(blobs: Blobs) -> None:
    put(blobs)
    blobs.keep(JOB, DOCUMENT, {}, ["x"])
    assert blobs.delete_document(DOCUMENT)
    assert not blobs.delete_document(DOCUMENT)
    assert blobs.header(DOCUMENT) is None
    with pytest.raises(NotFound):
        blobs.page(DOCUMENT, 1)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..", "", "A" * 32, "a" * 31, f"{'a' * 32}/original", "a" * 32 + "\n"]
)
def test_no_name_leads_out_of_the_store(blobs: Blobs, name: str) -> None:
    for reach in (blobs.upload, blobs.read_incoming, blobs.delete_incoming, lambda n: blobs.page(n, 1)):
        with pytest.raises(NotFound):
            reach(name)
    assert blobs.header(name) is None
    assert blobs.delete_document(name) is False


def test_an_upload_that_waits_is_listed(blobs: Blobs) -> None:
    assert blobs.uploads() == {}
    assert not blobs.has_incoming(JOB)
    put(blobs)
    # A clock of its own, and whole seconds, where it is an object store.
    assert {name: -5 < age < 60 for name, age in blobs.uploads().items()} == {JOB: True}
    assert blobs.has_incoming(JOB)
    late = blobs.upload("1" * 32)
    late.write(b"given up after its commit")
    late.commit()
    late.abort()
    assert list(blobs.uploads()) == [JOB]


def test_uploads_have_an_age_and_broken_ones_are_removed(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path))
    put(blobs)
    blobs.upload("1" * 32).write(b"never finished")
    assert 0 <= blobs.uploads()[JOB] < 60
    for path in (tmp_path / "incoming").iterdir():
        os.utime(path, (time.time() - 7200,) * 2)
    assert blobs.uploads() == {JOB: pytest.approx(7200, abs=60)}
    assert [path.name for path in (tmp_path / "incoming").iterdir()] == [JOB]


def test_a_page_that_was_read_for_an_answer_opens_for_a_while(blobs: Blobs) -> None:
    blobs.cache_page(DOCUMENT, {"id": DOCUMENT}, ["one", "two"], b"bytes")
    assert blobs.cached_original(DOCUMENT) == b"bytes"
    assert blobs.page(DOCUMENT, 2) == ({"id": DOCUMENT, "pages": 2}, "two")
    assert blobs.header(DOCUMENT) == {"id": DOCUMENT, "pages": 2}
    assert blobs.header(DOCUMENT, stored=True) is None
    assert not blobs.delete_document(DOCUMENT)
    assert blobs.trim_cache(60.0) == 0
    assert blobs.trim_cache(-60.0) == 1
    assert blobs.cached_original(DOCUMENT) is None
    assert blobs.header(DOCUMENT) is None
    assert blobs.trim_cache(-60.0) == 0


def test_a_document_comes_before_the_page_it_was(blobs: Blobs) -> None:
    blobs.cache_page(DOCUMENT, {"from": "cache"}, ["one"], b"bytes")
    put(blobs)
    blobs.keep(JOB, DOCUMENT, {"from": "document"}, ["one"])
    assert blobs.header(DOCUMENT) == {"from": "document", "pages": 1}
    blobs.delete_document(DOCUMENT)
    assert blobs.header(DOCUMENT) == {"from": "cache", "pages": 1}


def test_a_cached_page_that_was_broken_off_is_trimmed_too(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path))
    folder = tmp_path / "web" / DOCUMENT
    folder.mkdir()
    (folder / "original").write_bytes(b"x")
    assert blobs.trim_cache(100.0) == 0
    os.utime(folder / "original", (1.0, 1.0))
    assert blobs.trim_cache(100.0) == 1
    assert not folder.exists()


@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_a_backup_has_the_files_of_every_tenant(tmp_path: Path, kind: str) -> None:
    kept, restored = (str(tmp_path / n) if kind == "folder" else f"memory://{tmp_path.name}-{n}" for n in ("a", "b"))
    tenants = ("default", "bonds", "of-bonds", "x" * 40)
    blobs = Blobs(kept)
    for tenant in tenants:
        with within(Reach(tenant)):
            put(blobs, tenant.encode())
            blobs.keep(JOB, DOCUMENT, {}, [tenant])
            blobs.cache_page(DOCUMENT, {}, [tenant], b"of the web, which stays out")
    packed = io.BytesIO()
    count = blob_copy.pack(kept, packed, lambda: None)
    assert count == 1 + 2 * len(tenants)
    packed.seek(0)
    assert blob_copy.unpack(restored, packed) == count
    blobs = Blobs(restored)
    for tenant in tenants:
        with within(Reach(tenant)):
            assert (blobs.read_original(DOCUMENT), blobs.page(DOCUMENT, 1)[1]) == (tenant.encode(), tenant)
            assert blobs.cached_original(DOCUMENT) is None
    with within(Reach("bonds")):
        assert blobs.delete_document(DOCUMENT)
        assert blobs.header(DOCUMENT) is None
    with within(Reach("of-bonds")):
        assert blobs.header(DOCUMENT) == {"pages": 1}
