"""Figures that the extractive reader computes: changes, growth, shares, ratios, sums; and where it had better not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
from quelea_checker import CheckPassage, Report, check_answer
from quelea_gateway.core.model import Finished, Passage
from quelea_gateway.core.model import Quote as GatewayQuote
from quelea_gateway.core.review.answer_review import Basis, ReaderAnswer, review
from quelea_generator.core.extractive.computing.computations import find_computations
from quelea_generator.core.extractive.computing.operands import parse_value
from quelea_generator.core.model import Evidence, Quote, Task
from support.generator import lines_and_quotes

INCOME = """Three Months Ended\tNine Months Ended
March 30, 2024\tApril 1, 2023\tMarch 30, 2024\tApril 1, 2023
Net sales:
Goods\t$ 60,584\t$ 63,355\t$ 230,901\t$ 245,241
Services\t21,213\t19,604\t62,886\t58,941
Total net sales\t81,797\t82,959\t293,787\t304,182
Cost of sales:
Goods\t39,136\t41,485\t146,696\t155,084
Total cost of sales\t45,384\t47,074\t165,066\t171,495
Research and development\t7,442\t6,797\t22,608\t19,490
Net income (loss)\t$ 19,881\t$ (442)\t$ 74,039\t$ 79,082"""
BALANCE = """March 30, 2024\tJuly 1, 2023
Current assets:
Other current assets\t13,640\t21,223
Total current assets\t122,659\t135,405
Total assets\t335,038\t352,755
Current liabilities:
Total current liabilities\t124,963\t153,982
Inventories\t7,351\t4,946"""
DISCUSSED = """Three Months Ended
March 30, 2024\tApril 1, 2023\tChange
Total net sales\t$ 81,797\t$ 82,959\t(1)%"""
MARGINS = """Three Months Ended
March 30, 2024\tApril 1, 2023
Gross margin percentage\t44.5%\t43.3%"""
PARTS = """Three Months Ended March 30,
2024\t2023
Operating income:
Looms\t2,073\t1,447
Yarns\t1,100\t1,200
Total net revenue\t14,158\t15,338"""


def norbert(number: int, text: str, title: str = "CONDENSED STATEMENTS OF OPERATIONS", **more: str) -> Evidence:
    header = f"Norbert Mills (NBM) · 10-Q · FY2024 Q3 · quarter ended March 30, 2024 · Item 1 › {title}"
    given = {"company": "Norbert Mills", "period_end": "2024-03-30", "period_label": "FY2024 Q3", "header": header}
    return Evidence(number=number, text=text, is_table=True, table_head="(In millions)", **{**given, **more})


class InProcess:
    """The gateway's checker, without its processes."""

    async def check(self, text: str, passages: Sequence[CheckPassage], *, question: str = "") -> Report:
        return check_answer(text, passages, question=question)


STATEMENT, SHEET = norbert(1, INCOME), norbert(2, BALANCE, "CONDENSED BALANCE SHEETS")


def ask(question: str, *evidence: Evidence, incomplete: bool = False) -> tuple[list[str], list[Quote]]:
    return lines_and_quotes(Task(question, evidence, date(2024, 6, 1), evidence_incomplete=incomplete))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "By how much did Norbert Mills' total net sales fall from Q3 2023 to Q3 2024?",
            "change 81,797 − 82,959 = −1,162 (in millions); growth (81,797 − 82,959) / 82,959 = −1.40%",
        ),
        (
            "What was the growth rate of R&D expenses at Norbert Mills in Q3 2024 year over year?",
            "(7,442 − 6,797) / 6,797 = 9.49% (rounded to two decimals)",
        ),
        (
            "What share of total net sales was Services at Norbert Mills in Q3 2024?",
            "21,213 / 81,797 = 25.9% (rounded to one decimal; three months ended March 30, 2024; in millions)",
        ),
        (
            "What was the percentage of Services in total net sales at Norbert Mills in Q3 2024?",
            "21,213 / 81,797 = 25.9% (rounded to one decimal; three months ended March 30, 2024; in millions)",
        ),
        (
            "What was the sum of Goods and Services net sales at Norbert Mills in Q3 2024?",
            "60,584 + 21,213 = 81,797 (three months ended March 30, 2024; in millions)",
        ),
        (
            "What is the difference between total net sales and total cost of sales of Norbert Mills in Q3 2024?",
            "81,797 − 45,384 = 36,413",
        ),
        ("By how much did the inventories of Norbert Mills increase in Q3 2024?", "7,351 − 4,946 = 2,405"),
        (
            "Norbert Mills 2024年第三季度净销售额同比下降多少？",
            "（截至2024年3月30日的三个月，对比截至2023年4月1日的三个月）：变动 81,797 − 82,959 = −1,162",
        ),
        (
            "Norbert Mills 2024年第三季度研发费用占净销售额的比例是多少？",
            "7,442 / 81,797 = 9.10%（四舍五入到两位小数；截至2024年3月30日的三个月；",
        ),
    ],
)
def test_the_figure_is_computed_and_its_operands_are_quoted(question: str, said: str) -> None:
    lines, quotes = ask(question, STATEMENT, SHEET)
    assert said in lines[1]
    assert len(lines) == 2
    for quote in quotes:
        source = (STATEMENT, SHEET)[quote.number - 1]
        assert source.text[quote.start : quote.end] == quote.text
        assert f"[{quote.number}]" in lines[1]


@pytest.mark.parametrize(
    "question",
    [
        "By how much did Norbert Mills' total net sales fall from Q3 2023 to Q3 2024?",
        "What share of total net sales was Services at Norbert Mills in Q3 2024?",
        "What is the difference between total net sales and total cost of sales of Norbert Mills in Q3 2024?",
        "Norbert Mills 2024年第三季度净销售额同比下降多少？",
        "Norbert Mills 2024年第三季度研发费用占净销售额的比例是多少？",
    ],
)
async def test_the_gateways_check_comes_to_the_same_figure(question: str) -> None:
    lines, quotes = ask(question, STATEMENT, SHEET)
    passages = tuple(
        Passage("filing", 1, 0, len(item.text), item.text, table_head=item.table_head, header=item.header)
        for item in (STATEMENT, SHEET)
    )
    written = ReaderAnswer(
        "\n".join(lines),
        tuple(GatewayQuote(q.number, q.start, q.end, q.text, q.score) for q in quotes),
        Finished("stop", "extractive", "extractive-1", ""),
    )
    done = await review(InProcess(), written, Basis(question, "en", passages, enough=True, strict=True))
    assert done.text == "\n".join(lines)
    assert done.grounding
    verdicts = [(figure.text, figure.verdict) for figure in done.grounding.figures]
    assert {verdict for _, verdict in verdicts} <= {"supported", "derived"}, verdicts
    assert "derived" in {verdict for _, verdict in verdicts}
    assert len(done.citations) == len(quotes)


def test_what_the_row_states_is_quoted_and_not_computed() -> None:
    table = norbert(3, DISCUSSED, "MD&A")
    lines, quotes = ask("By what percentage did Norbert Mills' net sales change in Q3 2024?", STATEMENT, table)
    assert "growth (1)%, as the row itself says" in lines[1]
    assert "1.4" not in lines[1]
    assert lines[0].startswith("Quoted")
    assert quotes[0].text == "Total net sales\t$ 81,797\t$ 82,959\t(1)%"
    lines, _ = ask("What was the gross margin percentage of Norbert Mills in Q3 2024?", norbert(4, MARGINS, "MD&A"))
    assert "Gross margin percentage: 44.5%" in lines[1]
    assert lines[0].startswith("Quoted")


def test_out_of_a_loss_there_is_a_change_and_no_growth() -> None:
    lines, _ = ask("How much did Norbert Mills' net income change in Q3 2024 year over year?", STATEMENT)
    assert "change 19,881 − (−442) = 20,323" in lines[1]
    assert "growth" not in lines[1]


@pytest.mark.parametrize(
    ("question", "evidence"),
    [
        # The rows of another item are no revenue.
        ("What percentage of revenue came from Looms at Norbert Mills in Q3 2024?", (norbert(1, PARTS),)),
        # Nothing is said of marketing.
        ("By how much did marketing expenses of Norbert Mills grow in Q3 2024?", (STATEMENT,)),
        # A word that no row has.
        ("What share of total net sales was wholesale Services at Norbert Mills in Q3 2024?", (STATEMENT,)),
        # Another quarter's filing.
        ("By how much did Norbert Mills' total net sales fall from Q2 2023 to Q2 2024?", (STATEMENT,)),
        # No earlier quarter in the table.
        ("By how much did total net sales of Norbert Mills grow sequentially in Q3 2024?", (STATEMENT,)),
        # No period, and filings of two.
        (
            "What share of total net sales was Services at Norbert Mills?",
            (STATEMENT, replace(STATEMENT, number=2, period_end="2023-12-30", period_label="FY2024 Q2")),
        ),
        # The head does not say which column is which.
        (
            "What share of total net sales was net income at Norbert Mills in Q3 2024?",
            (norbert(1, INCOME.split("\n", 2)[2]),),
        ),
        # Two rows of one name with different figures.
        ("What was the change in Goods of Norbert Mills in Q3 2024 year over year?", (STATEMENT,)),
    ],
)
def test_nothing_is_computed_where_anything_is_uncertain(question: str, evidence: tuple[Evidence, ...]) -> None:
    lines, _ = ask(question, *evidence)
    assert not any(line.startswith("Computed") for line in lines)


def test_nothing_is_computed_of_a_period_that_is_missing() -> None:
    lines, _ = ask(
        "What share of total net sales was Services at Norbert Mills in Q3 2024?", STATEMENT, incomplete=True
    )
    assert not any(line.startswith("Computed") for line in lines)


def test_a_quarter_of_two_calendars_is_not_certain_unless_the_question_says_fiscal() -> None:
    calendar = replace(STATEMENT, number=2, period_end="2024-09-28", period_label="FY2025 Q1")
    asked = "What share of total net sales was Services at Norbert Mills in Q3 2024?"
    assert not ask(asked, STATEMENT, calendar)[0][0].startswith("Computed")
    assert ask(asked.replace("Q3 2024", "fiscal Q3 2024"), STATEMENT, calendar)[0][0].startswith("Computed")


@pytest.mark.parametrize(
    "question",
    [
        "how has apple's total net sales changed over time?",
        "what was the revenue of apple in q3 2023?",
        "why did the gross margin fall?",
        "what percentage did it report?",
        "苹果2023年第三季度净销售额是多少？",
        "which segments grew the most across the reported quarters?",
    ],
)
def test_most_questions_ask_for_no_computation(question: str) -> None:
    assert list(find_computations(question)) == []


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("$ 1,452.4", "1452.4"),
        ("(7,442)", "-7442"),
        ("$ (2,028)", "-2028"),
        ("(1)%", "-1"),
        ("—", None),
        ("2ppt", None),
    ],
)
def test_cells_are_read_as_figures(cell: str, value: str | None) -> None:
    found = parse_value(cell)
    assert (str(found[0]) if found else None) == value


@pytest.mark.parametrize("words", ["revenue and ", "ratio of ", "a to ", "combined ", "a和b占", "difference between "])
def test_long_questions_are_read_at_once(words: str) -> None:
    """8,000 characters take milliseconds; patterns that try every beginning with every end took minutes to hours."""
    began = time.process_time()
    list(find_computations(f"what was {words * 8000}"[:8000]))
    assert time.process_time() - began < 20


SEGMENTS = """Three Months Ended March 30,
2024\t2023
NYW
Net sales\t$ 2,000\t$ 1,600
Operating expenses\t1,500\t1,280
Operating income\t$ 500\t$ 320
Looms
Net sales\t$ 3,000\t$ 2,900
Operating expenses\t2,900\t2,850
Operating income\t$ 100\t$ 50"""


@pytest.mark.parametrize("spelled", ["", "The segments are Looms and Northern Yarn Works (“NYW”)."])
def test_the_margin_of_a_part_and_the_same_a_year_before(spelled: str) -> None:
    """Also where the filing spells the part's abbreviation out."""
    table = norbert(1, SEGMENTS, "Note 8 › Segment Information")
    about = replace(norbert(2, spelled or "The segments are Looms and NYW."), is_table=False, table_head="")
    lines, quotes = ask(
        "What operating margin did NYW earn in the quarter to March 2024, and what was it a year before?", table, about
    )
    assert "500 / 2,000 = 25.0%" in lines[1]
    assert "320 / 1,600 = 20.0%" in lines[2]
    assert {quote.number for quote in quotes} == {1}


def test_no_margin_of_a_part_alone_where_the_year_before_is_asked_for_and_not_there() -> None:
    """Half of what is asked would pass for all of it."""
    table = norbert(1, SEGMENTS.replace("\t2023", "").replace("\t$ 1,600", ""), "Note 8 › Segment Information")
    lines, _ = ask("What operating margin did NYW earn in March 2024, and what was it a year before?", table)
    assert not any("25.0%" in line for line in lines)


def test_a_percentage_is_not_computed_as_a_growth_because_something_moves_in_the_question() -> None:
    """The row has it; what it was before is not asked."""
    table = norbert(1, "Three Months Ended March 30,\n2024\t2023\nGross margin\t40.0%\t38.9%", "Results")
    lines, _ = ask("What was the gross margin of Norbert Mills in Q3 2024, up from last year?", table)
    assert "40.0%" in lines[-1]
    assert not any("percentage points" in line for line in lines)
