"""Answers made false with what stands in their evidence: always false, always the same, only where that is known."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from quelea_evaluation.figures.checks import evaluate_items, judge
from quelea_evaluation.figures.corruption import corrupt
from quelea_evaluation.figures.exchange import exchange_column, exchange_row, exchange_subject
from quelea_evaluation.figures.items import Item, convfinqa

TABLE = (
    ("", "2019", "2018"),
    ("Product sales", "$ 1,452", "$ 1,146"),
    ("Service sales (1)", "441", "567"),
    ("Licences", "120", "80"),
    ("Share of licences", "5.9%", "4.5%"),
)
SAID = "The amount of Service sales in 2019 was 441 million."
ITEM = Item(
    "a-1", "tatqa", "development", "What was the amount of Service sales in 2019?", SAID,
    ({"text": "\n".join("\t".join(row) for row in TABLE)}, {"text": "Licences of 80 million were sold in 2018."}),
    said_at=SAID.index("441"), table=TABLE,
)  # fmt: skip


def made(exchange, item=ITEM):
    """Every false answer that some seed gives."""
    found = (exchange(item, random.Random(seed)) for seed in range(40))
    return {answer for answer, _ in filter(None, found)}


def test_another_rows_figure_is_of_the_same_column_and_kind():
    assert made(exchange_row) == {SAID.replace("441", "1,452"), SAID.replace("441", "120")}


def test_another_periods_figure_is_of_the_same_row():
    assert made(exchange_column) == {SAID.replace("441", "567")}


def test_another_subject_has_another_figure():
    assert made(exchange_subject) == {SAID.replace("Service sales", name) for name in ("Product sales", "Licences")}


def test_a_segment_that_heads_a_column_is_a_subject():
    table = (("", "Europe", "Asia"), ("Net sales", "441", "567"))
    said = "The Net sales in Europe was 441 million."
    item = replace(ITEM, answer=said, said_at=said.index("441"), table=table, passages=({"text": ""},))
    assert made(exchange_subject, item) == {"The Net sales in Asia was 441 million."}


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (("Service sales", "441", "445"), "differs by rounding alone"),
        (("Service sales", "441", "1,452"), "stands elsewhere in the table"),
        (("Service sales", "441", "80"), "stands in the prose"),
    ],
)
def test_a_figure_that_may_be_true_all_the_same_is_not_taken(row, why):
    item = replace(ITEM, table=(*TABLE[:2], row, ("Licences", "120", "99")))
    assert made(exchange_column, item) == set(), why


@pytest.mark.parametrize(
    "changed",
    [
        {"answer": "441 million.", "said_at": 0},
        {"table": (*TABLE, ("Orders", "441", "12"))},
        {"answer": "The amount of Product sales in 2019 was 441 million."},
        {"question": "How did it change from 2018?"},
    ],
    ids=["no sentence", "a figure of two cells", "another row's name", "two periods"],
)
def test_a_sentence_of_which_the_cell_is_not_known_is_left_alone(changed):
    assert made(exchange_column, replace(ITEM, **changed)) == set()


def test_the_same_answers_are_made_in_every_run():
    first, again = list(corrupt(ITEM)), list(corrupt(ITEM))
    assert first == again
    assert {"row", "column", "subject"} <= {one.corruption for one in first}
    assert all(one.answer != SAID for one in first)


def test_true_answers_are_counted_by_what_was_made_of_them():
    def check(item):
        bad = {"verdict": "contradicted" if item.corruption == "row" else "supported", "text": "441", "start": 40}
        return {"figures": [bad], "sentences": [{"start": 0, "end": len(item.answer)}]}

    report = evaluate_items([ITEM], check, lambda _: None)
    shown = report.summary()["development"]
    assert shown["caught, row"] == {"items": 1, "share": 1.0}
    assert shown["caught, column"] == {"items": 1, "share": 0.0}
    assert shown["flagged though true, row"] == {"items": 1, "share": 0.0}
    assert "flagged though true, docugami" not in shown
    assert judge(ITEM, check(ITEM)).flagged == 0
    assert {miss["kind"] for miss in report.misses} >= {"column", "subject"}


def test_what_is_not_of_the_development_half_is_only_counted():
    def check(item):
        return {"figures": [{"verdict": "contradicted", "text": "441", "start": 40}],
                "sentences": [{"start": 0, "end": len(item.answer)}]}  # fmt: skip

    report = evaluate_items([replace(ITEM, half="frozen"), replace(ITEM, id="b", half="unseen")], check, lambda _: None)
    assert report.misses == []
    assert report.summary()["unseen"]["flagged though true"] == {"items": 1, "share": 1.0}


def test_conversations_give_their_last_answers_and_their_look_ups(tmp_path: Path):
    folder = tmp_path / "convfinqa"
    folder.mkdir()
    one = {
        "id": "x", "text": "some text .",
        "table": "- | 2007 | 2006\nnet income | $ 17388 | $ -38957 ( 38957 )\nmargin | 27% ( 27 % ) | 4.1% ( 4.1 % )",
        "questions": ["what was the net income in 2007?", "what about 2006?", "what was the percent change?"],
        "programs": ["ans = 17388", "ans = -38957", "x0 = 17388 - -38957; ans = x0 / 38957"], "answer": 1.44634,
    }  # fmt: skip
    average = {**one, "id": "y", "questions": ["what was the average?"], "programs": ["x0 = 1 + 4; ans = x0 / 2"],
               "answer": 2.5}  # fmt: skip
    polar = {**one, "id": "z", "questions": ["did it rise?"], "programs": ["ans = greater(1, 2)"], "answer": "no"}
    (folder / "convfinqa_dev_pot.json").write_text(json.dumps([one, average, polar]), encoding="utf-8")

    look_up, last, mean = convfinqa(tmp_path)

    assert look_up.answer == "The net income in 2007 was 17388."
    assert look_up.group == "convfinqa look-ups"
    assert (last.answer, last.half, last.operands) == ("144.6%.", "unseen", ("17388", "38957", "38957"))
    assert mean.answer == "2.5."
    assert last.table[1:] == (("net income", "$ 17388", "$ (38957)"), ("margin", "27%", "4.1%"))
