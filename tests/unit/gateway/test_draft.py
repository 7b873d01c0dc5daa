"""Drafts that point at figures: what is shown, what is recorded, and what never is a figure."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_checker import UNSUPPORTED, check_answer
from quelea_fintext.facts import Fact
from quelea_gateway.core.answers.evidence import to_check
from quelea_gateway.core.draft import DraftFigure, DraftWriter, Sources, write_draft
from quelea_gateway.core.draft.notation import Malformed, parse_group
from quelea_gateway.core.grounding import Grounded, ground, settle
from quelea_gateway.core.model import Figure, Operand, Passage

STATEMENT = Passage(
    document_id="a",
    page=4,
    start=100,
    end=400,
    text="Net sales:\nProducts $ 60,584 $ 63,355\nServices 21,213 19,604\nTotal net sales 81,797 82,959\n"
    "Net income (loss) (1,250) 500\nDiluted $ 1.26 $ 1.20\nReceivables 20,000 21,000",
    is_table=True,
    table_head="CONDENSED STATEMENTS OF OPERATIONS (In millions, except per share)\n"
    "Three Months Ended July 1, 2023 June 25, 2022",
    header="Kestrel · 10-Q",
    company="Kestrel",
)
PROSE = Passage(
    document_id="b",
    page=1,
    start=0,
    end=200,
    text="2023年第三季度，出货量达5740万部，市场份额达20%。营收574.05亿元。 Revenue was $13.51 billion, up 101%.",
)
GROWTH = Passage(
    document_id="d",
    page=1,
    start=0,
    end=200,
    text="Fiscal Year Ended January 31,\n(in millions)\t2025\t2024\tGrowth Rate\nAmericas\t$ 25,143\t$ 23,289\t8%\n"
    "Europe\t8,891\t8,128\t9\nPartner commissions\t(5,455)\t(5,999)\t12",
    is_table=True,
)
CHINESE = Passage(
    document_id="e",
    page=1,
    start=0,
    end=200,
    text="\t2019 年\t毛利率比上年同期增减\n研发人员数量（人）\t74\t1.50%\n营业收入（元）\t318,024,319.30\t70.82%",
    is_table=True,
    language="zh",
)
TORN = Passage(
    document_id="f",
    page=1,
    start=50,
    end=200,
    text="上半年实现营收372 58亿元，同比增长9 90 ，另有存货205,021,446. 76元，员工7 4人。",
    language="zh",
)
UNSCALED = Passage(document_id="c", page=1, start=0, end=20, text="Cash 500 600\nDebt 0 300")
SOURCES = Sources((STATEMENT, PROSE, UNSCALED, GROWTH, CHINESE, TORN))


def write(draft: str, language: str = "en") -> tuple[str, list[DraftFigure]]:
    shown, figures = write_draft(draft, SOURCES, language)
    for one in figures:
        assert shown[one.start : one.end] == one.said
    return shown, list(figures)


@pytest.mark.parametrize(
    ("draft", "shown"),
    [
        ("Europe grew {9 [4]}%.", "Europe grew 9% [4]."),
        ("Europe grew to {8,891 [4]}.", "Europe grew to $8,891 million [4]."),
        ("Europe grew {8,891 [4]}%.", "Europe grew 8,891% [4]."),
        ("Partner commissions fell by {5,455 [4]}.", "Partner commissions fell by $5,455 million [4]."),
        ("Partner commissions fell to {5,455 [4]}.", "Partner commissions fell to −$5,455 million [4]."),
        ("研发人员有{74 [5]}名，", "研发人员有74名[5]，"),
        ("共{74 [5]}人次。", "共74人次[5]。"),
        ("历时{74 [5]}个月。", "历时74[5]个月。"),
        ("毛利率提高{70.82 [5]}个百分点。", "毛利率提高70.82个百分点[5]。"),
        ("营业收入为{318,024,319.30 [5]}元。", "营业收入为318,024,319.30元[5]。"),
        ("营收{372.58 [6]}亿元，增长{9.90 [6]}%。", "营收372.58亿元[6]，增长9.90%[6]。"),
        ("存货{205,021,446.76 [6]}元。", "存货205,021,446.76元[6]。"),
        ("员工{74 [6]}人。", "员工74人[6]。"),
    ],
)
def test_what_the_draft_says_around_a_figure_and_what_the_evidence_prints_are_brought_together(
    draft: str, shown: str
) -> None:
    assert write(draft, "zh" if "。" in draft or "，" in draft else "en")[0] == shown


def test_a_torn_number_is_quoted_as_it_stands_and_two_numbers_are_none() -> None:
    _, (one,) = write("营收{372.58 [6]}亿元。", "zh")
    assert one.figure
    assert one.figure.value == "37258000000"
    assert "372 58亿元" in one.quotes[0].text
    assert len(SOURCES.mended[5].text) == len(TORN.text)
    _, figures = write("员工{74 [6]}人。", "zh")
    assert not figures


def test_a_number_that_lost_a_blank_is_quoted_and_placed_to_its_last_digit() -> None:
    torn = replace(TORN, text="\t2019 年\n存货（元）\t205,021,446. 76\t5")
    _, (one,) = write_draft("存货{205,021,446.76 [1]}元。", Sources((torn,)), "zh")
    assert one.figure
    (operand,) = one.figure.operands
    assert torn.text[operand.start - torn.start : operand.end - torn.start] == "205,021,446. 76"
    assert [quote.text for quote in one.quotes] == ["存货（元）\t205,021,446. 76"]


@pytest.mark.parametrize(
    ("draft", "shown"),
    [
        ("Net sales were {81,797 [1]}.", "Net sales were $81,797 million [1]."),
        ("Net sales were ${81,797 [1]} million [1].", "Net sales were $81,797 million [1]."),
        ("Net sales were {$81,797 million [1]} million dollars.", "Net sales were $81,797 million [1]."),
        ("Revenue was {13.51 [2]}, up {101 [2]}%.", "Revenue was $13.51 billion [2], up 101% [2]."),
        ("It shipped {5740 [2]}.", "It shipped 57.40 million [2]."),
        ("Products were {60,584 [1] / 21,213 [1] = x}x services.", "Products were 2.86x [1] services."),
        ("A share earned {1.26 [1]}.", "A share earned $1.26 [1]."),
        ("Net sales were {{81,797 [1]}}.", "Net sales were $81,797 million [1]."),
        ("The net loss was {1,250 [1]}.", "The net loss was $1,250 million [1]."),
        ("Net income was {1,250 [1]}.", "Net income was −$1,250 million [1]."),
        ("Net income fell to {1,250 [1]}.", "Net income fell to −$1,250 million [1]."),
        ("Net income was {(1,250) [1]}.", "Net income was −$1,250 million [1]."),
    ],
)
def test_a_figure_is_written_as_its_passage_means_it(draft: str, shown: str) -> None:
    assert write(draft)[0] == shown


@pytest.mark.parametrize(
    ("draft", "shown", "formula"),
    [
        ("{(81,797 [1] - 82,959 [1]) / 82,959 [1] = %} more", "−1.40% [1] more", "= (81,797 − 82,959) / 82,959"),
        ("a fall of {(81,797 [1] − 82,959 [1]) ÷ 82,959 [1]}%", "a fall of 1.40% [1]", "= (81,797 − 82,959) / 82,959"),
        ("down by {82,959 [1] - 81,797 [1]} million", "down by $1,162 million [1]", "= 82,959 − 81,797"),
        ("{21,213 [1] / 81,797 [1] = 26%}", "25.9% [1]", "= 21,213 / 81,797"),
        ("{share = 21,213 [1] / 81,797 [1]}", "25.9% [1]", "= 21,213 / 81,797"),
        ("{21,213 [1] / 81,797 [1] * 100 = %}", "25.9% [1]", "= 21,213 / 81,797 × 100"),
        ("{500 [3] / 300 [3] = x} times", "1.67 times [3]", "= 500 / 300"),
        ("{20,000 [1] / 81,797 [1] * 365 = days} days", "89.2 days [1]", "= 20,000 / 81,797 × 365"),
        ("{(81,797 [1] + 82,959 [1]) / 2}", "$82,378 million [1]", "= (81,797 + 82,959) / 2"),
        ("{(81,797 [1] / 82,959 [1]) ^ (1/2) - 1 = %}", "−0.70% [1]", "= (81,797 / 82,959) ^ (1 / 2) − 1"),
        ("{101% [2] - 20% [2]}", "81 percentage points [2]", "= 101 − 20"),
        ("{81,797 [1] - (82,959 [1] - 500 [1])}", "−$662 million [1]", "= 81,797 − (82,959 − 500)"),
        ("{81,797 [1] / 13.51 [2] = x}", "6.05 [1][2]", "= 81,797 / 13.51"),
    ],
)
def test_a_calculation_is_computed_and_says_how(draft: str, shown: str, formula: str) -> None:
    text, figures = write(draft)
    assert text == shown
    assert [one.formula for one in figures] == [formula]


def test_in_chinese() -> None:
    draft = "净销售额{81,797 [1]}百万美元，同比下降{(82,959 [1] − 81,797 [1]) / 82,959 [1] = %}，出货量{5740万 [2]}部。"
    assert write(draft, "zh")[0] == "净销售额81,797百万美元[1]，同比下降1.40%[1]，出货量5,740万部[2]。"


def test_a_marker_does_not_part_a_word() -> None:
    text = "Production of 4.6 million oil-equivalent barrels per day; 272 thousand barrels more."
    sources = Sources((Passage(document_id="d", page=1, start=0, end=len(text), text=text),))
    shown, _ = write_draft(
        "It was {4.6 million [1]} oil-equivalent barrels, {272 thousand [1]} barrels more.", sources, "en"
    )
    assert shown == "It was 4.6 million [1] oil-equivalent barrels, 272 thousand barrels [1] more."


@pytest.mark.parametrize(
    "draft",
    [
        "It was {81,797 [1] / 0 [3] = %}.",  # of one the scale is not known
        "It was {500 [3] / 0 [3] = %}.",
        "It was {(81,797 [1] - 82,959 [1] / 82,959 [1] = %}.",
        "It was {81,797 [1] - }.",
        "It was {81,797 [1] - 99,999 [1]}.",
        "It was {81,797 [1] - 82,959 [9]}.",
        "It was {81,797 [1] - 5,000}.",
        "It was {7 * 391}.",
        "It was {25 * 81,797 [1]}.",
        "It was {81,797 [1] * 82,959 [1]}.",
        "It was {81,797 [1] + 20% [2]}.",
        "It was {(0 - 81,797 [1] / 82,959 [1]) ^ (1/2)}.",
        "It was {81,797 [1] ^ 12 ^ 12}.",
        "It was {(81,797 [1] - 82,959 [1]) / 82,959 [1] = %",
        "It was {(81,797 [1] - 82,959 [1]",
    ],
)
def test_a_calculation_that_comes_to_nothing_says_so(draft: str) -> None:
    shown, figures = write(draft)
    assert shown.rstrip(" .") == "It was (figure not traced)"
    assert [one.figure for one in figures] == [None]
    found = _grounded(draft)
    assert [figure.verdict for figure in found.grounding.figures] == ["not_found"]
    assert _grounded(draft, strict=True).grounding.withheld


@pytest.mark.parametrize(
    ("draft", "shown"),
    [
        ("Sales were {99,999 [1]}.", "Sales were 99,999 [1]."),
        ("Sales were {81,797 [7]}.", "Sales were 81,797 [7]."),
        ("Sales were {81,797}.", "Sales were 81,797."),
        ("{net sales of 81,797 [1]}", "net sales of 81,797 [1]"),
        ("{81,797 [1] and 82,959 [1]}", "81,797 [1] and 82,959 [1]"),
        ("Sales were {81,797 [1] million in the quarter.", "Sales were 81,797 [1] million in the quarter."),
        ("Cash was {500 [3]}.", "Cash was 500 [3]."),
        ("It shipped {6120 [2]} million.", "It shipped 6120 million [2]."),
        ("Sales were 81,797 [1]}.", "Sales were 81,797 [1]."),
    ],
)
def test_a_figure_that_cannot_be_resolved_is_left_to_the_checker(draft: str, shown: str) -> None:
    assert write(draft) == (shown, [])


@pytest.mark.parametrize("text", ["{a}", '{"sales": 81}', r"\frac{81}{99}", "x^{2}", "{ }", "{1, 2}", "{"])
def test_other_braces_stay(text: str) -> None:
    assert write(text)[0] == text


def test_what_a_calculation_carries() -> None:
    _, (one,) = write("{(81,797 [1] - 82,959 [1]) / 82,959 [1] = %}")
    assert one.figure
    assert (one.figure.company, one.figure.metric) == ("Kestrel", "calculation")
    assert (one.figure.unit, one.figure.formula) == ("percent", "({0} − {1}) / {1}")
    assert Decimal(one.figure.value).quantize(Decimal("0.0001")) == Decimal("-1.4007")
    assert [(o.label, o.value, o.unit, o.printed, o.number, o.page) for o in one.figure.operands] == [
        ("Total net sales", "81797000000", "USD", "81,797", 1, 4),
        ("Total net sales", "82959000000", "USD", "82,959", 1, 4),
    ]
    for operand in one.figure.operands:
        assert STATEMENT.text[operand.start - 100 : operand.end - 100] == operand.printed
    assert [quote.text for quote in one.quotes] == ["Total net sales 81,797"]


def test_a_fact_that_the_question_asks_for_is_known_exactly() -> None:
    at = STATEMENT.start + STATEMENT.text.index("(1,250)")
    fact = Fact(
        "income", "Net loss", "net_income", "-1250000000", "USD", "2023-04-02", "2023-07-01", "(1,250)", at, at + 7
    )
    figure = Figure("Kestrel", fact.value, "USD", "2023-04-02", "2023-07-01", (Operand(fact, STATEMENT),))
    _, (one,) = write_draft("The loss was {1,250 [1]}.", Sources((STATEMENT,), (figure,)), "en")
    assert one.figure
    assert [(o.concept, o.period_start, o.period_end) for o in one.figure.operands] == [
        ("net_income", "2023-04-02", "2023-07-01")
    ]


DRAFTS = [
    "Net sales were ${81,797 [1]} million [1], down {(82,959 [1] - 81,797 [1]) / 82,959 [1] = %} percent.",
    "It was {(81,797 [1] - 82,959 [1]\nand {81,797 [1]}}. {{81,797 [1]}} {a} 5 [1]} {",
    "{20 [2]}% {81,797 [1]} million US dollars [1] [1]",
]


@given(st.sampled_from(DRAFTS), st.lists(st.integers(1, 9), min_size=60, max_size=60))
def test_where_the_stream_cuts_changes_nothing(draft: str, sizes: list[int]) -> None:
    writer, at, pieces = DraftWriter(SOURCES, "en"), 0, []
    for size in sizes:
        pieces.append(writer.feed(draft[at : at + size]))
        at += size
    pieces += [writer.feed(draft[at:]), writer.finish()]
    assert ("".join(pieces), writer.figures) == write(draft)


@settings(max_examples=200)
@given(st.text("{}[]()+-*/^=%$ 0123456789,.ab和\n", max_size=80))
def test_whatever_is_written_comes_to_an_end(draft: str) -> None:
    shown, figures = write(draft)
    assert all(0 <= one.start < one.end <= one.behind <= len(shown) for one in figures)


@pytest.mark.parametrize("deep", ["(" * 300 + "1 [1]" + ")" * 300, "-" * 900 + "1 [1]", "2^" * 400 + "2 [1]"])
def test_a_group_has_a_bound(deep: str) -> None:
    with pytest.raises(Malformed):
        parse_group(deep)


def test_no_more_is_held_back_than_a_group_may_be_long() -> None:
    writer = DraftWriter(SOURCES, "en")
    assert writer.feed("Plain text. ") == "Plain text. "
    assert writer.feed("{81,797 ") == ""
    shown = sum(len(writer.feed("and so on ")) for _ in range(100))
    assert shown > 500


def _grounded(draft: str, *, strict: bool = False) -> Grounded:
    evidence = (STATEMENT, PROSE, UNSCALED)
    text, pointed = write_draft(draft, SOURCES, "en")
    report = settle(check_answer(text, [to_check(one) for one in evidence]), pointed, text)
    return ground(text, report, [one.text for one in evidence], pointed=pointed, strict=strict)


def test_what_was_pointed_at_is_supported_and_what_was_computed_is_derived() -> None:
    found = _grounded(
        "Total net sales were {81,797 [1]}, {(82,959 [1] - 81,797 [1]) / 82,959 [1] = %} less than {82,959 [1]}."
    )
    assert [(f.text, f.verdict, f.formula) for f in found.grounding.figures] == [
        ("$81,797 million", "supported", ""),
        ("1.40%", "derived", "= (82,959 − 81,797) / 82,959"),
        ("$82,959 million", "supported", ""),
    ]
    assert [sentence.verdict for sentence in found.grounding.sentences] == ["supported"]
    assert not found.grounding.removed_markers + found.grounding.added_markers
    assert [one.quote.text for one in found.placed if one.quote] == [
        "Total net sales 81,797",
        "Total net sales 81,797 82,959",
        "Total net sales 81,797 82,959",
    ]


def test_an_invented_figure_beside_them_is_not() -> None:
    found = _grounded("Total net sales were {81,797 [1]}, of which China had $14,444 million [1].")
    assert [f.text for f in found.grounding.figures if f.verdict in UNSUPPORTED] == ["$14,444 million"]
    assert _grounded(
        "Total net sales were {81,797 [1]}, of which China had 14,444 [1].", strict=True
    ).grounding.withheld


def test_a_true_figure_of_another_time_stays_contradicted() -> None:
    nine = Passage(
        document_id="d",
        page=1,
        start=0,
        end=200,
        text="Services\t21,213\t19,604\t62,886\t58,941\nTotal net sales\t81,797\t82,959\t293,787\t304,182",
        is_table=True,
        table_head="(in millions)\nThree Months Ended\tNine Months Ended\n"
        "July 1, 2023\tJune 25, 2022\tJuly 1, 2023\tJune 25, 2022",
        header="Kestrel · 10-Q · FY2023 Q3 · quarter ended July 1, 2023",
    )
    text, pointed = write_draft("The Services segment contributed {62,886 [1]} in Q3 2023.", Sources((nine,)), "en")
    report = check_answer(text, [to_check(nine)])
    assert "contradicted" in {figure.verdict for figure in report.figures}
    assert "contradicted" in {figure.verdict for figure in settle(report, pointed, text).figures}
