"""Weights of the second stage from questions: fit, proof, what is kept, and what cannot be learned from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from quelea_evaluation.sets.model import Found, Question
from quelea_kit.errors import InvalidInput
from quelea_training.ranking.candidates import Candidates, Collected, Weights, is_right, load, save
from quelea_training.ranking.commands import ranker_file
from quelea_training.ranking.fit import fit, measure, normalise, ranked, teaches
from quelea_training.ranking.proof import prove

NAMES = ("dense", "sparse", "row", "noise")
PRIOR = Weights(np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.4, 0.6, 0.1, 0.0]))


def questions(name: str, count: int, truth: list[float], *, in_filing: bool = False, seed: int = 0) -> list[Candidates]:
    """Questions whose right passage is the best by the true weights."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        features = rng.random((20, 4))
        right = np.zeros(20, dtype=np.bool_)
        right[np.argmax(features @ np.array(truth))] = True
        documents = np.arange(20)
        lists = np.zeros(20, dtype=np.int64)
        made.append(
            Candidates(name, f"q{number}", f"{name}/{number % 9}", in_filing, features, lists, documents, right, right)
        )
    return made


def test_the_fit_finds_what_tells_right_from_wrong() -> None:
    some = questions("a", 150, [0.5, 0.5, 1.0, 0.0])
    found = fit(some, NAMES, PRIOR, 0.01)
    assert found.anywhere[2] == pytest.approx(1.0, abs=0.3)
    assert found.anywhere[3] < 0.1
    assert found.anywhere[:2].sum() == pytest.approx(1.0)
    assert found.in_filing is PRIOR.in_filing  # no question had that kind of search
    fresh = questions("b", 100, [0.5, 0.5, 1.0, 0.0], seed=1)
    assert measure("b", fresh, found).hit1 > measure("b", fresh, PRIOR).hit1 + 0.2


def test_no_weight_is_below_zero() -> None:
    found = fit(questions("a", 150, [0.5, 0.5, 0.0, -1.0]), NAMES, PRIOR, 0.001)
    assert found.anywhere.min() >= 0.0


def test_a_feature_that_never_differs_keeps_its_weight() -> None:
    prior = Weights(np.array([0.5, 0.5, 0.3, 0.0]), PRIOR.in_filing)
    some = [
        replace(one, features=one.features * np.array([1, 1, 0, 1])) for one in questions("a", 100, [0.5, 0.5, 0, 0.1])
    ]
    found = fit(some, NAMES, prior, 0.01)
    assert found.anywhere[2] > 0


def test_a_set_that_gets_worse_when_left_out_keeps_the_weights_before() -> None:
    good, other = questions("good", 80, [0.5, 0.5, 1.0, 0.0]), questions("other", 80, [0.5, 0.5, 0.0, 0.0], seed=2)
    found = prove([*good, *other], NAMES, PRIOR)
    assert {row.after.set for row in found.left_out} == {"good", "other"}
    assert found.accepted == ()
    assert found.weights.anywhere is PRIOR.anywhere
    told = ranker_file(Collected("e5@1", 1, NAMES, PRIOR, (*good, *other)), found)
    assert told["encoder"] == told["fitted"] == ""
    assert told["anywhere"] == {"dense": 0.5, "sparse": 0.5}


def test_weights_that_win_on_every_set_left_out_are_taken() -> None:
    sets = [one for i, name in enumerate("abc") for one in questions(name, 60, [0.5, 0.5, 1.0, 0.0], seed=i)]
    found = prove(sets, NAMES, PRIOR)
    assert found.accepted == ("anywhere",)
    assert all(row.as_good for row in found.left_out)
    told = ranker_file(Collected("e5@1", 1, NAMES, PRIOR, tuple(sets)), found)
    assert told["encoder"] == "e5@1"
    assert "180 questions of a, b, c" in told["fitted"]
    assert told["anywhere"]["row"] > 0.5
    assert told["in_filing"] == {"dense": 0.4, "sparse": 0.6, "row": 0.1}


def test_the_only_set_of_a_kind_is_left_out_by_its_documents() -> None:
    found = prove(questions("a", 90, [0.5, 0.5, 1.0, 0.0], in_filing=True), NAMES, PRIOR)
    assert [(row.kind, row.by) for row in found.left_out] == [("in_filing", "documents, 5 folds")]
    assert found.accepted == ("in_filing",)


def test_lists_take_turns_as_in_the_service() -> None:
    (one,) = questions("a", 1, [1, 0, 0, 0])
    one = replace(one, features=one.features[:4], lists=np.array([1, 0, 0, 1]))
    assert ranked(one, np.array([0.9, 0.1, 0.5, 0.2])).tolist() == [2, 0, 1, 3]


def test_what_teaches_nothing() -> None:
    (one,) = questions("a", 1, [1, 0, 0, 0])
    assert teaches(one)
    assert not teaches(replace(one, right=np.zeros(20, dtype=np.bool_)))
    assert not teaches(replace(one, right=np.ones(20, dtype=np.bool_)))
    with pytest.raises(InvalidInput, match="no weight"):
        normalise(np.array([0.0, 0.0, 1.0, 0.0]), NAMES)


def test_candidates_are_kept(tmp_path: Path) -> None:
    whole = Collected("e5@1", 1, NAMES, PRIOR, tuple(questions("a", 3, [1, 0, 0, 0])))
    save(whole, tmp_path / "x.npz")
    again = load(tmp_path / "x.npz")
    assert (again.encoder, again.version, again.names) == (whole.encoder, whole.version, whole.names)
    assert again.prior.in_filing.tolist() == PRIOR.in_filing.tolist()
    for one, other in zip(again.questions, whole.questions, strict=True):
        assert (one.set, one.question, one.group, one.in_filing) == (other.set, other.question, other.group, False)
        assert np.array_equal(one.features, other.features)
        assert np.array_equal(one.right, other.right)
    with pytest.raises(InvalidInput, match="collect"):
        again + replace(again, encoder="other@1")
    (tmp_path / "y.npz").write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match="collect them anew"):
        load(tmp_path / "y.npz")


def test_right_passages() -> None:
    asked = Question("q", "?", "k", frozenset({"d"}), figures=frozenset({"4211"}))
    assert is_right(asked, Found("d", 1, "Revenue 4,211"))
    assert not is_right(asked, Found("d", 1, "Revenue 4,212"))
    assert not is_right(asked, Found("e", 1, "Revenue 4,211"))
    assert is_right(replace(asked, figures=frozenset(), page=3), Found("d", 3, "x"))
    assert not is_right(replace(asked, figures=frozenset(), page=3), Found("d", 2, "x"))
    assert is_right(replace(asked, figures=frozenset()), Found("d", 2, "x"))
