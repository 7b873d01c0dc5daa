"""The days that providers state, and the query that they are asked."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_fintext.dates import parse_iso
from quelea_search.core.metadata.stated_dates import stated_day
from quelea_search.core.web.query import LONGEST, MOST_WORDS, web_query

TODAY = date(2023, 11, 1)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2023-10-27", "2023-10-27"),
        ("2023-10-27T10:11:12Z", "2023-10-27"),
        ("2023-10-27 10:11:12+08:00", "2023-10-27"),
        ("Oct 27, 2023", "2023-10-27"),
        ("October 27th, 2023", "2023-10-27"),
        ("27 Oct 2023", "2023-10-27"),
        ("Fri, 27 Oct 2023 10:00:00 GMT", "2023-10-27"),
        ("2023年10月27日", "2023-10-27"),
        ("2023/10/27", "2023-10-27"),
        ("20231027", "2023-10-27"),
        (20231027, "2023-10-27"),
        (1698400000, "2023-10-27"),
        (1698400000.5, "2023-10-27"),
        (1698400000000, "2023-10-27"),
        ("1698400000", "2023-10-27"),
        ("10/27/2023", "2023-10-27"),
        ("27/10/2023", "2023-10-27"),
        ("3 days ago", "2023-10-29"),
        ("1 week ago", "2023-10-25"),
        ("a month ago", "2023-10-02"),
        ("5 hours ago", "2023-11-01"),
        ("26 hours ago", "2023-10-31"),
        ("an hour ago", "2023-11-01"),
        ("3天前", "2023-10-29"),
        ("2 小时前", "2023-11-01"),
        ("1个月前", "2023-10-02"),
        ("yesterday", "2023-10-31"),
        ("昨天", "2023-10-31"),
        ("2023-11-02", "2023-11-01"),  # tomorrow: today, in another zone
        ("2031-01-01", ""),
        ("1970-01-01", ""),
        (0, ""),
        (True, ""),
        (10**30, ""),
        (float("inf"), ""),
        ("4/5/2023", ""),  # April 5 or May 4
        ("February 30, 2023", ""),
        ("Oct 2023", ""),
        ("2023", ""),
        ("soon", ""),
        ("", ""),
        (None, ""),
        ({}, ""),
        ([], ""),
    ],
)
def test_days(said: object, day: str) -> None:
    assert stated_day(said, TODAY) == day


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.text())))
def test_whatever_is_said_the_result_is_a_possible_day_or_nothing(said: object) -> None:
    day = stated_day(said, TODAY)
    assert day == "" or date(1990, 1, 1) <= (parse_iso(day) or date.max) <= TODAY


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("3. What were Apple's net sales?", "What were Apple's net sales?"),
        ("12) net sales", "net sales"),
        ("(4) net sales", "net sales"),
        ("2、贵州茅台的收入", "贵州茅台的收入"),
        ("（一）贵州茅台的收入", "贵州茅台的收入"),
        ("①贵州茅台的收入", "贵州茅台的收入"),
        ("3.5% yield", "3.5% yield"),
        ("10-K of Apple", "10-K of Apple"),
        ("2023 net sales", "2023 net sales"),
        ("一汽的收入", "一汽的收入"),
        (" a \r\n b\x00c\t", "a b c"),
    ],
)
def test_a_list_number_and_control_characters_go(question: str, text: str) -> None:
    assert web_query(question, count=5, today=TODAY).text == text


def test_a_long_question_is_cut_for_providers() -> None:
    assert len(web_query("word " * 500, count=5, today=TODAY).text.split()) == MOST_WORDS
    assert len(web_query("字" * 5000, count=5, today=TODAY).text) == LONGEST


def test_the_time_of_a_question() -> None:
    plain = web_query("net sales in 2020", count=5, today=TODAY)
    assert (plain.since, plain.as_of, plain.in_the_past) == (None, TODAY, False)
    assert web_query("贵州茅台最新股价", count=5, today=TODAY).since == date(2022, 10, 31)
    assert web_query("What happened today?", count=5, today=TODAY).since == date(2023, 10, 1)
    past = web_query("latest sales", count=5, today=TODAY, as_of=date(2020, 1, 1))
    assert (past.since, past.as_of, past.in_the_past) == (date(2018, 12, 31), date(2020, 1, 1), True)
    assert web_query("x", count=5, today=TODAY, as_of=date(2030, 1, 1)).as_of == TODAY
