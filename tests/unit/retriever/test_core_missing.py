"""What a question asks about and no stored document has: a company, a period, what is new."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from random import Random

import pytest
from quelea_fintext.notices import NoteReason
from quelea_retriever.core.model import Candidate, DocumentFacts, PassageRecord, Reading
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query, settle_period, settle_subject
from support.filings import CATALOGUE, FILINGS, NEWS, TODAY, filing


def groups(question: str, catalogue: Catalogue = CATALOGUE, as_of: date = TODAY) -> list[list[str]]:
    return [list(group) for group in read_query(question, catalogue, as_of).groups]


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
    assert reading.fallback.startswith("the newest stored 10-Q of Merlin is for the period ended ")
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


def test_a_period_that_is_asked_of_another_company_is_not_missed() -> None:
    catalogue = Catalogue.build(
        [*quarters("Merlin", ("FY2023 Q1", "2023-03-31")), *quarters("Kestrel", ("FY2023 Q2", "2023-06-30"))]
    )
    apart = read_query("Compare Merlin's sales in Q1 2023 with Kestrel's sales in Q2 2023", catalogue, TODAY)
    assert apart.fallback == ""
    both = read_query("Compare Merlin's and Kestrel's sales in Q1 2023 and Q2 2023", catalogue, TODAY)
    assert "no filing of Merlin for 2023 Q2" in both.fallback
    assert "no filing of Kestrel for 2023 Q1" in both.fallback
    own = read_query("Compare Merlin's sales in Q1 2023 and Q3 2023 with Kestrel's in Q2 2023", catalogue, TODAY)
    assert own.fallback == "no filing of Merlin for 2023 Q3"


def test_a_year_that_the_next_filing_prints_beside_its_own_is_not_missing() -> None:
    catalogue = Catalogue.build(quarters("Merlin", ("FY2024", "2024-12-31"), form="10-K"))
    for question, said in (
        ("How did Merlin's revenue change from 2023 to 2024?", ""),
        ("How did Merlin's revenue change from 2019 to 2024?", "no filing of Merlin for 2019, 2020, 2021"),
    ):
        assert read_query(question, catalogue, TODAY).fallback == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("中国神华2022年的煤炭产量", "中国神华"),
        ("NVDA的毛利率是多少", "英伟达"),  # a ticker: the name in the language of the question
        ("Tesla的毛利率是多少", "Tesla"),
        ("tesla的毛利率是多少", "Tesla"),
        ("What did Tesla spend on research?", "Tesla"),
        ("How much did Google spend on TAC?", "Alphabet"),
        ("永安药业2020年营业收入是多少", "永安药业"),
    ],
)
def test_a_note_calls_a_missing_company_in_the_language_of_the_question(question: str, said: str) -> None:
    reading = read_query(question, CATALOGUE, TODAY)
    assert [note.companies for note in reading.notes] == [(said,)]
    assert reading.text == said


def test_notes_of_stored_companies_call_them_as_the_question_does() -> None:
    catalogue = Catalogue.build([*quarters("Apple", ("FY2023 Q3", "2023-07-01")), *KESTREL])
    gone = read_query("苹果2019年第二季度的营收", catalogue, TODAY)
    assert gone.companies == ("Apple",)
    assert [note.companies for note in gone.notes] == [("苹果",)]
    assert read_query("英伟达2023年三季度营收", catalogue, TODAY).companies == ("NVIDIA",)
    beside = read_query("比较苹果与特斯拉2023年第三财季的营收", catalogue, TODAY)
    assert ("特斯拉",) in [note.companies for note in beside.notes]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What was Nvidia's revenue in Q3 2023?", "NVIDIA"),
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


def test_flags_of_time() -> None:
    assert read_query("Zebra's latest 10-Q", CATALOGUE, TODAY).asks_latest
    assert read_query("近期央行动向", CATALOGUE, TODAY).asks_latest
    assert not read_query("Zebra Q3 2023", CATALOGUE, TODAY).asks_latest


def candidate(text: str, company: str = "", document: str = "d", **facts: str) -> Candidate:
    passage = PassageRecord(f"{document} {text}", document, 0, 1, 0, len(text), text)
    return Candidate(passage, DocumentFacts(document, company=company, **facts), 0.8, 1.0)


def settle(question: str, *candidates: Candidate, catalogue: Catalogue = CATALOGUE) -> tuple[bool, list[str]]:
    """(whether the company is missing, the texts that are left)."""
    reading, kept = settle_subject(question, read_query(question, catalogue, TODAY), candidates)
    return reading.company_missing, [one.passage.text for one in kept]


def test_found_news_takes_missing_back() -> None:
    question, news = "英伟达近期股价为何上涨", Catalogue.build(NEWS)
    assert settle(question, candidate("存款准备金率"), catalogue=news) == (True, ["存款准备金率"])
    assert settle(question, candidate("英伟达股价上涨3%"), catalogue=news) == (False, ["英伟达股价上涨3%"])
    # Another company's filing that mentions it is not about it.
    assert settle(question, candidate("Competitors: NVIDIA", "Intel"), catalogue=news)[0]


def test_a_product_taken_for_a_company() -> None:
    question = "What was Nimbus's revenue growth?"
    assert settle(question, candidate("revenue grew 3%", "Zebra")) == (True, ["revenue grew 3%"])
    told = candidate("Nimbus revenue grew 27%", "Zebra")
    assert settle(question, told, candidate("revenue grew 3%", "Zebra")) == (False, ["Nimbus revenue grew 27%"])


@pytest.mark.parametrize(("asked", "missing"), [("in Q2 2023", False), ("in Q1 2016", True), ("", False)])
def test_a_products_period_is_its_companys(asked: str, missing: bool) -> None:
    question = f"What was Nimbus's revenue growth {asked}?"
    told = candidate("Nimbus revenue grew 27%", "Zebra")
    before = read_query(question, CATALOGUE, TODAY)
    after, kept = settle_subject(question, before, [told])
    reading = settle_period(question, before, after, kept, CATALOGUE, TODAY)
    assert (reading.period_missing, bool(reading.notes)) == (missing, missing)
    others = [told, candidate("Nimbus revenue fell", "Heron")]
    assert not settle_period(question, before, after, others, CATALOGUE, TODAY).period_missing


TABLE = "Total net sales\t81,797\t82,959"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "question",
    [
        "What were {}'s net sales?",
        "What were the net sales of {}?",
        "How much did {} report as net sales?",
        "Which net sales did {} have in the third quarter?",
        "net sales, {}",
    ],
)
def test_figures_of_another_company_are_no_evidence(question: str, seed: int) -> None:
    """The name is in nobody's list, and one document speaks of it without its figures."""
    rnd = Random(seed)
    name = "".join(rnd.choice("BDFGKLMNPRSTVZ") + rnd.choice("aeiou") for _ in range(3)).capitalize() + "x"
    prose = candidate(f"The revenue of {name} rose in the last quarter.", document="note")
    other = candidate(TABLE, "Zebra", document="filing")
    missing, left = settle(question.format(name), other, prose)
    assert (missing, left) == (False, [prose.passage.text])


def test_what_a_stored_companys_documents_name_is_theirs() -> None:
    question = "What was the operating income of the Americas?"
    rows = [candidate("Americas\t11,000", "Zebra"), candidate("Operating income\t20,000", "Zebra")]
    news = candidate("Elections in the Americas", document="news")
    assert settle(question, *rows, news)[1] == [one.passage.text for one in (*rows, news)]


@pytest.mark.parametrize("question", ["What were Castrix's net sales?", "What were the net sales of Castrix?"])
def test_a_document_that_names_its_company_oddly_is_still_its_own(question: str) -> None:
    table = candidate(TABLE, "Castrix<b>", document="odd")
    other = candidate("Total net sales\t5\t6", "Zebra", document="filing")
    assert settle(question, other, table) == (False, [TABLE])


REPORT = candidate("主要风险：原材料价格波动、应收账款回收", "四方科技", "report", language="zh")
RISKS = candidate("Risk factors: competition, use of AI", "HubSpot", "10-K", language="en")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("安靠智电面临哪些风险？", "安靠智电"),  # of the list
        ("请介绍海翔药业", "海翔药业"),
        ("What risks does 安靠智电 face?", "安靠智电"),
        ("瑞靠智电面临哪些风险？", "瑞靠智电"),  # of no list
        ("会计师对瑞靠智电出具了什么意见？", "瑞靠智电"),
        ("What risks does 瑞靠智电 face?", "瑞靠智电"),
    ],
)
def test_a_chinese_name_that_nothing_stored_holds(question: str, name: str) -> None:
    reading, _ = settle_subject(question, read_query(question, CATALOGUE, TODAY), [REPORT])
    assert reading.company_missing
    assert reading.companies == reading.missing_names == (name,)
    assert [(note.reason, note.companies) for note in reading.notes] == [(NoteReason.COMPANY_NOT_STORED, (name,))]


@pytest.mark.parametrize(
    "held",
    [
        candidate("瑞靠智电今日发布公告", document="note", language="zh"),
        candidate("靠智与客户签约", "四方科技", "report 2", language="zh"),  # where the word ends is a guess
        candidate("瑞士可靠的智能电网", document="full", language="zh"),  # which it may abbreviate
        candidate("公告", document="titled", title="瑞靠智电：年度报告", language="zh"),
    ],
)
def test_a_chinese_name_that_something_stored_holds(held: Candidate) -> None:
    assert not settle("瑞靠智电面临哪些风险？", REPORT, held)[0]


def test_of_a_chinese_name_that_only_news_hold_others_figures_are_no_evidence() -> None:
    news = candidate("瑞靠智电今日发布公告", document="note", language="zh")
    assert settle("瑞靠智电面临哪些风险？", REPORT, news) == (False, [news.passage.text])


@pytest.mark.parametrize("year", ["2021", "2010"])
def test_the_one_stored_company_is_not_taken_for_another(year: str) -> None:
    catalogue = Catalogue.build([filing("四方科技", "603339", "FY2021", "2021-12-31", form="年度报告")])
    question = f"瑞靠智电在{year}年遇到哪些困难？"
    before = read_query(question, catalogue, TODAY)
    assert before.companies == ("四方科技",)  # of periods, whoever is asked about
    reading, _ = settle_subject(question, before, [REPORT])
    assert (reading.companies, reading.company_missing, reading.period_missing) == (("瑞靠智电",), True, False)
    customer = candidate("客户：瑞靠智电", "四方科技", "report", language="zh")
    assert settle_subject(question, before, [REPORT, customer]) == (before, [REPORT, customer])


def test_documents_in_another_language_write_a_name_otherwise() -> None:
    assert settle("瑞靠智电面临哪些风险？", RISKS) == (False, [RISKS.passage.text])
    both = [RISKS, REPORT, candidate("瑞靠智电今日发布公告", document="note", language="zh")]
    for some in (both[:2], both):  # may be 赛默飞, whose filing says Thermo Fisher
        assert settle("瑞靠智电面临哪些风险？", *some) == (False, [one.passage.text for one in some])
    assert settle("安靠智电面临哪些风险？", *both)[0]  # a listed one's reports would be in Chinese


@pytest.mark.parametrize(
    "question",
    [
        "这一政策对市场有何影响？",
        "净推荐值是多少？",
        "麒麟电池的收入是多少？",  # both are words
        "期权卖出开仓是什么？",  # of two letters
        "瑞靠智電面臨哪些風險？",  # traditional letters, of which the dictionary has few
        "太阳能行业有哪些风险？",  # companies are called so too
        "出版传媒行业有哪些风险？",
        "盐田港的吞吐量是多少？",
    ],
)
def test_chinese_words_that_are_no_missing_name(question: str) -> None:
    assert not settle(question, RISKS, REPORT)[0]


def test_of_a_pasted_page_the_first_names_are_looked_for() -> None:
    question = "、".join(f"瑞{one}智电" for one in "靠翔泓康达远盛隆泰恒宏丰") + "面临哪些风险？"
    reading, _ = settle_subject(question, read_query(question, CATALOGUE, TODAY), [REPORT])
    assert reading.company_missing
    assert 1 < len(reading.companies) <= 8


def test_full_width_letters_are_read_as_usual() -> None:
    assert read_query("ＴＣＬ科技面临哪些风险？", CATALOGUE, TODAY).companies == ("TCL科技",)


def test_the_list_of_companies_names_a_stored_one_by_its_code() -> None:
    report = filing("江苏安靠智能输电工程科技股份有限公司", "300617", "FY2019", "2019-12-31", form="年度报告")
    reading = read_query("安靠智电面临哪些风险？", Catalogue.build([report]), TODAY)
    assert not reading.company_missing
    assert reading.document_ids == (report.id,)
    for other in ("Hanyang Cable", "某某优势增长混合"):  # codes of other countries and of funds are numbers too
        own = filing(other, "300617", "FY2019", "2019-12-31", form="10-K")
        assert read_query("安靠智电面临哪些风险？", Catalogue.build([own]), TODAY).company_missing


@pytest.mark.parametrize(
    "question", ["", "   ", "?", "Q3", "2023", "A" * 50_000, "\x00\ud800"[:1], "。。。", "$AAPL", "(AAPL)"]
)
def test_ragged_questions(question: str) -> None:
    assert isinstance(read_query(question, CATALOGUE, TODAY), Reading)
    assert read_query(question, Catalogue.build([]), TODAY).groups == ()
