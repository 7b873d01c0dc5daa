"""Questions of analysts that once got another figure, or none."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_generator.core.model import Evidence, Quote, Task
from support.generator import lines_and_quotes

SEGMENTS = """Net revenue and operating income (loss) were as follows:
Three Months Ended\tSix Months Ended
(In Millions)\tJul 1, 2023\tJul 2, 2022\tJul 1, 2023\tJul 2, 2022
Net revenue:
Client Rendering
Desktop\t$ 2,370\t$ 2,289\t$ 4,249\t$ 4,930
Notebook\t3,896\t4,751\t7,303\t10,710
6,266\t7,040\t11,552\t15,640
Bulk Storage and AI\t4,004\t4,695\t7,722\t10,769
Total net revenue\t$ 10,270\t$ 11,735\t$ 19,274\t$ 26,409
Operating income (loss):
Client Rendering\t$ 1,039\t$ 876\t$ 1,559\t$ 3,598
Bulk Storage and AI\t(161)\t(80)\t(679)\t1,313"""
INCOME = """Three Months Ended\tSix Months Ended
(In Millions)\tJul 1, 2023\tJul 2, 2022\tJul 1, 2023\tJul 2, 2022
Net revenue\t$ 10,270\t$ 11,735\t$ 19,274\t$ 26,409
Gross profit\t4,638\t5,587\t8,646\t14,831
Net income (loss)\t$ 1,473\t$ (454)\t$ (1,295)\t$ 7,659"""
SUMMARY = """Three Months Ended
Jul 1, 2023\tApr 1, 2023\tJul 2, 2022\tQuarter-over-Quarter Change\tYear-over-Year Change
Gross margin\t70.1%\t64.6%\t43.5%\t5.5 pts\t26.6 pts"""
HEDGES = "We recorded net losses of $183 million on hedges in the second quarter of 2023 and of $91 million in 2022."
ZH_YEAR = """单位：元\t币种：人民币
本期比上年同期增减(%)\t2018年
主要会计数据\t2020年\t2019年
营业收入\t1,581,905,632.48\t1,126,782,253.35\t40.39\t1,896,608,630.19"""
ZH_QUARTERS = """九、 2020 年分季度主要财务数据
单位：元\t币种：人民币
第一季度（1-3 月份）\t第二季度（4-6 月份）\t第三季度（7-9 月份）\t第四季度（10-12 月份）
营业收入\t366,175,089.52\t258,180,404.26\t483,387,661.41\t474,162,477.29"""
ZH_STAFF = """母公司在职员工的数量\t42
主要子公司在职员工的数量\t1,402
在职员工的数量合计\t1,444"""
ZH_DYES = "报告期内染料板块实现销售收入13.18亿元，同比增长5.46%，公司营业收入合计29.41亿元。"


def merlin(number: int, text: str, *, table: bool = True) -> Evidence:
    header = "Merlin (MRLN) · 10-Q · FY2023 Q2 · quarter ended July 1, 2023 · MD&A"
    return Evidence(
        number, text, header=header, is_table=table, company="Merlin", period_end="2023-07-01",
        period_label="FY2023 Q2",
    )  # fmt: skip


def yuque(number: int, text: str, *, table: bool = True) -> Evidence:
    header = "云雀股份 (600001) · annual report · FY2020 · 2020年12月31日 · 第二节"
    return Evidence(
        number, text, header=header, is_table=table, company="云雀股份", period_end="2020-12-31", period_label="FY2020"
    )


def news(number: int, text: str) -> Evidence:
    return Evidence(number, text, header="国际联播 · news · 2023年9月15日", published="2023-09-15")


ENGLISH = tuple(
    merlin(number, text, table=text != HEDGES)
    for number, text in enumerate((HEDGES, INCOME, SUMMARY, SEGMENTS), start=1)
)


def ask(question: str, *evidence: Evidence) -> tuple[list[str], list[Quote]]:
    return lines_and_quotes(Task(question, evidence or ENGLISH, date(2023, 9, 1)))


def first(question: str, *evidence: Evidence) -> str:
    """The first line, without the row as printed."""
    return ask(question, *evidence)[0][1].split("from the row")[0].split("见表格行")[0]


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("BSAI revenue Q2 2023", "Net revenue – Bulk Storage and AI: 4,004"),
        ("What was the operating loss of Merlin's BSAI segment in Q2 2023?", "Bulk Storage and AI: (161)"),
        ("How much did Merlin sell in the second quarter of 2023?", "10,270"),
        ("What was Merlin's net loss in the first half of 2023?", "(1,295) (six months"),
        ("Did Merlin make a profit or a loss in the second quarter of 2022?", "(454)"),
        ("What was Merlin's net revenue in Q2 2022?", "11,735"),
        ("How did Merlin's gross margin percentage change in Q2 2023 compared with a year ago?", "= 26.6 percentage"),
    ],
)
def test_the_first_line_has_the_figure(question: str, figure: str) -> None:
    assert figure in first(question)


def test_fiscal_quarters_of_the_year_before_are_in_the_next_column() -> None:
    table = "Three Months Ended\nJuly 30, 2023\tJuly 31, 2022\n(In millions)\nRevenue\t$ 13,507\t$ 6,704"
    osprey = Evidence(
        1, table, header="Osprey (OSPR) · 10-Q · FY2024 Q2 · quarter ended July 30, 2023 · Statements", is_table=True,
        company="Osprey", period_end="2023-07-30", period_label="FY2024 Q2",
    )  # fmt: skip
    assert "6,704" in first("What was Osprey's revenue in the second quarter of fiscal 2023?", osprey)
    assert "13,507" in first("What was Osprey's revenue in the second quarter of fiscal 2024?", osprey)


def test_a_quarter_named_by_its_end_is_the_filings_own_whatever_its_fiscal_year_is_called() -> None:
    table = (
        "Three Months Ended\nSeptember 30, 2022\tSeptember 30, 2021\n(In millions)\nTotal revenue\t$ 50,122\t$ 45,317"
    )
    tern = Evidence(
        1, table, header="Tern (TRN) · 10-Q · FY2023 Q1 · quarter ended September 30, 2022 · Statements", is_table=True,
        company="Tern", period_end="2022-09-30", period_label="FY2023 Q1",
    )  # fmt: skip
    assert ": $ 50,122" in first("What was Tern's revenue in the September quarter of 2022?", tern)
    assert ": $ 45,317" in first("What was Tern's revenue in fiscal 2022 Q1?", tern)


@pytest.mark.parametrize(
    ("question", "figure"),
    [("云雀股份2019年的营业收入是多少？", "2,718"), ("云雀股份2020年的营业收入是多少？", "2,941")],
)
def test_the_year_before_is_the_one_before_this_period(question: str, figure: str) -> None:
    plain = yuque(1, "单位：元\n项目\t本期数\t上年同期数\n营业收入\t2,941,412.30\t2,718,608.51")
    assert figure in first(question, plain)


def test_heads_on_torn_lines_give_no_column_a_name() -> None:
    line = ask("云雀股份2020年的营业收入是多少？", yuque(1, ZH_YEAR))[0][1]
    assert line.startswith("表格行“营业收入 1,581,905,632.48")
    assert "：40.39" not in line


def test_the_year_comes_before_its_quarters_and_a_quarter_has_its_column() -> None:
    both = (yuque(1, ZH_QUARTERS), yuque(2, ZH_YEAR))
    assert "1,581,905,632.48" in first("云雀股份2020年的营业收入是多少？", *both)
    assert "483,387,661.41" in first("云雀股份2020年第三季度的营业收入是多少？", *both)


def test_together_they_are_as_many_as_the_row_says() -> None:
    assert "1,444" in ask("云雀股份2020年在职员工一共有多少人？", yuque(1, ZH_STAFF))[0][1]


@pytest.mark.parametrize(
    "question", ["云雀股份的新冠疫苗销售收入是多少？", "What was Merlin's vaccine revenue in Q2 2023?"]
)
def test_an_item_of_something_that_nothing_speaks_of_is_declined(question: str) -> None:
    evidence = (yuque(1, ZH_DYES, table=False),) if "云雀" in question else ENGLISH
    assert ask(question, *evidence) == ([], [])


def test_a_thing_that_is_spoken_of_is_not_declined() -> None:
    assert "13.18" in ask("云雀股份的染料销售收入是多少？", yuque(1, ZH_DYES, table=False))[0][1]


@pytest.mark.parametrize("question", ["x", "a b", "?"])
def test_letters_alone_ask_for_nothing(question: str) -> None:
    assert ask(question) == ([], [])


def test_what_speaks_of_another_than_the_one_that_is_named_is_not_quoted() -> None:
    rates = merlin(1, "Interest rate\t100 basis point increase in U.S. treasury interest rates\t(2,001)")
    bank = news(2, "欧洲央行连续第十次加息。欧洲央行14日决定将欧元区三大关键利率均上调25个基点。")
    question = "By how many basis points did the European Central Bank raise interest rates in September 2023?"
    lines, quotes = ask(question, rates, bank)
    assert "25个基点" in lines[1]
    assert {quote.number for quote in quotes} == {2}


def test_in_a_round_up_the_sentence_about_the_company_comes_first() -> None:
    roundup = news(1, "全球智能手机第三季度出货量达2.934亿部。三星出货量达5740万部。苹果紧随其后，出货量达5000万部。")
    assert "5000万部" in ask("2023年第三季度苹果的智能手机出货量是多少？", roundup)[0][1]


def test_how_many_is_answered_by_a_number_of_things_and_not_by_what_they_cost() -> None:
    pay = yuque(1, "项目\t本期发生额\t上期发生额\n研发人员薪酬\t4,903,214.60\t5,085,233.50")
    heads = yuque(2, "2019年\t2018年\n研发人员数量（人）\t74\t61\n研发人员数量占比\t11.51%\t10.70%")
    assert "74" in first("云雀股份有多少研发人员？", pay, heads)


def test_a_number_of_things_may_be_printed_in_thousands() -> None:
    table = "Three Months Ended\nJul 1, 2023\tJul 2, 2022\nVehicles delivered (in thousands)\t466.1\t254.7\n"
    passage = merlin(1, f"{table}Vehicle revenue\t20,419\t14,602")
    assert "466.1" in first("How many vehicles did Merlin deliver in the second quarter of 2023?", passage)


def test_money_in_how_much_money_is_not_what_is_asked_about() -> None:
    funds = merlin(1, "June 30, 2023\nMoney market funds\t27,899\t20,424")
    sales = merlin(2, "2023\t2022\nAdvertising services\t12,060\t9,548\nOnline stores\t57,267\t53,489")
    assert "12,060" in first("How much money did Merlin make from advertising in 2023?", funds, sales)


def test_a_name_written_together_is_the_companys() -> None:
    said = "Production of 4.6 million barrels per day increased by 272 thousand barrels per day."
    stated = Evidence(1, said, "Gray Falcon (GF) · 10-Q · FY2023 Q2", "", company="Gray Falcon Corporation")
    assert "4.6 million" in first(
        "How many barrels a day did GrayFalcon produce in the second quarter of 2023?", stated
    )


def test_another_companys_row_is_not_quoted_for_what_a_chinese_question_begins_with() -> None:
    other = yuque(1, "股东\t数量\t比例\n其他内资持股\t27,076,100\t1.68%")
    note = news(2, "华铁股份与麦格纳成立合资公司，其子公司持股50.1%，麦格纳持股49.9%。")
    for more in ((), (merlin(3, INCOME),)):  # a passage in English beside them changes nothing
        _, quotes = ask("华铁股份在与麦格纳的合资公司里持股多少？", other, note, *more)
        assert quotes and all(quote.number != 1 for quote in quotes)


def test_a_metric_of_a_part_is_computed_from_its_own_rows() -> None:
    lines, quotes = ask("What operating margin did Merlin's Bulk Storage and AI have in the second quarter of 2023?")
    assert "(−161) / 4,004 = −4.02%" in lines[1] and len(quotes) == 2


@pytest.mark.parametrize(
    "question",
    [
        "How did the operating margin of Merlin's Bulk Storage and AI change in the second quarter of 2023?",
        "Compare the operating margins of Merlin's Bulk Storage and AI in Q2 2023 and Q2 2022.",
        "What operating margin did Merlin have excluding Bulk Storage and AI in the second quarter of 2023?",
    ],
)
def test_one_margin_of_a_part_answers_no_other_question(question: str) -> None:
    assert "−4.02%" not in "\n".join(ask(question)[0])


def test_a_metric_of_the_whole_company_is_not_computed_from_a_parts_rows() -> None:
    lines, _ = ask("What operating margin did Merlin have in the second quarter of 2023?")
    assert "4,004" not in lines[1]
