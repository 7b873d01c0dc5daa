"""Files of fitted weights: for one encoder, followed while they change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from quelea_kit.errors import InvalidInput
from quelea_kit.files.fitted_files import FittedFiles, fits_encoder


@dataclass
class Weights:
    encoder: str


def read(text: str, path: Path) -> Weights:
    try:
        return Weights(json.loads(text)["encoder"])
    except (ValueError, KeyError) as error:
        raise InvalidInput(f"{path} is bad") from error


def files(*paths: Path, optional: bool = False) -> FittedFiles[Weights]:
    return FittedFiles(paths, read, setting="the_file", optional=optional, look_seconds=0)


def put(path: Path, encoder: str) -> Path:
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({"encoder": encoder}))
    fresh.replace(path)
    return path


@pytest.mark.parametrize(
    ("fitted_with", "encoder", "fits"),
    [
        ("", "e5@1", True),
        ("e5@1", "", True),
        ("e5@1", "e5@1", True),
        ("e5@1", "e5@2", False),
        ("e5", "e5@2", True),
        ("e5", "e5-large@2", False),
    ],
)
def test_fits_encoder(fitted_with: str, encoder: str, fits: bool) -> None:
    assert fits_encoder(fitted_with, encoder) is fits


def test_the_first_that_fits(tmp_path: Path) -> None:
    found = files(put(tmp_path / "a.json", "old@1"), put(tmp_path / "b.json", "new@1"))
    assert found.find("new@1") == Weights("new@1")
    assert found.find("old@1") == Weights("old@1")
    assert found.find("third@1") is None


def test_a_file_that_changes_is_read_again_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", "one")
    found = files(path)
    put(path, "two")
    assert found.current() == (Weights("two"),)
    path.write_text("{")
    assert found.current() == (Weights("two"),)
    path.unlink()
    assert found.current() == (Weights("two"),)
    put(path, "three")
    assert found.current() == (Weights("three"),)


def test_an_optional_file_may_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    found = files(path, optional=True)
    assert found.current() == ()
    put(path, "one")
    assert found.current() == (Weights("one"),)
    path.unlink()
    assert found.current() == ()


def test_at_the_start_a_file_must_be_good(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the_file cannot be read"):
        files(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InvalidInput, match="is bad"):
        files(tmp_path / "bad.json", optional=True)


def test_between_looks_nothing_is_read(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", "one")
    found = FittedFiles([path], read, setting="the_file", look_seconds=3600)
    put(path, "two")
    assert found.current() == (Weights("one"),)
