"""Labels of statement lines: what a sentence says of them, and when two are one."""

import pytest
from quelea_fintext.concepts import label_key, said_label


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("五、净利润（净亏损以“－”号填列）", "净利润"),
        ("（一）按经营持续性分类1.持续经营净利润", "持续经营净利润"),
        ("其中：利息费用（附注7）", "利息费用"),
        ("Net income (loss) (Note 5)", "Net income (loss)"),
        ("1.875% notes due 2030", "1.875% notes due 2030"),
        ("公司债2.5%", "公司债2.5%"),
        ("其中：", "其中："),
    ],
)
def test_what_a_sentence_calls_a_line(label: str, said: str) -> None:
    assert said_label(label) == said


def test_notes_of_different_rates_are_different_lines() -> None:
    assert label_key("0.875% notes due 2030") != label_key("1.875% notes due 2030")
