"""How far the gate's probabilities can be believed, and questions of pairs about stored documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from quelea_cli.stack.home import Home
from quelea_evaluation.gate import asking
from quelea_evaluation.gate.asking import Asked
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.sets.model import EvaluationSet, Question
from quelea_training.gate import commands
from quelea_training.gate.reliability import bins, brier, calibration_error, draw
from quelea_training.own_questions import own_set, resting
from quelea_training.pairs.model import Pair, Pairs, Passage, write_pairs


def test_bins_say_what_was_said_and_what_was_found() -> None:
    said = np.array([0.05, 0.15, 0.15, 0.95, 1.0])
    so = np.array([False, False, True, True, True])
    found = bins(said, so)
    assert [one.questions for one in found] == [1, 2, 2]
    assert found[1].found == 0.5
    assert found[2].said == pytest.approx(0.975)
    assert calibration_error(found) == pytest.approx((1 * 0.05 + 2 * 0.35 + 2 * 0.025) / 5)
    assert brier(said, so) == pytest.approx((0.05**2 + 0.15**2 + 0.85**2 + 0.05**2) / 5)


def test_probabilities_that_hold_have_no_error() -> None:
    rng = np.random.default_rng(0)
    said = rng.random(20_000)
    so = rng.random(20_000) < said
    assert calibration_error(bins(said, so)) < 0.02
    assert calibration_error(bins(said, ~so)) > 0.4


def test_the_diagram_is_drawn(tmp_path: Path) -> None:
    draw(bins(np.array([0.2, 0.8]), np.array([False, True])), "two", tmp_path / "deep" / "x.png")
    assert (tmp_path / "deep" / "x.png").read_bytes().startswith(b"\x89PNG")


def passage(document: str, source: str) -> Passage:
    return Passage(
        id=f"{document}:3:0-4", document=document, page=3, start=0, end=4, text="Text", head="", title="t",
        company="", language="en", section="", is_table=False, source=source, licence="MIT",
    )  # fmt: skip


def test_questions_about_stored_documents_only(tmp_path: Path) -> None:
    stored, other = passage("a" * 32, "stored"), passage("b" * 32, "tatqa")
    pairs = tuple(Pair.of(f"What of {one.source}?", one, "figure", "rules") for one in (stored, other))
    write_pairs(tmp_path / "pairs", Pairs({one.id: one for one in (stored, other)}, pairs))
    found = own_set(tmp_path / "pairs", "home")
    assert (found.name, found.documents) == ("home", ())
    (question,) = found.questions
    assert (question.text, question.documents, question.page) == ("What of stored?", {"a" * 32}, 3)

    write_pairs(tmp_path / "none", Pairs({other.id: other}, pairs[1:]))
    with pytest.raises(BadInput, match="quelea train pairs"):
        own_set(tmp_path / "none", "home")


@pytest.mark.parametrize(
    ("documents", "each", "said"), [(4, 2, "16 askings are too few"), (4, 10, "about 4 documents"), (5, 10, "")]
)
def test_too_little_for_a_gate_is_said_before_anything_is_asked(documents: int, each: int, said: str) -> None:
    questions = [
        Question(f"{document} {at}", "what?", "single", frozenset({str(document)}))
        for document in range(documents)
        for at in range(each)
    ]
    if not said:
        commands._refuse_too_little([questions[:20], questions[20:]])
        return
    with pytest.raises(BadInput, match=said):
        commands._refuse_too_little([questions[:20], questions[20:]])


def test_a_home_of_ones_own_is_asked_anew_with_other_questions_or_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the gate would be fitted again to what the encoder before had found."""
    asked: list[int] = []

    def ask(*_: object) -> tuple[str, list[Asked]]:
        asked.append(1)
        return "e5", []

    monkeypatch.setattr(asking, "_ask_set", ask)
    one = EvaluationSet("home", (), (Question("1", "what?", "single", frozenset({"d"})),))

    def asks(of: EvaluationSet) -> int:
        asking.load_or_ask(of, tmp_path, 10, lambda _: None)
        return len(asked)

    assert (asks(one), asks(one)) == (1, 1)
    assert asks(replace(one, questions=(replace(one.questions[0], text="why?"),))) == 2
    active = tmp_path / "home" / "models" / "active"
    active.mkdir(parents=True)
    (active / "manifest.json").write_text("{}")
    assert (asks(one), asks(one)) == (3, 3)


def test_a_home_is_copied_only_while_its_stack_rests(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no home of a stack"):
        resting(tmp_path / "none")
    assert resting(tmp_path) == tmp_path.resolve()
    with Home(tmp_path).locked(), pytest.raises(BadInput, match="quelea down --home"):
        resting(tmp_path)
