"""What the extractive reader does with tables, headings, repeats and full names."""

import itertools
from datetime import date

from quelea_generator.core.extractive.question import Query, read_question
from quelea_generator.core.model import Evidence, Quote, Task
from support.generator import lines_and_quotes

HEADER = "Norbert Mills (NBM) · 10-Q · FY2024 Q3 · quarter ended March 30, 2024 · Statements of operations"


def norbert(number: int, text: str, *, is_table: bool = False, table_head: str = "") -> Evidence:
    return Evidence(
        number=number,
        text=text,
        header=HEADER,
        table_head=table_head,
        is_table=is_table,
        company="Norbert Mills",
        period_end="2024-03-30",
        period_label="FY2024 Q3",
    )


def ask(question: str, *evidence: Evidence) -> tuple[list[str], list[Quote]]:
    return lines_and_quotes(Task(question, evidence, date(2024, 6, 1)))


SEGMENTS = norbert(
    3,
    "Three Months Ended March 30,\n2024\t2023\nNet sales:\nOnline shops\t$ 40,100\t$ 39,200\n"
    "Mills\t20,300\t21,400\nWool\t11,500\t12,600\nYarn\t9,897\t9,759\nConsolidated\t$ 81,797\t$ 82,959",
    is_table=True,
    table_head="Net sales by product (in millions)",
)


def test_a_breakdown_is_answered_with_a_run_of_rows() -> None:
    lines, quotes = ask("What was the breakdown of net sales by product in Q3 2024?", SEGMENTS)
    run = next(quote for quote in quotes if "\n" in quote.text)
    assert SEGMENTS.text[run.start : run.end] == run.text
    assert run.text.count("\n") <= 3
    assert any("Online shops: $ 40,100; Mills: 20,300" in line and "in millions" in line for line in lines)


def test_a_table_of_another_period_does_not_answer() -> None:
    trailing = norbert(
        1,
        "Twelve Months Ended March 30,\n2023\t2024\nNet cash provided by operating activities\t54,671\t39,665",
        is_table=True,
    )
    quarter = norbert(
        2,
        "Three Months Ended March 30,\n2023\t2024\nNet cash provided by operating activities\t7,313\t11,404",
        is_table=True,
    )
    lines, quotes = ask("What was the operating cash flow in Q3 2024?", trailing, quarter)
    assert quotes[0].number == 2
    assert "11,404 (three months ended March 30, 2024)" in lines[1]


def test_a_near_repeat_takes_no_quote() -> None:
    first = norbert(1, "In May 2023, the Board approved an increase of $25 million to our share repurchase program.")
    again = norbert(2, "On May 9, 2023, our Board approved an increase of $25 million to the share repurchase program.")
    spent = norbert(3, "During the third quarter we repurchased 8.3 million shares of stock for $3.7 million in cash.")
    _, quotes = ask("Did Norbert Mills report share repurchases in Q3 2024?", first, again, spent)
    assert {quote.number for quote in quotes} >= {3}
    assert len({quote.number for quote in quotes} & {1, 2}) == 1


def test_no_column_is_named_where_change_stands_above_the_years() -> None:
    table = norbert(
        1,
        "Three Months Ended March 30,\tPercentage Change\tNine Months Ended March 30,\tPercentage Change\n"
        "2024\t2023\t2024\t2023\nResearch and development\t$ 6,844\t$ 5,758\t19%\t$ 13,472\t$ 11,357\t19%",
        is_table=True,
    )
    lines, _ = ask("How much did Norbert Mills spend on research and development in Q3 2024?", table)
    assert "Change" not in lines[1]
    assert "6,844 (three months ended March 30, 2024)" in lines[1]


def test_rows_of_one_label_are_told_apart_by_their_heading() -> None:
    table = norbert(
        1,
        "March 30,\t\n2024\t2023\nCurrent liabilities:\nTerm debt\t9,740\t11,128\n"
        "Non-current liabilities:\nTerm debt\t99,627\t98,959",
        is_table=True,
        table_head="(in millions)",
    )
    lines, quotes = ask("What was the term debt of Norbert Mills in Q3 2024, current and non-current?", table)
    assert len(quotes) == 2
    assert sorted(line.split(":")[0] for line in lines[1:]) == [
        "- Current liabilities – Term debt",
        "- Non-current liabilities – Term debt",
    ]


def test_a_heading_alone_is_no_answer() -> None:
    text = "NOTE 1 — ACCOUNTING POLICIES\nThe accounting policies of the Group did not change in 2024."
    _, quotes = ask("Did the accounting policies of Norbert Mills change?", norbert(1, text))
    assert [quote.text for quote in quotes] == ["The accounting policies of the Group did not change in 2024."]


def test_the_words_of_a_full_chinese_name_are_no_content() -> None:
    question = "2023年，南方诺博特毛纺科技股份有限公司的存货是多少？"
    named = Evidence(
        number=1, text="南方诺博特毛纺科技股份有限公司注册地址在利兹，该公司从事毛纺科技。", company="诺博毛纺"
    )
    stock = Evidence(number=2, text="截至2023年末，存货为1,581.93万元。", company="诺博毛纺")
    _, quotes = ask(question, named, stock)
    assert quotes[0].number == 2
    assert "毛纺" not in " ".join(word for unit in _read(question, named).facets for word in unit.own)


def _read(question: str, *evidence: Evidence) -> Query:
    return read_question(Task(question, evidence, date(2024, 6, 1)))


def test_quotes_of_one_passage_do_not_overlap() -> None:
    text = (
        "The Group is subject to legal proceedings and claims in the ordinary course of business. "
        "These legal proceedings and claims of the second quarter had no material impact on the Group. "
        "It reviews legal proceedings and claims at the end of each quarter."
    )
    _, quotes = ask("Describe the legal proceedings and claims of Norbert Mills and their impact.", norbert(1, text))
    spans = sorted((quote.start, quote.end) for quote in quotes)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_a_segments_row_is_not_taken_for_the_companys() -> None:
    """The label stands under several headings of one table: the heading says whose figure it is."""
    segments = norbert(
        4,
        "Three Months Ended\nMarch 30, 2024\tMarch 31, 2023\nNorth:\nNet sales\t$ 35,383\t$ 37,472\n"
        "South:\nNet sales\t$ 20,205\t$ 19,287\n",
        is_table=True,
    )
    written, _ = ask("What were the net sales of Norbert Mills in the third quarter of 2024?", segments)
    assert any("North – Net sales: $ 35,383" in text for text in written)


def test_the_length_of_time_asked_for_chooses_the_column() -> None:
    table = norbert(
        1,
        "Three Months Ended March 30,\tNine Months Ended March 30,\n2024\t2023\t2024\t2023\n"
        "Total net sales\t$ 81,797\t$ 82,959\t$ 293,787\t$ 304,182",
        is_table=True,
    )
    for question, cell in (
        ("What were total net sales in Q3 2024?", "81,797"),
        ("What were total net sales year to date in 2024?", "293,787"),
        ("What were total net sales in the nine months ended March 30, 2024?", "293,787"),
    ):
        lines, _ = ask(question, table)
        assert f"$ {cell} (" in lines[1], question
    half = norbert(
        1,
        "Three Months Ended March 30,\tSix Months Ended March 30,\n2024\t2023\t2024\t2023\n"
        "Total net sales\t$ 81,797\t$ 82,959\t$ 171,020\t$ 176,514",
        is_table=True,
    )
    lines, _ = ask("What were total net sales in the first half of 2024?", half)
    assert "$ 171,020 (" in lines[1]


def _annual(number: int, text: str, label: str = "FY2024") -> Evidence:
    return Evidence(
        number=number, text=text, header=f"Norbert Mills (NBM) · 10-K · {label}", is_table=True,
        company="Norbert Mills", period_end="2024-12-31", period_label=label,
    )  # fmt: skip


YEAR = _annual(1, "Year Ended December 31,\n2024\t2023\nNet sales\t$ 81,797\t$ 82,959\nNet income\t$ 9,100\t$ 9,000")
QUARTERS = _annual(
    2, "单位：元\n第一季度\t第二季度\t第三季度\t第四季度\n营业收入\t62,991.27\t62,612.94\t74,793.00\t117,627.09"
)
WHOLE = _annual(1, "单位：元\n2024 年度\t2023 年度\n营业收入\t318,024.30\t320,070.13")


def test_a_years_figure_is_not_a_quarters() -> None:
    assert ask("What were Norbert Mills' net sales in the fourth quarter of 2024?", YEAR)[0] == []
    assert "81,797" in ask("What were Norbert Mills' net sales in 2024?", YEAR)[0][1]
    said = _annual(2, "Net sales were $ 21,400 million in the fourth quarter of 2024.")
    _, line, *_ = ask("What were Norbert Mills' net sales in the fourth quarter of 2024?", YEAR, said)[0]
    assert "21,400" in line


def test_a_balance_at_the_years_end_is_that_of_its_last_quarter() -> None:
    balance = _annual(1, "December 31,\t2024\t2023\nInventories\t$ 1,200\t$ 1,300")
    assert (
        "1,200" in ask("What were Norbert Mills' inventories at the end of the fourth quarter of 2024?", balance)[0][1]
    )


def test_the_table_of_quarters_comes_before_the_years_where_a_quarter_is_asked_for() -> None:
    _, line, *_ = ask("Norbert Mills 2024年第四季度营业收入是多少？", WHOLE, QUARTERS)[0]
    assert "117,627.09" in line
    _, whole, *_ = ask("Norbert Mills 2024年营业收入是多少？", QUARTERS, WHOLE)[0]
    assert "318,024.30" in whole
