"""Pairs to c: files that are refused, the quantile, what is written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from quelea_evaluation.cli import app
from quelea_evaluation.gate.pairs import calibration, draw, read_pairs, threshold
from quelea_evaluation.inputs import BadInput
from typer.testing import CliRunner


def jsonl(path: Path, count: int, **more: object) -> Path:
    path.write_text("".join(json.dumps({"query": f"q{n}", "passage": f"p {n}", **more}) + "\n" for n in range(count)))
    return path


def test_pairs_are_read_from_either_format(tmp_path: Path) -> None:
    lines = jsonl(tmp_path / "a.jsonl", 12)
    table = tmp_path / "a.csv"
    table.write_text("id,passage,query\n" + "".join(f'{n},"p {n}",q{n}\n' for n in range(12)))
    assert read_pairs(lines) == read_pairs(table) == [(f"q{n}", f"p {n}") for n in range(12)]


def test_the_same_pair_counts_once(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", 12)
    path.write_text(path.read_text() * 2)
    assert len(read_pairs(path)) == 12


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"query": "q", "passage": "p"}\n' * 30, "1 different pairs; at least 10"),
        ("a.jsonl", "query,passage\n", "line 1 is no JSON"),
        ("a.jsonl", "[1]\n", "line 1 must be an object"),
        ("a.jsonl", '{"query": "q", "passage": "p"}\n{"query": "q", "text": "p"}\n', "line 2: every pair needs"),
        ("a.jsonl", '{"query": " ", "passage": "p"}\n', "line 1: every pair needs"),
        ("a.csv", "question,passage\na,b\n", "line 2: every pair needs the fields query and passage"),
        ("a.csv", "query,passage\na\n", "line 2: every pair needs"),
        ("a.jsonl", "", "0 different pairs"),
    ],
)
def test_a_bad_file_is_refused_with_what_to_do(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput, match=said):
        read_pairs(path)


def test_a_missing_file_and_one_that_is_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_pairs(tmp_path / "none.jsonl")
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="cannot be read"):
        read_pairs(tmp_path / "b.jsonl")


def test_c_is_the_quantile() -> None:
    cosines = np.linspace(0.5, 1.0, 101)
    assert threshold(cosines) == pytest.approx(0.505)
    found = calibration(cosines, "e5")
    assert (found["c"], found["cosine"], found["encoder"], found["pairs"]) == (0.505, 0.505, "e5", 101)


def test_the_histogram_is_a_png(tmp_path: Path) -> None:
    cosines = np.linspace(0.8, 0.9, 60)
    draw(cosines, calibration(cosines, "e5"), tmp_path / "h.png")
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_refuses_few_pairs(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["calibrate", str(jsonl(tmp_path / "a.jsonl", 9))])
    assert result.exit_code == 2
    assert "9 different pairs" in " ".join(result.output.replace("│", " ").split())
