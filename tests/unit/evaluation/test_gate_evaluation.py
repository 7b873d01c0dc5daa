"""Which documents are removed for which question, folds that share none, what a gate's separation is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quelea_evaluation.gate import efficiency
from quelea_evaluation.gate import fit as gate_fit
from quelea_evaluation.gate.asking import Asked, groups_of, read_verdict, removals, right, sample_evenly
from quelea_evaluation.sets.model import Question
from quelea_evaluation.stack.running import copy_of_home


def question(number: int, *documents: str) -> Question:
    return Question(str(number), f"Question {number}?", "kind", frozenset(documents))


QUESTIONS = [
    *(question(n, f"d{n:02}") for n in range(8)),
    question(8, "d08", "d09"),
    question(9, "d09", "d10"),
    question(10, "d10"),
]
KEYS = [f"d{n:02}" for n in range(11)]


def test_documents_that_share_a_question_are_of_one_group() -> None:
    group = groups_of(QUESTIONS)
    assert group["d08"] == group["d09"] == group["d10"]
    assert len(set(group.values())) == 9


def test_every_question_is_asked_once_with_all_its_documents_gone() -> None:
    plans = removals(KEYS, QUESTIONS)
    assert sorted(q.id for _, mine in plans for q in mine) == sorted(q.id for q in QUESTIONS)
    for gone, mine in plans:
        assert all(q.documents <= gone for q in mine)
        assert len(gone) < len(KEYS)


def test_a_sample_is_of_the_whole_set() -> None:
    assert [q.id for q in sample_evenly(QUESTIONS, 4)] == ["0", "2", "5", "8"]
    assert sample_evenly(QUESTIONS, 20) == QUESTIONS


def asked(count: int = 200) -> list[Asked]:
    """Half of them answerable; the cosine says a little of it, a second feature much, a third never changes."""
    random, found = np.random.default_rng(7), []
    for n in range(count):
        answerable = n % 2 == 0
        features = {
            "cosine": float(random.normal(0.88 if answerable else 0.86, 0.02)),
            "terms_covered": float(random.normal(0.8 if answerable else 0.3, 0.1)),
            "latest_age": 1.0 if n % 20 < 2 else 0.0,
            "constant": 1.0,
        }
        right = answerable and n % 8 != 0
        found.append(Asked(f"set{n % 3}", str(n // 2), "?", f"g{n // 4}", answerable, features, right))
    return [replace(a, set=found[i - i % 2].set) for i, a in enumerate(found)]


def test_a_gate_that_sees_the_readers_verdict_is_measured_on_the_same_questions() -> None:
    rows = [replace(a, features=a.features | {"terms_covered": 0.5}) for a in asked()]
    plain = gate_fit.predict_held_out(rows)
    assert not [one for one in gate_fit.separations(rows, plain) if "reader" in one.gate]
    seen = [
        replace(a, reader={"reader_answers": float(a.answerable if n % 10 else not a.answerable)})
        for n, a in enumerate(rows)
    ]
    by = {(one.gate, one.set): one for one in gate_fit.separations(seen, plain)}
    for name in ("all", "set0", "set1", "set2"):
        reader, without = (by[gate, name] for gate in ("with the reader's verdict, held out", "calibrated, held out"))
        assert reader.questions == without.questions
        assert reader.auc > without.auc
    assert (
        "reader_answers" not in gate_fit.gate_file(seen, plain, "encoder", None)["features"]
    )  # the gateway has it not


def test_the_readers_verdict_is_larger_where_the_evidence_answers() -> None:
    declined = {"declined": {"reason": "not_in_evidence"}, "citations": [], "grounding": None, "figures": []}
    sentences = [{"verdict": one} for one in ("supported", "no_claim", "partly")]
    answered = {"declined": None, "citations": [1, 2, 3, 4], "grounding": {"sentences": sentences}, "figures": [1]}
    assert set(read_verdict(declined).values()) == {0.0}
    assert list(read_verdict(answered).values()) == [1.0, 1.0, 1.0, 0.5, 1.0]
    weak = read_verdict(declined | {"declined": {"reason": "weak_evidence"}})
    assert (weak["reader_answers"], weak["reader_finds"]) == (0.0, 1.0)


def test_what_the_fit_learns_holds_on_questions_it_has_not_seen() -> None:
    rows = asked()
    separations = gate_fit.separations(rows, gate_fit.predict_held_out(rows))
    by = {(one.gate.split(",")[0], one.set): one for one in separations}
    assert by["calibrated", "all"].auc > 0.98
    assert by["calibrated", "all"].stays > 0.9
    assert 0.6 < by["cosine (the paper's)", "all"].auc < 0.9
    assert by["calibrated", "all but those for the latest"].questions < by["calibrated", "all"].questions == 200
    assert {one for gate, one in by if gate == "calibrated"} >= {"set0", "set1", "set2"}


def test_shuffled_labels_teach_nothing() -> None:
    rows, order = asked(), np.random.default_rng(3).permutation(200)
    mixed = [replace(a, features=rows[i].features, group=rows[i].group) for a, i in zip(rows, order, strict=True)]
    assert 0.35 < gate_fit.separations(mixed, gate_fit.predict_held_out(mixed))[0].auc < 0.65
    assert 0.35 < gate_fit.separation("x", "all", mixed, gate_fit.predict_held_out(mixed)).auc < 0.65


def test_no_group_is_in_training_and_test(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, trained = asked(), []
    original = gate_fit.fit

    def watched(part: list[Asked]) -> gate_fit.Model:
        trained.append({a.group for a in part})
        return original(part)

    monkeypatch.setattr(gate_fit, "fit", watched)
    gate_fit.predict_held_out(rows)
    every = {a.group for a in rows}
    assert len(trained) == gate_fit.FOLDS
    assert sorted(group for part in trained for group in every - part) == sorted(every)


def test_the_threshold_sends_the_asked_share_to_the_web() -> None:
    values = np.arange(100, dtype=np.float64)
    limit = gate_fit.threshold(values)
    assert (values >= limit).sum() == 5
    assert (np.full(50, 0.5) >= gate_fit.threshold(np.full(50, 0.5))).sum() == 0


def test_the_gate_file_is_what_the_fit_says_rounded() -> None:
    rows = asked()
    held_out = gate_fit.predict_held_out(rows)
    found = gate_fit.gate_file(rows, held_out, "e5", 0.84)
    assert set(found["features"]) == {"cosine", "terms_covered", "latest_age"}
    assert (found["encoder"], found["cosine"]) == ("e5", 0.84)
    assert found["threshold"] == round(found["threshold"], 3)
    by_hand = found["intercept"] + sum(
        c["weight"] * (rows[0].features[name] - c["mean"]) / c["scale"] for name, c in found["features"].items()
    )
    assert 1 / (1 + np.exp(-by_hand)) == pytest.approx(gate_fit.fit(rows).probability(rows[:1])[0], abs=0.05)
    assert "cosine" not in gate_fit.gate_file(rows, held_out, "e5", None)


def test_the_curve_goes_from_all_web_to_all_local(tmp_path: Path) -> None:
    rows = asked()
    points = efficiency.cosine_points(rows)
    assert {p.setting for p in points} >= {0.5, 0.55, 0.9, 0.95}
    first, last = points[0], points[-1]
    assert (first.avoided, last.avoided) == (1.0, 0.0)
    assert last.right == pytest.approx(np.mean([a.right for a in rows if a.answerable]))
    assert first.right == pytest.approx(np.mean([a.right for a in rows]))
    avoided = [p.avoided for p in points]
    assert avoided == sorted(avoided, reverse=True)
    both = [*points, *efficiency.calibrated_points(rows, gate_fit.predict_held_out(rows), 0.42)]
    assert "| calibrated | 0.42 (95 % of" in efficiency.table(both, 0.42)
    efficiency.draw(both, tmp_path / "x" / "curve.png")
    assert (tmp_path / "x" / "curve.png").read_bytes().startswith(b"\x89PNG")


def answer(*citations: tuple[str, str], declined: bool = False) -> dict[str, Any]:
    return {"declined": declined, "citations": [{"quote": quote, "document_id": one} for one, quote in citations]}


def test_right_is_the_figure_or_the_document() -> None:
    keys = {"id1": "d00", "id2": "d01"}
    figure = replace(question(0, "d00"), figures=frozenset({"81797"}))
    assert right(figure, answer(("id2", "sales of 81,797")), keys)
    assert not right(figure, answer(("id1", "sales of 81,798")), keys)
    assert right(question(0, "d00"), answer(("id2", "x"), ("id1", "y")), keys)
    assert not right(question(0, "d00"), answer(("id2", "x")), keys)
    assert not right(question(0, "d00"), answer(("id1", "x"), declined=True), keys)


def test_a_home_with_a_set_of_models_in_use_is_copied(tmp_path: Path) -> None:
    """The set before it is what comes with Quelea: a link to nothing."""
    home = tmp_path / "home"
    (home / "models" / "sets" / "one").mkdir(parents=True)
    (home / "models" / "sets" / "one" / "gate.json").write_text("{}")
    (home / "models" / "active").symlink_to("sets/one")
    (home / "models" / "previous").symlink_to("sets/packaged")
    with copy_of_home(home, "-copy") as copy:
        assert (copy / "models" / "active").readlink() == Path("sets/one")
        assert (copy / "models" / "active" / "gate.json").read_text() == "{}"
        (home / "models" / "active").unlink()
        assert (copy / "models" / "active" / "gate.json").is_file()
    assert [one.name for one in tmp_path.iterdir()] == ["home"]


def test_what_is_deleted_in_the_copy_of_a_home_stays_where_its_folder_is_a_link(tmp_path: Path) -> None:
    """As where the documents lie on a larger disk."""
    home, disk = tmp_path / "home", tmp_path / "disk"
    disk.mkdir()
    (disk / "document").write_text("kept")
    home.mkdir()
    (home / "blobs").symlink_to(disk)
    with copy_of_home(home, "-copy") as copy:
        (copy / "blobs" / "document").unlink()
    assert (disk / "document").read_text() == "kept"
