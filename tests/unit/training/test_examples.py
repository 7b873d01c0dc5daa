"""What is trained on: a held-out document is refused by its hash, negatives are of training alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from quelea_evaluation.inputs import BadInput
from quelea_training.encoder.examples import anchors, benches, load, rows
from quelea_training.encoder.recipe import Recipe
from quelea_training.pairs import making
from quelea_training.pairs.making import Made, Plan
from quelea_training.pairs.model import Pair, Passage
from unit.training.made import pair, passage


def folder(path: Path, passages: Sequence[Passage], pairs: Sequence[Pair]) -> Path:
    making.write_folder(path, [Made({one.id: one for one in passages}, [])], pairs, Plan(), {})
    return path


A = passage("a", document="a", text="Apples are red.")
B = passage("b", document="b", text="Bananas are yellow.")
C = passage("c", document="c", text="Cherries are dark.")
H = passage("h", document="held", text="This is held out.")


def test_a_document_that_is_tested_with_is_refused(tmp_path: Path) -> None:
    mine = folder(tmp_path / "mine", [A, H], [pair("q", A), pair("r", H)])
    tested = folder(tmp_path / "tested", [H], [pair("r", H, split="test")])
    with pytest.raises(BadInput, match="is of document held, which is held out for testing"):
        load([mine], [tested])
    copied = passage("k", document="other", text="This  is HELD out.")
    again = folder(tmp_path / "again", [A, copied], [pair("q", A), pair("r", copied)])
    with pytest.raises(BadInput, match="has the words of a passage that is held out"):
        load([again], [tested])
    fine = load([folder(tmp_path / "fine", [A, B], [pair("q", A), pair("r", B)])], [tested])
    assert [one.split for one in fine.pairs.pairs] == ["train", "train", "test"]


def test_every_query_has_its_negatives_and_none_is_held_out(tmp_path: Path) -> None:
    pairs = [pair("q", A, negatives=("h", "c")), pair("r", B), pair("s", H, split="test")]
    material = load([folder(tmp_path, [A, B, C, H], pairs)])
    columns = rows(material, Recipe(hard=1))
    assert columns["query"] == ["q", "r"]
    assert columns["passage"] == [A.text, B.text]
    assert columns["negative_1"][0] == C.text  # h is held out
    random = rows(material, Recipe(objective="weaverbird", random=5))
    assert list(random) == ["query", "passage", *(f"negative_{at}" for at in range(1, 6))]
    assert not {H.text} & {text for column in random.values() for text in column}
    assert random == rows(material, Recipe(objective="weaverbird", random=5))
    with pytest.raises(BadInput, match="of 1 pairs 0 are to train on"):
        rows(load([], [tmp_path]), Recipe())


def test_the_last_negative_may_be_the_passage_under_another_documents_header(tmp_path: Path) -> None:
    def quarter(name: str, company: str, number: int) -> Passage:
        return passage(
            name, document=name, company=company, head=f"{company} · 10-Q · Q{number} · Sales\nin millions",
            section="Sales", text=f"Sales of {name}",
        )  # fmt: skip

    mine, later, other = quarter("a", "Cubic", 1), quarter("b", "Cubic", 2), quarter("c", "Round", 1)
    names, unnamed = pair("Cubic's sales in Q1", mine, negatives=("c",)), pair("the sales", later, negatives=("c",))
    material = load([folder(tmp_path, [mine, later, other], [names, unnamed, pair("Round's sales", other)])])
    drawn = {rows(material, Recipe(swap_headers=True, seed=seed))["negative_1"][0] for seed in range(12)}
    assert drawn == {
        f"{header} · Sales\nin millions\nSales of a" for header in ("Cubic · 10-Q · Q2", "Round · 10-Q · Q1")
    }
    timeless = replace(material, pairs=replace(material.pairs, pairs=(pair("Cubic's sales", mine), unnamed)))
    drawn = {rows(timeless, Recipe(swap_headers=True, seed=seed))["negative_1"][0] for seed in range(12)}
    assert drawn == {"Round · 10-Q · Q1 · Sales\nin millions\nSales of a"}, "another period would answer as well"
    for recipe, at in ((Recipe(swap_headers=True), 1), (Recipe(), 0)):
        assert rows(material, recipe)["negative_1"][at] == other.encoded
    with pytest.raises(BadInput, match="--swap-headers is for infonce"):
        Recipe(objective="weaverbird", swap_headers=True).check()


def test_a_passage_that_answers_as_well_is_no_random_negative(tmp_path: Path) -> None:
    material = load([folder(tmp_path, [A, B, C], [pair("q", A, also=("b",)), pair("r", C)])])
    for recipe in (Recipe(hard=8), Recipe(objective="weaverbird", random=8)):
        drawn = {column[0] for name, column in rows(material, recipe).items() if name.startswith("negative")}
        assert drawn == {C.text}
    alone = load([folder(tmp_path / "alone", [A, B], [pair("q", A, also=("b",)), pair("r", B, also=("a",))])])
    assert rows(alone, Recipe(hard=1))["negative_1"][0] in (A.text, B.text)  # there is nothing else


def test_a_bench_has_its_right_passages_and_those_with_the_same_words(tmp_path: Path) -> None:
    twin = passage("twin", document="t", text="This is held  out.")
    others = [passage(f"o{at}", document=f"o{at}", text=f"Number {at}") for at in range(20)]
    material = load(
        [folder(tmp_path, [A, B, H, twin, *others], [pair("q", A), pair("r", B), pair("s", H, split="test")])]
    )
    (bench,) = benches(material, "test")
    assert len(bench.passages) == 24
    assert bench.right() == [frozenset({"h", "twin"})]
    (few,) = benches(material, "test", most=5)
    assert len(few.passages) == 5
    assert "h" in {one.id for one in few.passages}


def test_every_passage_that_answers_is_right_and_among_those_to_choose_from(tmp_path: Path) -> None:
    others = [passage(f"o{at}", document=f"o{at}", text=f"Number {at}") for at in range(20)]
    held = pair("s", H, split="test", also=("b",))
    material = load([folder(tmp_path, [A, B, H, *others], [pair("q", A), pair("r", A), held])])
    (bench,) = benches(material, "test", most=5)
    assert bench.right() == [frozenset({"h", "b"})]
    assert {"h", "b"} <= {one.id for one in bench.passages}


def test_anchors_are_texts_of_training_alone_taken_again_and_again(tmp_path: Path) -> None:
    copied = passage("k", document="k", text="This  is HELD out.")
    sister = passage("s", document="s", company="Acme", text="Of a company that is held out.")
    acme = passage("m", document="m", company="Acme", text="Also of it.")
    long = passage("l", document="l", text="word " * 100)
    tested = folder(tmp_path / "mine", [A, B, H], [pair("q", A), pair("r", B), pair("held", H, split="test")])
    other = folder(
        tmp_path / "other", [C, copied, sister, acme, long], [pair("why", C), pair("developed", acme, split="dev")]
    )
    found = anchors([other], load([tested]), 5, 0)
    assert found["query"] == ["why"] * 5
    assert {text[:20] for text in found["passage"]} == {C.text[:20], long.text[:20]}
    assert all(len(text) <= 160 for text in found["passage"])
    with pytest.raises(BadInput, match="no passage is left beside what is held out"):
        anchors([folder(tmp_path / "none", [acme], [pair("why", acme)])], load([tested, other]), 5, 0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scale": 0.0}, "--scale must be more than 0"),
        ({"anchor": -1.0}, "--anchor-weight must be 0 or more"),
        ({"anchor": 1.0, "chunk": 4}, "--chunk does not go with --anchor"),
        ({"tune": "last"}, "--tune must be lora, full or last:N"),
        ({"tune": "last:0"}, "--tune must be"),
        ({"objective": "other"}, "--objective must be one of infonce, weaverbird"),
        ({"towers": 3}, "--towers must be 1 or 2"),
        ({"chunk": 32, "batch": 16}, "must not be above --batch"),
        ({"chunk": 4, "objective": "weaverbird"}, "--chunk is for infonce"),
    ],
)
def test_a_recipe_says_what_is_wrong(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Recipe(**wrong).check()  # type: ignore[arg-type]
