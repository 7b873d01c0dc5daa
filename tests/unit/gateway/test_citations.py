"""From text and quotes to citations and verdicts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_gateway.core.citations import assemble, best_span, check, figures, marks, of_mark, statement_before
from quelea_gateway.core.model import Passage, Quote

PAGE = "Intro line\nTotal net sales $ 81,797 $ 82,959\nNet income 19,881\n净利润为2.05亿元，同比增长9.7%。其他说明。"
TEXT = PAGE[11:]


def passage(text=TEXT, start=11, **more):
    return Passage(document_id="d", page=1, start=start, end=start + len(text), text=text, **more)


def quote(words: str, number: int = 1, text: str = TEXT) -> Quote:
    start = text.index(words)
    return Quote(number, start, start + len(words), words)


def verdicts(answer, quotes, evidence):
    citations, faults = assemble(answer, quotes, evidence)
    return {c.name: c.passed for c in check(answer, citations, evidence, faults)}, citations


def test_markers_with_several_numbers():
    assert [(m.number, m.start) for m in marks("a [1] b [2, 3] c【4】")] == [(1, 2), (2, 8), (3, 8)]
    assert marks("in [2023] nothing") == []


def test_a_quote_becomes_a_citation_of_the_page():
    result, citations = verdicts(
        "Sales: Total net sales $ 81,797 [1]", [quote("Total net sales $ 81,797")], (passage(),)
    )
    assert PAGE[citations[0].start : citations[0].end] == citations[0].quote == "Total net sales $ 81,797"
    assert result == {"citations_resolve": True, "quotes_verbatim": True, "figures_supported": True}


def test_two_quotes_of_one_passage_are_two_citations_and_the_second_marker_opens_the_second():
    answer = "Sales 81,797 [1]. Income 19,881 [1]. Again [1]."
    citations, _ = assemble(answer, [quote("81,797"), quote("Net income 19,881")], (passage(),))
    assert [c.number for c in citations] == [1, 1]
    assert [c.quote for _, c in of_mark(answer, citations)] == ["81,797", "Net income 19,881", "Net income 19,881"]


def test_the_same_quote_twice_is_one_citation():
    citations, _ = assemble("[1]", [quote("Net income"), quote("Net income")], (passage(),))
    assert len(citations) == 1


def test_a_quote_with_a_wrong_span_is_found_again():
    citations, faults = assemble("[1]", [Quote(1, 3, 9, "Net income 19,881")], (passage(),))
    assert PAGE[citations[0].start : citations[0].end] == "Net income 19,881"
    assert faults == []


@pytest.mark.parametrize("bad", [Quote(1, 0, 5, "never said"), Quote(9, 0, 5, "Total"), Quote(1, 0, 0, "")])
def test_a_quote_that_is_not_in_its_passage_is_no_citation_and_fails_the_check(bad):
    result, citations = verdicts("text", [bad], (passage(),))
    assert citations == ()
    assert result["quotes_verbatim"] is False


def test_a_marker_without_a_quote_gets_the_line_that_says_its_sentence():
    answer = "Total net sales were $ 81,797. Net income was 19,881 [1]."
    citations, _ = assemble(answer, [], (passage(),))
    assert [c.quote for c in citations] == ["Net income 19,881"]


def test_chinese_statement_gets_its_sentence():
    citations, _ = assemble("公司净利润为2.05亿元[1]。", [], (passage(),))
    assert citations[0].quote == "净利润为2.05亿元，同比增长9.7%。"


def test_a_marker_that_no_evidence_has_fails():
    result, _ = verdicts("Sales 81,797 [1] and 5 [7]", [quote("81,797")], (passage(),))
    assert result["citations_resolve"] is False


def test_an_answer_without_citations_fails():
    result, citations = verdicts("Sales were fine", [], (passage(),))
    assert citations == ()
    assert result["citations_resolve"] is False


def test_a_figure_that_nobody_wrote_fails():
    evidence = (passage(),)
    citations, faults = assemble("Sales were 81,797 and 99,999 [1]", [quote("81,797")], evidence)
    verdict = check("Sales were 81,797 and 99,999 [1]", citations, evidence, faults)[2]
    assert not verdict.passed
    assert "99999" in verdict.detail
    assert "81797" not in verdict.detail


def test_a_figure_of_the_table_head_or_header_is_supported():
    evidence = (passage(header="Apple · FY2023 Q3", table_head="July 1, 2023"),)
    result, _ = verdicts("In Q3 of 2023: 81,797 [1]", [quote("81,797")], evidence)
    assert result["figures_supported"]


def test_list_numbers_are_no_figures():
    result, _ = verdicts("1. Sales 81,797 [1]\n2. Income 19,881 [1]", [quote("81,797"), quote("19,881")], (passage(),))
    assert result["figures_supported"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1,234.50", ["1234.5"]), ("１２３", ["123"]), ("0.98 and 007", ["0.98", "7"]), ("none", []), ("3.0%", ["3"])],
)
def test_figures_compare_by_value(text, expected):
    assert figures(text) == expected


def test_statement_before_a_marker():
    answer = "First sentence 1.5 here [1]. Second one"
    assert statement_before(answer, len(answer)).strip() == "Second one"


@given(st.text(max_size=300), st.text(max_size=60))
def test_a_best_span_is_inside_the_text(text, statement):
    start, end = best_span(text, statement)
    assert 0 <= start <= end <= len(text)


@given(st.text(alphabet="[]0123456789, a。\n", max_size=80))
def test_assembling_never_breaks(answer):
    evidence = (passage(),)
    citations, faults = assemble(answer, [], evidence)
    assert len(check(answer, citations, evidence, faults)) == 3
    for citation in citations:
        assert PAGE[citation.start : citation.end] == citation.quote
