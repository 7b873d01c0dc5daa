"""Figures of statements in words: amount, period, formula, and a quote that ends on the cell for each marker."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from quelea_generator.core.chat.prompt import build_prompt
from quelea_generator.core.extractive.reader import answer
from quelea_generator.core.figures import write_figures
from quelea_generator.core.model import Evidence, Figure, Operand, Task

TEXT = "Income\t2030\t2029\nNet sales\t$ 1,200\t$ 1,000\nGross profit\t400\t350\nNet loss\t(30)\t20"
EVIDENCE = (Evidence(1, "Other words."), Evidence(2, TEXT, is_table=True))


def operand(printed: str, label: str, value: str, year: int = 2030, unit: str = "USD") -> Operand:
    start = TEXT.index(f"{label}\t") + TEXT[TEXT.index(f"{label}\t") :].index(printed)
    return Operand(
        2, start, start + len(printed), label, "", value, unit, f"{year}-02-01", f"{year + 1}-01-31", printed
    )


SALES = operand("$ 1,200", "Net sales", "1200000000")
BEFORE = operand("$ 1,000", "Net sales", "1000000000", 2029)
PROFIT = operand("400", "Gross profit", "400000000")
STATED = Figure("Kestrel", "1200000000", "USD", "2030-02-01", "2031-01-31", (SALES,), formula="{0}", fiscal_year=2030)
MARGIN = replace(
    STATED, value="33.333", unit="percent", operands=(PROFIT, SALES), metric="gross_margin", formula="{0} / {1}"
)
CHANGE = replace(
    STATED, value="200000000", operands=(SALES, BEFORE), metric="change", growth="20", formula_before="{1}",
    later="1200000000", earlier="1000000000",
)  # fmt: skip


def written(figure: Figure, language: str = "en") -> str:
    (line,) = write_figures([figure], EVIDENCE, language)
    for quote in line.quotes:
        assert quote.text == TEXT[quote.start : quote.end]
    assert [quote.number for quote in line.quotes] == [2] * line.text.count("[2]")
    return line.text


@pytest.mark.parametrize(
    ("figure", "english", "chinese"),
    [
        (
            STATED,
            "Kestrel reported Net sales of $1,200 million [2] for the year ended January 31, 2031 (its fiscal 2030).",
            "Kestrel 截至2031年1月31日的年度（该公司2030财年）Net sales为1,200百万美元[2]。",
        ),
        (
            MARGIN,
            "Kestrel's gross margin for the year ended January 31, 2031 (its fiscal 2030) was 33.3%: "
            "Gross profit $400 million [2] / Net sales $1,200 million [2].",
            "Kestrel 截至2031年1月31日的年度（该公司2030财年）毛利率为33.3%："
            "Gross profit 400百万美元[2] / Net sales 1,200百万美元[2]。",
        ),
        (
            CHANGE,
            "Kestrel's Net sales rose by $200 million, or 20.0%, to $1,200 million [2] for the year ended "
            "January 31, 2031 (its fiscal 2030) from $1,000 million [2] for the year ended January 31, 2030.",
            "Kestrel Net sales增加200百万美元，增长20.0%：由截至2030年1月31日的年度的1,000百万美元[2]变为"
            "截至2031年1月31日的年度（该公司2030财年）的1,200百万美元[2]。",
        ),
    ],
)
def test_a_line_says_what_when_and_from_what(figure: Figure, english: str, chinese: str) -> None:
    assert written(figure) == english
    assert written(figure, "zh") == chinese


def test_a_line_over_several_periods_is_one_sentence() -> None:
    before = replace(STATED, operands=(BEFORE,), period_start="2029-02-01", period_end="2030-01-31", fiscal_year=0)
    lines = write_figures([before, STATED, CHANGE], EVIDENCE, "en")
    assert [len(line.quotes) for line in lines] == [2, 2]
    assert lines[0].text == (
        "Kestrel reported Net sales of $1,000 million [2] for the year ended January 31, 2030 and "
        "$1,200 million [2] for the year ended January 31, 2031."
    )
    (chinese, _) = write_figures([before, STATED, CHANGE], EVIDENCE, "zh")
    assert chinese.text == (
        "Kestrel 截至2030年1月31日的年度Net sales为1,000百万美元[2]，截至2031年1月31日的年度为1,200百万美元[2]。"
    )


def test_a_loss_has_a_sign_and_a_change_into_one_no_rate() -> None:
    loss = operand("(30)", "Net loss", "-30000000")
    figure = replace(
        CHANGE, value="-50000000", growth="", later="-30000000", earlier="20000000",
        operands=(loss, operand("20", "Net loss", "20000000", 2029)),
    )  # fmt: skip
    assert written(figure).startswith("Kestrel's Net loss fell by $50 million to −$30 million [2] for")


def test_a_change_of_a_metric_shows_both_formulas() -> None:
    earlier = operand("350", "Gross profit", "350000000", 2029)
    figure = replace(
        CHANGE, value="-1.667", unit="points", growth="", of="gross_margin", later="33.333", earlier="35",
        operands=(PROFIT, SALES, earlier, BEFORE), formula="{0} / {1}", formula_before="{2} / {3}",
    )  # fmt: skip
    said = written(figure)
    assert said.startswith("Kestrel's gross margin fell by 1.67 percentage points to 33.3% (Gross profit $400 million")
    assert "from 35.0% (Gross profit $350 million [2] / Net sales $1,000 million [2])" in said


def test_shares_rates_over_years_and_what_is_left_out() -> None:
    share = replace(MARGIN, metric="share")
    assert "Gross profit was 33.3% of Net sales for the year" in written(share)
    rate = replace(CHANGE, metric="compound_growth", value="20", unit="percent", growth="1")
    assert "grew at a compound annual rate of 20.0%, to $1,200 million [2]" in written(rate)
    debt = replace(MARGIN, metric="total_debt", unit="USD", value="1600000000", formula="{0} + {1}",
                   absent=("short_term_debt", "bonds_payable"))  # fmt: skip
    assert written(debt).endswith("Not stated, so left out: short-term debt.")


def test_what_is_left_of_a_year_says_both_periods() -> None:
    part = replace(SALES, value="700000000", printed="700", period_end="2030-10-31")
    figure = replace(
        STATED, metric="remainder", value="500000000", period_start="2030-11-01", operands=(SALES, part),
        formula="{0} − {1}",
    )  # fmt: skip
    said = written(figure)
    assert said.startswith("Kestrel's Net sales for the three months ended")
    assert "was $500 million: $1,200 million [2] for the year ended" in said
    assert " less $700 million [2] for the nine months ended October 31, 2030." in said


def test_the_extractive_reader_answers_from_figures_first() -> None:
    task = Task("What were net sales?", EVIDENCE, date(2032, 1, 1), figures=(STATED, MARGIN))
    found = answer(task)
    assert found.lines[0].startswith("From the financial statements")
    assert [line[:11] for line in found.lines[1:]] == ["- Kestrel r", "- Kestrel's"]
    assert [quote.text for quote in found.quotes] == [
        "Net sales\t$ 1,200", "Gross profit\t400", "Net sales\t$ 1,200",
    ]  # fmt: skip


def test_a_language_model_sees_the_figures_whose_passages_it_sees() -> None:
    task = Task("What were net sales?", EVIDENCE, date(2032, 1, 1), figures=(STATED,))
    prompt = build_prompt(task, evidence_tokens=500, history_tokens=0).messages[-1].content
    assert "Kestrel reported Net sales of $1,200 million [2]" in prompt
    short = build_prompt(replace(task, evidence=EVIDENCE[:1]), evidence_tokens=500, history_tokens=0)
    assert "Kestrel reported" not in short.messages[-1].content


def test_an_amount_whose_row_counts_the_other_way_is_not_called_by_the_rows_label() -> None:
    benefit = replace(
        operand("(30)", "Net loss", "30000000"), label="Income tax benefit (expense)", concept="income_tax"
    )
    expense = replace(STATED, value="30000000", operands=(benefit,))
    assert written(expense).startswith("Kestrel reported income taxes of $30 million [2]")
    gain = replace(benefit, value="-20000000", printed="20")
    assert written(replace(expense, operands=(gain,))).startswith("Kestrel reported income taxes of −$20 million [2]")
    as_printed = replace(benefit, label="Income tax expense (benefit)", value="-30000000")
    assert "Income tax expense (benefit) of −$30 million" in written(replace(expense, operands=(as_printed,)))
    paid = replace(benefit, label="Purchases of property", concept="capital_expenditure")
    assert "Purchases of property of $30 million" in written(replace(expense, operands=(paid,)))


def test_a_metric_of_what_is_left_of_a_year_says_which_part_each_operand_is_of() -> None:
    parts = [
        replace(one, period_start="2030-02-01", period_end=end)
        for one, end in ((PROFIT, "2031-01-31"), (BEFORE, "2030-10-31"))
    ]
    figure = replace(
        MARGIN, operands=(*parts, SALES), formula="({0} − {1}) / {2}", period_start="2030-11-01", fiscal_year=0
    )
    said = written(replace(figure, operands=(*parts, replace(SALES, period_start="2030-11-01"))))
    assert "three months ended January 31, 2031" in said
    assert "(Gross profit for the year ended January 31, 2031 $400 million [2] − " in said
    assert "Net sales for the nine months ended October 31, 2030 $1,000 million [2]) / Net sales $1,200 million" in said


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("其中：营业收入", "营业收入"),
        ("五、净利润（净亏损以“－”号填列）", "净利润"),
        ("（二）按所有权归属分类1.归属于母公司股东的净利润（净亏损以“-”号填列）", "归属于母公司股东的净利润"),
        ("减：所得税费用（附注五、38）", "所得税费用"),
        ("研发费用", "研发费用"),
        ("（一）", "（一）"),  # nothing else is there
        ("401(k) contributions (note 5)", "401(k) contributions"),
    ],
)
def test_a_sentence_has_the_label_without_its_numbering(label: str, said: str) -> None:
    figure = replace(STATED, operands=(replace(SALES, label=label),))
    assert written(figure, "zh") == f"Kestrel 截至2031年1月31日的年度（该公司2030财年）{said}为1,200百万美元[2]。"


PARTS = "分产品\t营业收入\t毛利率\n拖船\t1,905,943,80 5.66\t33.36%\n产量\t9,384"


def part(printed: str, column: str, value: str, unit: str) -> Figure:
    start = PARTS.index(printed)
    one = Operand(
        3, start, start + len(printed), "拖船", "", value, unit, "2031-01-01", "2031-12-31", printed, "产品情况 分产品",
        column,
    )  # fmt: skip
    return Figure("北岸船务", value, unit, "2031-01-01", "2031-12-31", (one,), formula="{0}")


def test_what_is_told_of_a_part_is_one_line_as_printed() -> None:
    figures = [
        part("1,905,943,80 5.66", "营业收入", "1905943805.66", "CNY"),
        part("33.36%", "毛利率", "33.36", "percent"),
        part("9,384", "产量", "9384", "千米"),
    ]
    (line,) = write_figures(figures, (Evidence(3, PARTS, is_table=True),), "zh")
    assert line.text == (
        "北岸船务2031年分产品“拖船”：营业收入为1,905,943,805.66元[3]，毛利率为33.36%[3]，产量为9,384千米[3]。"
    )
    assert [quote.text for quote in line.quotes] == [
        "拖船\t1,905,943,80 5.66", "拖船\t1,905,943,80 5.66\t33.36%", "产量\t9,384",
    ]  # fmt: skip


def of_company(company: str, value: str, end: str = "2031-01-31", months: str = "2030-02-01") -> Figure:
    one = replace(SALES, value=value, period_end=end, period_start=months)
    return replace(STATED, company=company, value=value, operands=(one,), period_end=end, period_start=months)


def test_which_company_is_higher_is_said_of_one_time_alone() -> None:
    two = [of_company("Kestrel", "1200000000"), of_company("Merlin", "1300000000")]
    assert write_figures(two, EVIDENCE, "en")[-1].text == "Net sales: higher at Merlin than at Kestrel."
    assert write_figures(two, EVIDENCE, "zh")[-1].text == "Merlin的Net sales高于Kestrel。"
    three = [*two, of_company("Osprey", "1200000000")]
    assert write_figures(three, EVIDENCE, "zh")[-1].text == "Net sales最高的是Merlin，其次是Kestrel和Osprey。"
    even = [of_company("Kestrel", "5"), of_company("Merlin", "5")]
    assert write_figures(even, EVIDENCE, "en")[-1].text == "Net sales: the same at Kestrel and Merlin."
    for other in (
        of_company("Merlin", "13", "2032-01-31", "2031-02-01"),
        of_company("Merlin", "13", months="2030-11-01"),
    ):
        assert len(write_figures([two[0], other], EVIDENCE, "en")) == 2


def test_amounts_in_the_unit_that_the_question_names() -> None:
    (line,) = write_figures([STATED], EVIDENCE, "zh", "Kestrel的销售额是多少亿元？")
    assert line.text.endswith("Net sales为12.00亿美元（1,200百万美元）[2]。")
    for question in ("Kestrel的销售额是多少百万元？", "Kestrel在3亿元以上的销售额"):
        (line,) = write_figures([STATED], EVIDENCE, "zh", question)
        assert line.text.endswith("Net sales为1,200百万美元[2]。")
    few = replace(STATED, value="50000", operands=(replace(SALES, value="50000", printed="50,000"),))
    (line,) = write_figures([few], EVIDENCE, "zh", "Kestrel的销售额是多少亿元？")
    assert line.text.endswith("Net sales为0.00050亿美元（50,000美元）[2]。")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Why did Kestrel's net sales fall in fiscal 2030?",
            "way than the question says: Kestrel's Net sales rose",
        ),
        ("Kestrel 2030财年销售净额为什么下降？", "与问题所说的方向相反：Kestrel Net sales增加"),
        ("How much did Kestrel's net sales grow in fiscal 2030?", "\nKestrel's Net sales rose"),
    ],
)
def test_a_change_that_comes_with_a_question_why_goes_the_other_way(question: str, said: str) -> None:
    assert said in "\n".join(answer(Task(question, EVIDENCE, date(2032, 1, 1), figures=(CHANGE,))).lines)


def test_rates_have_as_many_decimals_as_the_question_wants() -> None:
    for question, rate in (
        ("毛利率是多少？", "33.3%"),
        ("毛利率是多少？保留两位小数。", "33.33%"),
        ("保留1位小数", "33.3%"),
    ):
        (line,) = write_figures([MARGIN], EVIDENCE, "zh", question)
        assert f"毛利率为{rate}：" in line.text
