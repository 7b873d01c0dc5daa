"""From a text and the checker's report to the final text, its markers and its verdicts."""

from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_checker import CheckPassage, check_answer
from quelea_gateway.core.grounding import find_quotations, ground, tidy
from quelea_gateway.core.model import Passage

SALES = "Total net sales were $81,797 million in the third quarter of 2023, compared to $82,959 million a year earlier."
SERVICES = (
    "Services net sales increased to $21,213 million, due primarily to advertising, cloud services and the App Store."
)
CHINESE = "公司第三季度营业收入4.42亿元，同比增长21.3%；归属于上市公司股东的净利润2.05亿元。"
TABLE = "Three Months Ended\nJuly 1, 2023  June 25, 2022\nOperating income  22,998  23,076\nNet income  19,881  19,442"
SOURCES = [SALES, SERVICES, CHINESE, TABLE]


def grounded(text, sources=SOURCES, question="", **more):
    text = tidy(text)
    report = check_answer(text, [CheckPassage(source) for source in sources], question=question)
    found = ground(text, report, sources, **more)
    for sentence in found.grounding.sentences:
        assert found.grounding.text[sentence.start : sentence.end] == sentence.text
    for figure in found.grounding.figures:
        assert found.grounding.text[figure.start : figure.end] == figure.text
    for one in found.placed:
        assert found.grounding.text[one.mark.start : one.mark.end].startswith("[")
    return found.grounding


def test_what_is_right_stays_as_it_is():
    text = (
        "Total net sales were $81,797 million in the third quarter of 2023 [1]. Services reached $21,213 million [2]."
    )
    found = grounded(text)
    assert found.text == text
    assert [s.verdict for s in found.sentences] == ["supported", "supported"]
    assert [s.passages[0] for s in found.sentences] == [1, 2]
    assert found.removed_markers == found.added_markers == found.withheld == ()
    assert {f.verdict for f in found.figures} == {"supported"}


def test_a_marker_that_is_invented_is_removed_or_corrected():
    found = grounded("Total net sales were $81,797 million [9]. Unicorns are pink and fly around at night [7].")
    assert found.text == "Total net sales were $81,797 million [1]. Unicorns are pink and fly around at night."
    assert found.removed_markers == ("[9]", "[7]")
    assert found.added_markers == ("[1]",)
    assert [s.verdict for s in found.sentences] == ["supported", "not_found"]


def test_a_marker_whose_passage_does_not_support_the_sentence_becomes_the_one_that_does():
    found = grounded("Services net sales increased to $21,213 million [1].")
    assert found.text == "Services net sales increased to $21,213 million [2]."
    assert (found.removed_markers, found.added_markers) == (("[1]",), ("[2]",))


def test_a_sentence_that_says_what_is_missing_is_left_alone():
    for text in (
        "The information provided does not state Apple's total net sales by country.",
        "Services net sales did not fall, the App Store and cloud services included [1].",
        "公司没有披露归属于上市公司股东的净利润的构成。",
    ):
        found = grounded(text)
        assert found.text == text
        assert found.added_markers == found.removed_markers == ()


def test_of_several_markers_those_that_support_stay():
    assert grounded("Total net sales were $81,797 million [1][2].").text == "Total net sales were $81,797 million [1]."
    assert grounded("Total net sales were $81,797 million [9, 1].").text == "Total net sales were $81,797 million [1]."
    assert grounded("Total net sales were $81,797 million [8] [9].").text == "Total net sales were $81,797 million [1]."
    both = "Total net sales were $81,797 million, of which services were $21,213 million [1, 2]."
    assert grounded(both).text == both


def test_a_marker_that_was_forgotten_is_added_before_the_full_stop():
    found = grounded("Total net sales were $81,797 million. Services reached $21,213 million [2].")
    assert found.text == "Total net sales were $81,797 million [1]. Services reached $21,213 million [2]."
    assert found.added_markers == ("[1]",)
    chinese = grounded("第三季度营业收入4.42亿元，同比增长21.3%。")
    assert chinese.text == "第三季度营业收入4.42亿元，同比增长21.3%[3]。"


def test_chinese_answers_with_full_width_brackets():
    found = grounded("公司第三季度营业收入为4.42亿元【3】，净利润2.05亿元【9】。")
    assert found.text == "公司第三季度营业收入为4.42亿元[3]，净利润2.05亿元。"
    assert found.sentences[0].verdict == "supported"


def test_a_wrong_figure_is_unsupported_and_its_sentence_says_so():
    found = grounded("Total net sales were $81,897 million in the third quarter of 2023 [1].")
    assert found.unsupported() == ["$81,897 million"]
    assert found.sentences[0].verdict in {"partly", "contradicted", "not_found"}
    assert grounded("公司净利润2.15亿元[3]。").sentences[0].verdict != "supported"


def test_a_derived_figure_has_its_formula_and_cites_its_operands():
    found = grounded("Net income increased by 439 compared to a year earlier [4].")
    figure = next(f for f in found.figures if f.text == "439")
    assert (figure.verdict, figure.passage) == ("derived", 4)
    assert "19,881" in figure.formula
    assert "19,442" in figure.formula


def test_tables_get_their_marker_into_the_last_cell():
    found = grounded("| Item | 2023 |\n|---|---|\n| Net income | 19,881 |\n| Operating income | 22,998 |")
    assert "| Net income | 19,881 [4] |" in found.text
    assert "|---|---|\n" in found.text
    assert [f.verdict for f in found.figures if f.text in {"19,881", "22,998"}] == ["supported", "supported"]


def test_code_and_addresses_are_not_touched():
    text = "Total net sales were $81,797 million [1], see `table[9]` and https://a.test/x[9]/y."
    assert grounded(text).text == text


def test_no_marker_goes_into_a_quotation():
    found = grounded("It says “Total net sales were $81,797 million. Services grew.” [1]")
    assert found.text == "It says “Total net sales were $81,797 million. Services grew.” [1]"


def test_figures_in_a_verbatim_quotation_are_supported():
    sources = (Passage("d", 1, 0, 10, TABLE),)
    text = "Net income for the three months ended July 1, 2023 is in the row “Net income 19,881 19,442” [1]."
    report = check_answer(text, [CheckPassage(TABLE)])
    found = ground(text, report, [TABLE], verbatim=find_quotations(text, sources)).grounding
    assert found.unsupported() == []
    assert found.sentences[0].verdict == "supported"


STRICT = (
    "Total net sales were $81,797 million [1]. Net income was $99,999 million [4].\n"
    "Services reached $21,213 million [2]."
)


def test_strict_withholds_sentences_with_unsupported_figures():
    found = grounded(STRICT, strict=True)
    assert found.text == "Total net sales were $81,797 million [1]. \nServices reached $21,213 million [2]."
    assert found.withheld == ("Net income was $99,999 million [4].",)
    assert found.unsupported() == []
    assert len(found.sentences) == 2


def test_strict_takes_the_bullet_with_the_sentence():
    found = grounded("- Total net sales were $81,797 million [1]\n- Net income was 12,345 [4]\n", strict=True)
    assert found.text == "- Total net sales were $81,797 million [1]"
    assert found.withheld == ("- Net income was 12,345 [4]",)


def test_strict_may_leave_nothing():
    assert grounded("净利润为9.99亿元[3]。", strict=True).text == ""


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="[]【】19 7,.%。\n“”|`-abcNet income19,881亿元", max_size=90), st.booleans())
def test_whatever_a_model_writes_spans_are_right_and_every_marker_resolves(text, strict):
    grounded(text, strict=strict)
    found = tidy(text)
    report = check_answer(found, [CheckPassage(source) for source in SOURCES])
    assert all(1 <= one.mark.number <= 4 for one in ground(found, report, SOURCES, strict=strict).placed)
