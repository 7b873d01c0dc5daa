"""Which filings a question is read to ask about."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from quelea_retriever.core.model import Candidate, DocumentFacts, PassageRecord, Period, Reading
from quelea_retriever.core.reading import MAX_GROUPS, Catalogue, confirm_missing, read_query

TODAY = date(2026, 11, 21)


def filing(
    company: str,
    ticker: str,
    label: str,
    end: str,
    *,
    file_label: str = "",
    form: str = "10-Q",
    aliases: tuple[str, ...] = (),
) -> DocumentFacts:
    year, _, quarter = label.removeprefix("FY").partition(" Q")
    return DocumentFacts(
        id=f"{ticker} {end}",
        title=f"{company} {form}",
        language="zh" if ticker.isdigit() else "en",
        company=company,
        company_aliases=aliases,
        ticker=ticker,
        document_type=form,
        period=Period(label, int(year), int(quarter or 0), end, file_label),
    )


# Zebra's year ends in December, Harbor's in January: its fiscal year runs ahead of the calendar.
ZEBRA = [
    filing("Zebra", "ZBRA", f"FY{year} Q{quarter}", end, aliases=("Zebra Technologies Corporation",))
    for year, quarter, end in (
        (2022, 3, "2022-10-01"),
        (2023, 1, "2023-04-01"),
        (2023, 2, "2023-07-01"),
        (2023, 3, "2023-09-30"),
    )
]
ZEBRA_YEAR = filing("Zebra", "ZBRA", "FY2022", "2022-12-31", form="10-K")
HARBOR = [
    filing("Harbor", "HRBR", "FY2024 Q1", "2023-04-30", file_label="2023 Q1"),
    filing("Harbor", "HRBR", "FY2024 Q2", "2023-07-30", file_label="2023 Q2"),
    filing("Harbor", "HRBR", "FY2023 Q3", "2022-10-30", file_label="2022 Q3"),
]
APPLE = [filing("Apple", "AAPL", "FY2023 Q3", "2023-07-01"), filing("Apple", "AAPL", "FY2023 Q2", "2023-04-01")]
SHARP = [
    filing("海天味业", "603288", "FY2020", "2020-12-31", form="年度报告", aliases=("佛山市海天调味食品股份有限公司",)),
    filing("海天味业", "603288", "FY2019", "2019-12-31", form="年度报告", aliases=("佛山市海天调味食品股份有限公司",)),
]
NEWS = [
    DocumentFacts(
        "news 1", title="苹果两日市值蒸发1900亿美元", language="zh", document_type="news", published="2023-09-08"
    ),
    DocumentFacts("news 2", title="央行下调存款准备金率", language="zh", document_type="news", published="2023-09-14"),
]
FILINGS = [*ZEBRA, ZEBRA_YEAR, *HARBOR, *APPLE, *SHARP]
CATALOGUE = Catalogue.build(FILINGS)


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


def test_latest_is_seen_from_the_day_of_the_question() -> None:
    assert groups("Zebra's latest quarter", as_of=date(2023, 8, 1)) == [["ZBRA 2023-07-01"]]


def test_missing_period_is_said() -> None:
    without = Catalogue.build([d for d in FILINGS if d.id != "AAPL 2023-07-01"])
    reading = read_query("What was Apple's revenue in Q3 2023?", without, TODAY)
    assert reading.period_missing
    assert not reading.company_missing
    assert reading.fallback == "no filing of Apple for 2023 Q3; searched all of Apple"
    assert reading.document_ids == ("AAPL 2023-04-01",)


def quarters(company: str, *ends: tuple[str, str], form: str = "10-Q") -> list[DocumentFacts]:
    return [filing(company, company[:4].upper(), label, end, form=form) for label, end in ends]


KESTREL = quarters("Kestrel", ("FY2023 Q1", "2023-03-31"), ("FY2023 Q2", "2023-06-30"), ("FY2023 Q3", "2023-09-30"))
LATEST = "What is {}'s latest gross margin?"


@pytest.mark.parametrize(
    "own",
    [
        quarters("Merlin", ("FY2023 Q1", "2022-12-31"), ("FY2023 Q2", "2023-04-01")),  # July's is not there
        quarters("Merlin", ("FY2022 Q2", "2022-06-30"), ("FY2022 Q3", "2022-09-30")),  # a whole year is not
    ],
)
@pytest.mark.parametrize("question", [LATEST, "Compare {}'s latest sales to previous quarters", "{}最新季报净利润"])
def test_latest_is_probably_not_stored(own: list[DocumentFacts], question: str) -> None:
    alone = read_query(question.format("Merlin"), Catalogue.build(own), TODAY)
    reading = read_query(question.format("Merlin"), Catalogue.build([*own, *KESTREL]), TODAY)
    assert reading.groups == alone.groups  # still the newest there is
    assert reading.period_missing
    assert not alone.period_missing
    assert reading.fallback.startswith("the newest stored 10-Q of Merlin is for the quarter ended ")
    assert reading.fallback.endswith("other companies' are newer, so its latest is probably not stored")


def test_latest_that_others_are_not_ahead_of() -> None:
    def missing(own: list[DocumentFacts], others: list[DocumentFacts] = KESTREL, as_of: date = TODAY) -> bool:
        return read_query(LATEST.format("Merlin"), Catalogue.build([*own, *others]), as_of).period_missing

    behind = quarters("Merlin", ("FY2023 Q1", "2022-12-31"), ("FY2023 Q2", "2023-04-01"))
    assert missing(behind)
    assert not missing(behind, as_of=date(2023, 7, 10))  # the newer ones are not out on that day
    assert not missing(behind[:1])  # of one filing it is not known when the next is due
    assert not missing(quarters("Merlin", ("FY2023 Q1", "2023-04-30"), ("FY2023 Q2", "2023-07-29")))  # 63 days
    # After the third quarter's comes the annual report: the next of its kind is half a year away.
    assert not missing(quarters("Merlin", ("FY2023 Q2", "2023-02-28"), ("FY2023 Q3", "2023-05-31")))
    assert not missing(behind, [replace(d, document_type="6-K") for d in KESTREL])
    # The year that ended in June is followed by one that has not ended yet.
    years = quarters("Merlin", ("FY2021", "2021-06-30"), ("FY2022", "2022-06-30"), form="10-K")
    assert not missing(years, quarters("Kestrel", ("FY2022", "2022-12-31"), form="10-K"))
    assert missing(years, quarters("Kestrel", ("FY2023", "2023-12-31"), form="10-K"))
    # A newer annual report holds what its fourth quarter lacks.
    assert not missing([*behind, *quarters("Merlin", ("FY2023", "2023-09-30"), form="10-K")])


def test_latest_of_two_companies_one_behind() -> None:
    behind = quarters("Merlin", ("FY2023 Q1", "2022-12-31"), ("FY2023 Q2", "2023-04-01"))
    reading = read_query("Merlin against Kestrel: latest sales", Catalogue.build([*behind, *KESTREL]), TODAY)
    assert "of Merlin" in reading.fallback
    assert not reading.period_missing  # the other one's is there


def test_half_missing_comparison_is_answered_and_said() -> None:
    reading = read_query("Apple Q3 2023 against Q1 2023", CATALOGUE, TODAY)
    assert reading.groups == (("AAPL 2023-07-01",),)
    assert reading.fallback == "no filing of Apple for 2023 Q1"
    assert not reading.period_missing


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What was Nvidia's revenue in Q3 2023?", "NVIDIA"),
        ("英伟达2023年三季度营收", "NVIDIA"),
        ("AMEX card fees in 2022", "American Express"),
        ("Coca Cola net income 2021", "Coca-Cola"),
        ("How much did Google spend on TAC?", "Alphabet"),
        ("MSFT gross margin", "Microsoft"),
        ("What was Zyxel's net income in 2022?", "Zyxel"),
        ("Zyxel Corp revenue", "Zyxel"),
        ("北大荒股份有限公司的营业收入", "北大荒股份有限公司"),
        ("2020年永安药业营业收入是多少", "永安药业"),
    ],
)
def test_missing_company(question: str, name: str) -> None:
    reading = read_query(question, CATALOGUE, TODAY)
    assert reading.company_missing
    assert reading.companies == (name,)
    assert reading.groups == ()
    assert name in reading.fallback


@pytest.mark.parametrize(
    "question",
    [
        "What is the effective tax rate?",
        "In which year was Distribution the largest?",
        "What was the percentage change in net income between 2018 and 2019?",
        "What target did management set for the gap?",
        "How does a shell company differ from a block trade?",
        "Does the Federal Reserve's balance sheet matter?",
        "What did the Board report?",
        "如何应对高通胀？",
        "北京东城区的房价",
        "如何化解当前经济的主要矛盾？",
        "苹果期货价格为何上涨？",
        "期权卖出开仓是什么？创业板期权的开仓方式有哪些？",
        "2023年中国营业收入增长最快的行业",
        "公司2020年研发费用是多少",
        "Can a bank close my account?",
        "Is IT spending rising, and are all CEO pay ratios disclosed?",
        "The company targets net zero by 2030",
    ],
)
def test_no_company_is_read_where_none_is_named(question: str) -> None:
    reading = read_query(question, CATALOGUE, TODAY)
    assert not reading.company_missing
    assert reading.companies == ()
    assert reading.groups == ()


@pytest.mark.parametrize(
    "question",
    [
        "What does Zebra say about its 2030 goal?",
        "What are Zebra's notes due 2025?",
        "How did Zebra adopt ASU 2016-13?",
    ],
)
def test_a_year_that_is_no_period(question: str) -> None:
    reading = read_query(question, CATALOGUE, TODAY)
    assert not reading.period_missing
    assert len(reading.document_ids) == 5


def test_one_known_company_is_enough() -> None:
    reading = read_query("Does Zebra name Microsoft as a competitor in Q2 2023?", CATALOGUE, TODAY)
    assert reading.groups == (("ZBRA 2023-07-01",),)
    assert not reading.company_missing
    assert reading.fallback == "no document of Microsoft"


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


def test_flags_of_time() -> None:
    assert read_query("Zebra's latest 10-Q", CATALOGUE, TODAY).asks_latest
    assert read_query("近期央行动向", CATALOGUE, TODAY).asks_latest
    assert not read_query("Zebra Q3 2023", CATALOGUE, TODAY).asks_latest


def candidate(text: str, company: str = "") -> Candidate:
    return Candidate(PassageRecord("p", "d", 0, 1, 0, len(text), text), DocumentFacts("d", company=company), 0.8, 1.0)


def test_found_news_takes_missing_back() -> None:
    reading = read_query("英伟达近期股价为何上涨", Catalogue.build(NEWS), TODAY)
    assert reading.company_missing
    assert confirm_missing(reading, [candidate("存款准备金率")]).company_missing
    assert not confirm_missing(reading, [candidate("英伟达股价上涨3%")]).company_missing
    # Another company's filing that mentions it is not about it.
    assert confirm_missing(reading, [candidate("Competitors: NVIDIA", "Intel")]).company_missing


def test_a_product_taken_for_a_company() -> None:
    reading = read_query("What was Nimbus's revenue growth?", CATALOGUE, TODAY)
    assert reading.company_missing
    assert not confirm_missing(reading, [candidate("Nimbus revenue grew 27%", "Zebra")]).company_missing


@pytest.mark.parametrize(
    "question", ["", "   ", "?", "Q3", "2023", "A" * 50_000, "\x00\ud800"[:1], "。。。", "$AAPL", "(AAPL)"]
)
def test_ragged_questions(question: str) -> None:
    assert isinstance(read_query(question, CATALOGUE, TODAY), Reading)
    assert read_query(question, Catalogue.build([]), TODAY).groups == ()


def test_quarter_without_company_keeps_documents_whose_company_is_not_known() -> None:
    unsigned = replace(ZEBRA_YEAR, id="unsigned", company="", company_aliases=(), ticker="")
    ids = read_query(
        "Which revenue grew in the quarter ended July 1, 2023?", Catalogue.build([*FILINGS, unsigned]), TODAY
    ).document_ids
    assert set(ids) == {"ZBRA 2023-07-01", "AAPL 2023-07-01", "unsigned"}
