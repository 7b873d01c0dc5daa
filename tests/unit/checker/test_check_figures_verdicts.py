"""Verdicts on figures, sentences and markers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_checker import CheckPassage, check_answer
from quelea_checker.reading.amounts import parse

SALES = CheckPassage(
    "Net sales were as follows (in millions):\n"
    "Three Months Ended\tNine Months Ended\n"
    "July 1, 2023\tJune 25, 2022\tJuly 1, 2023\tJune 25, 2022\n"
    "Net sales:\n"
    "Products\t$ 60,584\t$ 63,355\t$ 230,901\t$ 245,241\n"
    "Services\t21,213\t19,604\t62,886\t58,941\n"
    "Total net sales\t81,797\t82,959\t293,787\t304,182\n"
    "Operating margin\t28.1%\t27.8%\t29.7%\t31.1%",
    header="Apple, Form 10-Q, FY2023 Q3",
)
PROSE = CheckPassage("Inventories decreased by $2.6 billion, or 12%, in the three months ended July 1, 2023.")
CHINESE = CheckPassage("单位：万元\n项目\t2023年\t2022年\n营业收入\t15,800.5\t12,000.0\n净利润\t3,500.0\t(1,200.0)")
ALL = [SALES, PROSE, CHINESE]


def verdicts(answer, passages=ALL, question=""):
    return [(f.text, f.verdict) for f in check_answer(answer, passages, question=question).figures]


@pytest.mark.parametrize(
    "answer",
    [
        "Total net sales were $81,797 million in the three months ended July 1, 2023.",
        "Total net sales were $81.8 billion.", "Total net sales were 81,797.",
        "Products brought $230.9 billion in the nine months ended July 1, 2023.",
        "Inventories fell by $2.6 billion, or 12%.", "营业收入为1.58亿元。", "2023年营业收入15800.5万元。",
        "2022年净利润亏损1200万元。", "The operating margin was 28.1%.", "营业收入一亿五千八百万元。",
    ],
)  # fmt: skip
def test_supported(answer):
    assert {verdict for _, verdict in verdicts(answer)} == {"supported"}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Total net sales were $81,897 million.", "$81,897 million"),
        ("Total net sales were $81,797 billion.", "$81,797 billion"),
        ("Total net sales were $81,797 thousand.", "$81,797 thousand"),
        ("Total net sales were €81,797 million.", "€81,797 million"),
        ("Total net sales were $81.7 billion.", "$81.7 billion"),
        ("Total net sales were $81,797 million in 2022.", "$81,797 million"),
        ("Total net sales were $81,797 million in the nine months ended July 1, 2023.", "$81,797 million"),
        ("Total net sales were -$81,797 million.", "-$81,797 million"),
        ("Total net sales were $81,797 million in 2031.", "2031"),
        ("Total net sales were $81,797 million in Q4 2023.", "Q4 2023"),
        ("Inventories increased by $2.6 billion.", "$2.6 billion"),
        ("Inventories grew by 12%.", "12%"),
        ("营业收入为15800.5亿元。", "15800.5亿元"),
        ("2022年营业收入为15800.5万元。", "15800.5万元"),
        ("库存增长了12%。", "12%"),
        ("2019年三季度的营业收入是多少并不清楚。", "2019年三季度"),
    ],
)
def test_unsupported(answer, text):
    assert dict(verdicts(answer))[text] in {"contradicted", "not_found"}


@pytest.mark.parametrize(
    ("answer", "formula"),
    [
        ("Total net sales decreased by $1,162 million from June 25, 2022 to July 1, 2023.", "= 81,797 − 82,959"),
        ("Services grew 8.2% from June 25, 2022 to July 1, 2023.", "= (21,213 − 19,604) ÷ 19,604"),
        ("Services were 25.9% of total net sales.", "= 21,213 ÷ 81,797"),
        ("2023年营业收入同比增长31.67%。", "= (15,800.5 − 12,000.0) ÷ 12,000.0"),
        ("The average of services of the three months ended July 1, 2023 and June 25, 2022 was 20,408.5 million.",
         "= (21,213 + 19,604) ÷ 2"),
    ],
)  # fmt: skip
def test_derived(answer, formula):
    assert [f.formula for f in check_answer(answer, ALL).figures if f.verdict == "derived"] == [formula]


@pytest.mark.parametrize(
    "answer",
    [
        "Total net sales increased by $1,162 million from June 25, 2022 to July 1, 2023.",
        "Services fell 8.2% from June 25, 2022 to July 1, 2023.",
        "2023年营业收入同比下降31.67%。",
        "The weather was 42,417.",  # 63,021... a sum of rows that the sentence does not speak of
    ],
)
def test_what_does_not_follow_is_not_derived(answer):
    assert "derived" not in {verdict for _, verdict in verdicts(answer)}


def test_sentences_and_markers():
    answer = (
        "Total net sales were $81,797 million [2]. Inventories fell by 12% [7]. Hello there! "
        "Services were $21,213 million. The moon is made of green cheese and other minerals [1]."
    )
    report = check_answer(answer, [SALES, PROSE])
    assert [s.verdict for s in report.sentences] == ["partly", "supported", "no_claim", "supported", "not_found"]
    assert [(m.number, m.suggested) for m in report.markers.corrections] == [(2, 1)]
    assert [(m.number, m.suggested) for m in report.markers.unresolved] == [(7, 2)]
    assert [(m.sentence, m.suggested, answer[m.at]) for m in report.markers.missing] == [(3, 1, ".")]
    assert [answer[s.start : s.end] for s in report.sentences] == [s.text for s in report.sentences]


def test_chinese_sentences_are_cut_with_their_markers():
    report = check_answer("2023年营业收入15800.5万元。[1]净利润3500万元[1]！很好。", [CHINESE])
    assert [s.text for s in report.sentences] == ["2023年营业收入15800.5万元。[1]", "净利润3500万元[1]！", "很好。"]
    assert [s.verdict for s in report.sentences] == ["supported", "supported", "no_claim"]


figures = st.builds(
    lambda n, d, scale, mark: f"{mark}{n / 10**d:,.{d}f}{scale}",
    st.integers(10, 9_999_999), st.integers(0, 2), st.sampled_from(["", " million", " billion", "%", "万元", "亿元"]),
    st.sampled_from(["", "$"]),
).filter(lambda text: not (text.startswith("$") and text.endswith(("%", "元"))))  # fmt: skip


@given(st.lists(figures, min_size=1, max_size=4), st.sampled_from(["prose", "table"]), st.data())
@settings(max_examples=150, deadline=None)
def test_a_figure_copied_from_a_passage_is_supported(values, form, data):
    text = (
        "\n".join(f"Item alpha\t{v}\t1" for v in values) if form == "table" else f"It was {' ; '.join(values)} there."
    )
    found = [f for f in parse(text) if f.text.strip() in values]
    if not found:
        return  # a year, say
    figure = data.draw(st.sampled_from(found))
    (verdict,) = {f.verdict for f in check_answer(f"It was {figure.text}.", [CheckPassage(text)]).figures}
    assert verdict == "supported"


ANSWER = (
    "Total net sales were $81.8 billion in the three months ended July 1, 2023, a decrease of 1.4% from June 25, 2022. "
    "Services were 25.9% of total net sales. 营业收入为1.58亿元，净利润3500万元。 Inventories fell by 13%."
)


@given(
    st.permutations(
        [*ALL, CheckPassage("Nothing of interest in 2020: 17."), CheckPassage("As follows (in thousands):")]
    )
)
@settings(max_examples=40, deadline=None)
def test_the_order_of_passages_changes_no_verdict(passages):
    report = check_answer(ANSWER, passages)
    straight = check_answer(ANSWER, sorted(passages, key=lambda p: p.text))
    assert [(f.text, f.verdict, f.formula) for f in report.figures] == [
        (f.text, f.verdict, f.formula) for f in straight.figures
    ]
    assert [s.verdict for s in report.sentences] == [s.verdict for s in straight.sentences]
