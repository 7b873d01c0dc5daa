"""Order of passages: fusion, evidence, groups, repeats."""

from __future__ import annotations

import random

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.model import Candidate, DocumentFacts, PassageRecord, Reading
from quelea_retriever.core.ranking.passage_view import ViewCache, alike, view_of
from quelea_retriever.core.ranking.question_view import clean, question_view
from quelea_retriever.core.ranking.ranking import FUSION, rank


def candidate(
    name: str,
    text: str = "",
    *,
    document: str = "d",
    cosine: float = 0.8,
    sparse: float = 1.0,
    table: bool = False,
    section: str = "",
    end: str = "",
) -> Candidate:
    passage = PassageRecord(
        name, document, 0, 1, 0, len(text), text or f"text of {name}", is_table=table, section=section
    )
    return Candidate(passage, DocumentFacts(document, period=ReportingPeriod(end_date=end)), cosine, sparse)


def ids(hits: list) -> list[str]:
    return [hit.candidate.passage.id for hit in hits]


def test_modes_and_plain_fusion() -> None:
    found = [
        candidate("a", cosine=0.9, sparse=0.0),
        candidate("b", cosine=0.8, sparse=9.0),
        candidate("c", cosine=0.85, sparse=10.0),
    ]
    assert ids(rank("q", found, Reading(), 3, "dense")) == ["a", "c", "b"]
    assert ids(rank("q", found, Reading(), 3, "sparse")) == ["c", "b", "a"]
    hits = rank("q", found, Reading(), 3, "fused", True)
    assert ids(hits) == ["c", "b", "a"]
    assert hits[0].score == pytest.approx(FUSION["dense"] * 0.5 + FUSION["sparse"])
    assert hits[2].score == pytest.approx(FUSION["dense"])


@pytest.mark.parametrize("k", [0, -1])
def test_nothing_asked_or_found(k: int) -> None:
    assert rank("q", [candidate("a")], Reading(), k) == []
    assert rank("q", [], Reading(), 5) == []


def test_one_candidate_and_equal_scores() -> None:
    assert ids(rank("q", [candidate("a")], Reading(), 5)) == ["a"]
    assert ids(rank("q", [candidate("a"), candidate("b")], Reading(), 5, plain=True)) == ["a", "b"]


def test_k_is_kept() -> None:
    assert len(rank("q", [candidate(str(i)) for i in range(20)], Reading(), 7)) == 7


def test_the_row_that_is_asked_for_wins() -> None:
    table = "(in millions)\t2019\t2018\nOther assets\t1,911\t1,812\nTotal\t4,489\t3,895"
    prose = "Other matters: assets and other items of other assets were discussed by the other committee."
    rest = [candidate(str(i), f"Lease of building {i} ended.", document=str(i), sparse=0.0) for i in range(8)]
    found = [candidate("prose", prose, sparse=1.1), candidate("table", table, document="e", table=True), *rest]
    question = "What was the average of other assets for 2018 and 2019?"
    assert ids(rank(question, found, Reading(), 1)) == ["table"]
    assert ids(rank(question, found, Reading(), 1, plain=True)) == ["prose"]


def test_years_decide_between_equal_tables() -> None:
    old = candidate("old", "\t2016\t2015\nGoodwill\t10\t12", document="a", table=True)
    new = candidate("new", "\t2019\t2018\nGoodwill\t11\t13", document="b", table=True)
    assert ids(rank("What was goodwill in 2019 and 2018?", [old, new], Reading(), 2))[0] == "new"


def test_a_document_that_holds_the_rest_of_the_question_wins() -> None:
    alone = candidate("alone", "Free cash flow was strong.", document="a")
    backed = candidate("backed", "Free cash flow was solid.", document="b")
    backing = candidate("backing", "Pension contributions in Ireland.", document="b", sparse=0.5, cosine=0.7)
    found = [alone, backed, backing]
    assert ids(rank("free cash flow and pension contributions in Ireland", found, Reading(), 3))[0] == "backed"


def test_groups_take_turns_in_order() -> None:
    reading = Reading(groups=(("new",), ("old",)))
    found = [
        candidate("o1", document="old", sparse=9),
        candidate("o2", document="old", sparse=8),
        candidate("n1", document="new", sparse=3),
        candidate("n2", document="new", sparse=2),
        candidate("x", document="stray", sparse=99),
    ]
    hits = rank("q", found, reading, 5, plain=True)
    assert ids(hits) == ["n1", "o1", "x", "n2", "o2"]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_groups_are_scored_on_one_scale() -> None:
    # The best of a filing that says little of the thing is not as good as the best of one that speaks of it.
    found = [
        candidate("o1", document="old", sparse=12),
        candidate("o2", document="old", sparse=2),
        candidate("n1", document="new", sparse=4),
        candidate("n2", document="new", sparse=3),
    ]
    hits = rank("q", found, Reading(groups=(("old",), ("new",))), 4, plain=True)
    assert ids(hits)[:2] == ["o1", "n1"]
    assert hits[0].score == pytest.approx(FUSION["sparse"])
    assert hits[1].score == pytest.approx(FUSION["sparse"] * 0.2)


def test_inside_a_filing_headings_and_figures_count() -> None:
    reading = Reading(groups=(("d",),))
    talk = candidate("talk", "We may repurchase shares at times.", section="Risk Factors")
    note = candidate(
        "note", "We repurchased shares for $18.0 billion, 5% more.", section="Note 6 › Share Repurchase Program"
    )
    assert ids(rank("Did it repurchase shares?", [talk, note], reading, 2))[0] == "note"


BOILERPLATE = "Our business is subject to many risks which could harm results, and the price of our stock may fall."


def test_near_duplicates_collapse_to_the_newest() -> None:
    old = candidate("old", BOILERPLATE, document="a", end="2023-03-31")
    new = candidate("new", BOILERPLATE + " ", document="b", end="2023-06-30")
    assert ids(rank("risks", [old, new], Reading(), 5)) == ["new"]
    assert ids(rank("risks", [old, new], Reading(groups=(("b",), ("a",))), 5)) == ["new"]


def test_same_words_other_figures_are_no_duplicates() -> None:
    rows = "Net sales\t{}\nCost of sales\t{}\nGross margin\t{}\nOperating income and other items of the period\t{}"
    left = candidate("l", rows.format("81,797", 2, 3, 4), document="a", table=True)
    right = candidate("r", rows.format("82,959", 2, 3, 4), document="b", table=True)
    assert len(rank("net sales", [left, right], Reading(), 5)) == 2


def test_every_distinct_candidate_gets_a_place() -> None:
    rng = random.Random(7)
    vocabulary = "cash debt lease revenue margin asset goodwill tax equity option segment 2019 4,211 7% $3".split()
    found = [
        candidate(str(i), " ".join(rng.choices(vocabulary, k=30)) + f" item{i} note{i} part{i}", document=str(i % 7),
                  cosine=rng.random(), sparse=rng.random() * 20, table=i % 3 == 0)
        for i in range(200)
    ]  # fmt: skip
    for reading in (Reading(), Reading(groups=(("1",), ("2",))), Reading(groups=(tuple("0123456"),))):
        hits = rank("How much cash and debt in 2019?", found, reading, 200)
        assert sorted(ids(hits), key=int) == [str(i) for i in range(200)]
        again = rank("How much cash and debt in 2019?", list(reversed(found)), reading, 200)
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in again])


def test_view_reads_rows_of_pdf_and_of_pipes() -> None:
    for line in (
        "Total net sales\t$ 81,797\t$ 82,959",
        "Total net sales | 81,797 | 82,959",
        "Total net sales 81,797 82,959",
    ):
        assert view_of(candidate("x", line, table=True).passage).labels == ("Total net sales",)
    view = view_of(candidate("x", "Revenue of $1.2 billion in 2023, up 3%").passage)
    assert view.years == {"2023"}
    assert view.figures == {"1.2", "3"}
    assert view.sums == 2


def test_alike_needs_the_same_figures() -> None:
    left, right = (view_of(candidate("x", f"{BOILERPLATE} {n}").passage) for n in ("12", "13"))
    assert not alike(left, right)
    assert alike(left, left)


def test_cache_is_bounded_and_notices_change() -> None:
    cache = ViewCache(2)
    for name in "abc":
        cache.get(candidate(name).passage)
    assert len(cache) == 2
    assert "goodwil" in cache.get(candidate("c", "Goodwill").passage).terms
    assert "debt" in cache.get(candidate("c", "Debt").passage).terms


def test_question_view() -> None:
    view = question_view("What was Apple's gross margin in 2023?", ("Apple",))
    assert view.asks_amount
    assert view.years == {"2023"}
    assert set(view.weights) == {"gross", "margin"}
    assert not question_view("Summarize the risk factors").asks_amount
    assert question_view("2019年毛利率是多少？").asks_amount


def test_cleaned_keeps_the_thing_asked_for() -> None:
    text = clean("In Apple's Q3 2023 10-Q, how does the gross margin compare to the previous quarter?", ("Apple",))
    assert "gross margin" in text
    assert "Apple" not in text
    assert "2023" not in text
