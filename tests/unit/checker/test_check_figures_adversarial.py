"""Answers made false by hand, in both languages, on filings made up for this test; and true ones beside them."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

HARBOUR = CheckPassage(
    "Harbour Robotics plc\nConsolidated income statement (£ in millions, except per share amounts)\n"
    "\tYear ended 31 March 2025\tYear ended 31 March 2024\n"
    "Revenue\t£ 4,318.6\t£ 3,907.2\n"
    "Cost of sales\t(2,590.3)\t(2,411.9)\n"
    "Gross profit\t1,728.3\t1,495.3\n"
    "Operating loss\t(64.7)\t(118.4)\n"
    "Gross margin\t40.0%\t38.3%\n"
    "Diluted loss per share\t£ (0.42)\t£ (0.91)",
    header="Harbour Robotics (HRB) · annual report · FY2025 · year ended March 31, 2025",
    published="2025-05-20",
    document="harbour",
)
HARBOUR_PROSE = CheckPassage(
    "Headcount rose from 11,240 to 12,905 during the year. We expect capital expenditure of between £310 million and "
    "£340 million in fiscal 2026. Net debt of £512 million (31 March 2024: £498 million) was 1.4 times "
    "adjusted EBITDA. Twelve percent of revenue came from services.",
    header="Harbour Robotics (HRB) · annual report · FY2025 · year ended March 31, 2025 · Outlook",
    published="2025-05-20",
    document="harbour",
)
LIJIANG = CheckPassage(
    "漓江新材料股份有限公司 2024年年度报告\n单位：亿元\n项目\t2024年\t2023年\n营业收入\t86.42\t71.35\n"
    "归母净利润\t-3.18\t5.07\n研发费用\t6.29\t5.44\n经营活动现金流净额\t9.83\t-1.26",
    header="漓江新材料 · 年度报告 · FY2024 · 2024年12月31日",
    published="2025-04-18",
    document="lijiang",
)
LIJIANG_PROSE = CheckPassage(
    "2024年公司营业收入86.42亿元，同比增长21.12%；产能利用率由百分之七十八提高到百分之八十五。全年出口约三成，员工4,860人。",
    header="漓江新材料 · 年度报告 · FY2024 · 2024年12月31日",
    published="2025-04-18",
    document="lijiang",
)
ALL = [HARBOUR, HARBOUR_PROSE, LIJIANG, LIJIANG_PROSE]


def unsupported(answer):
    return [f.text for f in check_answer(answer, ALL).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    "answer",
    [
        "Harbour's revenue was £4,318.6 million in the year ended 31 March 2025.",
        "Revenue came to £4.32 billion, up 10.5% from £3.91 billion in the year ended 31 March 2024.",
        "The operating loss narrowed to £64.7 million in fiscal 2025.",
        "Gross profit was 1,728.3 million, a gross margin of 40.0%.",
        "The diluted loss per share was £0.42.",
        "Headcount rose to 12,905.",
        "Capital expenditure of £310 to £340 million is expected in fiscal 2026.",
        "Net debt was £512 million at 31 March 2025.",
        "12% of revenue came from services.",
        "漓江新材料2024年营业收入为86.42亿元，即864,200万元。",
        "2024年归母净利润亏损3.18亿元，而2023年盈利5.07亿元。",
        "产能利用率提高到85%，出口约30%，员工4860人。",
        "研发费用占营业收入的7.28%。",
    ],
)  # fmt: skip
def test_true_answers_pass(answer):
    assert unsupported(answer) == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        # one digit
        ("Harbour's revenue was £4,818.6 million.", "£4,818.6 million"),
        ("The operating loss was £64.1 million in fiscal 2025.", "£64.1 million"),
        ("The gross margin was 41.0%.", "41.0%"),
        ("Headcount rose to 12,915.", "12,915"),
        ("The diluted loss per share was £0.24.", "£0.24"),
        ("2024年营业收入为86.24亿元。", "86.24亿元"),
        ("员工共4,680人。", "4,680"),
        # scale
        ("Harbour's revenue was £4,318.6 billion.", "£4,318.6 billion"),
        ("Harbour's revenue was £4.32 million.", "£4.32 million"),
        ("Net debt was £512 thousand.", "£512 thousand"),
        ("2024年营业收入为86.42万元。", "86.42万元"),
        ("2024年营业收入为8,642万元。", "8,642万元"),
        # period, and periods that do not exist
        ("Revenue was £4,318.6 million in the year ended 31 March 2024.", "£4,318.6 million"),
        ("Revenue was £3,907.2 million in fiscal 2025.", "£3,907.2 million"),
        ("Revenue was £4,318.6 million in the quarter ended 30 September 2031.", "quarter ended 30 September 2031"),
        ("Harbour reported a gross profit of £1,728.3 million in Q7 2025 and Q4 2033.", "Q4 2033"),
        ("2023年营业收入为86.42亿元。", "86.42亿元"),
        ("2031年第四季度营业收入为86.42亿元。", "2031年第四季度"),
        # sign and direction
        ("Harbour made an operating profit of +£64.7 million, revenue was -£4,318.6 million.", "-£4,318.6 million"),
        ("Revenue fell 10.5% from the year ended 31 March 2024 to the year ended 31 March 2025.", "10.5%"),
        ("2024年营业收入同比下降21.12%。", "21.12%"),
        # currency
        ("Harbour's revenue was $4,318.6 million.", "$4,318.6 million"),
        ("Net debt was €512 million.", "€512 million"),
        ("2024年营业收入为86.42亿美元。", "86.42亿美元"),
        # figures in words
        ("Fifteen percent of revenue came from services.", "Fifteen percent"),
        ("产能利用率提高到百分之九十五。", "百分之九十五"),
        ("全年出口约五成。", "五成"),
        # ranges
        ("Capital expenditure of £310 to £380 million is expected.", "£380 million"),
        # computed, wrongly
        ("研发费用占营业收入的9.28%。", "9.28%"),
        ("Revenue grew by £421.4 million from the year ended 31 March 2024.", "£421.4 million"),
    ],
)  # fmt: skip
def test_corrupted_answers_are_caught(answer, text):
    assert text in unsupported(answer)


def test_a_statement_of_one_passage_holds_for_its_document_alone():
    table = "Trade payables\t2025\t2024\nSuppliers\t8,412\t7,930"
    note = CheckPassage("All tables are as follows (in thousands):", document="a")
    answer = "Suppliers were owed 8,412 million in 2025."
    (figure, _) = check_answer(answer, [CheckPassage(table, document="a"), note]).figures
    assert figure.verdict in UNSUPPORTED
    (figure, _) = check_answer(answer, [CheckPassage(table, document="b"), note]).figures
    assert figure.verdict == "supported"


@pytest.mark.parametrize(
    ("answer", "formula"),
    [
        ("The average of stores in 2024 was 435.5.", "= (451 + 420) ÷ 2"),
    ],
)
def test_computations_of_two_steps(answer, formula):
    table = CheckPassage(
        "Depot\t2024\t2023\t2022\nCurrent assets\t900\t650\t640\nCurrent liabilities\t600\t500\t490\n"
        "Number of stores\t451\t420\t398"
    )
    assert formula in [f.formula for f in check_answer(answer, [table]).figures]
