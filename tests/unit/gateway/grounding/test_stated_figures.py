"""Answers made of facts: every number is looked up in them."""

from __future__ import annotations

import pytest
from quelea_fintext.facts import Fact
from quelea_gateway.core.grounding import report_of_figures
from quelea_gateway.core.model import Figure, Operand, Passage

PASSAGE = Passage("d", 3, 100, 140, "Net sales\t$ 1,200\t$ 1,000", header="Kestrel · FY2030")
OTHER = Passage("e", 1, 0, 5, "Words")
FACT = Fact("income", "Net sales", "revenue", "1200000000", "USD", "2030-01-01", "2030-12-31", "$ 1,200", 110, 117)
FIGURE = Figure("Kestrel", "33.333", "percent", "2030-01-01", "2030-12-31", (Operand(FACT, PASSAGE),))


def test_what_the_facts_have_is_supported_by_the_passages_that_are_marked() -> None:
    text = "From the statements:\nKestrel's margin for the year ended December 31, 2030 was 33.3%: $1,200 million [2]."
    report = report_of_figures(text, [FIGURE], [OTHER, PASSAGE])
    assert report is not None
    assert [(one.verdict, one.passages) for one in report.sentences] == [("no_claim", ()), ("supported", (2,))]
    assert {one.verdict for one in report.figures} == {"supported"}


@pytest.mark.parametrize("number", ["33.4%", "$1,201 million", "$14 billion"])
def test_any_other_number_is_left_to_the_checker(number: str) -> None:
    assert report_of_figures(f"Kestrel's margin was {number} [1].", [FIGURE], [PASSAGE]) is None
