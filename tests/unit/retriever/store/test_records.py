"""How documents and passages are written down, and read back by a later or an earlier release."""

import dataclasses
import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from quelea_fintext.times.periods import ReportingPeriod
from quelea_kit.reach import Reach
from quelea_retriever.adapters import points, store
from quelea_retriever.core.model import DocumentFacts, PassageRecord

text = st.text(max_size=20)
periods = st.builds(ReportingPeriod, text, st.integers(0, 3000), st.integers(0, 4), text, text)
facts = st.builds(
    DocumentFacts,
    id=st.text("0123456789abcdef", min_size=1, max_size=32),
    title=text,
    uri=text,
    company=text,
    company_aliases=st.lists(text, max_size=3).map(tuple),
    period=periods,
    passages=st.integers(0, 100),
)


@given(facts, st.floats(0, 1e10))
def test_a_record_survives_json(document, committed):
    record = store.DocumentRecord(store.version_of(document), document, committed)
    assert points.record_of(json.loads(json.dumps(points.record_payload(record)))) == record


@given(text, text, st.integers(0, 10), st.booleans())
def test_a_passage_survives_json(words, section, ordinal, table):
    passage = PassageRecord("p", "d", ordinal, 1, 0, len(words), words, table, section, "head")
    new = store.NewPassage("v", passage, np.zeros(2, np.float32), (np.zeros(0, np.uint32), np.zeros(0, np.float32)))
    assert points.passage_of(json.loads(json.dumps(points.passage_payload(new, 12.9)))) == passage


def test_a_record_of_another_release_is_read():
    payload = points.record_payload(store.DocumentRecord("v", DocumentFacts(id="a", uri="u"), 1.0))
    payload["facts"]["a field of the future"] = 1
    payload["facts"]["period"]["another"] = 2
    del payload["facts"]["ticker"]
    assert points.record_of(payload).facts == DocumentFacts(id="a", uri="u")


@given(facts)
def test_a_version_is_named_by_bytes_and_metadata_not_by_counts(document):
    version = store.version_of(document)
    counted = dataclasses.replace(document, pages=7, passages=9, fetched="2026-01-01")
    assert store.version_of(counted) == version
    assert store.version_of(dataclasses.replace(document, title=document.title + "!")) != version
    assert store.version_of(dataclasses.replace(document, id=document.id + "0")) != version
    assert store.is_version_of(version, document.id, Reach())
    assert not store.is_version_of(version, document.id + "0", Reach())


def test_a_version_and_a_name_are_of_a_place():
    document = DocumentFacts(id="a" * 32, uri="u", uploader="desk")
    other = dataclasses.replace(document, tenant="bonds", collection="us")
    assert store.version_of(document) != store.version_of(other)
    assert document.name != other.name
    version = store.version_of(other)
    assert store.is_version_of(version, other.id, Reach("bonds", ("us",)))
    for reach in (Reach(), Reach("bonds", ()), Reach("bonds", ("hk",)), Reach("us")):
        assert not store.is_version_of(version, other.id, reach)


def test_two_versions_of_a_document_share_no_point():
    assert points.passage_point_id("v1", "p") != points.passage_point_id("v2", "p")
    assert points.record_point_id("u") != points.record_point_id("v")


def test_a_conflict_names_both_models_and_the_way_out():
    said = store.profile_conflict(store.Profile("old", 4), store.Profile("new", 8, header=False))
    assert "old (4 dimensions)" in said
    assert "new (8, without headers)" in said
    assert "admin reembed" in said
