"""What a verifier is trained on and how it is judged."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from quelea_evaluation.figures.items import Item
from quelea_evaluation.inputs import BadInput
from quelea_training.pairs.model import Pairs
from quelea_training.verifier import proof
from quelea_training.verifier.edits import blame, negate, turn
from quelea_training.verifier.examples import FALSE, SUPPORTED, UNSAID, make, split_passages, window
from quelea_training.verifier.recipe import Recipe
from unit.training.made import pair, passage

PROSE = (
    "Operating margin increased because of lower freight costs in the region. The board was informed of the plan. "
    "Selling expenses decreased due to fewer trade fairs and travel."
)
TABLE = (
    "Year ended December 31,\t2023\t2022\nProducts\t$1,250\t$1,100\nServices\t$430\t$390\nRentals\t$71\t$64\n"
    "Total\t$1,751\t$1,554"
)


@pytest.mark.parametrize(
    ("edit", "sentence", "wanted"),
    [
        (turn, "Margin increased again.", "Margin decreased again."),
        (turn, "营业收入同比增长。", "营业收入同比下降。"),
        (turn, "Nothing moved.", ""),
        (negate, "The offer was accepted.", "The offer was not accepted."),
        (negate, "The offer was not accepted.", "The offer was accepted."),
        (negate, "It has not been paid.", "It has been paid."),
        (negate, "It has been paid.", "It has not been paid."),
        (negate, "Sales may fall.", ""),
        (negate, "It was not only the rain.", ""),
        (negate, "公司尚未完成收购。", "公司已完成收购。"),
        (negate, "公司已完成收购。", "公司未完成收购。"),
        (negate, "No helper.", ""),
        (blame, "Sales fell because of the long winter.", "Sales fell because of a strike at the port."),
        (blame, "Sales fell.", ""),
    ],
)
def test_a_sentence_is_made_false_in_its_words(edit, sentence: str, wanted: str) -> None:
    others = ["Costs rose because of a strike at the port.", sentence]
    assert edit(sentence, others, Random(1)) == wanted


def test_examples_of_all_labels_know_what_their_passage_says() -> None:
    passages = [
        passage("p", text=PROSE, document="a"),
        passage("t", text=TABLE, document="a", is_table=True),
        passage("o", text="The annual meeting is held in Basel in the spring of each year.", document="b"),
    ]
    found = make(passages, 500, 400, 3)
    assert found == make(passages, 500, 400, 3)
    assert found != make(passages, 500, 400, 4)
    by = {label: [one for one in found if one.label == label] for label in (SUPPORTED, UNSAID, FALSE)}
    quotes = [one for one in by[SUPPORTED] if one.kind == "quote"]
    assert quotes
    assert all(one.sentence in one.premise for one in quotes)
    assert not any(one.sentence in one.premise for one in (*by[UNSAID], *by[FALSE]))
    assert {"negation", "direction", "cause"} <= {one.kind for one in by[FALSE]}
    assert {"row", "digit", "period"} & {one.kind for one in by[FALSE]}
    assert by[UNSAID]
    assert len(make(passages, 5, 400, 3)) == 5
    assert make([passage("short", text="No.")], 10, 128, 0) == []


def test_a_long_passage_is_read_near_the_sentence() -> None:
    rows = "\n".join(f"Line {at}\t{at},000" for at in range(90))
    table = passage("t", text=f"(in thousands)\n\t2023\n{rows}", head="Balance sheet", is_table=True)
    shown = window(table, "Line 57 was 57,000 in 2023.", 120)
    assert "Line 57\t57,000" in shown
    assert "(in thousands)\n\t2023" in shown
    assert len(shown) < 140
    assert window(table, "Line 57", 10_000) == table.encoded


LEASES = "The group leases offices in nine towns of the north and pays for them on the first day of each month"


def test_what_is_tested_with_and_its_whole_document_are_left_out() -> None:
    one, same, other = (
        passage("a", document="d1"),
        passage("b", document="d1", text=f"{LEASES}."),
        passage("c", document="d2", text="Third."),
    )
    held = passage("d", document="d3", text="Held out.")
    pairs = Pairs(
        {p.id: p for p in (one, same, other, held)},
        (replace(pair("q", held), split="test"), pair("r", other), pair("s", one)),
    )
    assert split_passages(pairs, []) == {"train": [one, same, other], "dev": [], "test": [held]}
    assert split_passages(pairs, [one.text])["train"] == [other]
    assert split_passages(pairs, [f"{LEASES}, as before."])["train"] == [other]  # nearly the same words
    assert split_passages(pairs, [f"Note 7. {PROSE} {LEASES}. {PROSE}"])["train"] == [other]  # a part of it
    assert split_passages(pairs, ["Net sales"])["train"] == [one, same, other]  # two words prove nothing


def test_what_a_company_that_is_held_out_says_is_not_trained_on() -> None:
    held, next_year, stranger, copied, own = (
        passage("a", document="d1", company="Acme", text=f"{LEASES}."),
        passage("b", document="d2", company="ACME", text="Of the year after."),
        passage("c", document="d3", company="Nobody", text="No pair says what it is for."),
        passage("d", document="d4", company="Brass", text=f"{LEASES}, as before."),
        passage("e", document="d4", company="Brass", text="Its own words."),
    )
    pairs = Pairs(
        {p.id: p for p in (held, next_year, stranger, copied, own)},
        (replace(pair("q", held), split="test"), pair("r", own)),
    )
    assert split_passages(pairs, []) == {"train": [own], "dev": [], "test": [held, next_year]}


def item(name: str, corruption: str = "", group: str = "tatqa") -> Item:
    answer = f"Products were ${'9,999' if corruption else '1,250'} million in 2023, says {name}."
    return Item(name, group, "frozen", "", answer, ({"text": TABLE.replace("\n", "\n", 1)},), corruption)


def test_rules_and_verifier_are_counted_side_by_side() -> None:
    """The verifier here doubts what its name says; the rules see the figure that is nowhere."""
    items = [item("right"), item("right too"), item("seen", "digit"), item("unseen", "digit")]

    def score(asked):
        doubted = np.array([["unseen" in sentence or "too" in sentence] for _, sentence in asked], dtype=float)
        return np.hstack([0.9 - 0.8 * doubted, np.full_like(doubted, 0.05), 0.05 + 0.8 * doubted]).astype(np.float32)

    rows = proof.prove(items, score, lambda _: None)
    assert [row["kind"] for row in rows] == ["all"]  # two of a kind are no kind
    row = rows[0]
    assert (row["true"], row["false"]) == (2, 2)
    assert (row["rules_caught"], row["rules_flagged"]) == (1.0, 0.0)
    assert (row["served_caught"], row["served_flagged"]) == (0.5, 0.5)
    assert (row["both_caught"], row["both_flagged"]) == (1.0, 0.5)
    assert row["caught_at_that_rate"] == 0.0  # no doubt is above that of the true answer it doubts most
    assert row["auc"] == pytest.approx(0.5)
    assert "not better than the rules" in proof.verdict(rows)
    assert proof.verdict([{**row, "rules_caught": 0.5, "both_flagged": 0.0}]).startswith("better")
    assert proof.verdict([{**row, "group": proof.MADE}]).startswith("untested")


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadInput, match="--layers"):
        Recipe(layers=-1).check()
    with pytest.raises(BadInput, match="--rate"):
        Recipe(rate=0).check()
