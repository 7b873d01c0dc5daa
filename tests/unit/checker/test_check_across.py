"""Sentences without figures in a language that no passage is in: the glossary decides, and adds no marker."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

FILING = CheckPassage(
    "The year-over-year net sales decrease consisted primarily of lower net sales of tablets, partially offset by "
    "higher net sales of services. Weakness in foreign currencies had an unfavorable impact on total net sales. The "
    "company repurchased common stock under its share repurchase program.",
    header="Orchard (ORC) · 10-Q · FY2023 Q3",
)
NEWS = CheckPassage("三季度公司手机出货量同比增长，市场份额位居全球第一，毛利率和营业利润也有所提高。")


@pytest.mark.parametrize(
    ("passage", "answer"),
    [
        (FILING, "该公司计划在火星开店[9]。"),
        (FILING, "该公司计划在火星开店[1]。"),
        (FILING, "该公司计划在火星开店。"),
        (NEWS, "The company plans to open stores on Mars [9]."),
        (NEWS, "The company plans to open stores on Mars."),
    ],
)
def test_what_nothing_says_is_unsupported_in_either_language(passage: CheckPassage, answer: str) -> None:
    report = check_answer(answer, [passage])

    (sentence,) = report.sentences
    assert sentence.verdict in UNSUPPORTED
    assert sentence.passages == ()
    assert report.markers.missing == report.markers.corrections == ()
    assert [fault.suggested for fault in report.markers.unresolved] in ([], [None])


@pytest.mark.parametrize(
    ("passage", "answer"),
    [
        (FILING, "净销售额同比下降，部分被服务净销售额增长所抵消[1]。"),
        (NEWS, "Shipments grew year over year, and gross margin and operating profit increased [1]."),
    ],
)
def test_what_the_glossary_finds_is_partly_supported_and_keeps_its_marker(passage: CheckPassage, answer: str) -> None:
    report = check_answer(answer, [passage])

    assert [(s.verdict, s.passages) for s in report.sentences] == [("partly", (1,))]
    assert report.markers.corrections == report.markers.unresolved == ()


def test_a_sentence_of_another_language_gets_no_marker_that_it_did_not_have() -> None:
    report = check_answer("净销售额同比下降，部分被服务净销售额增长所抵消。", [FILING])

    assert [s.verdict for s in report.sentences] == ["partly"]
    assert report.markers.missing == ()
