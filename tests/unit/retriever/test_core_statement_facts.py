"""Which stated figures are shown: by what a reader calls them, once, and from the newest document."""

from __future__ import annotations

from dataclasses import replace

from quelea_fintext.facts import Fact
from quelea_retriever.core.figures.statement_facts import STATED_ALIKE, FactQuery, StatedFact, pack, unpack
from quelea_retriever.core.model import DocumentFacts

OLD = DocumentFacts(id="a", company="Kestrel", published="2031-02-01")
NEW = DocumentFacts(id="b", company="Kestrel", published="2032-02-01")
SALES = Fact(
    "income", "Turnover", "revenue", "900", "USD", "2030-01-01", "2030-12-31", "900", 0, 3, basis="consolidated"
)


def stated(fact: Fact, document: DocumentFacts = NEW, ordinal: int = 0) -> StatedFact:
    return StatedFact(fact, document, f"{document.id}-{ordinal}", 1, ordinal)


def test_packed_facts_come_back_as_they_were() -> None:
    facts = [replace(SALES, label="营业收入", passed=("one",), failed=("two", "three"))]
    assert unpack(pack(facts)) == facts
    assert (pack([]), unpack("")) == ("", [])


def test_a_figure_stated_twice_is_shown_once_from_the_newest_document() -> None:
    found = FactQuery().select([stated(SALES, OLD), stated(SALES, NEW)])
    assert [one.document.id for one in found] == ["b"]


def test_a_figure_that_an_earlier_document_states_alike_has_passed_that_check() -> None:
    older, newer = stated(SALES, OLD), stated(replace(SALES, value="900.0"), NEW)
    (one,) = FactQuery().select([older, newer])
    assert one.fact.passed == (STATED_ALIKE,)
    assert FactQuery().select([newer])[0].fact.passed == ()
    twice = stated(replace(SALES, start=9), NEW, ordinal=1)
    assert FactQuery().select([newer, twice])[0].fact.passed == ()
    oldest = stated(replace(SALES, value="870"), replace(OLD, id="c", published="2030-03-01"))
    assert FactQuery().select([oldest, older, newer])[0].fact.passed == ()


def test_a_restated_figure_is_shown_only_when_doubtful_ones_are_wanted() -> None:
    both = [stated(SALES, OLD), stated(replace(SALES, value="905"), NEW)]
    assert [one.fact.value for one in FactQuery().select(both)] == ["905"]
    doubtful = FactQuery(include_doubtful=True).select(both)
    assert [(one.fact.value, one.restated) for one in doubtful] == [("905", False), ("900", True)]


def test_two_lines_of_one_concept_both_stay_and_each_is_held_against_its_own() -> None:
    notes = replace(SALES, concept="short_term_debt", label="Notes payable", value="40")
    paper = replace(notes, label="Commercial paper", value="25", start=9)
    older = [stated(replace(notes, value="41"), OLD), stated(paper, OLD)]
    found = FactQuery(include_doubtful=True).select([*older, stated(notes), stated(paper)])
    assert [(one.fact.label, one.fact.value, one.restated) for one in found] == [
        ("Notes payable", "40", False),
        ("Notes payable", "41", True),
        ("Commercial paper", "25", False),
    ]
    assert found[2].fact.passed == (STATED_ALIKE,)


def test_names_are_those_of_readers_and_else_labels() -> None:
    odd = replace(SALES, concept="", label="Flights flown", start=9)
    facts = [stated(SALES), stated(odd)]
    for name in ("net sales", "Revenues", "营业收入", "revenue"):
        assert [one.fact.label for one in FactQuery(names=(name,)).select(facts)] == ["Turnover"], name
    assert [one.fact.label for one in FactQuery(names=("flights",)).select(facts)] == ["Flights flown"]


def test_periods_lengths_bases_and_notes() -> None:
    quarter = replace(SALES, period_start="2030-10-01", value="250")
    day = replace(SALES, statement="balance", concept="goodwill", period_start="", value="70")
    parent = replace(SALES, basis="parent", value="10")
    note = replace(SALES, statement="note", concept="", label="Rent", tag="x:Rent", value="5")
    facts = [stated(one) for one in (SALES, quarter, day, parent, note)]

    def values(query: FactQuery) -> set[str]:
        return {one.fact.value for one in query.select(facts)}

    assert values(FactQuery()) == {"900", "250", "70"}
    assert values(FactQuery(months=frozenset({12}))) == {"900", "70"}
    assert values(FactQuery(basis="parent")) == {"10"}
    assert values(FactQuery(statements=frozenset({"note"}))) == {"5"}
    assert values(FactQuery(period_from="2031-01-01")) == set()


PART = replace(
    SALES, statement="breakdown", label="渡轮业务", concept="", column="营业收入", group="主营业务 分产品", start=20
)


def test_parts_are_shown_only_where_they_are_asked_for() -> None:
    both = [stated(SALES), stated(PART)]
    assert [one.fact for one in FactQuery().select(both)] == [SALES]
    assert [one.fact for one in FactQuery(names=("revenue",)).select(both)] == [SALES]
    assert [one.fact for one in FactQuery(statements=frozenset({"breakdown"})).select(both)] == [PART]


def test_a_part_is_found_by_its_column_its_name_and_what_kind_it_is_of() -> None:
    margin = replace(PART, column="毛利率", unit="percent", value="12.5", start=30)
    stored = [stated(PART), stated(margin)]

    def columns(*names: str) -> list[str]:
        found = FactQuery(names=names, statements=frozenset({"breakdown"})).select(stored)
        return [one.fact.column for one in found]

    assert columns("revenue") == columns("营业收入") == ["营业收入"]
    assert columns("毛利率") == ["毛利率"]
    assert columns("渡轮业务") == columns("分产品") == ["营业收入", "毛利率"]
    assert columns("分地区") == []
