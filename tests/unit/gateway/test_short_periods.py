"""Periods that no report counts by, in both languages, held against filings and news; and what only looks like one."""

import pytest
from quelea_fintext.times.short_periods import find_short_periods
from quelea_gateway.core.answers.evidence import cite
from quelea_gateway.core.asking.asked_periods import AskedPeriods
from quelea_gateway.core.model import Passage

DAY = "2023-11-20"


def filing(
    text: str = "Total net sales 117,154 123,945", end: str = "2022-12-31", period: str = "FY2023 Q1"
) -> Passage:
    return Passage("f", 1, 0, len(text), text, table_head=f"Three Months Ended {end}", period=period, period_end=end)


def news(text: str, published: str = "") -> Passage:
    return Passage("n", 1, 0, len(text), text, published=published)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What was Apple's revenue in December 2022?", "December 2022"),
        ("Apple net income, Dec. 2022", "Dec. 2022"),
        ("Apple net sales 2022-12", "2022-12"),
        ("苹果2022年12月的营收是多少？", "2022年12月"),
        ("苹果2022年十二月份营收", "2022年十二月"),
        ("Apple's revenue last month?", "last month"),
        ("苹果上个月的营收", "上个月"),
        ("What was revenue in week 51 of 2022?", "week 51 of 2022"),
        ("公司2022年第51周的销售收入", "2022年第51周"),
        ("What were net sales on December 24, 2022?", "December 24, 2022"),
        ("What were net sales in winter 2022?", "winter 2022"),
        ("苹果2022年冬季的营收", "2022年冬季"),
        ("苹果农历2022年腊月的营收", "农历2022年腊月"),
        ("苹果2023年闰二月的营收", "闰二月"),
        ("Apple revenue in the first trimester of 2022", "first trimester"),
        ("Amazon's net sales on Black Friday 2022", "Black Friday"),
        ("亚马逊2022年双十一的净销售额", "双十一"),
        ("net sales in late 2022", "late 2022"),
        ("英伟达2022年末的收入", "2022年末"),
        ("Apple's revenue yesterday", "yesterday"),
        ("苹果昨天的营收", "昨天"),
        ("revenue in the second half of Q4 2022", "second half of Q4 2022"),
    ],
)
def test_a_period_that_no_report_counts_by_is_found(question: str, words: str) -> None:
    assert [period.words for period in find_short_periods(question, DAY)] == [words]


@pytest.mark.parametrize(
    "question",
    [
        "What were net sales for the quarter ended December 31, 2022?",
        "What were net sales for the quarter ended December 2022?",
        "Revenue in the December 2022 quarter",
        "What was cash as of December 2022?",
        "What are the contractual cash flows at 30 June 2019?",
        "Costs at 31st March 2019",
        "2019年中远海控的营业成本",
        "What did Apple announce in May 2022?",
        "Revenue from January 2023 to March 2023",
        "Net sales between March 2022 and March 2023",
        "2023年1月至3月的营收",
        "2023年1-9月的营收",
        "截至2022年12月31日的营收",
        "净利润在过去9个月的变化",
        "What was Apple's revenue in fiscal 2022?",
        "net sales 2011-12",
        "2023年3月以来的营收",
        "2022年12月底的收入",
        "NVIDIA's revenue in the quarter that ended in October 2022",
        "微软2022年9月季度的收入",
    ],
)
def test_ends_of_periods_spans_of_months_and_what_happened_are_left_alone(question: str) -> None:
    assert find_short_periods(question, DAY) == ()


def told(question: str, evidence: list[Passage], cited: list[int]) -> list[str]:
    citations = [cite(evidence[n - 1], n) for n in cited]
    return [name for name, _ in AskedPeriods.of(question, DAY).notices(evidence, citations)]


def test_a_quarter_that_holds_the_month_is_evidence_and_said_to_be_longer() -> None:
    question = "What was Apple's revenue in December 2022?"
    assert not AskedPeriods.of(question, DAY).unanswered([filing()])
    assert told(question, [filing()], [1]) == ["longer_period"]
    assert told(question, [filing()], []) == ["longer_period"]


def test_a_year_holds_its_months_and_a_quarter_holds_no_other() -> None:
    asked = AskedPeriods.of("苹果2022年3月的营收", DAY)
    assert not asked.unanswered([filing(period="FY2022")])
    assert asked.unanswered([filing()])
    assert told("苹果2022年3月的营收", [], []) == ["period_unnamed"]


def test_what_names_the_month_answers_without_a_notice() -> None:
    question = "What was revenue in October 2023?"
    monthly = filing("Revenue of October 2023 was 5", end="2023-12-31", period="FY2024 Q1")
    assert told(question, [filing(), monthly], [2]) == []
    assert told(question, [filing(), news("In October revenue was 5.", "2023-11-02")], [2]) == []
    assert told("公司2023年10月的营收", [news("公司10月营收为5亿元", "2023-11-02")], [1]) == []
    assert told("公司2022年10月的营收", [news("公司10月营收为5亿元", "2023-11-02")], [1]) == ["period_unnamed"]


def test_the_end_of_a_quarter_does_not_name_its_month() -> None:
    asked = "What was Apple's revenue in December 2022?"
    assert told(asked, [filing("sales for the quarter ended December 2022 and December 31, 2022")], [1]) == [
        "longer_period"
    ]


def test_news_that_came_out_soon_may_tell_and_later_ones_may_not() -> None:
    asked = AskedPeriods.of("What was revenue in October 2023?", DAY)
    assert not asked.unanswered([news("Revenue of the last month was 5.", "2023-11-02")])
    assert asked.unanswered([news("Revenue of the last month was 5.", "2023-08-02")])


@pytest.mark.parametrize(
    "question",
    [
        "What were Apple's net sales in 2022?",
        "Apple revenue last year",
        "苹果2022年的营收",
        "苹果去年的营收",
        "Annual revenue for fiscal 2022",
    ],
)
def test_quarters_are_no_whole_year_and_it_is_said(question: str) -> None:
    assert told(question, [filing()], [1]) == ["part_of_year"]
    assert told(question, [filing(period="FY2022"), filing()], [1, 2]) == []
    assert told(question, [filing(), news("In 2022 sales were 5.")], [1, 2]) == []
    assert told(question, [filing()], []) == []


@pytest.mark.parametrize(
    "question",
    [
        "What were Apple's net sales in Q1 2022?",
        "Apple's quarterly revenue in 2022",
        "What were net sales in the same period last year?",
        "How did revenue change compared to last year?",
        "苹果2022年第一季度的营收",
        "苹果去年同期的营收",
        "What did Apple announce in 2022?",
    ],
)
def test_quarters_answer_where_no_whole_year_is_asked_for(question: str) -> None:
    assert told(question, [filing()], [1]) == []


def test_a_day_that_ends_the_period_is_the_period() -> None:
    question = "What were net sales on January 1, 2023?"
    assert not AskedPeriods.of(question, DAY).unanswered([filing()])
    assert told(question, [filing()], [1]) == []


def test_a_vague_one_is_answered_and_told() -> None:
    question = "What were net sales in late 2022?"
    assert not AskedPeriods.of(question, DAY).unanswered([filing()])
    assert told(question, [filing()], [1])[0] == "no_such_kind"


def test_a_kind_of_period_that_reports_do_not_have_is_answered_only_where_it_is_named() -> None:
    question = "苹果2022年冬季的营收"
    assert AskedPeriods.of(question, DAY).unanswered([filing()])
    assert told(question, [filing()], []) == ["no_such_kind"]
    assert not AskedPeriods.of(question, DAY).unanswered([news("2022年冬季的营收为3")])


@pytest.mark.parametrize(
    "question",
    [
        "NVIDIA's revenue in fiscal 1850?",
        "Apple revenue in 1066",
        "苹果1898年的营收",
        "Net income in the year 3000",
        "Sales in 300 BC",
        "Amazon revenue in Q1 1776",
        "苹果清朝时的收入",
        "英伟达公元前300年的净利润",
        "苹果1898年的总净销售额",
        "微软3000年的净利润",
    ],
)
def test_centuries_away_nothing_is_evidence(question: str) -> None:
    asked = AskedPeriods.of(question, DAY)
    assert asked.unreal.out_of_reach
    assert asked.unanswered([filing()])
    assert told(question, [filing()], []) == ["out_of_reach"]


@pytest.mark.parametrize(
    "question",
    ["Revenue of 1500 stores", "A dividend of 3000 shares in 2022", "What share of the 1200 employees left?"],
)
def test_amounts_are_no_years(question: str) -> None:
    assert AskedPeriods.of(question, DAY).unreal.out_of_reach == ()
