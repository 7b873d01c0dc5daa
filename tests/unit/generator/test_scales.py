"""Scales that a writer left out."""

import pytest
from quelea_generator.core.chat.scales import ScaledRow, mend_scales

THOUSANDS = ScaledRow(("4,630", "4,358"), "Production (thousands of barrels daily)")
MILLIONS = ScaledRow(("1,250", "980"), "in millions")
SENTENCE = ScaledRow(("4.6", "272"), "")
HAN = ScaledRow(("31,802.43",), "单位：万元")


@pytest.mark.parametrize(
    ("written", "mended"),
    [
        ("It made 4,630 barrels a day [2].", "It made 4,630 thousand barrels a day [2]."),
        ("Net sales were $1,250 in 2031 [1].", "Net sales were $1,250 million in 2031 [1]."),
        ("Net sales were $1,250 million.", "Net sales were $1,250 million."),
        ("In millions, 980 and 1,250.", "In millions, 980 and 1,250."),
        ("Production grew by 272 thousand.", "Production grew by 272 thousand."),
        ("A share of 980%.", "A share of 980%."),
        ("营业收入为31,802.43元。", "营业收入为31,802.43万元。"),
        ("营业收入为31,802.43万元。", "营业收入为31,802.43万元。"),
    ],
)
def test_a_copied_figure_has_the_scale_of_its_row(written: str, mended: str) -> None:
    assert mend_scales(written, [THOUSANDS, MILLIONS, SENTENCE, HAN]) == mended


def test_a_figure_that_stands_under_two_scales_stays() -> None:
    rows = [MILLIONS, ScaledRow(("1,250",), "in thousands")]
    assert mend_scales("It was 1,250.", rows) == "It was 1,250."


def test_a_figure_that_also_stands_in_a_sentence_stays() -> None:
    assert mend_scales("There were 980.", [MILLIONS, ScaledRow(("980",), "")]) == "There were 980."


SMALL = ScaledRow(("4,630", "1", "31", "12", "2031"), "in thousands")


@pytest.mark.parametrize(
    "written",
    [
        "There were none [1].",
        "It ended on 31 March 2031, after 12 months, as the 10-Q says on page 12.",
        "The margin fell by 12 basis points, or 12 points.",
        "It sold 4,630 (thousand) barrels.",
        "It sold 4,630 USD thousand.",
        "It sold 4,630K barrels.",
        "It sold $4,630,000.",
        "销量为4,630（千桶）。",
        "（单位：千桶）销量为4,630。",
        "截至2031年12月31日。",
    ],
)
def test_markers_dates_counts_and_said_scales_stay(written: str) -> None:
    assert mend_scales(written, [SMALL]) == written


def test_a_figure_before_a_comma_has_its_scale() -> None:
    assert mend_scales("It sold 4,630, not $12.", [SMALL]) == "It sold 4,630 thousand, not $12 thousand."


@pytest.mark.parametrize(
    ("unit", "mended"),
    [
        ("Gas (dollars per thousand cubic feet)", "It was 2.65."),
        ("Gas ($/million BTU)", "It was 2.65."),
        ("电价（元/千千瓦时）", "It was 2.65."),
        ("万科企业 单位：元", "It was 2.65."),
        ("单位：千万元", "It was 2.65千万."),
        ("发电量（亿千瓦时）", "It was 2.65亿."),
    ],
)
def test_what_a_price_is_of_and_a_name_are_no_scale(unit: str, mended: str) -> None:
    assert mend_scales("It was 2.65.", [ScaledRow(("2.65",), unit)]) == mended


def test_a_scale_of_money_is_none_of_people() -> None:
    rows = [ScaledRow(("164,000",), "Employees ($ in millions)")]
    assert mend_scales("It had 164,000 employees [1].", rows) == "It had 164,000 employees [1]."
    assert mend_scales("It paid 164,000 [1].", rows) == "It paid 164,000 million [1]."
