"""Which fact a figure is said of: the words about it fit another one better, or they do not tell."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer
from quelea_checker.matching.profiles import find_word_zones
from quelea_checker.reading.amounts import parse

REGIONS = CheckPassage(
    "(In millions)\n\tThree Months Ended\n\tJune 30, 2024\tJune 30, 2023\nNorth harbour fees\t412\t398\n"
    "South harbour fees\t287\t301\nPilotage\t96\t88\nDredging costs\t143\t150"
)
FERRIES = CheckPassage(
    "The Larkspur route carried 812 thousand passengers in 2024. The Bramble route carried 455 thousand passengers in"
    " 2024, and the Teasel route 371 thousand."
)


def doubted(answer: str, *passages: CheckPassage) -> list[str]:
    return [f.text for f in check_answer(answer, list(passages)).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("South harbour fees were $287 million in the three months ended June 30, 2024.",
         "South harbour fees were $412 million in the three months ended June 30, 2024."),
        ("The company reported $96 million of pilotage and $143 million of dredging costs for June 30, 2024.",
         "The company reported $143 million of pilotage and $96 million of dredging costs for June 30, 2024."),
        ("The Larkspur and Teasel routes carried 812 thousand and 371 thousand passengers, respectively, in 2024.",
         "The Larkspur and Teasel routes carried 371 thousand and 812 thousand passengers, respectively, in 2024."),
    ],
)  # fmt: skip
def test_a_figure_of_another_thing_is_unsupported(true: str, false: str) -> None:
    assert doubted(true, REGIONS, FERRIES) == []
    assert doubted(false, REGIONS, FERRIES) != []


def test_words_that_the_evidence_does_not_have_speak_for_nothing_else() -> None:
    assert doubted("Vessel guidance brought in $96 million in the quarter to June 30, 2024.", REGIONS) == []


@pytest.mark.parametrize(
    ("sentence", "before"),
    [
        ("Wool was 5.1 million and flax 6.2 million.", ["Wool was ", " flax "]),
        ("Wool and flax were 5.1 million and 6.2 million, respectively.", ["Wool", "flax were "]),
        ("羊毛和亚麻分别为510万和620万。", ["羊毛", "亚麻分别为"]),
    ],
)
def test_each_figure_has_its_own_words(sentence: str, before: list[str]) -> None:
    assert [zone.before for _, zone in sorted(find_word_zones(sentence, parse(sentence)).items())] == before


def test_a_list_that_cannot_be_taken_apart_tells_nothing() -> None:
    sentence = "Wool, flax, jute and hemp were 5.1 million and 6.2 million, respectively."
    assert find_word_zones(sentence, parse(sentence)) == {}
