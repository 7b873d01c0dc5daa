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
