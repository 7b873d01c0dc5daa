"""Keys at rest: hashes only; rotation with an overlap, expiry, last use; files of every age are read."""

import json
import os
from datetime import UTC, datetime, timedelta

import pytest
from quelea_gateway import keys
from quelea_gateway.adapters.stores.audit_log import read as read_audit
from quelea_kit.errors import Conflict, InvalidInput, NotFound, Unauthenticated


@pytest.fixture
def file(tmp_path):
    return tmp_path / "keys.json"


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = datetime(2026, 11, 27, 12, tzinfo=UTC)

        def pass_hours(self, hours):
            self.now += timedelta(hours=hours)

    made = Clock()
    monkeypatch.setattr(keys, "_now", lambda: made.now)
    return made


def test_the_key_itself_is_nowhere_on_the_disk(file, tmp_path):
    made = keys.create(file, "desk")
    rotated = keys.rotate(file, "desk")
    keys.KeyRing(file).key_of(made)
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for key in (made, rotated):
        assert key.encode() not in stored
        assert keys.digest(key).encode() in stored
    assert oct(file.stat().st_mode & 0o777) == "0o600"


def test_a_file_from_before_tenants_rotation_and_expiry_is_read_and_its_key_can_be_rotated(file):
    key = "quelea_old"
    file.write_text(json.dumps({"keys": [{"name": "desk", "sha256": keys.digest(key), "created": "2026-01-01"}]}))
    ring = keys.KeyRing(file)
    found = ring.key_of(key)
    assert (found.name, found.id, found.expires) == ("desk", keys.digest(key)[:12], "")
    fresh = keys.rotate(file, "desk")
    assert ring.key_of(key).id == ring.key_of(fresh).id == found.id


def test_old_and_new_open_within_the_overlap_and_then_the_new_one_alone(file, clock):
    old = keys.create(file, "desk", tenant="team", rights={"us": "read"})
    ring = keys.KeyRing(file)
    new = keys.rotate(file, "desk", overlap_hours=24)
    assert old != new
    clock.pass_hours(23.9)
    assert ring.principal_of(old) == ring.principal_of(new)
    assert ring.principal_of(new).tenant == "team"
    clock.pass_hours(0.2)
    assert ring.key_of(old) is None
    assert ring.key_of(new).name == "desk"


def test_rotating_twice_keeps_both_overlaps_and_none_at_all_ends_the_old_one_at_once(file, clock):
    first = keys.create(file, "desk")
    second = keys.rotate(file, "desk", overlap_hours=10)
    clock.pass_hours(5)
    third = keys.rotate(file, "desk", overlap_hours=10)
    ring = keys.KeyRing(file)
    assert all(ring.key_of(key) for key in (first, second, third))
    clock.pass_hours(6)
    assert [bool(ring.key_of(key)) for key in (first, second, third)] == [False, True, True]
    fourth = keys.rotate(file, "desk", overlap_hours=0)
    assert [bool(ring.key_of(key)) for key in (second, third, fourth)] == [True, False, True]


def test_revoking_ends_the_old_secret_of_an_overlap_too(file):
    old = keys.create(file, "desk")
    new = keys.rotate(file, "desk")
    keys.revoke(file, "desk")
    ring = keys.KeyRing(file)
    assert ring.key_of(old) is None
    assert ring.key_of(new) is None


def test_an_expired_key_is_told_so_and_cannot_be_rotated(file, clock):
    key = keys.create(file, "desk", days=30)
    ring = keys.KeyRing(file)
    assert ring.key_of(key)
    clock.pass_hours(30 * 24)
    with pytest.raises(Unauthenticated, match="expired on 2026-12-27"):
        ring.key_of(key)
    with pytest.raises(InvalidInput, match="has expired"):
        keys.rotate(file, "desk")
    assert keys.shown(keys.read(file)[0], {})["expired"] is True


def test_names_and_bounds(file):
    keys.create(file, "desk")
    with pytest.raises(Conflict, match="rotate it"):
        keys.create(file, "desk")
    with pytest.raises(InvalidInput, match="people who sign in"):
        keys.create(file, "person:ann")
    with pytest.raises(NotFound):
        keys.rotate(file, "other")
    with pytest.raises(NotFound):
        keys.revoke(file, "other")
    with pytest.raises(InvalidInput, match="overlap"):
        keys.rotate(file, "desk", overlap_hours=-1)
    with pytest.raises(InvalidInput, match="days"):
        keys.create(file, "other", days=-1)


def test_a_file_that_is_spoiled_while_the_gateway_runs_leaves_the_keys_that_were_read(file):
    key = keys.create(file, "desk")
    ring = keys.KeyRing(file)
    assert ring.key_of(key)
    good = file.read_text()
    file.write_text("{")
    assert ring.key_of(key)
    with pytest.raises(InvalidInput):
        keys.KeyRing(file).key_of(key)
    file.write_text(good.replace('"desk"', '"other"'))
    assert ring.key_of(key).name == "other"


@pytest.mark.parametrize("expires", ["soon", "2026-11-27T12:00:00"])
def test_a_time_that_is_none_or_of_no_zone_makes_the_file_invalid(file, expires):
    keys.create(file, "desk", days=1)
    stored = json.loads(file.read_text())
    stored["keys"][0]["expires"] = expires
    file.write_text(json.dumps(stored))
    with pytest.raises(InvalidInput, match="not a Quelea key file"):
        keys.read(file)


def test_last_use_is_written_and_a_read_only_folder_does_no_harm(file, clock, monkeypatch):
    key = keys.create(file, "desk")
    ring = keys.KeyRing(file)
    ring.key_of(key)
    assert keys.last_used(file) == {keys.read(file)[0].id: "2026-11-27T12:00:00+00:00"}
    monkeypatch.setattr(keys, "_replace", lambda *_: (_ for _ in ()).throw(PermissionError()))
    assert keys.KeyRing(file).key_of(key)


def test_the_command_line_and_the_audit_log(file, tmp_path, capsys):
    at = ["--file", str(file), "--audit", str(tmp_path / "audit")]
    assert keys.main(["create", "desk", "--tenant", "team", "--right", "us:write", "--days", "30", *at]) == 0
    old = capsys.readouterr().out.strip()
    assert keys.main(["rotate", "desk", *at]) == 0
    new = capsys.readouterr().out.strip()
    keys.KeyRing(file).key_of(new)
    assert keys.main(["list", "--json", *at]) == 0
    [told] = json.loads(capsys.readouterr().out)["keys"]
    assert (told["name"], told["tenant"], told["rights"], told["administrator"]) == (
        "desk",
        "team",
        {"us": "write"},
        False,
    )
    assert told["rotating_until"]
    assert told["last_used"]
    assert keys.main(["list", *at]) == 0
    line = capsys.readouterr().out
    assert "us:write" in line
    assert "old secret until" in line
    assert not any(secret in line for secret in (old, new, keys.digest(old), keys.digest(new)))
    assert keys.main(["revoke", "desk", *at]) == 0
    assert keys.main(["revoke", "desk", *at]) == 1
    found = list(read_audit(tmp_path / "audit"))
    assert sorted((one["act"], one["of"], one["objects"]["name"]) for one in found) == [
        ("changed", "key", "desk"), ("changed", "key", "desk"), ("deleted", "key", "desk")
    ]  # fmt: skip
    assert all(one["subject"] and one["via"] == "shell" for one in found)
    assert {one["objects"]["id"] for one in found} == {told["id"]}


def test_two_who_change_at_once_lose_nothing(file):
    pids = []
    for number in range(8):
        pid = os.fork()
        if pid == 0:
            try:
                keys.create(file, f"key{number}")
                os._exit(0)
            finally:
                os._exit(1)
        pids.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * 8
    assert sorted(key.name for key in keys.read(file)) == [f"key{number}" for number in range(8)]
