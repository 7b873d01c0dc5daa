"""Local and web passages in one list: what may be used, what is said twice, the order, what was useful."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_fintext.notices import Note, NoteReason
from quelea_gateway.core.model import Filters, Passage, Ranked, Reading
from quelea_gateway.core.web.merge import NEWER, drop_later, fill_reading, new_passages, order, useful_pages
from quelea_gateway.core.web.model import WebPage

AS_OF = "2024-02-01"
ALL = Filters()
NOTE = Note(NoteReason.COMPANY_NOT_STORED, ("Rivian",))


def local(text="Net sales were 5.", **more):
    return Passage(**{"document_id": "l", "page": 1, "start": 0, "end": len(text), "text": text, **more})


def web(text="Deliveries were 50,122 vehicles.", **more):
    return local(text, **{"document_id": "w", "source": "web", "from_web": True, "published": "2024-01-02", **more})


def page(*passages, document_id="w"):
    return WebPage(document_id, f"https://x.test/{document_id}", passages)


@pytest.mark.parametrize(
    ("passage", "used"),
    [
        (local(published="2024-02-01"), True),
        (local(published="2024-02-02"), False),
        (local(published=""), True),
        (local(published="", period_end="2024-03-31"), False),
        (local(published="2024-01-30", period_end="2024-03-31"), True),
        (local(published="", fetched="2026-01-01T00:00:00Z"), True),
        (web(published="", fetched="2026-01-01T00:00:00Z"), False),
        (web(published="", fetched="2024-02-02T01:00:00Z"), True),
        (web(published="2024-01-02", fetched="2026-01-01T00:00:00Z"), True),
        (web(published="2024-02-02"), False),
    ],
)
def test_nothing_later_than_the_day_of_the_question_is_used(passage, used):
    assert drop_later([passage], AS_OF) == ((passage,) if used else ())


def test_what_a_local_passage_says_already_is_left_out_and_the_web_says_each_thing_once():
    known = local("Net sales were 5.")
    again = web("NET sales were 5")
    new, twice = web("Deliveries were 50,122."), web("Deliveries were 50,122.", document_id="v")
    found = new_passages([known], [page(again, new), page(twice, document_id="v")], AS_OF, ALL)
    assert found == (new,)


def test_nearly_the_same_text_is_the_same():
    text = " ".join(f"word{n}" for n in range(60))
    assert new_passages([local(text)], [page(web(text + " read more"))], AS_OF, ALL) == ()
    assert len(new_passages([local(text)], [page(web(text.replace("word3", "other")))], AS_OF, ALL)) == 1


def test_later_empty_and_filtered_passages_are_left_out():
    passages = (
        web("Later.", published="2024-06-01"), web("  "), web("Old.", published="2020-01-01"),
        web("Undated.", published=""), web("Good.", language="en"), web("Ältere.", language="de"),
    )  # fmt: skip
    filters = Filters(published_from="2023-01-01", languages=("en",))
    assert [p.text for p in new_passages([], [page(*passages)], AS_OF, filters)] == ["Good."]
    assert [p.text for p in new_passages([], [page(*passages)], AS_OF, ALL)] == ["Old.", "Good.", "Ältere."]
    before = web("Undated.", published="", fetched="2020-01-01T00:00:00Z")
    assert new_passages([], [page(before)], AS_OF, ALL) == (before,)


def test_the_list_is_in_the_order_of_the_fused_score_with_the_headers_that_were_ranked():
    passages = [local(header="Apple · 10-Q", cosine=0.9), web()]
    placed = order(passages, [Ranked(1, 0.9, 0.88, "Rivian"), Ranked(0, 0.4, 0.9, "x")], as_of=AS_OF, newer_first=False)
    assert [(p.document_id, p.score, p.cosine, p.header) for p in placed] == [
        ("w", 0.9, 0.88, "Rivian"),
        ("l", 0.4, 0.9, "Apple · 10-Q"),
    ]


@pytest.mark.parametrize(("gap", "first"), [(0.05, "new"), (0.2, "old")])
def test_newer_dates_are_preferred_a_little_when_the_latest_is_asked_for(gap, first):
    passages = [
        web("a", document_id="old", published="2019-01-01"),
        web("b", document_id="new", published=AS_OF),
        web("c"),
    ]
    ranked = [Ranked(0, 1.0, 0.9, ""), Ranked(1, 1.0 - gap, 0.9, ""), Ranked(2, 0.0, 0.9, "")]
    placed = order(passages, ranked, as_of=AS_OF, newer_first=True)
    assert placed[0].document_id == first
    assert placed[0].score <= 1.0 + NEWER
    assert order(passages, ranked, as_of=AS_OF, newer_first=False)[0].document_id == "old"


def test_a_page_is_useful_when_its_best_passage_is_above_c():
    pages = [page(document_id=name) for name in ("a", "b", "c", "none")]
    merged = [
        web(document_id="a", cosine=0.80), web(document_id="a", cosine=0.90), web(document_id="b", cosine=0.84),
        web(document_id="c", cosine=0.95, suspicious=True), web(document_id="c", cosine=0.90), local(cosine=0.99),
    ]  # fmt: skip
    assert [(p.document_id, p.score) for p in useful_pages(pages, merged, 0.84)] == [("a", 0.90)]


def test_a_suspicious_passage_that_is_not_the_best_does_not_hold_its_page_back():
    merged = [web(cosine=0.9), web(cosine=0.86, suspicious=True)]
    assert len(useful_pages([page()], merged, 0.84)) == 1


@pytest.mark.parametrize(
    ("reading", "text", "company", "period"),
    [
        (Reading(companies=("Rivian",), company_missing=True, notes=(NOTE,)), "Rivian delivered 5.", False, False),
        (Reading(companies=("Rivian",), company_missing=True, notes=(NOTE,)), "Tesla delivered 5.", True, False),
        (Reading(companies=("织羽股份",), company_missing=True), "织羽股份营业收入12亿元", False, False),
        (Reading(periods=("FY2024 Q1",), period_missing=True), "In the first quarter of 2024", False, False),
        (Reading(periods=("FY2024 Q1",), period_missing=True), "In the second quarter of 2024", False, True),
        (Reading(periods=("2024 Q1",), period_missing=True), "2024年一季度", False, False),
        (Reading(periods=("FY2025",), period_missing=True), "For 2024", False, True),
    ],
)
def test_what_was_missing_may_be_on_the_web(reading, text, company, period):
    seen = fill_reading(reading, [local("Rivian first quarter 2024 and 2025"), web(text)])
    assert (seen.company_missing, seen.period_missing) == (company, period)
    assert (seen.notes == ()) is (not reading.notes or not (company or period))


@given(st.lists(st.text(max_size=40), max_size=6), st.lists(st.text(max_size=40), max_size=6))
def test_every_new_text_is_one_of_the_pages_and_none_comes_twice(ours, theirs):
    found = new_passages([local(t) for t in ours], [page(*(web(t) for t in theirs))], AS_OF, ALL)
    texts = [p.text for p in found]
    assert set(texts) <= set(theirs) - set(ours)
    assert len(texts) == len(set(texts))
