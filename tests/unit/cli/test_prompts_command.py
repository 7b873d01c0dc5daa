"""`quelea prompts`: listed, shown, edited as a new version, compared, put in force, rolled back, tried."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

Run = Callable[..., tuple[int, str, str]]
TEXT = "version: en-2\n---system---\nBe concise [x].\n---user---\n$question\n"
PROMPTS = [
    {"name": "answer", "language": "en", "version": "en-2.5dfffbaf", "text": TEXT, "built_in": True},
    {"name": "answer", "language": "zh", "version": "zh-edit-1.af3d22ed", "text": "version: zh-2", "built_in": False},
]
VERSION = {
    "version": "en-edit-1.0a1b2c3d", "text": TEXT, "built_in": False, "active": True, "created": "2026-11-27T10:20:30Z",
    "author": "desk", "note": "shorter", "based_on": "en-2.5dfffbaf", "problems": [],
}  # fmt: skip
BUILT_IN = {**VERSION, "version": "en-2.5dfffbaf", "built_in": True, "active": False, "created": None, "author": ""}
PATH = "/v1/prompts/answer/en"


@pytest.fixture
def prompts(gateway: Any) -> Any:
    gateway.answer("/v1/prompts", (200, {"prompts": PROMPTS, "problems": ["The agent is away."]}))
    gateway.answer(f"{PATH}/versions", (200, {"versions": [VERSION, BUILT_IN], "next_page_token": None}))
    return gateway


def sent(gateway: Any) -> Any:
    return json.loads(gateway.seen[-1][3])


def test_they_are_listed_with_where_they_come_from(prompts: Any, run: Run) -> None:
    code, out, err = run("prompts", "list")
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [
        ["answer", "en", "en-2.5dfffbaf"],
        ["answer", "zh", "zh-edit-1.af3d22ed"],
    ]
    assert "built in" in out
    assert "edited" in out
    assert "The agent is away." in err


def test_one_is_shown_as_it_is_and_an_unknown_one_is_an_error(prompts: Any, run: Run) -> None:
    _, out, err = run("prompts", "show", "answer", "en")
    assert prompts.seen[-1][2] == {"name": ["answer"], "language": ["en"]}
    assert out == TEXT
    assert "en-2.5dfffbaf" in err
    prompts.answer("/v1/prompts", (200, {"prompts": [], "problems": []}))
    code, _, err = run("prompts", "show", "nothing", "en")
    assert code != 0
    assert "quelea prompts list" in err


def test_versions_say_which_is_in_force(prompts: Any, run: Run) -> None:
    _, out, _ = run("prompts", "versions", "answer", "en")
    first, last = out.splitlines()[1:]
    assert first.split()[:3] == ["*", "en-edit-1.0a1b2c3d", "2026-11-27"]
    assert "shorter" in first
    assert "built in" in last


def test_a_comparison_reads_like_a_diff(prompts: Any, run: Run) -> None:
    lines = [{"kind": "same", "text": "a"}, {"kind": "removed", "text": "b"}, {"kind": "added", "text": "c"}]
    prompts.answer(f"{PATH}/diff", (200, {"before": "en-2.1", "after": "en-edit-1.2", "lines": lines}))
    _, out, _ = run("prompts", "diff", "answer", "en")
    assert out.splitlines() == ["--- en-2.1", "+++ en-edit-1.2", "  a", "- b", "+ c"]
    assert prompts.seen[-1][2] == {"before": ["built-in"], "after": ["active"]}


def test_a_file_becomes_a_version_and_is_put_in_force_when_asked(prompts: Any, run: Run, tmp_path: Path) -> None:
    prompts.answer(f"{PATH}/versions", (201, VERSION))
    prompts.answer(f"{PATH}/activate", (200, PROMPTS[0]))
    file = tmp_path / "prompt.txt"
    file.write_text("new text", encoding="utf-8")
    code, out, _ = run("prompts", "edit", "answer", "en", "--file", str(file), "--note", "why", "--activate")
    assert (code, out.strip()) == (0, "en-edit-1.0a1b2c3d")
    saved, activated = [(path, json.loads(body)) for method, path, _, body in prompts.seen if method == "POST"]
    assert saved == (f"{PATH}/versions", {"text": "new text", "note": "why", "based_on": "en-2.5dfffbaf"})
    assert activated == (f"{PATH}/activate", {"version": "en-edit-1.0a1b2c3d"})


def test_the_editor_begins_with_what_is_in_force(prompts: Any, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def change(text: str, extension: str) -> str | None:
        seen.append(text)
        return text.replace("concise", "brief")

    monkeypatch.setattr(click, "edit", change)
    prompts.answer(f"{PATH}/versions", (201, VERSION))
    code, _, err = run("prompts", "edit", "answer", "en")
    assert code == 0
    assert seen == [TEXT]
    assert "Be brief" in sent(prompts)["text"]
    assert "quelea prompts activate answer en en-edit-1.0a1b2c3d" in err
    monkeypatch.setattr(click, "edit", lambda *_, **__: None)
    code, _, err = run("prompts", "edit", "answer", "en")
    assert code != 0
    assert "Nothing was changed" in err


def test_a_version_is_put_in_force_and_rolled_back(prompts: Any, run: Run) -> None:
    prompts.answer(f"{PATH}/activate", (200, PROMPTS[0]))
    prompts.answer(f"{PATH}/roll-back", (200, PROMPTS[0]))
    _, out, _ = run("prompts", "activate", "answer", "en", "built-in")
    assert sent(prompts) == {"version": "built-in"}
    assert "en-2.5dfffbaf is in force" in out
    _, out, _ = run("prompts", "roll-back", "answer", "en")
    assert "en-2.5dfffbaf is in force" in out


def test_a_draft_is_tried_from_a_version_or_a_file(prompts: Any, run: Run) -> None:
    answer = {"answer": "81,797.", "model": "qwen", "prompt_version": "en-draft.1"}
    prompts.answer(f"{PATH}/try", (200, answer))
    code, out, err = run("prompts", "try", "answer", "en", "Net sales?", "--version", "en-edit-1.0a1b2c3d")
    assert (code, out.strip()) == (0, "81,797.")
    assert "en-draft.1" in err
    assert sent(prompts) == {"text": TEXT, "question": "Net sales?"}
    code, _, err = run("prompts", "try", "answer", "en", "Net sales?")
    assert code == 2
    assert "--file or --version" in err
