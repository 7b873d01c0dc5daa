"""The file of the audit log: nothing lost, nothing twice, and a disk that fails is a state, not a surprise."""

import asyncio
import errno
import json
import os
import stat
import time

import pytest
from quelea_gateway import audit as command
from quelea_gateway.adapters.stores import audit_log
from quelea_gateway.adapters.stores.audit_log import AuditLog, append, filter_entries, read
from quelea_gateway.core.callers import audit
from quelea_kit.errors import InvalidInput, Unavailable
from quelea_kit.testing import wait_until_async
from support.broken_disk import BrokenDisk


@pytest.fixture
async def open_log(tmp_path):
    made = []

    def make(**options):
        made.append(AuditLog(tmp_path / "audit", **options))
        return made[-1]

    yield make
    for one in made:
        await one.close()


def entry(subject="ann", **more):
    record = audit.Record("r1", "rest", "POST /v1/ask", audit.ROUTES["POST /v1/ask"], subject=subject, tenant="desk")
    return {**record.entry("ok", 200), **more}


async def test_entries_are_on_the_disk_when_write_returns_where_calls_may_be_refused(open_log, tmp_path):
    log = open_log(refuse=True)
    await asyncio.gather(*(log.write(entry(str(n))) for n in range(300)))
    found = list(read(tmp_path / "audit"))
    assert sorted(int(one["subject"]) for one in found) == list(range(300))
    assert [one["n"] for one in found] == list(range(1, 301))
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "audit").iterdir()} == {0o600}


async def test_a_new_file_at_each_size_and_none_is_changed_afterwards(open_log, tmp_path):
    log = open_log(refuse=True, file_bytes=4096)
    for n in range(60):
        await log.write(entry(str(n)))
    files = sorted((tmp_path / "audit").glob("*.jsonl"))
    assert len(files) > 2
    assert all(path.stat().st_size < 4096 + 400 for path in files)
    assert [one["subject"] for one in read(tmp_path / "audit")] == [str(n) for n in range(60)]


async def test_a_disk_that_fails_refuses_calls_and_loses_nothing_once_it_takes_bytes_again(
    open_log, tmp_path, monkeypatch
):
    disk = BrokenDisk(monkeypatch, errno.ENOSPC)
    log = open_log(refuse=True)
    await log.write(entry("before"))
    disk.failing = True
    with pytest.raises(Unavailable, match="No space left"):
        await log.write(entry("done all the same"))
    assert log.refuses
    assert "No space left" in log.state()
    with pytest.raises(Unavailable):
        log.admit()
    disk.failing = False
    await wait_until_async(lambda: not log.state(), what="the log is written again")
    log.admit()
    await log.write(entry("after"))
    # What was written before the failed fsync may be there twice; the reader gives it once.
    assert [one["subject"] for one in read(tmp_path / "audit")] == ["before", "done all the same", "after"]


async def test_where_calls_are_served_all_the_same_entries_wait_and_more_than_are_kept_are_counted(
    open_log, tmp_path, monkeypatch
):
    disk = BrokenDisk(monkeypatch, errno.ENOSPC)
    log = open_log(most_waiting=5)
    dropped = audit_log.AUDIT_ENTRIES.labels("dropped")._value.get()
    disk.failing = True
    await log.write(entry("first"))
    await wait_until_async(log.state, what="the failure is seen")
    for n in range(300):
        await asyncio.wait_for(log.write(entry(str(n))), 60)
    log.admit()
    lost = audit_log.AUDIT_ENTRIES.labels("dropped")._value.get() - dropped
    assert lost > 0
    disk.failing = False
    await wait_until_async(lambda: not log.state(), what="the log is written again")
    await wait_until_async(lambda: len(list(read(tmp_path / "audit"))) == 301 - lost, what="all that waited is there")


async def test_a_disk_that_hangs_does_not_hold_a_call_longer_than_its_deadline(open_log, monkeypatch):
    monkeypatch.setattr(audit_log.os, "fsync", lambda fd: time.sleep(3))
    log = open_log(refuse=True, seconds=0.2)
    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"within 0\.2 s"):
        await log.write(entry())
    assert time.monotonic() - began < 2.5


async def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="audit log cannot be written"):
        AuditLog(tmp_path / "file" / "audit", refuse=True)
    log = AuditLog(tmp_path / "file" / "audit")
    assert log.state()
    await log.close()


async def test_a_flood_of_strangers_is_counted_not_stored(open_log, tmp_path):
    log = open_log()
    for _ in range(500):
        log.write_stranger(entry(""))
    await wait_until_async(lambda: len(list(read(tmp_path / "audit"))) >= 10, what="some are recorded")
    await asyncio.sleep(0.2)
    log.write_stranger(entry(""))
    await wait_until_async(
        lambda: sum(one.get("left_out", 0) for one in read(tmp_path / "audit")) > 400, what="the others are counted"
    )
    assert len(list(read(tmp_path / "audit"))) < 30


async def test_old_files_go_when_a_new_one_is_begun(open_log, tmp_path):
    append(tmp_path / "audit", entry("old"))
    old = next((tmp_path / "audit").glob("*.jsonl"))
    os.utime(old, (1, 1))
    await open_log(refuse=True, keep_days=30).write(entry("new"))
    assert [one["subject"] for one in read(tmp_path / "audit")] == ["new"]


def test_lines_that_are_missing_or_torn_are_named(tmp_path):
    append(tmp_path / "audit", entry("one"))
    file = next((tmp_path / "audit").glob("*.jsonl"))
    first = json.loads(file.read_text())
    file.write_text("".join(json.dumps({**first, "n": n}) + "\n" for n in (1, 2, 5)) + '{"n":6,"at":"2026')
    found = list(read(tmp_path / "audit"))
    assert [one.get("n") for one in found] == [1, 2, None, 5, None]
    assert found[2]["missing"] == 2
    assert found[4]["unreadable"] == file.name


def test_filters(tmp_path):
    append(tmp_path / "audit", {**entry("ann"), "objects": {"document_id": "d1"}})
    append(tmp_path / "audit", {**entry("bob"), "objects": {"documents": ["d1", "d2"]}, "tenant": "other"})
    everything = list(read(tmp_path / "audit"))

    def subjects(**wanted):
        return sorted(one["subject"] for one in filter_entries(everything, **wanted))

    assert subjects() == ["ann", "bob"]
    assert subjects(subject="ann", tenant="") == ["ann"]
    assert subjects(tenant="other") == ["bob"]
    assert subjects(object="d1") == ["ann", "bob"]
    assert subjects(object="d2") == ["bob"]
    assert subjects(object="d") == []
    assert subjects(since="2999") == []
    assert subjects(until="2999", status="200") == ["ann", "bob"]
    with pytest.raises(InvalidInput, match="no audit log"):
        list(read(tmp_path / "nothing"))


def test_the_command_prints_a_line_for_each(tmp_path, capsys):
    append(tmp_path / "audit", {**entry("ann"), "objects": {"documents": ["d1", "d2"]}})
    assert command.main(["--dir", str(tmp_path / "audit"), "--subject", "ann"]) == 0
    assert "desk/ann  asked answer  documents=d1,d2  ok  200" in capsys.readouterr().out
    assert command.main(["--dir", str(tmp_path / "audit"), "--subject", "bob"]) == 0
    assert capsys.readouterr().out == ""
    assert command.main(["--dir", str(tmp_path / "nothing")]) == 1
    assert "no audit log" in capsys.readouterr().err


def test_addresses_are_equal_only_within_one_folder(tmp_path):
    async def hashes(folder):
        log = AuditLog(folder)
        found = log.address("10.0.0.1"), log.address("10.0.0.2"), log.address("")
        await log.close()
        return found

    one, again, other = (asyncio.run(hashes(tmp_path / name)) for name in ("a", "a", "b"))
    assert one == again
    assert one[0] != one[1]
    assert one[0] != other[0]
    assert one[2] == ""
