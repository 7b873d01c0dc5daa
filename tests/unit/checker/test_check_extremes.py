"""The largest and the smallest change of a list in prose."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

ZH = CheckPassage("分品类看，茶叶下跌1.62%，咖啡下跌3.48%，可可下跌5.27%，蔗糖上涨0.94%。")
EN = CheckPassage("By region, orders fell 3% in Norway, 7% in Sweden and 12% in Finland.")


def doubted(answer, passage):
    return [f.text for f in check_answer(answer, [passage]).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("各品类中，可可跌幅最大，为5.27%。", ZH),
        ("茶叶跌幅最小，为1.62%。", ZH),
        ("咖啡跌幅第二大，为3.48%。", ZH),
        ("The largest decline, 12%, was in Finland.", EN),
        ("Orders fell least in Norway, by 3%.", EN),
        ("Sweden saw one of the largest declines, 7%.", EN),
    ],
)
def test_the_end_of_the_list_that_is_said_passes(answer, passage):
    assert doubted(answer, passage) == []


@pytest.mark.parametrize(
    ("answer", "passage", "false"),
    [
        ("各品类中，可可跌幅最小，为5.27%。", ZH, "5.27%"),
        ("茶叶跌幅最大，为1.62%。", ZH, "1.62%"),
        ("The smallest decline, 12%, was in Finland.", EN, "12%"),
        ("Orders fell most in Norway, by 3%.", EN, "3%"),
    ],
)
def test_the_other_end_is_doubted(answer, passage, false):
    assert doubted(answer, passage) == [false]
