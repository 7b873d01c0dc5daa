"""From text and quotes to citations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_gateway.core.answers.citations import assemble, best_span, of_mark, place_markers, statement_before
from quelea_gateway.core.answers.numbers import find_numbers
from quelea_gateway.core.grounding import marks
from quelea_gateway.core.model import Passage, Quote

PAGE = "Intro line\nTotal net sales $ 81,797 $ 82,959\nNet income 19,881\n净利润为2.05亿元，同比增长9.7%。其他说明。"
TEXT = PAGE[11:]


def passage(text=TEXT, start=11, **more):
    return Passage(document_id="d", page=1, start=start, end=start + len(text), text=text, **more)


def quote(words: str, number: int = 1, text: str = TEXT) -> Quote:
    start = text.index(words)
    return Quote(number, start, start + len(words), words)


def cited(answer, quotes, evidence=None, **more):
    return assemble(place_markers(answer), quotes, evidence or (passage(),), **more)


def test_markers_with_several_numbers():
    assert [(m.number, m.start) for m in marks("a [1] b [2, 3] c")] == [(1, 2), (2, 8), (3, 8)]
    assert marks("in [2023] nothing") == []


def test_a_quote_becomes_a_citation_of_the_page():
    citations, faults = cited("Sales: Total net sales $ 81,797 [1]", [quote("Total net sales $ 81,797")])
    assert PAGE[citations[0].start : citations[0].end] == citations[0].quote == "Total net sales $ 81,797"
    assert faults == []


def test_two_quotes_of_one_passage_are_two_citations_and_the_second_marker_opens_the_second():
    answer = "Sales 81,797 [1]. Income 19,881 [1]. Again [1]."
    citations, _ = cited(answer, [quote("81,797"), quote("Net income 19,881")])
    assert [c.number for c in citations] == [1, 1]
    assert [c.quote for _, c in of_mark(answer, citations)] == ["81,797", "Net income 19,881", "Net income 19,881"]


def test_the_same_quote_twice_is_one_citation():
    citations, _ = cited("[1]", [quote("Net income"), quote("Net income")])
    assert len(citations) == 1


def test_a_quote_with_a_wrong_span_is_found_again():
    citations, faults = cited("[1]", [Quote(1, 3, 9, "Net income 19,881")])
    assert PAGE[citations[0].start : citations[0].end] == "Net income 19,881"
    assert faults == []


@pytest.mark.parametrize("bad", [Quote(1, 0, 5, "never said"), Quote(9, 0, 5, "Total"), Quote(1, 0, 0, "")])
def test_a_quote_that_is_not_in_its_passage_is_no_citation_and_is_reported(bad):
    citations, faults = cited("text", [bad])
    assert citations == ()
    assert len(faults) == 1


def test_a_quote_that_nothing_marks_is_no_citation():
    assert cited("Sales were 81,797.", [quote("81,797")]) == ((), [])


def test_a_marker_without_a_quote_gets_the_line_that_says_its_sentence():
    answer = "Total net sales were $ 81,797. Net income was 19,881 [1]."
    citations, _ = cited(answer, [])
    assert [c.quote for c in citations] == ["Net income 19,881"]


def test_a_quote_without_the_sentences_figures_gives_way_to_a_line_that_has_them():
    answer = "Total net sales were 81,797 [1]. Net income was 19,881 [1]."
    citations, _ = cited(answer, [quote("Total net sales $ 81,797")])
    assert [c.quote for _, c in of_mark(answer, citations)] == ["Total net sales $ 81,797", "Net income 19,881"]
    kept, _ = cited(answer, [quote("Total net sales $ 81,797")], exact=True)
    assert [c.quote for c in kept] == ["Total net sales $ 81,797"]


def test_a_line_that_is_cited_again_later_stands_again_in_its_place():
    answer = "Sales were 81,797 [1]. Income was 19,881 [1]. Sales were 81,797 indeed [1]."
    citations, _ = cited(answer, [])
    assert [c.quote[:5] for _, c in of_mark(answer, citations)] == ["Total", "Net i", "Total"]


def test_chinese_statement_gets_its_sentence():
    citations, _ = cited("公司净利润为2.05亿元[1]。", [])
    assert citations[0].quote == "净利润为2.05亿元，同比增长9.7%。"


def test_a_marker_that_no_evidence_has_is_no_citation():
    citations, _ = cited("Sales 81,797 [1] and 5 [7]", [quote("81,797")])
    assert [c.number for c in citations] == [1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1,234.50", ["1234.5"]), ("１２３", ["123"]), ("0.98 and 007", ["0.98", "7"]), ("none", []), ("3.0%", ["3"])],
)
def test_figures_compare_by_value(text, expected):
    assert find_numbers(text) == expected


def test_statement_before_a_marker():
    answer = "First sentence 1.5 here [1]. Second one"
    assert statement_before(answer, len(answer)).strip() == "Second one"


@given(st.text(max_size=300), st.text(max_size=60))
def test_a_best_span_is_inside_the_text(text, statement):
    start, end = best_span(text, statement)
    assert 0 <= start <= end <= len(text)


@given(st.text(alphabet="[]0123456789, a。\n", max_size=80))
def test_assembling_never_breaks(answer):
    citations, _ = cited(answer, [])
    assert len(of_mark(answer, citations)) == sum(mark.number == 1 for mark in marks(answer))
    for citation in citations:
        assert PAGE[citation.start : citation.end] == citation.quote
