"""What is left of an answer reads well, and its markers name what each part of it rests on."""

from __future__ import annotations

import pytest
from quelea_checker import CheckPassage, check_answer
from quelea_gateway.core.grounding import Grounded, ground, tidy

SOURCES = [
    "Services revenue rose because of advertising. Hardware sales were $12 million in 2024.",
    "Energy costs fell after new contracts took effect. The plant employs 400 people.",
    "白酒业务提价后销量下滑。公司收入为12亿元。",
]


def grounded(answer: str, *, strict: bool = False) -> Grounded:
    text = tidy(answer)
    return ground(text, check_answer(text, [CheckPassage(one) for one in SOURCES]), SOURCES, strict=strict)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (
            "Services revenue rose because of advertising [1]. Hardware sales were $55 million [1]. However, "
            "energy costs fell after new contracts took effect [2].",
            "Services revenue rose because of advertising [1]. Energy costs fell after new contracts took effect [2].",
        ),
        ("公司收入为99亿元[3]。但是，白酒业务提价后销量下滑[3]。", "白酒业务提价后销量下滑[3]。"),
        (
            "Services revenue rose because of advertising [1]. However, energy costs fell after new contracts took "
            "effect [2].",
            "Services revenue rose because of advertising [1]. However, energy costs fell after new contracts took "
            "effect [2].",
        ),
        (
            "- Hardware sales were $99 million in 2024 [1].\n- The plant employs 400 people [2].",
            "- The plant employs 400 people [2].",
        ),
        (
            "| Item | Value |\n|---|---|\n| Hardware sales 2024 | $12 million [1] |\n"
            "| Hardware sales 2024 | $98 million |\n",
            "| Item | Value |\n|---|---|\n| Hardware sales 2024 | $12 million [1] |",
        ),
    ],
)
def test_nothing_leans_on_a_sentence_that_was_withheld(answer: str, left: str) -> None:
    found = grounded(answer, strict=True).grounding

    assert found.text == left
    assert all(found.text[one.start : one.end] == one.text for one in found.sentences)


def test_a_sentence_of_two_clauses_keeps_the_passage_of_each() -> None:
    answer = (
        "Services revenue rose because of advertising, and energy costs fell after new contracts took effect [1-2]."
    )

    found = grounded(answer).grounding

    assert found.text.endswith("[1, 2].")
    assert [one.verdict for one in found.sentences] == ["supported"]
    assert found.removed_markers == ()


def test_a_figure_whose_marker_was_put_right_is_supported() -> None:
    found = grounded("The plant employs 400 people [1].").grounding

    assert found.text == "The plant employs 400 people [2]."
    assert [one.verdict for one in found.sentences] == ["supported"]


@pytest.mark.parametrize("answer", ["The passages do not mention net income.", "资料中没有提及净利润。"])
def test_what_the_sources_do_not_say_is_no_claim(answer: str) -> None:
    assert [one.verdict for one in grounded(answer).grounding.sentences] == ["no_claim"]


@pytest.mark.parametrize(
    "answer", ["You should buy shares of the plant now.", "这表明公司增长强劲。", "建议买入该股票。"]
)
def test_advice_and_judgements_that_no_passage_gives_are_unsupported(answer: str) -> None:
    assert [one.verdict for one in grounded(answer).grounding.sentences] == ["not_found"]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [("In 2024, hardware was sold.", "supported"), ("In 2024, the chairman flew to Mars.", "not_found")],
)
def test_a_date_alone_supports_no_words(answer: str, verdict: str) -> None:
    assert [one.verdict for one in grounded(answer).grounding.sentences] == [verdict]
