from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.retrieval import commands
from quelea_evaluation.retrieval.commands import only_held_out
from quelea_evaluation.sets.model import EvaluationSet, Question, SourceDocument


def test_only_what_the_pairs_hold_out_is_asked_and_all_is_stored(tmp_path: Path) -> None:
    rows = [{"query": f"What of {at}?", "split": split} for at, split in enumerate(("train", "test", "dev", "test"))]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    documents = (SourceDocument("d", "d.html", b"text"),)
    asked = tuple(Question(f"q{at}", f"What of {at}?", "single", frozenset({"d"})) for at in range(3))
    whole = EvaluationSet("made", documents, asked)
    assert only_held_out(whole, [tmp_path]) == EvaluationSet("made", documents, asked[1:2])
    with pytest.raises(BadInput, match="none of the 1 questions of made is held out"):
        only_held_out(EvaluationSet("made", documents, asked[:1]), [tmp_path])
    with pytest.raises(BadInput, match=r"pairs\.jsonl cannot be read"):
        only_held_out(whole, [tmp_path / "none"])


def test_a_set_of_which_nothing_is_held_out_is_refused_before_another_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"query": "What of one?", "split": "test"}))
    measured: list[str] = []

    def load(name: str, _: Path) -> EvaluationSet:
        return EvaluationSet(name, (), (Question("q", f"What of {name}?", "single", frozenset({"d"})),))

    monkeypatch.setattr(commands, "load_set", load)
    monkeypatch.setattr(commands, "evaluate", lambda one, *_, **__: measured.append(one.name) or [])
    with pytest.raises(typer.BadParameter, match="none of the 1 questions of two is held out"):
        commands.retrieval(["one", "two"], held_out=[tmp_path])
    assert measured == []
