"""The second stage: its features, its weights as data, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quelea_kit.errors import Conflict, InvalidInput
from quelea_retriever.core.model import Candidate, DocumentFacts, PassageRecord, Reading
from quelea_retriever.core.ranking.ranker import Ranker, packaged
from quelea_retriever.core.ranking.ranking import rank
from quelea_retriever.core.ranking.ranking_features import FEATURES, VERSION, weigh
from quelea_retriever.ranker_files import RankerFiles

QUESTION = "How much goodwill was there in 2019?"


def text(**changes: Any) -> str:
    said: dict[str, Any] = {
        "features_version": VERSION, "encoder": "e5@1", "fitted": "today", "anywhere": {"dense": 1.0},
        "in_filing": {"sparse": 2.0, "sums": 0.5},
    }  # fmt: skip
    return json.dumps({name: value for name, value in (said | changes).items() if value is not None})


def candidate(name: str, said: str, *, table: bool = False, cosine: float = 0.8, sparse: float = 1.0) -> Candidate:
    passage = PassageRecord(name, "d", 0, 1, 0, len(said), said, is_table=table)
    return Candidate(passage, DocumentFacts("d"), cosine, sparse)


FOUND = [
    candidate("table", "\t2019\t2018\nGoodwill\t11\t13", table=True, cosine=0.7),
    candidate("prose", "We speak of goodwill of $4 million, and of trust.", cosine=0.9, sparse=3.0),
    candidate("other", "Nothing of the kind.", cosine=0.8, sparse=0.0),
]


def test_a_ranker_is_read_from_its_file() -> None:
    ranker = Ranker.parse(text(), name="mine.json")
    assert ranker.encoder == "e5@1"
    assert ranker.weights(chosen=False).tolist() == weigh({"dense": 1.0}).tolist()
    assert ranker.weights(chosen=True).sum() == 2.5


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"features_version": VERSION + 1}, "quelea train ranker"),
        ({"features_version": None}, "is not a ranker"),
        ({"anywhere": {"smell": 1.0}}, "unknown features: smell"),
        ({"anywhere": {"dense": -0.1}}, "0 or more"),
        ({"anywhere": {"dense": float("nan")}}, "finite"),
        ({"in_filing": {}}, "every weight is 0"),
        ({"in_filing": None}, "in_filing"),
        ({"in_filing": [1, 2]}, "is not a ranker"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        Ranker.parse(text(**changes), name="mine.json")
    assert "mine.json" in caught.value.message


def test_the_packaged_ranker_weighs_what_there_is() -> None:
    assert packaged().anywhere.shape == packaged().in_filing.shape == (len(FEATURES),)
    assert set(FEATURES) == {name for name, what in FEATURES.items() if what}


def test_scores_are_features_times_weights() -> None:
    for reading in (Reading(), Reading(groups=(("d",),))):
        weights = packaged().weights(chosen=reading.filing_chosen)
        for hit in rank(QUESTION, FOUND, reading, 3):
            assert hit.score == pytest.approx(float(np.array(hit.features) @ weights))
    assert all(hit.features == () for hit in rank(QUESTION, FOUND, Reading(), 3, plain=True))


def test_features_say_what_they_are_named_for() -> None:
    seen = {
        hit.candidate.passage.id: dict(zip(FEATURES, hit.features, strict=True))
        for hit in rank(QUESTION, FOUND, Reading(), 3)
    }
    assert seen["table"]["row"] > seen["prose"]["row"]
    assert seen["table"]["years"] == seen["table"]["table"] == 1.0
    assert seen["prose"]["dense"] == seen["prose"]["sparse"] == 1.0
    assert seen["prose"]["sums"] == pytest.approx(1 / 3)
    assert seen["prose"]["rarest"] == 1.0
    assert seen["other"]["covered"] == seen["other"]["rarest"] == 0.0
    assert all(one["document"] == seen["table"]["document"] > 0 for one in seen.values())
    inside = rank(QUESTION, FOUND, Reading(groups=(("d",),)), 3)
    assert all(dict(zip(FEATURES, hit.features, strict=True))["document"] == 0.0 for hit in inside)


def test_another_ranker_changes_the_order() -> None:
    alone = Ranker.parse(text(anywhere={"table": 1.0}), name="x")
    assert rank(QUESTION, FOUND, Reading(), 1, ranker=alone)[0].candidate.passage.id == "table"
    alone = Ranker.parse(text(anywhere={"sparse": 1.0}), name="x")
    assert rank(QUESTION, FOUND, Reading(), 1, ranker=alone)[0].candidate.passage.id == "prose"


def test_the_ranker_of_the_encoder_is_taken(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(text(encoder="old@1"))
    new.write_text(text(encoder="new@1"))
    rankers = RankerFiles([old, new])
    assert rankers.of("new@1").name == str(new)
    assert rankers.of("old@1").name == str(old)
    with pytest.raises(Conflict, match="quelea models activate"):
        rankers.of("third@1")
    assert RankerFiles().of("third@1") is packaged()


def test_the_ranker_of_a_set_may_come_and_go(tmp_path: Path) -> None:
    of_set = tmp_path / "ranker.json"
    rankers = RankerFiles(of_set=of_set, look_seconds=0)
    assert rankers.of("e5@1") is packaged()
    of_set.write_text(text())
    assert rankers.of("e5@1").fitted == "today"
    of_set.unlink()
    assert rankers.of("e5@1") is packaged()
