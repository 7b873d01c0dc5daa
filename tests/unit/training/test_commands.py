"""The commands: help without torch, and what is wrong said in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from quelea_cli.errors import CliError
from quelea_evaluation.inputs import BadInput
from quelea_training import training_options
from quelea_training.cli import app
from quelea_training.pairs import commands, making
from quelea_training.pairs.making import Made, Plan
from typer.testing import CliRunner
from unit.training.made import pair, passage


def run(*words: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, [*words], env={"COLUMNS": "200"})
    return found.exit_code, found.output


def test_help_and_pairs_need_no_torch() -> None:
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "sentence_transformers", "openvino"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from typer.testing import CliRunner
from quelea_training.cli import app
for words in (["--help"], ["pairs", "--help"], ["review", "--help"], ["encoder", "--help"]):
    assert CliRunner().invoke(app, words).exit_code == 0, words
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pairs", "{folder}/p", "--source", "nothing", "--data", "{folder}"), "no set is called 'nothing'"),
        (("pairs", "{folder}/p", "--source", "docugami", "--data", "{folder}"), "say where with --data"),
        (("pairs", "{folder}/p", "--model", "gpt"), "--model-url must say where the model is served"),
        (("pairs", "{folder}/p", "--model", "stack", "--home", "{folder}"), "error: "),
        (
            ("pairs", "{folder}/p", "--gateway", "http://127.0.0.1:9"),
            "start it with `quelea up`, or say with --gateway",
        ),
        (("review", "{folder}/none"), "make the folder with `quelea train pairs`"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    code, output = run(*(word.format(folder=tmp_path) for word in words))
    assert said in output
    assert code != 0
    assert "Traceback" not in output


def test_the_encoder_to_begin_with_is_queleas_own_wherever_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_options, "default_encoder", lambda: tmp_path / "unpacked")
    assert training_options.base_or_default(None) == tmp_path / "unpacked"
    assert training_options.base_or_default(Path("mine")) == Path("mine")

    def absent() -> Path:
        raise CliError("The encoder could not be unpacked: no room")

    monkeypatch.setattr(training_options, "default_encoder", absent)
    with pytest.raises(BadInput, match="no room; name an encoder with --base"):
        training_options.base_or_default(None)


def test_splits_that_nothing_fell_into_are_spoken_of_source_by_source() -> None:
    tested = [pair("what?", passage("a"), split="test")]
    said = " ".join(commands._missing(tested, Plan(test=0.2)))
    assert "stored: of 1 pairs none is to train on: add documents of other companies (three are enough)" in said
    assert "smaller --test (it is 0.2)" in said
    assert "none is to develop on, so time or steps alone end a training" in said
    assert "none is held out" not in said
    watching = [pair("what?", passage("b", source="disc"), split="test")]
    said = " ".join(commands._missing(watching, Plan()))
    assert "to train on" not in said  # it never is
    assert "disc: of 1 pairs none is to develop on, so no loss there can be watched" in said
    all_three = [pair(name, passage(name), split=name) for name in ("train", "dev", "test")]
    assert list(commands._missing(all_three, Plan())) == []


def test_a_review_changes_the_folder_and_its_manifest(tmp_path: Path) -> None:
    one = passage("a")
    pairs = [pair("keep", one), pair("drop", one)]
    making.write_folder(tmp_path, [Made({"a": one}, [])], pairs, Plan(seed=7), {"python": "3"})
    (tmp_path / "review.csv").write_text(f"id,keep,query\n{pairs[1].id},n,\n")
    code, output = run("review", str(tmp_path))
    assert (code, output) == (0, "1 pairs dropped, 0 asked in other words, 1 left\n")
    manifest = making.read_manifest(tmp_path)
    assert manifest["counts"]["pairs"] == 1
    assert manifest["settings"]["seed"] == 7
    assert manifest["reviewed"] == {"dropped": 1, "reworded": 0}
    (tmp_path / "review.csv").write_text(f"id,keep,query\n{pairs[0].id},n,\n")
    before = (tmp_path / "pairs.jsonl").read_text()
    code, output = run("review", str(tmp_path))
    assert code == 1
    assert "the review drops every pair" in output
    assert (tmp_path / "pairs.jsonl").read_text() == before
    assert json.loads(before)["query"] == "keep"
