"""The words about a figure: whose it is, profit or loss, from and to, at least and at most, twice and by a third."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer


def unsupported(answer, *passages, question=""):
    report = check_answer(
        answer, [p if isinstance(p, CheckPassage) else CheckPassage(p) for p in passages], question=question
    )
    return [f.text for f in report.figures if f.verdict in UNSUPPORTED]


def owned(company, sales, debt):
    return CheckPassage(
        f"(EUR million)\n\t2024\t2023\nSales\t{sales}\t{sales - 150}\nBorrowings\t{debt}\t{debt + 40}",
        header=f"{company} · annual report · FY2024",
        document=company,
    )


MILL, DOCK = owned("Sagemill plc (SGM)", 1840, 520), owned("Drydock AG", 2615, 733)
STEEL = CheckPassage(
    "2025年上半年 单位：亿元\n项目\t本期\t上年同期\n营业收入\t71.3\t66.8", header="远山钢铁股份有限公司 · 半年报"
)
PAPER = CheckPassage("2025年上半年 单位：亿元\n项目\t本期\t上年同期\n营业收入\t38.4\t45.1", header="临江纸业 · 半年报")


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("Sagemill's sales were EUR 1,840 million in 2024.", []),
        ("SGM's sales were EUR 1,840 million in 2024.", []),
        ("Drydock's sales were EUR 1,840 million in 2024.", ["EUR 1,840 million"]),
        ("In 2024 Sagemill sold 1,840 million and Drydock 2,615 million.", []),
        ("In 2024 Sagemill sold 2,615 million and Drydock 1,840 million.", ["2,615 million", "1,840 million"]),
        ("Sagemill and Drydock had sales of 1,840 million and 2,615 million in 2024.", []),
        ("Drydock's sales rose 6.1% in 2024.", []),
        ("Sagemill's sales rose 6.1% in 2024.", ["6.1%"]),
        ("Sales were EUR 2,615 million in 2024.", []),
        ("远山钢铁营业收入为71.3亿元，临江纸业为38.4亿元。", []),
        ("远山钢铁营业收入为38.4亿元。", ["38.4亿元"]),
    ],
)  # fmt: skip
def test_a_figure_is_of_the_company_that_the_sentence_names(answer, flagged):
    assert unsupported(answer, MILL, DOCK, STEEL, PAPER) == flagged


def test_the_question_names_the_company_when_the_sentence_does_not():
    answer = "Sales were EUR 2,615 million in 2024."
    assert unsupported(answer, MILL, DOCK, question="What were Drydock's sales?") == []
    assert unsupported(answer, MILL, DOCK, question="What were Sagemill's sales?") == ["EUR 2,615 million"]


def test_a_passage_that_mentions_the_company_may_speak_of_it():
    report = CheckPassage("Our rival Sagemill sold 97 mills.", header="Drydock AG · annual report")
    assert unsupported("Sagemill sold 97 mills.", MILL, report) == []


def test_columns_for_this_period_and_the_last_say_which_way_it_went():
    assert unsupported("临江纸业营业收入同比下降14.9%。", STEEL, PAPER) == []
    assert unsupported("临江纸业营业收入同比增长14.9%。", STEEL, PAPER) == ["14.9%"]


FLOW = (
    "($ in millions, except per share data)\n\t2024\t2023\nCash provided by (used in) operations\t(31.4)\t18.9\n"
    "Net loss\t(12.6)\t(20.3)\nIncome (loss) from leasing\t4.2\t(9.8)\nLoss per share\t(0.37)\t(0.61)\n"
    "Sales, north\t310.5\t290.1\nSales, south\t127.7\t140.6"
)


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("Operations used $31.4 million of cash in 2024.", []),


        ("The net loss was $12.6 million in 2024.", []),

        ("Leasing made a profit of $4.2 million in 2024.", []),

        ("The net loss narrowed to $12.6 million in 2024 from $20.3 million a year earlier.", []),

        ("The loss per share was $0.37 in 2024.", []),
        ("Sales in the south were $127.7 million in 2024.", []),
        ("Sales in the south were $310.5 million in 2024.", ["$310.5 million"]),
    ],
)  # fmt: skip
def test_what_a_cell_is_called_decides_its_sign_and_its_row(answer, flagged):
    assert unsupported(answer, FLOW) == flagged


PROSE = (
    "Stock fell by a quarter, from $96 million to $72 million. Orders more than doubled to 5.3 million. "
    "Prices stayed at $14.20 a ton. The pre-tax loss was $61 million, against a profit of $44 million a year earlier. "
    "Spending of $150 million to $165 million is planned; the plant employs 9,350 people and closes for six days. "
    "Margins fell by half a percentage point. Volume was three times that of the pilot."
)


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("Stock fell by a quarter to $72 million.", []),

        ("Orders more than doubled to 5.3 million.", []),
        ("Prices stayed at $14.20 a ton.", []),

        ("The pre-tax loss was $61 million.", []),

        ("Spending of $150 million to $165 million is planned.", []),
        ("Spending of $150 million to $172 million is planned.", ["$172 million"]),

        ("The plant employs more than 9,000 people and closes for 6 days.", []),
        ("The plant employs more than 10,000 people.", ["10,000"]),
        ("The plant employs nearly 9,400 people.", []),
        ("The plant employs nearly 9,000 people.", ["9,000"]),
        ("Margins fell by 0.5 percentage points.", []),
        ("Margins fell by 5 percentage points.", ["5 percentage points"]),
        ("Volume was three times that of the pilot.", []),
        ("Volume was four times that of the pilot.", ["four times"]),
    ],
)  # fmt: skip
def test_words_around_figures_of_prose(answer, flagged):
    assert unsupported(answer, PROSE) == flagged


QUARTERS = "单位：万元\n项目\t第一季度\t第二季度\t第三季度\t第四季度\n营业收入\t1,204\t1,377\t1,451\t1,688"


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("第三季度营业收入为1,451万元。", []),
        ("第二季度营业收入为1,451万元。", ["1,451万元"]),
    ],
)
def test_quarters_are_told_apart(answer, flagged):
    assert [text for text in unsupported(answer, QUARTERS) if "季度" not in text and "年" not in text] == flagged


def test_nine_months_are_not_the_third_quarter():
    passage = "公司8月2日公告，前三季度营业收入88.6亿元，其中第三季度27.9亿元。"
    assert unsupported("前三季度营业收入88.6亿元，第三季度27.9亿元。", passage) == []
    assert unsupported("第三季度营业收入88.6亿元。", passage) == ["88.6亿元"]


def test_a_minus_sign_behind_a_chinese_word_makes_negative():
    table = "单位：万元\n项目\t2024年\t2023年\n经营现金流净额\t-5,310\t2,204"
    assert unsupported("2024年经营现金流净额为-5,310万元。", table) == []
    assert unsupported("2023年经营现金流净额为-2,204万元。", table) == ["-2,204万元"]


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("Sales of Norbert Mills rose from $26,974 million in 2023 to $60,922 million.", []),
        ("In 2024 sales rose, from $26,974 million in 2023 to $60,922 million.", []),
        ("销售额由2023年的269.74亿美元增至609.22亿美元。", []),
        ("销售额由2023年的609.22亿美元降至269.74亿美元。", ["609.22亿美元", "269.74亿美元"]),
    ],
)
def test_what_it_came_to_is_not_of_the_time_that_it_came_from(answer, flagged):
    evidence = "Sales for 2024 were $60,922 million, up from $26,974 million in 2023."
    assert unsupported(answer, evidence) == flagged


def test_a_drawdown_is_said_without_its_sign() -> None:
    for evidence in ("Maximum drawdown -16.20%, annual return 12.4%", "max_drawdown\t−16.20%\nannual_return\t12.40%"):
        (figure,) = check_answer("The maximum drawdown was 16.20%.", [CheckPassage(evidence)]).figures
        assert figure.verdict == "supported"
    (figure,) = check_answer("最大回撤为16.20%。", [CheckPassage("最大回撤\t-16.20%\n年化收益\t12.40%")]).figures
    assert figure.verdict == "supported"


PRICES = "date\tclose\n2024-10-01\t99.52\n2024-11-18\t97.00\n2024-11-19\t89.70"
"""Its columns carry no unit."""


@pytest.mark.parametrize(
    "answer",
    [
        "The price fell from 99.52 to 89.70 on 2024-11-19.",
        "It fell from 99.52 USD to 89.70 USD on 2024-11-19.",
        "By November 19, 2024 it had fallen from a peak of $99.52 to $89.70.",
        "股价在2024-11-19从99.52跌至89.70。",
        "股价从99.52元跌至2024年11月19日的89.70元。",
    ],
)
def test_a_figure_that_another_came_from_is_not_of_the_time_of_the_other(answer: str) -> None:
    assert unsupported(answer, PRICES) == []


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("The price fell from 99.52 to 97.00 on 2024-11-19.", ["97.00"]),
        ("股价在2024-11-19从99.52跌至97.00。", ["97.00"]),
        ("The price fell from 98.52 to 89.70 on 2024-11-19.", ["98.52"]),
        ("It fell from 99.52 on 2024-11-18 to 89.70 on 2024-11-19.", ["99.52"]),
    ],
)
def test_the_figure_it_came_to_is_of_that_time_and_both_must_stand_in_the_evidence(
    answer: str, flagged: list[str]
) -> None:
    assert unsupported(answer, PRICES) == flagged


@pytest.mark.parametrize(
    "evidence",
    ["max_drawdown: -16.20", "max_drawdown\t-16.20\nsharpe\t0.81", '{"max_drawdown": -16.2, "sharpe": 0.81}'],
)
def test_a_bare_number_under_its_name_may_be_a_percentage(evidence: str) -> None:
    assert unsupported("The strategy had a maximum drawdown of 16.20%.", evidence) == []
    assert unsupported("最大回撤为16.20%。", evidence) == []
    assert unsupported("The strategy had a maximum drawdown of 16.30%.", evidence) == ["16.30%"]


def test_a_number_that_counts_money_or_whole_things_is_no_percentage() -> None:
    for evidence in ("(in millions)\nRevenue\t16.2\t15.1", "Revenue\t$16.2\t$15.1", "Stores\t162\t151"):
        figure = "162%" if "Stores" in evidence else "16.2%"
        assert unsupported(f"It was {figure}.", evidence) == [figure]
