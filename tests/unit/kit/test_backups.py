"""A backup is whole or none, says when it is damaged, and old ones leave."""

import json

import pytest
from quelea_kit.errors import Conflict, InvalidInput
from quelea_kit.files.backups import Backup, Kept, keep


@pytest.fixture(params=["folder", "memory", "s3"])
def place(request, tmp_path):
    if request.param == "s3":
        return request.getfixturevalue("bucket").url
    return str(tmp_path / "kept") if request.param == "folder" else f"memory://{tmp_path.name}-{id(request)}"


def make(place, now, text=b"abc", **facts):
    backup = Backup(place, "things", clock=lambda: now)
    with backup.file("a.bin") as file:
        file.write(text)
        file.write(b"def")
    backup.finish(**facts)
    return backup


def read(kept, name="a.bin"):
    with kept.open(name) as file:
        return file.read()


def test_what_was_written_comes_back(place):
    made = make(place, 1_700_000_000, note="x")
    assert made.size == 6
    for path in (place, f"{place}/{made.name}"):
        kept = Kept(path, "things")
        assert kept.name == made.name == "things-20231114T221320Z"
        assert read(kept) == b"abcdef"
        assert kept.manifest["note"] == "x"


def test_the_newest_is_taken_and_one_without_a_manifest_is_none(place):
    make(place, 1_700_000_000, b"old")
    make(place, 1_700_000_060, b"new")
    broken = Backup(place, "things", clock=lambda: 1_700_000_120)
    with broken.file("a.bin") as file:
        file.write(b"half")
    assert read(Kept(place, "things")) == b"newdef"
    with pytest.raises(InvalidInput, match="no backup of kind others"):
        Kept(place, "others")
    broken.abandon()
    with pytest.raises(InvalidInput, match="no backup"):
        Kept(f"{place}/{broken.name}", "things")


def test_two_in_one_second_are_refused(place):
    make(place, 1_700_000_000)
    with pytest.raises(Conflict):
        make(place, 1_700_000_000)


def test_old_ones_leave_the_newest_stays_always(place):
    names = [make(place, 1_700_000_000 + n).name for n in range(4)]
    Backup(place, "things", clock=lambda: 1_690_000_000.0)  # broken off long ago
    young = Backup(place, "things", clock=lambda: 1_700_000_010.0)  # under way
    gone = keep(place, "things", 2, clock=lambda: 1_700_000_020.0)
    assert [name for name in gone if name in names] == names[:2]
    assert len(gone) in (2, 3)  # an object store has no empty folders
    with young.file("b") as file:
        file.write(b"1")
    young.finish()
    assert Kept(place, "things").name == young.name
    keep(place, "things", 0, clock=lambda: 1_700_000_020.0)
    assert Kept(place, "things").name == young.name
    assert keep(f"{place}/nowhere", "things", 1) == []


@pytest.mark.parametrize("harm", ["bytes", "missing", "manifest", "format", "path"])
def test_damage_is_named(tmp_path, harm):
    made = make(str(tmp_path), 1_700_000_000)
    folder = tmp_path / made.name
    manifest = json.loads((folder / "manifest.json").read_text())
    if harm == "bytes":
        (folder / "a.bin").write_bytes(b"abcdeg")
    elif harm == "missing":
        (folder / "a.bin").unlink()
    elif harm == "manifest":
        (folder / "manifest.json").write_text("{")
    elif harm == "format":
        (folder / "manifest.json").write_text(json.dumps(manifest | {"format": 2}))
    else:
        (folder / "manifest.json").write_text(json.dumps(manifest | {"files": {"../../etc/passwd": {}}}))
    with pytest.raises(InvalidInput):
        Kept(str(tmp_path), "things")
