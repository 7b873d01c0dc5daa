"""Documents that a question calls by the day they came out."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query
from support.filings import HARBOR, TODAY, ZEBRA


def paper(key: str, company: str, kind: str, published: str, language: str = "en") -> DocumentFacts:
    return DocumentFacts(
        id=key, title=f"{company} {kind}", company=company, document_type=kind, published=published, language=language
    )


PAPERS = [
    replace(ZEBRA[3], published="2023-10-31"),
    HARBOR[0],
    paper("8-K", "Zebra", "8-K", "2024-07-01"),
    paper("8-K before", "Zebra", "8-K", "2023-07-01"),
    paper("release", "Harbor", "press release", "2024-07-01"),
    paper("call", "Harbor", "earnings call", "2024-08-02"),
    paper("proxy", "Zebra", "DEF 14A", "2024-04-05"),
    paper("note", "远山科技", "announcement", "2024-07-03", "zh"),
]
CATALOGUE = Catalogue.build(PAPERS)


def read(question: str, as_of: date = TODAY) -> list[list[str]]:
    return [list(group) for group in read_query(question, CATALOGUE, as_of).groups]


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("What does the filing of July 1 say about the new director?", ["8-K", "release"]),
        ("Who left, according to the 8-K dated July 1, 2024?", ["8-K"]),
        ("What was in the current report of 1 July 2023?", ["8-K before"]),
        ("What did Zebra disclose in its filing of July 1st?", ["8-K"]),
        ("What did the press release of Jul. 1 say of margins?", ["release"]),
        ("What did management say on the earnings call of August 2?", ["call"]),
        ("Which directors stand for election in the proxy statement of April 5, 2024?", ["proxy"]),
        ("7月3日的公告说了什么？", ["note"]),
        ("2024年7月3日的公告说了什么？", ["note"]),
    ],
)
def test_a_day_and_a_kind_reach_the_document(question: str, documents: list[str]) -> None:
    assert read(question) == [documents]


def test_what_came_out_after_the_question_is_not_meant() -> None:
    assert read("What did Zebra disclose in its filing of July 1?", as_of=date(2024, 1, 1)) == [["8-K before"]]


@pytest.mark.parametrize(
    "question",
    [
        "What does Zebra's filing for the quarter ended September 30, 2023 say?",
        "What was Zebra's inventory as of September 30, 2023, as filed?",
        "Zebra filed for the quarter ended September 30, 2023: what was net income?",
    ],
)
def test_the_end_of_a_period_is_no_day_of_publication(question: str) -> None:
    assert read(question) == [["ZBRA 2023-09-30"]]


def test_a_day_on_which_nothing_came_out_leaves_the_search_as_it_was() -> None:
    assert read_query("What does the filing of June 9 say?", CATALOGUE, TODAY).groups == ()


def test_an_annual_question_is_answered_from_the_release_where_no_annual_report_is_stored() -> None:
    release = replace(
        paper("Q4", "Kestrel", "press release", "2022-02-03"), period=ReportingPeriod("FY2021", 2021, 0, "2021-12-31")
    )
    catalogue = Catalogue.build([*PAPERS, release])
    for question in (
        "What was Kestrel's annual revenue for 2021?",
        "Kestrel Q4 2021 sales",
        "Kestrel FY2021 net income",
    ):
        reading = read_query(question, catalogue, TODAY)
        assert reading.groups == (("Q4",),) and not reading.period_missing
