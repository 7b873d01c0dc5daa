"""Which passages the reader sees, and how the others are listed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_gateway.core.answers.evidence import LINE_TOKENS, choose, cite, excerpt, listing
from quelea_gateway.core.model import Passage


def passage(text: str, start: int = 0, **more) -> Passage:
    return Passage(document_id="d", page=3, start=start, end=start + len(text), text=text, **more)


def test_the_best_j_are_evidence_and_the_rest_is_not():
    found = tuple(passage(f"text {n}") for n in range(5))
    evidence, rest = choose(found, j=2, budget=10_000, count=len)
    assert evidence == found[:2]
    assert rest == found[2:]


def test_a_passage_over_the_budget_makes_room_for_a_shorter_one_after_it():
    found = (passage("a" * 100), passage("b" * 500), passage("c" * 50))
    evidence, rest = choose(found, j=3, budget=150 + 2 * LINE_TOKENS, count=len)
    assert [p.text[0] for p in evidence] == ["a", "c"]
    assert [p.text[0] for p in rest] == ["b"]


def test_header_and_table_head_count_against_the_budget():
    found = (passage("a" * 10), passage("b" * 10, header="h" * 60, table_head="t" * 60))
    evidence, _ = choose(found, j=2, budget=20 + 2 * LINE_TOKENS + 119, count=len)
    assert len(evidence) == 1


def test_the_best_passage_is_evidence_even_over_the_budget():
    evidence, rest = choose((passage("a" * 1000),), j=3, budget=1, count=len)
    assert len(evidence) == 1
    assert rest == ()


def test_no_passages():
    assert choose((), j=3, budget=10, count=len) == ((), ())


def test_a_citation_spans_the_page_not_the_passage():
    citation = cite(passage("Net sales were 5.", start=100), 2, 4, 9)
    assert (citation.quote, citation.start, citation.end, citation.number, citation.page) == ("sales", 104, 109, 2, 3)


@given(st.text(alphabet="ab。. \n五", max_size=900), st.integers(0, 50))
def test_an_excerpt_is_verbatim_and_in_place(text, start):
    page = "x" * start + text
    citation = excerpt(passage(text, start=start), 1)
    assert page[citation.start : citation.end] == citation.quote
    assert len(citation.quote) <= 320


def test_an_excerpt_ends_with_a_sentence():
    text = "One sentence is here and it is long enough to be kept by itself, is it not, we think so. " * 8
    assert excerpt(passage(text), 1).quote.endswith("so.")


@pytest.mark.parametrize("first", [1, 5])
def test_a_listing_counts_on(first):
    assert [c.number for c in listing((passage("a"), passage("b")), first)] == [first, first + 1]
