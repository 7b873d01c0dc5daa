"""Sentences in another language than the evidence, with the cosines that an encoder gives."""

from __future__ import annotations

import pytest
from quelea_checker import CheckPassage, Near, check_answer
from quelea_checker.verdicts import cross_language

OTHER = CheckPassage("The plant uses natural gas. A new line will open in spring.")
FILING = CheckPassage("Demand from car makers strengthened. The board recommended to reject the offer.")


def near(*cosines: tuple[int, str, float]) -> tuple[Near, ...]:
    return tuple(Near(*one) for one in cosines)


def test_sentences_with_figures_and_of_the_evidences_language_are_not_asked_about() -> None:
    answer = "汽车制造商的需求走强[2]。收入增长了12%。董事会建议拒绝要约！"

    asked = cross_language.find_comparisons(answer, [OTHER, FILING])

    assert [one.sentence for one in asked] == ["汽车制造商的需求走强 。", "董事会建议拒绝要约！"]
    assert [number for number, _ in asked[0].candidates] == [2, 2, 1, 1]  # what is cited first
    assert [number for number, _ in asked[1].candidates] == [1, 2, 1, 2]
    assert cross_language.find_comparisons("Demand strengthened.", [FILING]) == []
    assert cross_language.find_comparisons("需求走强。", [FILING, CheckPassage("需求走强。")]) == []


@pytest.mark.parametrize(
    ("cosine", "verdict", "passages"),
    [(cross_language.ALIKE + 0.02, "partly", (2,)), (cross_language.ALIKE - 0.02, "not_found", ())],
)
def test_the_cosine_decides_and_gives_a_marker(cosine: float, verdict: str, passages: tuple[int, ...]) -> None:
    answer = "汽车制造商的需求走强。"
    found = near((1, "The plant uses natural gas.", 0.75), (2, "Demand from car makers strengthened.", cosine))

    report = check_answer(answer, [OTHER, FILING], near={answer: found})

    assert [(one.verdict, one.passages) for one in report.sentences] == [(verdict, passages)]
    assert [one.suggested for one in report.markers.missing] == list(passages)


def test_a_wrong_marker_is_put_right() -> None:
    answer = "汽车制造商的需求走强[1]。"
    found = near((1, "The plant uses natural gas.", 0.75), (2, "Demand from car makers strengthened.", 0.9))

    report = check_answer(answer, [OTHER, FILING], near={"汽车制造商的需求走强 。": found})

    assert [(one.number, one.suggested) for one in report.markers.corrections] == [(1, 2)]
