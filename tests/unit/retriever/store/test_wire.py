import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_fintext.notices import Note, NoteReason
from quelea_kit.errors import InvalidInput, TooLarge
from quelea_retriever import wire
from quelea_retriever.core.model import Candidate, DocumentFacts, Hit, PassageRecord, Reading
from quelea_retriever.testing import upsert_request


def test_a_document_comes_back_as_it_was_sent():
    request = upsert_request(
        "apple",
        ["a"],
        company="Apple",
        company_aliases=["Apple Inc."],
        ticker="AAPL",
        language="en",
        document_type="10-Q",
        published="2023-08-04",
        provenance=common_pb2.PROVENANCE_SAMPLE,
        period=common_pb2.FiscalPeriod(
            label="FY2023 Q3", fiscal_year=2023, fiscal_quarter=3, end_date="2023-07-01", file_label="2023 Q3"
        ),
    )
    request.document.fetched.FromJsonString("2026-01-02T03:04:05.678901Z")
    found = wire.facts_in(request.document)
    request.document.metadata.collection = "default"
    assert wire.document_out(found) == request.document


def test_a_passage_comes_back_as_it_was_sent():
    passage = common_pb2.Passage(
        id="p", document_id="d", ordinal=3, page=2, start=5, end=9, text="text", is_table=True, section="s › t",
        table_head="head",
    )  # fmt: skip
    record = wire.passage_in(passage, "d", 100)
    out = wire.hit_out(Hit(Candidate(record, DocumentFacts("d", company="Apple"), 0.5, 2.0), 0.75))
    assert out.passage == passage
    assert (out.score, out.cosine, out.sparse) == (0.75, 0.5, 2.0)
    assert out.metadata.company == "Apple"
    assert out.header == "Apple · s › t"


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"ordinal": -1},
        {"document_id": "other"},
        {"text": " \n", "end": 2},
        {"page": 0},
        {"start": -1, "end": 3},
        {"end": 5},
    ],
)
def test_a_passage_that_contradicts_itself_is_refused(change):
    good = {"id": "p", "document_id": "d", "page": 1, "start": 0, "end": 4, "text": "text"}
    wire.passage_in(common_pb2.Passage(**good), "d", 10)
    with pytest.raises(InvalidInput):
        wire.passage_in(common_pb2.Passage(**{**good, **change}), "d", 10)
    with pytest.raises(TooLarge, match="3"):
        wire.passage_in(common_pb2.Passage(**good), "d", 3)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", ""),
        ("id", "a/b"),
        ("id", "x" * 129),
        ("pages", -1),
        ("metadata.uri", ""),
        ("metadata.published", "last summer"),
        ("metadata.period.end_date", "2023-02-30"),
    ],
)
def test_a_document_that_cannot_be_kept_is_refused(path, value):
    document = upsert_request("apple", ["a"]).document
    *parents, name = path.split(".")
    target = document
    for parent in parents:
        target = getattr(target, parent)
    setattr(target, name, value)
    with pytest.raises(InvalidInput):
        wire.facts_in(document)


def test_queries_have_bounds():
    assert wire.query_in("净销售额?", 10) == "净销售额?"
    with pytest.raises(InvalidInput):
        wire.query_in(" \n\t", 10)
    with pytest.raises(TooLarge, match="10"):
        wire.query_in("x" * 11, 10)


def test_k_and_mode_have_bounds():
    assert (wire.k_in(0, 10), wire.k_in(1, 10), wire.k_in(200, 10)) == (10, 1, 200)
    with pytest.raises(InvalidInput):
        wire.k_in(201, 10)
    assert wire.mode_in(retriever_pb2.SEARCH_MODE_UNSPECIFIED) == "fused"
    with pytest.raises(InvalidInput):
        wire.mode_in(9)


def test_filters_refuse_what_cannot_be_meant():
    with pytest.raises(InvalidInput, match="published_from"):
        wire.filters_in(retriever_pb2.Filters(published_from="2023"))
    with pytest.raises(InvalidInput, match="after"):
        wire.filters_in(retriever_pb2.Filters(published_from="2023-02-01", published_to="2023-01-01"))
    with pytest.raises(InvalidInput, match="blank"):
        wire.filters_in(retriever_pb2.Filters(companies=[" "]))
    assert not wire.filters_in(retriever_pb2.Filters())


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_page_token_names_its_place(fetched, document_id):
    token = wire.page_token_out(DocumentFacts(document_id, fetched=fetched))
    assert wire.page_token_in(token) == (fetched, document_id)


@given(st.text(min_size=1, max_size=30))
def test_any_other_page_token_is_refused(token):
    with pytest.raises(InvalidInput):
        wire.page_token_in(token)


def test_a_reading_is_sent_whole():
    notes = (Note(NoteReason.COMPANY_LEFT_OUT, ("Tesla",)),)
    reading = Reading(("Apple",), ("FY2023 Q3",), (("a", "b"), ("c",)), "text", notes, True, True, True, True)
    out = wire.reading_out(reading)
    assert list(out.document_ids) == ["a", "b", "c"]
    assert (out.text, out.fallback) == ("text", "no document of Tesla")
    assert [(note.reason, list(note.companies)) for note in out.notes] == [(2, ["Tesla"])]
    assert out.company_missing
    assert out.period_missing
    assert out.is_comparison
    assert out.asks_latest


def test_a_passage_record_needs_no_document_id_on_the_wire():
    passage = common_pb2.Passage(id="p", page=1, end=1, text="x")
    assert wire.passage_in(passage, "d", 10) == PassageRecord("p", "d", 0, 1, 0, 1, "x")
