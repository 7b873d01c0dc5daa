"""The extractive reader: rows and columns, sentences, both languages, verbatim quotes, declining."""

import asyncio
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_fintext.languages import REFUSALS
from quelea_generator.core.extractive.question import read_question
from quelea_generator.core.extractive.reader import ExtractiveReader, answer
from quelea_generator.core.model import Delta, Evidence, Finished, Quote, Task
from quelea_kit.errors import NotFound
from support.generator import lines_and_quotes

STATEMENT = """Three Months Ended Nine Months Ended
March 30, March 31, March 30, March 31,
2024 2023 2024 2023
Net sales:
Goods $ 60,584 $ 63,355 $ 230,901 $ 245,241
Services 21,213 19,604 62,886 58,941
Total net sales 81,797 82,959 293,787 304,182
Cost of sales:
Goods 39,136 41,485 146,696 155,084
Total cost of sales 45,384 47,074 165,066 171,495
Gross margin 36,413 35,885 128,721 132,687
Research and development 7,442 6,797 22,608 19,490
Net income $ 19,881 $ 19,442 $ 74,039 $ 79,082"""

PROSE = """The Group opened a plant in Leeds in May. Net sales declined 1% because foreign currencies weakened
against the dollar. The Group may be affected by weather. It employed 1,204 people at the end of March 2024."""

HEADER = "Norbert Mills (NBM) · 10-Q · FY2024 Q3 · quarter ended March 30, 2024 · Statements of operations"


def norbert(number: int, text: str, *, is_table: bool = False, **more: str) -> Evidence:
    given = {"header": HEADER, "company": "Norbert Mills", "period_end": "2024-03-30", "period_label": "FY2024 Q3"}
    return Evidence(number=number, text=text, is_table=is_table, **{**given, **more})


def ask(question: str, *evidence: Evidence, incomplete: bool = False) -> tuple[list[str], list[Quote]]:
    return lines_and_quotes(Task(question, evidence, date(2024, 6, 1), evidence_incomplete=incomplete))


TABLE = norbert(1, STATEMENT, is_table=True, table_head="(In millions, except per share amounts)")
WORDS = norbert(2, PROSE)


@pytest.mark.parametrize(
    ("question", "row"),
    [
        (
            "What was Norbert Mills' revenue in the third quarter of 2024?",
            "Total net sales 81,797 82,959 293,787 304,182",
        ),
        ("How much did Norbert Mills spend on R&D?", "Research and development 7,442 6,797 22,608 19,490"),
        ("What was the gross profit of Norbert Mills?", "Gross margin 36,413 35,885 128,721 132,687"),
        ("What were net earnings in the latest quarter?", "Net income $ 19,881 $ 19,442 $ 74,039 $ 79,082"),
    ],
)
def test_the_row_is_found_by_meaning(question: str, row: str) -> None:
    _, quotes = ask(question, TABLE, WORDS)
    assert quotes[0].text == row
    assert quotes[0].number == 1


def test_the_column_of_the_quarter_answers() -> None:
    lines, _ = ask("What was revenue in Q3 2024?", TABLE, WORDS)
    assert lines[1].lstrip("- ") == (
        "Total net sales: 81,797 (three months ended March 30, 2024; in millions), "
        "from the row “Total net sales 81,797 82,959 293,787 304,182” [1]"
    )


def test_the_column_of_nine_months_answers() -> None:
    lines, _ = ask("What were total net sales for the nine months ended March 31, 2023?", TABLE)
    assert "Total net sales: 304,182 (nine months ended March 31, 2023; in millions)" in lines[1]


def test_no_column_is_claimed_when_the_head_does_not_fit() -> None:
    lines, _ = ask(
        "What was revenue in Q3 2024?", norbert(1, "Segment notes\nTotal net sales 81,797 82,959", is_table=True)
    )
    assert lines[1] == "Row “Total net sales 81,797 82,959” [1]"


def test_years_as_columns() -> None:
    text = "Years Ended June 30,\n\t2019\t2018\t2017\nFixed price\t$ 1,452.4\t$ 1,146.2\t$ 1,036.9"
    lines, quotes = ask("What were fixed price sales in 2018?", Evidence(1, text, is_table=True))
    assert "Fixed price: $ 1,146.2" in lines[1]
    assert "2018" in lines[1].split(", from the row")[0]
    assert quotes[0].text == "Fixed price\t$ 1,452.4\t$ 1,146.2\t$ 1,036.9"


def test_a_reason_is_answered_with_the_sentence_that_gives_it() -> None:
    _, quotes = ask("Why did net sales of Norbert Mills decline?", TABLE, WORDS)
    assert quotes[0].text == "Net sales declined 1% because foreign currencies weakened\nagainst the dollar."


def test_a_quote_is_shown_on_one_line() -> None:
    lines, _ = ask("Why did net sales of Norbert Mills decline?", TABLE, WORDS)
    assert "“Net sales declined 1% because foreign currencies weakened against the dollar.” [2]" in lines[1]


def test_cost_of_sales_is_no_sales() -> None:
    _, quotes = ask(
        "What was revenue?", norbert(1, "Total cost of sales 45,384 47,074\nNet sales 81,797 82,959", is_table=True)
    )
    assert quotes[0].text.startswith("Net sales")


def test_a_comparison_quotes_each_filing_and_names_it() -> None:
    older = norbert(
        3, "Total net sales 90,001 88,000", is_table=True, period_label="FY2024 Q2", period_end="2023-12-30", header=""
    )
    lines, quotes = ask("How have Norbert Mills' total net sales changed over time?", TABLE, older)
    assert {quote.number for quote in quotes} >= {1, 3}
    assert any(line.startswith("- Norbert Mills FY2024 Q2: ") for line in lines)
    assert any(line.startswith("- Norbert Mills FY2024 Q3: ") for line in lines)


def test_both_parts_of_a_question_are_quoted() -> None:
    _, quotes = ask("What were net income and research and development in Q3 2024?", TABLE, WORDS)
    assert {quote.text.split(" ")[0] for quote in quotes} >= {"Net", "Research"}


ZH_TABLE = """主要会计数据\t2023年\t2022年\t本期比上年同期增减(%)
营业收入\t1,581,933,193.26\t1,126,776,243.50\t40.39
归属于上市公司股东的净利润\t406,221,034.11\t221,066,303.28\t83.76
研发费用\t101,222,333.01\t98,765,432.10\t2.49"""
ZH_PROSE = (
    "2023年公司毛利率为30.0%，同比下降2.0个百分点，主要系原材料价格上涨所致。公司总部位于沈阳。全年召开股东大会三次。"
)


def chinese(number: int, text: str, *, is_table: bool = False) -> Evidence:
    return Evidence(
        number,
        text,
        is_table=is_table,
        company="北方纺机",
        header="北方纺机 (600999) · 年度报告 · FY2023 · · 财务数据",
        period_label="FY2023",
        period_end="2023-12-31",
        table_head="单位：元" if is_table else "",
    )


def test_chinese_row_and_column() -> None:
    lines, quotes = ask("北方纺机2023年营收是多少？", chinese(1, ZH_TABLE, is_table=True), chinese(2, ZH_PROSE))
    assert quotes[0].text == "营业收入\t1,581,933,193.26\t1,126,776,243.50\t40.39"
    assert lines[1].lstrip("- ").startswith("营业收入：1,581,933,193.26（2023年；单位：元），见表格行“营业收入")


def test_chinese_row_of_the_year_before() -> None:
    lines, _ = ask("北方纺机2022年的归母净利润是多少？", chinese(1, ZH_TABLE, is_table=True))
    assert "归属于上市公司股东的净利润：221,066,303.28（2022年；单位：元）" in lines[1]


def test_chinese_reason() -> None:
    _, quotes = ask("北方纺机毛利率下降的原因是什么？", chinese(1, ZH_TABLE, is_table=True), chinese(2, ZH_PROSE))
    assert quotes[0].text == "2023年公司毛利率为30.0%，同比下降2.0个百分点，主要系原材料价格上涨所致。"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is the capital of France?", "en"),
        ("How do I bake sourdough bread?", "en"),
        ("What was the revenue of Zorbex in Q3 2024?", "en"),
        ("红烧肉怎么做？", "zh"),
        ("明天北京天气怎么样？", "zh"),
    ],
)
async def test_off_topic_questions_are_declined_in_their_language(question: str, language: str) -> None:
    evidence = (TABLE, WORDS, chinese(3, ZH_PROSE))
    events = [event async for event in ExtractiveReader().read(Task(question, evidence, date(2024, 6, 1)))]
    assert events[0] == Delta(REFUSALS[language])
    assert isinstance(events[-1], Finished)
    assert events == [events[0], replace(events[-1], reason="declined", model="extractive-1")]
    assert events[-1].decline is not None
    assert events[-1].decline.reason == "no_evidence"


@pytest.mark.parametrize(
    ("question", "incomplete", "reason", "detail"),
    [
        ("x", False, "not_a_question", "No word of the text says what it asks for."),
        ("What was the revenue of Zorbex in Q5 2023?", True, "no_such_period", "There is no such period: Q5 2023."),
        ("2023年第五季度的净利润是多少？", True, "no_such_period", "There is no such period: 2023年第五季度."),
        ("Should I buy shares of the maker of zips?", False, "asks_for_advice", "The question asks for advice, and no"),
        ("What was the revenue of Zorbex in Q3 2024?", False, "no_evidence", "The question names zorbex; not every"),
        (
            "What was Norbert Mills' net income in 2031?",
            True,
            "no_such_period",
            "The best passage is not of the period",
        ),
    ],
)
def test_a_decline_says_why(question: str, incomplete: bool, reason: str, detail: str) -> None:
    found = answer(Task(question, (TABLE, WORDS), date(2024, 6, 1), evidence_incomplete=incomplete))
    assert found.decline is not None
    assert (found.decline.reason, found.decline.detail[: len(detail)]) == (reason, detail)
    assert (found.lines, found.quotes) == ((), ())


def test_refusals_are_the_agreed_sentences() -> None:
    assert REFUSALS == {
        "en": "Unable to answer the question based on the information provided",
        "zh": "根据已知信息无法回答该问题",
    }


def test_no_evidence_is_declined() -> None:
    assert ask("What was revenue?") == ([], [])


def test_a_period_that_is_not_in_the_base_is_declined() -> None:
    question = "What was Norbert Mills' revenue in Q1 2021?"
    assert ask(question, TABLE, WORDS, incomplete=True) == ([], [])


def test_evidence_that_clearly_covers_is_quoted_though_called_incomplete() -> None:
    lines, _ = ask("What were Norbert Mills' total net sales in Q3 2024?", TABLE, incomplete=True)
    assert "81,797" in lines[1]


async def test_events_come_in_order_and_the_answer_names_its_reader() -> None:
    task = Task("What was revenue in Q3 2024?", (TABLE, WORDS), date(2024, 6, 1))
    events = [event async for event in ExtractiveReader().read(task)]
    kinds = [type(event) for event in events]
    assert kinds == sorted(kinds, key=[Delta, Quote, Finished].index)
    assert events[-1] == Finished("stop", "extractive-1", reader="extractive")
    text = "".join(event.text for event in events if isinstance(event, Delta))
    assert text.startswith("Quoted from the sources by the extractive reader (no language model wrote this):\n")
    cited = {event.number for event in events if isinstance(event, Quote)}
    assert all(f"[{number}]" in text for number in cited)


async def test_it_is_deterministic() -> None:
    task = Task("Why did net sales decline?", (TABLE, WORDS), date(2024, 6, 1))

    async def events() -> list[object]:
        return [event async for event in ExtractiveReader().read(task)]

    assert await asyncio.gather(events(), events()) == [await events()] * 2


def test_an_account_takes_the_sentence_that_goes_on() -> None:
    text = "The plant closed early. Sales fell because demand weakened. This decline was largest in Europe. Rain fell."
    _, quotes = ask("Why did sales of Norbert Mills fall?", norbert(1, text))
    assert quotes[0].text == "Sales fell because demand weakened. This decline was largest in Europe."


def test_an_alias_is_known_by_its_other_name() -> None:
    text = "Revenue of Alphabet was $ 84,742 million in the quarter."
    lines, _ = ask("What was the revenue of Google?", Evidence(1, text))
    assert "84,742" in lines[1]


def test_a_question_of_many_words_is_read_in_bounded_work() -> None:
    asked = read_question(
        Task(" ".join(f"{a}{b}zq" for a in "bcdfghjk" for b in "bcdfghjk"), (TABLE,), date(2024, 6, 1))
    )
    assert len(asked.facets) == 40


PIECES = st.sampled_from(
    [
        *STATEMENT.splitlines(),
        *ZH_TABLE.splitlines(),
        *PROSE.split(". "),
        ZH_PROSE,
        "\n",
        "\t",
        " ",
        ". ",
        "。",
        "Net",
        "收入",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(PIECES, min_size=1, max_size=12).map("\n".join), min_size=1, max_size=4),
    st.sampled_from(["What was revenue in 2024?", "营业收入是多少？", "Why did sales fall?", "毛利率为什么下降？"]),
    st.booleans(),
)
def test_quotes_are_always_verbatim(texts: list[str], question: str, is_table: bool) -> None:
    evidence = tuple(Evidence(n, text, is_table=is_table) for n, text in enumerate(texts, start=1))
    lines, quotes = ask(question, *evidence)
    assert len(quotes) <= 3
    assert bool(lines) == bool(quotes)
    for quote in quotes:
        assert evidence[quote.number - 1].text[quote.start : quote.end] == quote.text
        assert quote.text
        assert 0 <= quote.score <= 1


async def test_its_quotes_are_no_other_models_answer() -> None:
    evidence = (Evidence(1, "Net income was $ 3,604 million.", header="Apple · 10-Q", company="Apple"),)
    task = Task("What was Apple's net income?", evidence, date(2024, 6, 1))
    reader = ExtractiveReader()
    assert [event async for event in reader.read(replace(task, model=reader.model))]
    with pytest.raises(NotFound, match="gpt-9"):
        [event async for event in reader.read(replace(task, model="gpt-9"))]


def test_incomplete_evidence_answers_of_a_known_chinese_company_that_its_passage_names() -> None:
    said = "10月26日，零跑汽车宣布，Stellantis集团计划投资约15亿欧元以获取其约20%的股权。"
    question = "Stellantis集团计划投资多少欧元获取零跑汽车的股权？"
    task = Task(question, (Evidence(1, said, published="2023-10-27"),), date(2023, 11, 1), evidence_incomplete=True)
    assert any("15亿欧元" in line for line in answer(task).lines)
    other = replace(task, evidence=(Evidence(1, said.replace("零跑汽车", "该公司"), published="2023-10-27"),))
    assert answer(other).decline is not None


PLANS = norbert(
    3,
    "Selling expenses consist of the pay of sales staff. We expect selling expenses to increase in absolute dollars "
    "due to our plans for new shops and because we continue to develop our sales teams in every country. "
    "Selling expenses increased due to higher pay of sales staff.",
)


def test_what_is_planned_does_not_answer_why_something_was_so() -> None:
    _, quotes = ask("Why did Norbert Mills' selling expenses increase in the third quarter of 2024?", PLANS)
    assert quotes[0].text == "Selling expenses increased due to higher pay of sales staff."
    _, quotes = ask("Why does Norbert Mills expect selling expenses to increase?", PLANS)
    assert quotes[0].text.startswith("We expect selling expenses to increase")


def test_a_year_whose_columns_cannot_be_told_apart_is_no_quarter() -> None:
    head = "单位：元\n2019 年\t2018 年\t同比增减\n金额\t占营业收入比重\t金额\t占营业收入比重\n"
    year = norbert(
        1, f"{head}营业收入合计\t318,024,319.30\t100%\t320,070,653.13\t100%\t-0.64%", is_table=True,
        header="诺伯特 · 年度报告 · 2019", company="诺伯特", period_end="2019-12-31", period_label="FY2019",
    )  # fmt: skip
    quarters = replace(
        year, number=2,
        text="第一季度\t第二季度\t第三季度\t第四季度\n营业收入\t53,100,221.01\t76,540,118.20\t70,756,646.00\t117,627,334.09",
    )  # fmt: skip
    lines, quotes = ask("诺伯特2019年第四季度营业收入是多少？", year, quarters)
    assert quotes[0].number == 2 and "117,627,334.09" in lines[1]
    _, quotes = ask("诺伯特2019年第四季度营业收入是多少？", year)
    assert quotes == []
    _, quotes = ask("诺伯特2019年营业收入是多少？", year, quarters)
    assert quotes[0].number == 1


@pytest.mark.parametrize(("title", "is_told"), [("Gross margin by market", False), ("Sales to March", True)])
def test_a_month_in_a_head_is_a_word_of_its_own(title: str, is_told: bool) -> None:
    head = f"{title}\n2019\t2018\tChange\nAmount\tShare of sales\tAmount\tShare of sales\n"
    year = norbert(
        1, f"{head}Total sales\t318,024,319\t100%\t320,070,653\t100%\t-0.64%", is_table=True,
        period_end="2019-12-31", period_label="FY2019",
    )  # fmt: skip
    lines, _ = ask("What were Norbert Mills' total sales in the fourth quarter of 2019?", year)
    assert any("318,024,319" in line for line in lines) is is_told


def test_a_plan_of_incentives_is_no_plan() -> None:
    reason = "管理费用增加，主要系股权激励计划费用增加所致。"
    planned = "公司预计管理费用将继续增加，主要系人员增加。"
    evidence = [
        norbert(number, text, header="诺伯特 · 年度报告 · 2019", company="诺伯特")
        for number, text in enumerate((planned, reason), start=1)
    ]
    _, quotes = ask("诺伯特2019年管理费用为什么增加？", *evidence)
    assert quotes[0].text == reason
