"""Which filings a question is read to ask about."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from quelea_retriever.core.question.catalogue import Catalogue, speaks_of
from quelea_retriever.core.question.reading import MAX_GROUPS, read_query
from support.filings import APPLE, CATALOGUE, FILINGS, HARBOR, NEWS, TODAY, ZEBRA, ZEBRA_YEAR, filing


def groups(question: str, catalogue: Catalogue = CATALOGUE, as_of: date = TODAY) -> list[list[str]]:
    return [list(group) for group in read_query(question, catalogue, as_of).groups]


@pytest.mark.parametrize(
    "question",
    [
        "What was Zebra's revenue in the third quarter of fiscal 2023?",
        "Zebra Q3 2023 net sales",
        "zebra q3 2023 net sales",
        "Zebra's Q3'23 gross margin",
        "Zebra 3Q23 EPS",
        "Zebra Technologies third-quarter 2023 results",
        "How did Zebra Technologies Corporation do in the quarter ended September 30, 2023?",
        "Zebra: three months ended September 30, 2023, operating income",
        "What did ZBRA report for the first nine months of 2023?",
        "ZBRA FY2023 Q3 inventory",
        "Zebra的2023年三季度营收是多少？",
        "Zebra 2023年第三季度毛利率",
        "Zebra 2023Q3 存货",
        "Zebra2023年三季度存货",
        "What is Zebra's latest gross margin?",
        "In its most recent 10-Q, what did Zebra say about litigation?",
        "Zebra最新季报里的净利润",
        "What was Zebra's revenue for the September 2023 quarter?",
        "Zebra's inventory as of September 30, 2023",
    ],
)
def test_one_quarter(question: str) -> None:
    assert groups(question) == [["ZBRA 2023-09-30"]]


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Zebra revenue in the first half of 2023", "ZBRA 2023-07-01"),
        ("Zebra 2023年上半年营收", "ZBRA 2023-07-01"),
        ("Zebra H1 2023 cash flow", "ZBRA 2023-07-01"),
        ("Zebra annual revenue for 2022", "ZBRA 2022-12-31"),
        ("Zebra's FY22 net income", "ZBRA 2022-12-31"),
        ("What was Zebra's net income in 2022?", "ZBRA 2022-12-31"),
        ("Zebra Q4 2022 sales", "ZBRA 2022-12-31"),  # no report of its own: the year's has it
        ("Zebra 2022年年报 研发费用", "ZBRA 2022-12-31"),
        ("How much did Zebra earn in the previous quarter?", "ZBRA 2023-07-01"),
        ("海天味业2020年的营业收入是多少？", "603288 2020-12-31"),
        ("请提供佛山市海天调味食品股份有限公司2019年的研发费用", "603288 2019-12-31"),
        ("603288 2019年年报 法定代表人", "603288 2019-12-31"),
    ],
)
def test_one_filing(question: str, document: str) -> None:
    assert groups(question) == [[document]]


@pytest.mark.parametrize("question", ["How many shares of Zebra were outstanding as of {}?", "Zebra 截至{}的总股本"])
def test_a_day_between_the_end_of_a_period_and_its_filing_is_of_that_filing(question: str) -> None:
    quarter, before = replace(ZEBRA[3], published="2023-10-31"), replace(ZEBRA[2], published="2023-08-01")
    catalogue = Catalogue.build([quarter, before])
    inside = read_query(question.format("October 24, 2023"), catalogue, TODAY)
    assert [list(group) for group in inside.groups] == [[quarter.id]]
    assert not inside.period_missing
    assert not inside.period_newer
    after = read_query(question.format("November 24, 2023"), catalogue, TODAY)
    assert after.period_missing


def test_three_names_of_a_quarter() -> None:
    # Named by its file, by its filer, and by its last day.
    assert groups("Harbor Q2 2023 revenue") == [["HRBR 2023-07-30"]]
    assert groups("Harbor second quarter of fiscal 2024 revenue") == [["HRBR 2023-07-30"]]
    assert groups("Harbor revenue, quarter ended July 31, 2023") == [["HRBR 2023-07-30"]]
    assert groups("Harbor Q3 of fiscal 2023") == [["HRBR 2022-10-30"]]
    assert groups("Harbor second calendar quarter of calendar 2023") == [["HRBR 2023-07-30"]]


def test_without_file_label_the_fiscal_one_decides() -> None:
    bare = Catalogue.build([replace(d, period=replace(d.period, file_label="")) for d in HARBOR])
    assert groups("Harbor Q2 2024 revenue", bare) == [["HRBR 2023-07-30"]]
    assert read_query("Harbor Q2 2023 revenue", bare, TODAY).period_missing


@pytest.mark.parametrize(
    "question",
    [
        "How has Zebra's revenue changed over time?",
        "Zebra revenue trend",
        "What were Zebra's sales in each quarter?",
        "What legal proceedings are disclosed in Zebra's 10-Qs?",
        "How did Zebra's margin evolve over the reported quarters?",
        "Compare Zebra's latest gross margin to previous quarters",
        "Zebra各季度的营收",
    ],
)
def test_every_filing_newest_first(question: str) -> None:
    reading = read_query(question, CATALOGUE, TODAY)
    assert reading.is_comparison
    quarters = [group for group in reading.groups if group != ("ZBRA 2022-12-31",)]
    assert quarters == [("ZBRA 2023-09-30",), ("ZBRA 2023-07-01",), ("ZBRA 2023-04-01",), ("ZBRA 2022-10-01",)]


def test_named_periods_are_compared() -> None:
    assert groups("Zebra: compare Q3 2023 with Q3 2022") == [["ZBRA 2023-09-30"], ["ZBRA 2022-10-01"]]
    assert groups("Zebra Q1, Q2 and Q3 of 2023 sales") == [
        ["ZBRA 2023-09-30"],
        ["ZBRA 2023-07-01"],
        ["ZBRA 2023-04-01"],
    ]
    assert groups("从2019年到2020年海天味业的净利润") == [["603288 2020-12-31"], ["603288 2019-12-31"]]


def test_two_companies_take_turns() -> None:
    reading = read_query("Compare Zebra and Harbor revenue in Q2 2023", CATALOGUE, TODAY)
    assert reading.groups == (("ZBRA 2023-07-01",), ("HRBR 2023-07-30",))
    assert reading.is_comparison
    assert reading.companies == ("Zebra", "Harbor")


def test_a_comparison_inside_one_report_stays_there() -> None:
    question = "How did Zebra's operating expenses for Q1 2023 compare to its revenue for the same quarter?"
    assert groups(question) == [["ZBRA 2023-04-01"]]


def test_unsure_means_everything_of_the_company() -> None:
    reading = read_query("What risks does Zebra face?", CATALOGUE, TODAY)
    assert set(reading.document_ids) == {d.id for d in (*ZEBRA, ZEBRA_YEAR)}
    assert len(reading.groups) == 1
    assert not reading.period_missing


def test_quarter_without_company_keeps_what_has_no_period() -> None:
    catalogue = Catalogue.build([*FILINGS, *NEWS])
    ids = set(read_query("Which revenue grew in the quarter ended July 1, 2023?", catalogue, TODAY).document_ids)
    assert ids == {"ZBRA 2023-07-01", "AAPL 2023-07-01", "news 1", "news 2"}
    assert groups("What happened in 2023?", catalogue) == []


def test_a_base_of_one_company_need_not_be_named() -> None:
    only = Catalogue.build(ZEBRA)
    assert groups("What was revenue in Q3 2023?", only) == [["ZBRA 2023-09-30"]]
    assert groups("What does the latest report say?", only) == [["ZBRA 2023-09-30"]]
    assert groups("What is revenue?", only) == []
    assert read_query("What was Apple's revenue in Q3 2023?", only, TODAY).company_missing


def test_news_counts_when_its_title_speaks_of_the_company() -> None:
    catalogue = Catalogue.build([*APPLE, *NEWS])
    assert "news 1" in read_query("分析苹果市值蒸发的原因", catalogue, TODAY).document_ids
    only_news = Catalogue.build(NEWS)
    reading = read_query("分析苹果市值蒸发的原因", only_news, TODAY)
    assert not reading.company_missing
    assert not reading.period_missing


def test_a_long_history_is_cut_and_said() -> None:
    many = [
        filing("Zebra", "ZBRA", f"FY{2000 + n // 4} Q{n % 4 + 1}", f"{2000 + n // 4}-{n % 4 * 3 + 3:02}-28")
        for n in range(40)
    ]
    reading = read_query("Zebra revenue over time", Catalogue.build(many), TODAY)
    assert len(reading.groups) == MAX_GROUPS
    assert f"newest {MAX_GROUPS} of 40" in reading.fallback


def test_text_shows_disagreeing_names() -> None:
    text = read_query("Harbor Q2 2023", CATALOGUE, TODAY).text
    assert text == "Harbor · FY2024 Q2, filed as 2023 Q2 (quarter ended July 30, 2023)"


def test_quarter_without_company_keeps_documents_whose_company_is_not_known() -> None:
    unsigned = replace(ZEBRA_YEAR, id="unsigned", company="", company_aliases=(), ticker="")
    ids = read_query(
        "Which revenue grew in the quarter ended July 1, 2023?", Catalogue.build([*FILINGS, unsigned]), TODAY
    ).document_ids
    assert set(ids) == {"ZBRA 2023-07-01", "AAPL 2023-07-01", "unsigned"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("工行武汉分行推出新产品", ["工行"]),
        ("农产品加工行业回暖", []),
        ("成交行情清淡", []),
        ("交行上调存款利率", ["交行"]),
        ("该公司新建行政楼", []),
    ],
)
def test_short_names_of_banks_are_no_parts_of_other_words(text: str, said: list[str]) -> None:
    assert [name for name in ("工行", "农行", "建行", "交行", "招行") if speaks_of(text, name)] == said
