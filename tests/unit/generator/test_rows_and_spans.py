"""Rows, sentences, and that every span is exact."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_generator.core.extractive.rows import parse_row
from quelea_generator.core.extractive.spans import find_runs, find_spans

ALPHABET = st.sampled_from(
    ["Net sales", "\t", " ", "$ 1,234", "(56)", "7.8%", "—", "\n", "\n\n", ". ", "。", "Inc. ", "The cost rose",
     "营业收入", "12", "2023", "July 1,", "•", ":", "|", "；", "“", "”", "\r\n", "\u3000", "x"]
)  # fmt: skip


@pytest.mark.parametrize(
    ("line", "label", "cells"),
    [
        ("Total net sales 81,797 82,959", "Total net sales", ("81,797", "82,959")),
        ("Products\t$ 60,584\t$ 63,355", "Products", ("$ 60,584", "$ 63,355")),
        ("Net income $ 19,881 $ 19,442", "Net income", ("$ 19,881", "$ 19,442")),
        ("Other income/(expense), net (265) (10)", "Other income/(expense), net", ("(265)", "(10)")),
        ("Gross margin 44.5 % 43.3%", "Gross margin", ("44.5 %", "43.3%")),
        ("Level 2 securities — 14", "Level 2 securities", ("—", "14")),
        (
            "营业收入 1,581,933,193.26 1,126,776,243.50 40.39%",
            "营业收入",
            ("1,581,933,193.26", "1,126,776,243.50", "40.39%"),
        ),
        ("| 净利润 | 406 | 220 |", "净利润", ("406", "220")),
    ],
)
def test_a_row(line: str, label: str, cells: tuple[str, ...]) -> None:
    row = parse_row(line)
    assert row is not None
    assert (row.label, row.cells) == (label, cells)


@pytest.mark.parametrize(
    "line",
    [
        "July 1, 2023 June 25, 2022",
        "Three Months Ended",
        "2023 2022",
        "Item 1. Financial Statements 4",
        "Commitments and contingencies (Note 4)",
        "Revenue fell in 2022",
        "The Company repurchased shares. It spent 18,000",
        "45 67",
        "",
    ],
)
def test_no_row(line: str) -> None:
    assert parse_row(line) is None


def texts(text: str, *, is_table: bool) -> list[str]:
    return [text[span.start : span.end] for span in find_spans(text, is_table=is_table)]


def test_sentences_cross_line_ends_and_keep_abbreviations() -> None:
    text = "Apple Inc. sold U.S. Treasury\nnotes in the quarter. It bought none.\nWhy not? See Note 4."
    assert texts(text, is_table=False) == [
        "Apple Inc. sold U.S. Treasury\nnotes in the quarter.",
        "It bought none.",
        "Why not?",
        "See Note 4.",
    ]


def test_chinese_sentences() -> None:
    text = "公司实现营业收入46.51亿元。归母净利润6.47亿元；\n毛利率为30%！后续如何？"
    assert texts(text, is_table=False) == [
        "公司实现营业收入46.51亿元。",
        "归母净利润6.47亿元；",
        "毛利率为30%！",
        "后续如何？",
    ]


def test_a_label_that_began_a_line_earlier_belongs_to_its_row() -> None:
    text = "Assets\nCommon stock (100 shares authorized, and\nshares outstanding) 108 109\nTotal 110 111"
    assert texts(text, is_table=True)[0] == "Common stock (100 shares authorized, and\nshares outstanding) 108 109"


def test_headings_stand_above_rows() -> None:
    spans = find_spans("Net sales:\nProducts 60 63\nCost of sales:\nProducts 39 41", is_table=True)
    assert [(span.row.label, span.above) for span in spans if span.row] == [
        ("Products", "Net sales:"),
        ("Products", "Cost of sales:"),
    ]


@settings(max_examples=300)
@given(st.lists(ALPHABET, max_size=40).map("".join), st.booleans())
def test_spans_are_exact_ordered_and_apart(text: str, is_table: bool) -> None:
    end = 0
    for span in find_spans(text, is_table=is_table):
        assert end <= span.start < span.end <= len(text)
        piece = text[span.start : span.end]
        assert piece == piece.strip()
        end = span.end


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_read(text: str, is_table: bool) -> None:
    for span in find_spans(text, is_table=is_table):
        assert text[span.start : span.end].strip()


def test_a_head_that_ends_with_a_date_is_no_row() -> None:
    assert parse_row("Twelve Months Ended September 30,") is None
    assert parse_row("Year ended December 31") is None
    assert parse_row("Fiscal years of service 12.5 13.5") is not None


def test_a_row_about_the_row_above_is_quoted_with_it() -> None:
    text = "Total operating expenses\t$ 2,508\t$ 3,563\n% of net revenue\t34.9%\t42.9%\nOther\t1\t2"
    spans = find_spans(text, is_table=True)
    assert [span.row and span.row.label for span in spans] == [
        "Total operating expenses",
        "Total operating expenses – % of net revenue",
        "Other",
    ]
    assert text[spans[1].start : spans[1].end] == text.rsplit("\n", 1)[0]


def test_adjacent_rows_make_runs_of_at_most_four() -> None:
    text = "Net sales:\n" + "\n".join(f"Goods {name}\t{n},100\t{n},200" for n, name in enumerate("abcdef", 1))
    runs = find_runs(find_spans(text, is_table=True))
    assert [len(run.rows) for run in runs] == [4, 2]
    assert text[runs[1].start : runs[1].end] == "Goods e\t5,100\t5,200\nGoods f\t6,100\t6,200"
    assert all(run.row is None for run in runs)
