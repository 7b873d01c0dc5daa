"""Answers written by hand: each is judged as recorded, and what changes is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from quelea_evaluation.figures.pairs import Pair, check_pairs, rows
from quelea_evaluation.figures.regressions import Change, compare, find_failing, load_pairs, load_recorded, record

FILE = Path(__file__).parents[2] / "eval" / "figure_regressions.jsonl"


def verdict(figure="supported", sentence="supported"):
    return {"figures": [{"verdict": figure}], "sentences": [{"verdict": sentence}]}


def test_answers_are_judged_as_recorded():
    """Checks all 1,665 answers: half a minute and more, for reading 151 sets of passages takes its time."""
    change = compare(load_recorded(FILE), find_failing(FILE))
    assert change == Change([], []), "run `quelea eval regressions --record` if these changes are meant"


def test_the_file_has_true_and_false_answers_of_known_origin():
    pairs = load_pairs(FILE)
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert {(p.language, p.true) for p in pairs} == {("en", True), ("en", False), ("zh", True), ("zh", False)}
    lines = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    assert all(line["origin"] for line in lines if "of" in line)
    assert set(load_recorded(FILE)) <= {pair.id for pair in pairs}


def test_a_true_answer_is_wrong_when_doubted_and_a_false_one_when_not():
    pairs = [Pair(str(true), "row", "en", true, "5", ()) for true in (True, False)]
    for checked, wrong in (
        (verdict(), "False"),
        (verdict(figure="contradicted"), "True"),
        (verdict(sentence="contradicted"), "True"),
    ):
        assert [pair.id for pair in check_pairs(pairs, lambda pair, c=checked: c)] == [wrong]


def test_the_table_counts_by_language_and_kind():
    pairs = [
        Pair("a", "row", "en", True, "5", ()),
        Pair("b", "row", "en", False, "6", ()),
        Pair("c", "sign", "zh", False, "7", ()),
    ]
    table = {name: (count, share) for name, count, share in rows(pairs, [pairs[1]])}
    assert table["caught"] == (2, 0.5)
    assert table["caught, zh"] == (1, 1.0)
    assert table["caught, row"] == (1, 0.0)
    assert table["flagged though true"] == (1, 0.0)


def test_what_changed_is_named_both_ways():
    assert compare(["a", "b"], ["b", "c"]) == Change(["c"], ["a"])


def test_a_record_is_written_beside_its_answers(tmp_path):
    path = tmp_path / "pairs.jsonl"
    line = {"of": "b", "language": "en", "kind": "digit", "true": True, "origin": "hand"}
    lines = [
        {"evidence": "b", "passages": [{"text": "Revenue was $5 million."}]},
        {"id": "right", "answer": "Revenue was $5 million.", **line},
        {"id": "wrong", "answer": "Revenue was $6 million.", **line},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    failing = find_failing(path)
    record(path, failing)
    assert load_recorded(path) == failing == ["wrong"]


def test_evidence_that_is_not_there_is_an_error(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"id": "a", "of": "b", "language": "en", "kind": "digit", "true": true, "answer": "5"}\n')
    with pytest.raises(ValueError, match="no line before it has"):
        load_pairs(path)
