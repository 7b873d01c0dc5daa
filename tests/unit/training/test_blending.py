"""Which share of the trained weights is taken, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from quelea_evaluation.inputs import BadInput
from quelea_training.encoder.blending import Rule, choose, judge


def rows(source: str, level: str, values: dict[float, float], language: str = "en", queries: int = 10) -> list[Any]:
    about = {"source": source, "level": level, "language": language, "similarity": "cosine", "queries": queries}
    return [{**about, "share": share, "map": value} for share, value in values.items()]


LOOKS = [
    *rows("learned", "passage", {0.0: 0.40, 0.5: 0.44, 1.0: 0.50}),
    *rows("learned", "document", {0.0: 0.60, 0.5: 0.60, 1.0: 0.60}),
    *rows("other", "passage", {0.0: 0.30, 0.5: 0.40, 1.0: 0.30}),
    *rows("other", "document", {0.0: 0.90, 0.5: 0.90, 1.0: 0.80}, queries=30),
    *rows("other", "document", {0.0: 0.90, 0.5: 0.88, 1.0: 0.88}, "zh", queries=10),
]


def test_the_largest_gain_that_loses_little_anywhere_is_taken() -> None:
    judged = judge(LOOKS, {"learned"})
    assert [one.share for one in judged] == [0.0, 0.5, 1.0]
    assert [one.gain for one in judged] == pytest.approx([0, 4, 10])  # of what was trained on alone
    assert [one.loss for one in judged] == pytest.approx([0, 0.5, 8])  # languages by their queries
    assert judged[2].loses == "other, document"
    assert choose(judged, allowed=1.0) == 0.5
    assert choose(judged, allowed=8.1) == 1.0
    assert choose(judged, allowed=0.0) == 0.0  # the base stays


def test_shares_are_between_both_ends() -> None:
    assert Rule((0.7, 0.2)).all_shares() == [0.0, 0.2, 0.7, 1.0]
    for share in (0.0, 1.0, -1.0):
        with pytest.raises(BadInput, match="--share must be above 0 and below 1"):
            Rule((share,)).check()
    with pytest.raises(BadInput, match="--allowed must be 0 or more"):
        Rule(allowed=-1).check()
