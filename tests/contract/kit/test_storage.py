"""What a service may rely on wherever its files are: a folder, an object store (a real client's S3)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from quelea_kit.errors import InvalidInput, Unavailable
from quelea_kit.files import storage as module
from quelea_kit.files.storage import Storage
from quelea_kit.testing import free_port
from support.s3 import Bucket, broken_s3, environment_for

WHAT = "The store"
EVERYTHING = [
    lambda store: store.read("a"),
    lambda store: store.write("a", b"1"),
    lambda store: store.exists("a"),
    lambda store: store.names("a"),
    lambda store: store.ages("a"),
    lambda store: store.delete("a"),
    lambda store: store.delete_folder("a"),
    lambda store: store.opened("a").__enter__(),
    lambda store: stream(store, "a", b"1"),
]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the tries of a store that fails: a random part of a second, then of two."""
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)


def stream(store: Storage, name: str, *pieces: bytes, **more: bool) -> None:
    with store.writer(name, **more) as writer:
        for piece in pieces:
            writer.write(piece)


@pytest.fixture(params=["folder", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "s3":
        return Storage(request.getfixturevalue("bucket").url, WHAT)
    return Storage(str(tmp_path / "b") if request.param == "folder" else f"memory://storage-{tmp_path.name}", WHAT)


def test_files_come_back_are_listed_and_leave(store: Storage) -> None:
    store.check()
    assert (store.names(), store.ages("a"), store.exists("a")) == ([], {}, False)
    store.write("a/b/c", b"1")
    store.write("a/b/c", b"12")
    store.write("a/d", b"")
    stream(store, "a/e", b"3", b"4")
    assert [store.read(name) for name in ("a/b/c", "a/d", "a/e")] == [b"12", b"", b"34"]
    assert (store.names("a"), store.names()) == (["b", "d", "e"], ["a"])
    ages = store.ages("a")
    assert sorted(ages) == ["b/c", "d", "e"]
    assert all(-5 < age < 300 for age in ages.values())
    assert [store.exists(name) for name in ("a", "a/d", "a/b", "a/x")] == [True, True, True, False]
    store.delete("a/d")
    store.delete("a/d")
    assert store.names("a") == ["b", "e"]
    store.delete_folder("a")
    store.delete_folder("a")
    assert (store.names("a"), store.exists("a")) == ([], False)
    for missing in (lambda: store.read("a/e"), lambda: store.opened("a/e").__enter__()):
        with pytest.raises(FileNotFoundError):
            missing()


def test_a_part_of_a_file_and_its_size(store: Storage) -> None:
    store.write("a/b", b"0123456789")
    assert store.size("a/b") == 10
    assert [store.read("a/b", *part) for part in ((3,), (0, 4), (4, 6), (8, 50))] == [b"3456789", b"0123", b"45", b"89"]
    for missing in (lambda: store.size("a/c"), lambda: store.read("a/c", 1, 2)):
        with pytest.raises(FileNotFoundError):
            missing()


@pytest.mark.parametrize("direct", [False, True])
def test_a_large_file_goes_through_in_pieces(store: Storage, monkeypatch: pytest.MonkeyPatch, direct: bool) -> None:
    monkeypatch.setattr(module, "_BLOCK", 5 << 20)  # S3's least
    monkeypatch.setattr(module, "_LARGE_BLOCK", 5 << 20)
    pieces = [bytes([number]) * (3 << 20) for number in range(4)]
    stream(store, "large", *pieces, direct=direct)
    with store.opened("large") as file:
        assert b"".join(iter(lambda: file.read(1 << 20), b"")) == b"".join(pieces)
    assert store.names() == ["large"]


def test_what_is_broken_off_was_never_there(store: Storage) -> None:
    store.write("a/b", b"before")
    with pytest.raises(ZeroDivisionError), store.writer("a/b") as writer:
        writer.write(b"half")
        assert store.read("a/b") == b"before"
        raise ZeroDivisionError
    assert (store.read("a/b"), store.names("a")) == (b"before", ["b"])


def test_one_is_used_from_many_threads(store: Storage) -> None:
    def work(number: int) -> bytes:
        store.write(f"many/{number % 4}/{number}", b"%d" % number)
        return store.read(f"many/{number % 4}/{number}")

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(work, range(48))) == [b"%d" % number for number in range(48)]
    assert len(store.ages("many")) == 48


def test_what_another_process_writes_is_seen(bucket: Bucket) -> None:
    one, other = (Storage(bucket.url, WHAT) for _ in range(2))
    assert (one.names("a"), one.exists("a/x")) == ([], False)
    other.write("a/x", b"1")
    assert (one.names("a"), one.exists("a/x")) == (["x"], True)
    other.delete("a/x")
    assert (one.names("a"), one.exists("a/x")) == ([], False)


def test_nothing_is_left_of_what_was_broken_off_in_parts(bucket: Bucket) -> None:
    store = Storage(bucket.url, WHAT)
    writer = store.writer("large")
    for _ in range(4):
        writer.write(bytes(5 << 20))
    assert bucket.unfinished() == 1
    writer.abort()
    assert (bucket.objects(), bucket.unfinished()) == ([], 0)


def test_a_missing_bucket_is_said_and_not_made(s3_endpoint: str, bucket: Bucket) -> None:
    store = Storage("s3://no-such-bucket/prefix", WHAT)
    with pytest.raises(InvalidInput, match="there is no bucket no-such-bucket: create it"):
        store.check()
    for work in EVERYTHING:
        with pytest.raises(Unavailable, match="there is no bucket no-such-bucket: create it"):
            work(store)
    Bucket(s3_endpoint, "no-such-bucket").make()
    try:
        store.check()
        store.write("a", b"1")
        assert store.read("a") == b"1"
    finally:
        Bucket(s3_endpoint, "no-such-bucket").remove()


@pytest.mark.parametrize("work", EVERYTHING)
def test_an_endpoint_that_is_away_is_unavailable(monkeypatch: pytest.MonkeyPatch, work) -> None:
    for name, value in environment_for(f"http://127.0.0.1:{free_port()}").items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Unavailable, match=r"The store at s3://bucket/x cannot be used: Could not connect"):
        work(Storage("s3://bucket/x", WHAT))


@pytest.mark.parametrize(
    ("status", "hint"), [(503, "cannot be used"), (500, "cannot be used"), (403, "Check AWS_ACCESS_KEY_ID")]
)
def test_a_store_that_refuses_is_tried_three_times_at_most(
    monkeypatch: pytest.MonkeyPatch, status: int, hint: str
) -> None:
    with broken_s3(status) as (endpoint, asked):
        for name, value in environment_for(endpoint).items():
            monkeypatch.setenv(name, value)
        for work in (lambda store: store.read("a"), lambda store: store.write("a", b"1")):
            asked.clear()
            with pytest.raises(Unavailable, match=hint):
                work(Storage("s3://bucket/x", WHAT))
            assert len(asked) == (1 if status == 403 else 3)
        with pytest.raises(InvalidInput if status == 403 else Unavailable):
            Storage("s3://bucket/x", WHAT).check()


def test_a_store_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_READ_SECONDS", 0.2)
    with broken_s3(0) as (endpoint, asked):
        for name, value in environment_for(endpoint).items():
            monkeypatch.setenv(name, value)
        store = Storage("s3://bucket/x", WHAT)
        with pytest.raises(Unavailable):
            store.read("a")
        assert len(asked) == 3
        # Whatever the client's own limits make of it, a call has an end.
        monkeypatch.setattr(module, "_READ_SECONDS", 300)
        monkeypatch.setattr(module, "_CALL_SECONDS", 0.5)
        with pytest.raises(Unavailable):
            Storage("s3://bucket/x", WHAT).write("a", b"1")


def test_without_credentials_it_says_which(monkeypatch: pytest.MonkeyPatch, bucket: Bucket) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(Unavailable, match="Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"):
        Storage(bucket.url, WHAT).read("a")


def test_an_address_that_nothing_speaks_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cannot be at nonsense://x"):
        Storage("nonsense://x", WHAT)


def test_errors_of_a_disk_are_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be used: File exists"):
        Storage(str(tmp_path), WHAT).write("file/below", b"1")
