"""The short ways of reading a passage give what the long ways give."""

from __future__ import annotations

import re

import pytest
from quelea_checker.reading import amounts, periods, units

NOTHING = re.compile(r"(?!)")
CELLS = [
    "1,204", "(1,204)", "$ 1,204.5", "$(38)", "€ 7", "£0.42", "(0.42)", ".5", "12", "0", "1987", "$ (1,204.50)",
    "12,34", "3.", "-5", "5%", "(5)%", "1,204 million", "—", "n/a", "",
]  # fmt: skip
TEXTS = [
    "In fiscal 2024 Q3, ended July 1, 2023, sales rose 4%.",
    "FY24 and F.Y. 2023; the second half of 2022 and H1 2021.",
    "first three quarters of 2020, first nine months of 2019, nine months ended",
    "2024年前三季度、2023年1-6月、2022年上半年、二〇二一年第三季度、6月30日、截至2025年6月30日止六个月",
    "From 2018/19 to 2020; calendar 2017; year ended 2016; 3Q 2015, 2014 4Q, 1st quarter",
    "nothing of the kind here",
    "2019-06-30 and 30 June 2018 and Dec 2017",
]


@pytest.mark.parametrize("cell", CELLS)
def test_a_plain_cell(cell, monkeypatch):
    short = amounts.parse_amounts(cell, cell=True)
    monkeypatch.setattr(amounts, "_CELL", NOTHING)
    assert amounts.parse_amounts(cell, cell=True) == short


@pytest.mark.parametrize("text", TEXTS)
def test_forms_that_no_text_can_hold_are_not_looked_for(text, monkeypatch):
    periods._find_cached.cache_clear()
    short = periods.find_periods(text)
    every = {name for name, _ in periods.FORMS}
    monkeypatch.setattr(periods, "find_candidate_forms", lambda *_, **__: every)
    periods._find_cached.cache_clear()
    assert periods.find_periods(text) == short
    periods._find_cached.cache_clear()


@pytest.mark.parametrize(
    "text", ["See 2023 Q1 AAPL.pdf for $5 million.", "Sales of 5.5 million; Note 7, item 12.", "第3章 5号"]
)
def test_names_of_files_are_hidden_only_where_there_are_some(text, monkeypatch):
    short = amounts.mask_non_figures(text)
    monkeypatch.setattr(amounts, "_PLAIN", amounts._WITH_FILES)
    assert amounts.mask_non_figures(text) == short


@pytest.mark.parametrize(
    "text",
    [
        "(in thousands)",
        "$ in millions",
        "$'000",
        "US$m",
        "RMB bn",
        "单位：万元",
        "（亿元）",
        "人民币千元",
        "(millions)",
        "€ m",
        "单位：股",
    ],
)
def test_what_states_a_unit_is_not_passed_over(text):
    assert units.STATEMENT.search(text)
    assert units.MAY_STATE.search(text)
