"""Sentences end where a reader ends them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_fintext.sentences import clause_spans, sentence_spans


def split(text: str) -> list[str]:
    return [text[a:b] for a, b in sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Apple Inc. and its subsidiaries sold 3.5 million units.",
        "See Note 4, approx. No. 12 of the U.S. Code.",
        "The U.S. Treasury paid $1.2 billion, i.e. 3.4% of it.",
        "1. Overview of the business",
        "Mr. J. Smith of Example Corp. signed it.",
        "净利润3.5亿元，同比增长12.6%，主要系成本下降",
    ],
)
def test_one_sentence(text: str) -> None:
    assert split(text) == [text]


def test_english_and_chinese_ends() -> None:
    assert split("Sales rose 4.2%. Costs fell! Why? “Because.” He left.") == [
        "Sales rose 4.2%.", "Costs fell!", "Why?", "“Because.”", "He left.",
    ]  # fmt: skip
    assert split("收入增长。成本下降！为什么？“因为需求。”他说；利润上升") == [
        "收入增长。", "成本下降！", "为什么？", "“因为需求。”", "他说；", "利润上升",
    ]  # fmt: skip


@given(st.text(alphabet="ab .A。；!？\n1\t“”()", max_size=200))
def test_spans_hold_everything_but_space(text: str) -> None:
    spans = sentence_spans(text)
    assert all(a < b and not text[a].isspace() and not text[b - 1].isspace() for a, b in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())


@given(st.text(alphabet="ab ,;，、x", min_size=1, max_size=400), st.integers(min_value=20, max_value=80))
def test_clauses_are_short_and_complete(text: str, limit: int) -> None:
    spans = clause_spans(text, 0, len(text), limit)
    assert all(b - a <= limit for a, b in spans)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
