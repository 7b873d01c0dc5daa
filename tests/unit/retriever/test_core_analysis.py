"""Sparse vectors, headers and the search's own query."""

from __future__ import annotations

import numpy as np
import pytest
from quelea_fintext.line_items import filing_phrases
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.header import contextual_header
from quelea_retriever.core.model import DocumentFacts, Reading
from quelea_retriever.core.search_terms import WEIGHT, search_vector
from quelea_retriever.core.sparse_vectors import phrases, sparse_document, sparse_query, term_index


def weights_of(*parts: str) -> dict[int, float]:
    indices, weights = sparse_document(*parts)
    return dict(zip(indices.tolist(), weights.tolist(), strict=True))


def weight(term: str, *parts: str) -> float:
    return weights_of(*parts).get(term_index(term), 0.0)


def test_phrases_stop_at_numbers() -> None:
    assert list(phrases(["net", "sale", "2023", "product"])) == ["net", "sale", "net sale", "2023", "product"]
    assert list(phrases(["a", "b", "c", "d"]))[-3:] == ["d", "c d", "b c d"]


def test_indices_are_ascending_and_unique() -> None:
    indices, weights = sparse_document(
        "Apple · 10-Q", "Net sales", "", "net sales of products grew, net sales of services fell"
    )
    assert indices.dtype == np.uint32
    assert weights.dtype == np.float32
    assert len(indices) == len(weights) == len(set(indices.tolist()))
    assert list(indices) == sorted(indices)
    assert (weights > 0).all()


def test_stop_words_and_inflection() -> None:
    assert weight("the", "", "", "", "the sales of the company") == 0.0
    assert weight("sale", "", "", "", "Sales") > 0.0
    assert sparse_query("selling")[0].tolist() == sparse_query("sells")[0].tolist()


def test_section_counts_twice_and_once_only() -> None:
    in_body = weight("inventori", "", "", "", "inventories")
    in_section = weight("inventori", "", "Inventories", "", "")
    assert in_section > 0.0
    # The header ends with the section: it must not count a third time.
    assert weight("inventori", "Apple · Inventories", "Inventories", "", "") == pytest.approx(in_section)
    assert weight("inventori", "", "Inventories", "", "inventories") > max(in_body, in_section)


def test_a_long_body_counts_each_word_less() -> None:
    assert weight("debt", "", "", "", "debt") > weight("debt", "", "", "", "debt " + "padding words here " * 100)
    # Section and header are not normalised by length.
    long_section = "Debt › " + "Other Heading " * 20
    assert weight("debt", "", long_section, "", "") == pytest.approx(weight("debt", "", "Debt", "", ""))


def test_table_head_belongs_to_the_body() -> None:
    assert weight("million", "", "", "(in millions)", "Cash 5") == pytest.approx(
        weight("million", "", "", "", "(in millions)\nCash 5")
    )


def test_chinese_words_and_phrases_match() -> None:
    document = weights_of("", "", "", "归属于上市公司股东的净利润为1008万元")
    query = sparse_query("上市公司净利润")[0].tolist()
    assert sum(index in document for index in query) >= 2


def test_full_width_and_thousands_separators() -> None:
    assert (
        sparse_query("１，２３４")[0].tolist() == sparse_query("1,234")[0].tolist() == sparse_query("1234")[0].tolist()
    )


@pytest.mark.parametrize("text", ["", " \n", "!!!", "\x00", "的", "😀"])
def test_nothing_to_index(text: str) -> None:
    indices, weights = sparse_document("", "", "", text)
    assert len(indices) == len(weights)
    assert len(sparse_query(text)[0]) == len(sparse_query(text)[1])


FACTS = DocumentFacts(
    "d",
    title="Quarterly report",
    language="en",
    company="Apple",
    ticker="AAPL",
    document_type="10-Q",
    period=ReportingPeriod("FY2023 Q3", 2023, 3, "2023-07-01", "2023 Q3"),
)


YEAR = ReportingPeriod("FY2020", 2020, 0, "2020-12-31")


def test_header_of_a_filing() -> None:
    assert contextual_header(FACTS, "Note 2 – Revenue") == (
        "Apple (AAPL) · 10-Q · FY2023 Q3 · quarter ended July 1, 2023 · Note 2 – Revenue"
    )


@pytest.mark.parametrize(
    ("facts", "header"),
    [
        (
            DocumentFacts("d", title="央行降准", document_type="news", published="2023-09-14"),
            "央行降准 · news · 2023-09-14 · S",
        ),
        (DocumentFacts("d"), "S"),
        (
            DocumentFacts(
                "d",
                company="生物股份",
                ticker="600201",
                language="zh",
                period=ReportingPeriod("FY2020", 2020, 0, "2020-12-31"),
            ),
            "生物股份 (600201) · FY2020 · 2020年12月31日 · S",
        ),
        (
            DocumentFacts("d", company="X", period=ReportingPeriod("FY2020", 2020, 0, "2020-12-31")),
            "X · FY2020 · year ended December 31, 2020 · S",
        ),
        (DocumentFacts("d", company="X", period=ReportingPeriod(file_label="2020")), "X · 2020 · S"),
    ],
)
def test_header_leaves_out_what_is_unknown(facts: DocumentFacts, header: str) -> None:
    assert contextual_header(facts, "S") == header


CHOSEN = Reading(companies=("Apple",), groups=(("d",),), mentions=("Apple",))


def test_outside_a_filing_the_question_is_taken_as_it_is() -> None:
    for got, wanted in zip(
        search_vector("Apple revenue in 2023", Reading()), sparse_query("Apple revenue in 2023"), strict=True
    ):
        assert got.tolist() == wanted.tolist()


def test_inside_a_filing_only_the_content_is_looked_for() -> None:
    indices, weights = search_vector("What was Apple's revenue in the third quarter of fiscal 2023?", CHOSEN)
    asked = dict(zip(indices.tolist(), weights.tolist(), strict=True))
    assert asked[term_index("revenu")] == 1.0
    assert asked[term_index("net sale")] == pytest.approx(WEIGHT)
    for settled in ("appl", "2023", "third", "quarter", "fiscal"):
        assert term_index(settled) not in asked
    assert list(indices) == sorted(indices)


def test_a_question_of_nothing_but_frame_still_looks_for_something() -> None:
    assert len(search_vector("Apple 10-Q report", CHOSEN)[0]) > 0


def test_synonyms_in_both_languages() -> None:
    assert "net sales" in filing_phrases("total revenue")
    assert "repurchases of common stock" in filing_phrases("stock buybacks")
    assert "研发费用" in filing_phrases("研发投入是多少")
    assert filing_phrases("weather in June") == []
    assert filing_phrases("indebted researchers") == []  # whole words only
