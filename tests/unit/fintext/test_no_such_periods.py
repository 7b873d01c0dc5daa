"""Periods that no calendar has."""

from __future__ import annotations

import pytest
from quelea_fintext.times.no_such_periods import find_no_such_periods


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the 54th week of fiscal 2023", "54th week of fiscal 2023"),
        ("the fourteenth month of the fiscal year", "fourteenth month of the fiscal year"),
        ("its fifth quarter", "fifth quarter"),
        ("quarter six of 2023", "quarter six of 2023"),
        ("FY2023 Q6", "FY2023 Q6"),
        ("3H23 sales", "3H23"),
        ("Q2.5 of 2023", "Q2.5 of 2023"),
        ("财年第六季的净利润", "财年第六季"),
        ("2023年第二点五季度的净销售额", "2023年第二点五季度"),
        ("2023财年第五十四周的收入", "2023财年第五十四周"),
        ("2022年十四月份的销售额", "2022年十四月"),
        ("2023年五季报", "2023年五季报"),
        ("on February 30", "February 30"),
        ("2023-02-30", "2023-02-30"),
        ("2023年二月三十日", "2023年二月三十日"),
        ("2023年第五個季度", "2023年第五個季度"),
        ("２０２３年第５季度", "２０２３年第５季度"),
        ("二零二三财年第伍季度", "财年第伍季度"),
        ("23Q5营收", "23Q5"),
        ("FQ5 2023", "FQ5 2023"),
        ("2023财年Q五的净利润", "2023财年Q五"),
        ("quarter V of 2023", "quarter V of 2023"),
        ("2023年第Ⅴ季度", "2023年第Ⅴ季度"),
        ("2023年前五个季度的收入", "2023年前五个季度"),
        ("the first 18 months of 2023", "first 18 months of 2023"),
        ("the 400th day of 2023", "400th day of 2023"),
        ("2022年第400天", "2022年第400天"),
        ("the fourth month of Q2 2023", "fourth month of Q2"),
        ("2023年第二季度的第四个月", "第二季度的第四个月"),
        ("the third quarter of H1 2023", "third quarter of H1"),
        ("sales from Q4 2023 to Q1 2023", "from Q4 2023 to Q1 2023"),
        ("从2023年6月到2023年3月的销售额", "从2023年6月到2023年3月"),
    ],
)
def test_it_is_named_as_written(text: str, words: str) -> None:
    [found] = find_no_such_periods(text)
    assert found.words == words
    assert text[found.start : found.end].strip(" ,") == words


@pytest.mark.parametrize("text", ["and Q5?", "13月呢？", "第五季度呢？", "and the fifth quarter?"])
def test_a_follow_up_names_it_by_itself(text: str) -> None:
    assert len(find_no_such_periods(text, bare=True)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "the fifth quarter in a row of growth",
        "its fifth consecutive quarter",
        "连续第五季度增长",
        "the 13th month of the lease",
        "week 60 of the trial",
        "the fifth week",
        "2023年12月",
        "2023年的18个月",
        "第五季《歌手》收入",
        "the second half of 2023",
        "2023年下半年",
        "the 53rd week of fiscal 2023",
        "2023年第五大客户",
        "a 15-month programme",
        "quarter 4 of 2023",
        "February 29, 2024",
        "May 40 people vote?",
        "2023年11月30日",
        "二十四节气",
        "2023年第三季报",
        "Apple 10Q 2023 revenue",
        "H20 2023 sales",
        "the Q5 e-tron's revenue",
        "quarter IV of 2023",
        "第五个季度连续下滑",
        "13th month pay of 2023",
        "2023年第13个月工资",
        "the fourth week of the third quarter",
        "2023年前13周",
        "How did sales change from Q4 2023 to Q1 2023?",
        "sales from Q4 2022 to Q1 2023",
        "从2022年第四季度到2023年第一季度的销售额",
    ],
)
def test_what_exists_or_is_counted_from_elsewhere_is_none_of_them(text: str) -> None:
    assert find_no_such_periods(text, bare=True) == []


@pytest.mark.parametrize("text", ["一" * 8000, "2023年" + " " * 8000, "quarter" + " " * 8000, "1" * 8000])
def test_a_long_run_of_anything_is_read_and_names_nothing(text: str) -> None:
    assert find_no_such_periods(text, bare=True, seasons=True) == []
