"""Computed sentences by template: true ones say what the table gives, false ones do not."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from quelea_evaluation.figures.computed import make_computed_pairs, read_table
from quelea_evaluation.figures.items import half_of

TABLE = [
    ["", "2019", "2018", "2017"],
    ["(in millions)", "", "", ""],
    ["Fixed price", "$ 1,452", "$ 1,146", "$ 1,036"],
    ["Time and material", "441", "567", "708"],
    ["Licences", "120", "80", "50"],
    ["Total sales", "2,013", "1,793", "1,794"],
    ["Loss", "(31)", "(12)", "(9)"],
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    (data / "tatqa").mkdir()
    context = {"table": {"table": TABLE}, "paragraphs": [{"text": "Sales by contract."}], "questions": []}
    Path(data / "tatqa" / "tatqa_dataset_dev.json").write_text(json.dumps([context] * 8), encoding="utf-8")
    return {half: make_computed_pairs(data, half) for half in ("development", "frozen")}


def test_rows_are_read_with_their_years_and_losses_are_left_out():
    years, rows = read_table(TABLE)
    assert years == [2019, 2018, 2017]
    assert [row.name for row in rows] == ["Fixed price", "Time and material", "Licences", "Total sales"]
    assert rows[0].cells == {2019: Decimal(1452), 2018: Decimal(1146), 2017: Decimal(1036)}


def test_a_table_whose_columns_are_no_years_gives_nothing():
    assert read_table([["", "Level 1", "Level 2"], ["Bonds", "120", "130"]]) == ([], [])


def test_each_sentence_is_there_in_both_languages_and_in_the_half_of_its_table(made):
    for half, pairs in made.items():
        assert {int(re.match(r"c(\d+)", p.id)[1]) for p in pairs} <= {
            n for n in range(8) if half_of(f"tatqa-{n}") == half
        }
        true = [p for p in pairs if p.true]
        assert {p.language for p in true} == {"en", "zh"}
        assert len([p for p in true if p.language == "en"]) == len(true) / 2


def test_the_growth_said_is_that_of_the_row_named(made):
    cells = {row[0]: [Decimal(re.sub(r"[$, ]", "", c)) for c in row[1:3]] for row in TABLE[2:5]}
    said = [p for p in made["development"] if p.kind == "growth" and p.true and p.language == "en"]
    assert said
    for pair in said:
        new, old = next(values for name, values in cells.items() if name in pair.answer)
        figure = Decimal(re.search(r"([\d.]+)%", pair.answer)[1])
        assert abs(figure - abs(new - old) / old * 100) <= Decimal("0.05")
        assert ("fell" in pair.answer or "decrease" in pair.answer) == (new < old)


def test_false_ones_differ_from_the_true_one_of_the_same_words(made):
    pairs = made["development"]
    true = {(p.kind, p.id.rsplit("-", 1)[0]): p.answer for p in pairs if p.true and p.language == "en"}
    false = [p for p in pairs if not p.true]
    assert len(false) > len(true)
    assert not {p.answer for p in false} & {p.answer for p in pairs if p.true}
