"""`quelea ask`: strict answers, verdicts, and Markdown into a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from quelea_cli.errors import EXIT_USAGE

if TYPE_CHECKING:
    from .conftest import FakeGateway

Run = Callable[..., tuple[int, str, str]]
ANSWER: dict[str, Any] = {
    "answer": "It is 7 [1].", "citations": [], "declined": None,
    "grounding": {
        "text": "It is 7 [1].",
        "sentences": [
            {"text": "It is 7 [1].", "verdict": "supported"}, {"text": "Nobody knows why.", "verdict": "not_found"},
        ],
        "figures": [{"text": "7", "verdict": "derived", "formula": "= 3 + 4", "passage": 1}],
        "withheld": ["It was 8 before."],
    },
}  # fmt: skip


def events(*deltas: str) -> bytes:
    pieces = [f"event: delta\ndata: {json.dumps({'text': text})}\n\n" for text in deltas]
    pieces.append(f"event: verdicts\ndata: {json.dumps(ANSWER['grounding'])}\n\n")
    pieces.append(f"event: answer\ndata: {json.dumps(ANSWER)}\n\n")
    return "".join(pieces).encode()


def test_verdicts_are_shown_and_a_text_that_the_checks_changed_is_shown_again(gateway: FakeGateway, run: Run) -> None:
    gateway.answer("/v1/ask", (200, events("It is 7 [9].")))
    code, out, _ = run("ask", "q", "--strict")
    assert code == 0
    assert json.loads(gateway.seen[-1][3])["strict"] is True
    assert out.index("It is 7 [9].") < out.index("As checked:") < out.index("It is 7 [1].")
    assert "computed: 7 = 3 + 4" in out
    assert "not found: Nobody knows why." in out
    assert "withheld: It was 8 before." in out


def test_a_text_that_the_checks_left_alone_is_shown_once(gateway: FakeGateway, run: Run) -> None:
    gateway.answer("/v1/ask", (200, events("It is ", "7 [1].\n")))
    _, out, _ = run("ask", "q")
    assert "strict" not in json.loads(gateway.seen[-1][3])
    assert "As checked" not in out
    assert out.count("It is 7 [1].") == 1


def test_markdown_goes_into_a_file_or_to_standard_output(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    gateway.answer("/v1/ask", (200, "# q\n\n答案 7\n".encode()))
    code, out, _ = run("ask", "q", "--markdown", tmp_path / "a.md", "--strict")
    assert (code, out) == (0, "")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "# q\n\n答案 7\n"
    assert json.loads(gateway.seen[-1][3]) == {"question": "q", "strict": True, "format": "markdown"}
    assert run("ask", "q", "--markdown", "-")[1] == "# q\n\n答案 7\n"


@pytest.mark.parametrize("more", [["--json"], []])
def test_what_cannot_be_done_is_said(gateway: FakeGateway, run: Run, tmp_path: Path, more: list[str]) -> None:
    code, out, err = run("ask", "q", "--markdown", tmp_path / "no" / "a.md", *more)
    assert (code, out) == (EXIT_USAGE, "")
    assert "Use either" in err or "Cannot write" in err


def test_an_answer_is_saved_as_a_note_beside_being_shown(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    gateway.answer("/v1/ask", (200, events("It is 7 [1].")))
    gateway.answer("/v1/export", (200, b"PK"))
    code, out, err = run("ask", "q", "--save", tmp_path / "note.DOCX", "--save", tmp_path / "a.xlsx")
    assert (code, "It is 7 [1]." in out, "written" in err) == (0, True, True)
    assert (tmp_path / "note.DOCX").read_bytes() == (tmp_path / "a.xlsx").read_bytes() == b"PK"
    sent = json.loads(gateway.seen[-2][3])
    assert (sent["question"], sent["answer"], sent["format"]) == ("q", ANSWER, "docx")
    asked = len(gateway.seen)
    code, _, err = run("ask", "q", "--save", tmp_path / "note.odt")
    assert (code, len(gateway.seen)) == (EXIT_USAGE, asked)
    assert ".docx, .pdf, .xlsx, .md" in err
