"""Sets of models: made whole, checked against their manifest, switched by one link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from quelea_cli.stack.home import Home
from quelea_kit.errors import Conflict, InvalidInput, NotFound, Unavailable
from quelea_training.sets import take_up
from quelea_training.sets.card import card
from quelea_training.sets.commands import comparison
from quelea_training.sets.manifest import ModelSet, make, read, verify
from quelea_training.sets.shelf import PACKAGED, Shelf


def write(path: Path, **content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def new_set(shelf: Shelf, name: str, path: Path, encoder: str = "e5@1", **more: Any) -> ModelSet:
    gate = write(path / f"{name}-gate.json", encoder=encoder, fitted=f"2026-11-27: {name}")
    given = {"gate": gate, **more.pop("given", {})}
    licences = dict.fromkeys(given, "Apache-2.0")
    return make(shelf.sets, name, given, licences=licences, metrics={}, data={}, **more)


def test_a_set_is_made_with_manifest_and_card(tmp_path: Path) -> None:
    model = tmp_path / "my-e5"
    (model / "deep").mkdir(parents=True)
    (model / "deep" / "weights.bin").write_bytes(b"1234")
    write(model / "config.json")
    made = make(
        tmp_path / "sets",
        "first",
        {"encoder": model, "gate": write(tmp_path / "gate.json", encoder="my-e5@1", fitted="2026-11-27: here")},
        licences={"encoder": "MIT", "gate": "Apache-2.0"},
        metrics={"tatqa/MRR@10": 0.81},
        data={"source": "filings of ours"},
    )
    folder = tmp_path / "sets" / "first"
    assert verify(folder) == read(folder) == made
    assert made.encoder_id == "my-e5@1"
    assert list(made.parts["encoder"].files) == ["encoder/my-e5/config.json", "encoder/my-e5/deep/weights.bin"]
    shown = (folder / "MODEL_CARD.md").read_text()
    assert shown == card(made)
    for said in ("MIT", "tatqa/MRR@10 | 0.810", "filings of ours", made.parts["gate"].files["gate.json"]):
        assert said in shown
    with pytest.raises(Conflict, match="another name"):
        make(tmp_path / "sets", "first", {"encoder": model}, licences={"encoder": "MIT"}, metrics={}, data={})


@pytest.mark.parametrize(
    ("part", "inside", "file"),
    [
        ("encoder", "model", "config.json"),
        ("verifier", "model", "config.json"),
        ("adapter", "adapter", "adapter_config.json"),
    ],
)
def test_of_the_folder_of_a_training_the_model_alone_is_taken(
    tmp_path: Path, part: str, inside: str, file: str
) -> None:
    run = tmp_path / "spring"
    (run / inside).mkdir(parents=True)
    write(run / inside / file)
    write(run / "report.json")
    made = make(tmp_path / "sets", "one", {part: run}, licences={part: "MIT"}, metrics={}, data={})
    assert list(made.parts[part].files) == [f"{part}/spring/{file}"]


@pytest.mark.parametrize("change", ["changed", "missing", "more"])
def test_a_set_that_was_touched_is_refused(tmp_path: Path, change: str) -> None:
    shelf = Shelf(tmp_path)
    model = tmp_path / "my-e5"
    model.mkdir()
    (model / "weights.bin").write_bytes(b"1234")
    write(model / "config.json")
    new_set(shelf, "one", tmp_path, "my-e5", given={"encoder": model})
    file = shelf.sets / "one" / "encoder" / "my-e5" / "weights.bin"
    if change == "changed":
        file.write_bytes(b"1235")
    elif change == "missing":
        file.unlink()
    else:
        file.with_name("more.bin").write_bytes(b"")
    with pytest.raises(Conflict, match="make it anew"):
        shelf.check("one")


def test_parts_for_two_encoders_make_no_set(tmp_path: Path) -> None:
    ranker = write(tmp_path / "ranker.json", encoder="other@2")
    with pytest.raises(Conflict, match="quelea train"):
        new_set(Shelf(tmp_path), "mixed", tmp_path, "e5@1", given={"ranker": ranker}, encoder_id="e5@1")
    assert not list(Shelf(tmp_path).sets.glob("*"))  # nothing of it is left


@pytest.mark.parametrize(
    ("given", "licences", "says"),
    [
        ({}, {}, "at least one part"),
        ({"brain": "gate.json"}, {"brain": "MIT"}, "no part 'brain'"),
        ({"gate": "none.json"}, {"gate": "MIT"}, "not at"),
        ({"gate": "folder"}, {"gate": "MIT"}, "must be a file"),
        ({"encoder": "gate.json"}, {"encoder": "MIT"}, "must be a folder"),
        ({"encoder": "folder"}, {"encoder": "MIT"}, "config.json is neither there nor in its folder model"),
        ({"adapter": "folder"}, {"adapter": "MIT"}, "adapter_config.json is neither there nor in its"),
        ({"gate": "gate.json"}, {}, "--licence gate"),
        ({"gate": "bad.json"}, {"gate": "MIT"}, "not JSON"),
    ],
)
def test_what_cannot_be_a_set(tmp_path: Path, given: dict[str, str], licences: dict[str, str], says: str) -> None:
    write(tmp_path / "gate.json", encoder="e5")
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "folder").mkdir()
    paths = {part: tmp_path / name for part, name in given.items()}
    with pytest.raises(InvalidInput, match=says):
        make(tmp_path / "sets", "one", paths, licences=licences, metrics={}, data={})


@pytest.mark.parametrize("name", ["", "../up", "A", ".hidden", "a/b", "x" * 65])
def test_names_of_sets(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot name a set"):
        Shelf(tmp_path).folder(name)


def test_switch_and_the_set_before(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    assert (shelf.active(), shelf.previous()) == (PACKAGED, None)
    new_set(shelf, "one", tmp_path)
    new_set(shelf, "two", tmp_path)
    assert [one.name for one in shelf.all()] == ["one", "two"]
    assert shelf.switch("one") == PACKAGED
    gate = shelf.root / "active" / "gate.json"
    assert json.loads(gate.read_text())["fitted"].endswith("one")
    assert shelf.switch("two") == "one"
    assert json.loads(gate.read_text())["fitted"].endswith("two")
    assert (shelf.active(), shelf.previous()) == ("two", "one")
    assert shelf.switch("two") == "two"  # twice is once: the set before is still known
    assert shelf.previous() == "one"
    shelf.switch(PACKAGED)
    assert not gate.exists()
    assert (shelf.active(), shelf.previous()) == (PACKAGED, "two")


def test_one_switch_at_a_time_and_unknown_sets(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    with shelf.locked(), pytest.raises(Conflict, match="under way"), shelf.locked():
        pass
    with pytest.raises(NotFound, match="there are packaged"):
        shelf.check("none")


def test_comparison_names_measures_of_both_and_parts_that_differ(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    one = new_set(shelf, "one", tmp_path)
    ranker = write(tmp_path / "ranker.json", encoder="")
    two = new_set(shelf, "two", tmp_path, given={"ranker": ranker})
    found = comparison(ModelSet(**{**vars(one), "metrics": {"a": 0.5, "b": 0.1}}), two)
    assert found["metrics"] == {"a": [0.5, None], "b": [0.1, None]}
    assert found["differing"] == ["ranker", "gate"]


def test_the_same_encoder_in_another_set_is_taken_up_while_the_stack_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    home.create()
    (home.index / "CURRENT").write_text("shard-000001")
    shelf = Shelf(home.root)
    for name, weights in (("one", b"1"), ("two", b"1"), ("three", b"3")):
        model = tmp_path / name / "my-e5"
        model.mkdir(parents=True)
        (model / "weights.bin").write_bytes(weights)
        write(model / "config.json")
        new_set(shelf, name, tmp_path, "my-e5", given={"encoder": model})
    encoded: list[Path] = []
    monkeypatch.setattr(take_up, "_encode_again", lambda _, model, __: encoded.append(model))
    said: list[str] = []
    take_up.activate(home.root, "one", said.append)
    assert encoded == [shelf.sets / "one" / "encoder" / "my-e5"]
    with home.locked():
        take_up.activate(home.root, "two", said.append)
        assert len(encoded) == 1
        assert "roll-back` returns to one" in said[-2]
        with pytest.raises(Conflict, match="quelea down"):
            take_up.activate(home.root, "three", said.append)
        assert shelf.active() == "two"
        take_up.roll_back(home.root, said.append)
        assert (shelf.active(), shelf.previous()) == ("one", "two")


def test_what_fails_while_encoding_leaves_the_set_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home")
    home.create()
    (home.index / "CURRENT").write_text("shard-000001")
    shelf = Shelf(home.root)
    model = tmp_path / "my-e5"
    model.mkdir()
    write(model / "config.json")

    def fail(*_: Any) -> None:
        raise Unavailable("no encoder")

    monkeypatch.setattr(take_up, "_encode_again", fail)
    with pytest.raises(Conflict, match="No set was in use"):
        take_up.roll_back(home.root, print)
    (model / "weights.bin").write_bytes(b"1")
    new_set(shelf, "two", tmp_path, "my-e5", given={"encoder": model})
    with pytest.raises(Unavailable, match="no encoder"):
        take_up.activate(home.root, "two", print)
    assert (shelf.active(), shelf.previous()) == (PACKAGED, None)
