"""Figures of one company are not another's."""

from __future__ import annotations

import pytest
from quelea_checker import check_answer
from quelea_gateway.core.answers.evidence import to_check
from quelea_gateway.core.grounding import attribute
from quelea_gateway.core.model import Passage

NVIDIA = Passage(
    "n", 1, 0, 10, "Revenue for the second quarter was $13.51 billion, up 101% from a year ago.",
    header="NVIDIA (NVDA) · 10-Q", company="NVIDIA", published="2023-08-25",
)  # fmt: skip
NEWS = Passage(
    "w", 1, 0, 10, "Revenue for the second quarter was $13.51 billion, analysts said.", published="2023-08-25"
)


def verdicts(answer: str, evidence: list[Passage], companies: tuple[str, ...], missing: bool = False):
    report = check_answer(answer, [to_check(one) for one in evidence])
    found = attribute(report, evidence, companies, missing=missing)
    return [one.verdict for one in found.sentences], [one.verdict for one in found.figures]


@pytest.mark.parametrize("name", ["Tesla", "特斯拉"])
def test_a_figure_of_another_company_supports_nothing(name: str) -> None:
    answer = f"{name}'s revenue was $13.51 billion [1]."
    assert verdicts(answer, [NVIDIA], ("Tesla",), missing=True) == (["not_found"], ["not_found"])
    assert verdicts(answer, [NVIDIA], ("Tesla", "NVIDIA")) == (["not_found"], ["not_found"])


@pytest.mark.parametrize("answer", ["NVIDIA's revenue was $13.51 billion [1].", "Revenue was $13.51 billion [1]."])
def test_ones_own_figures_stay(answer: str) -> None:
    assert verdicts(answer, [NVIDIA], ("Tesla", "NVIDIA")) == (["supported"], ["supported"])


def test_a_name_in_the_other_language_is_the_same_company() -> None:
    report = check_answer("英伟达的营收为135.1亿美元 [1]。", [to_check(NVIDIA)])
    assert attribute(report, [NVIDIA], ("NVIDIA",), missing=False) == report


def test_the_passage_that_is_about_it_is_left() -> None:
    tesla = Passage("t", 1, 0, 10, "Revenue of Tesla was $13.51 billion.", company="Tesla")
    report = check_answer("Tesla's revenue was $13.51 billion.", [to_check(one) for one in (NVIDIA, tesla)])
    found = attribute(report, [NVIDIA, tesla], ("Tesla",), missing=False)
    assert found.sentences[0].passages == (2,)
    assert (found.figures[0].passage, found.figures[0].passages) == (2, (2,))


def test_news_that_names_nobody_has_the_benefit_of_the_doubt_only_while_nobody_is_missing() -> None:
    answer = "Tesla's revenue was $13.51 billion [1]."
    assert verdicts(answer, [NEWS], ("Tesla",)) == (["supported"], ["supported"])
    assert verdicts(answer, [NEWS], ("Tesla",), missing=True) == (["not_found"], ["not_found"])


def test_without_companies_nothing_changes() -> None:
    report = check_answer("Revenue was $13.51 billion.", [to_check(NVIDIA)])
    assert attribute(report, [NVIDIA], (), missing=True) is report
