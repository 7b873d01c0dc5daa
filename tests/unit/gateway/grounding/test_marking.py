"""Which brackets are citation markers, in whatever form a model writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_gateway.core.grounding import marks, tidy


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("营业收入为4.42亿元【1】。", "营业收入为4.42亿元[1]。"),
        ("净利润增长［2］", "净利润增长[2]"),
        ("both 【1，3】 and 〔2〕", "both [1, 3] and [2]"),
        ("Sales rose 【3†source】.", "Sales rose [3]."),
        ("Sales rose [Source 2] and [^4].", "Sales rose [2] and [4]."),
        ("见[来源1]和[段落：2]", "见[1]和[2]"),
        ("Sales rose [1](https://example.com/a).", "Sales rose [1]."),
        ("[1, 3] stays, [2023] and [ab] too", "[1, 3] stays, [2023] and [ab] too"),
        ("`values【1】` and https://a.test/x[2] stay", "`values【1】` and https://a.test/x[2] stay"),
    ],
)
def test_every_form_of_marker_becomes_one(written, expected):
    assert tidy(written) == expected


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Sales 5 [1][2]. Income [3, 1]。", [1, 2, 3, 1]),
        ("`rows[0]` and rows [1]", [1]),
        ("```\nx[3] = y[4]\n``` as said [2]", [2]),
        ("```\nnever closed x[3]", []),
        ("see https://a.test/list[7].html [1]", [1]),
        ("see https://a.test/report[1]", [1]),
        ("in [2023] nothing", []),
    ],
)
def test_brackets_in_code_and_addresses_are_no_markers(text, numbers):
    assert [mark.number for mark in marks(text)] == numbers


def test_a_bracket_that_is_copied_from_the_evidence_is_no_marker():
    source = "Revenue reached a record of 5 billion[12] in the year, the highest so far."
    text = "“Revenue reached a record of 5 billion[12] in the year” [1]"
    assert [mark.number for mark in marks(text, [source])] == [1]
    assert [mark.number for mark in marks(text, ["another text"])] == [12, 1]
    assert [mark.number for mark in marks("It was 5 billion[12].", [source])] == [12]


@given(st.text(alphabet="[]【】`[1]2,，†http://a.b 。\n", max_size=60))
def test_tidying_never_breaks_and_is_done_at_once(text):
    once = tidy(text)
    for mark in marks(once):
        assert once[mark.start] == "["
        assert str(mark.number) in once[mark.start : mark.end]
