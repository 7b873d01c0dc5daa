"""The set of answers made false by hand: that it is what the documents say, and how it is counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from quelea_evaluation.figure_adversarial import check_pairs, load, rows

SET = Path(__file__).parents[2] / "eval" / "figures_adversarial.jsonl"


def verdict(figure="supported", sentence="supported"):
    return {"figures": [{"verdict": figure}], "sentences": [{"verdict": sentence}]}


def test_the_set_has_true_and_false_answers_in_both_languages():
    pairs = load(SET)
    assert len(pairs) >= 80
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert {(p.language, p.true) for p in pairs} == {("en", True), ("en", False), ("zh", True), ("zh", False)}
    assert len({p.kind for p in pairs if not p.true}) >= 12
    assert all(p.passages for p in pairs)


def test_a_true_answer_is_wrong_when_doubted_and_a_false_one_when_not():
    pairs = load(SET)
    wrong = check_pairs(pairs, lambda pair: verdict())
    assert {p.id for p in wrong} == {p.id for p in pairs if not p.true}
    wrong = check_pairs(pairs, lambda pair: verdict(figure="unsupported"))
    assert {p.id for p in wrong} == {p.id for p in pairs if p.true}
    wrong = check_pairs(pairs, lambda pair: verdict(sentence="unsupported"))
    assert {p.id for p in wrong} == {p.id for p in pairs if p.true}


def test_the_table_counts_by_language_and_kind():
    pairs = load(SET)
    wrong = [p for p in pairs if p.language == "zh" and not p.true]
    table = {name: (count, share) for name, count, share in rows(pairs, wrong)}
    false = [p for p in pairs if not p.true]
    assert table["caught, zh"] == (len(wrong), 0.0)
    assert table["caught, en"] == (len(false) - len(wrong), 1.0)
    assert table["caught"] == (len(false), pytest.approx(1 - len(wrong) / len(false)))
    assert table["flagged though true"][1] == 0.0


def test_evidence_that_is_not_there_is_an_error(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"id": "a", "of": "b", "language": "en", "kind": "digit", "true": true, "answer": "5"}\n')
    with pytest.raises(ValueError, match="no line before it has"):
        load(path)
