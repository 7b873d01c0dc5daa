"""Sets that are not where they are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from quelea_evaluation.cli import app
from typer.testing import CliRunner


@pytest.mark.parametrize("command", [["retrieval"], ["gate"], ["pairs", "{folder}/out.jsonl", "--set"]])
@pytest.mark.parametrize(
    ("name", "said"), [("tatqa", "tatqa: cannot read"), ("nothing", "no set is called nothing; there are docugami")]
)
def test_the_command_says_what_is_missing_and_what_to_do(
    tmp_path: Path, command: list[str], name: str, said: str
) -> None:
    options = [one.format(folder=tmp_path) for one in command]
    result = CliRunner().invoke(app, [*options, name, "--data", str(tmp_path), "--home", str(tmp_path / "home")])
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())
