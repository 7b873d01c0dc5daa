"""Documents without a cover page: releases, transcripts, current reports, proxy statements."""

from __future__ import annotations

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_search.core.layout.page_assembly import Block, build_page
from quelea_search.core.metadata.read import read_metadata
from quelea_search.core.model import DocumentFacts, LineKind, ParsedDocument


def read(text: str) -> DocumentFacts:
    page = build_page([Block(LineKind.TEXT, line) for line in text.splitlines()])
    return read_metadata(ParsedDocument((page,), "pdf", {}), "a.pdf", None)


@pytest.mark.parametrize(
    ("text", "company", "ticker", "published", "period"),
    [
        (
            "Exhibit 99.1\nNORTHWIND FOODS CORPORATION REPORTS FOURTH QUARTER AND YEAR 2021 RESULTS\n"
            "Lyon, KY, February 3, 2022 – Northwind Foods Corporation (NYSE:NWND) released its results for the fourth "
            "quarter. Net income for the fourth quarter of 2020 was lower.",
            "Northwind Foods", "NWND", "2022-02-03", ReportingPeriod("FY2021", 2021, 0),
        ),
        (
            "Harbor Lane, Inc.\n24 West Street\nFor Immediate Release: November 22, 2024\nContact: J. Doe\n"
            "HARBOR LANE, INC. REPORTS THIRD QUARTER NET INCOME\nOMAHA, NE -- (BUSINESS WIRE) -- Harbor Lane, Inc. "
            "(Nasdaq Global Select Market: HBLN) said that net income for the fiscal quarter ended November 2, 2024 "
            "rose from that of the third quarter of fiscal 2023. For the third quarter of fiscal 2024 it was $4.",
            "Harbor Lane", "HBLN", "2024-11-22", ReportingPeriod("FY2024 Q3", 2024, 3, "2024-11-02"),
        ),
        (
            "EX-99.1 2 ex991.htm\nQUUX REPORTS FOURTH QUARTER AND FULL-YEAR 2014 RESULTS\nTROY, MI, FEBRUARY 10, 2015 "
            ". . .Quux Incorporated today reported net income for the quarter ended December 31, 2014 of $41 million.",
            "Quux", "", "2015-02-10", ReportingPeriod("FY2014", 2014, 0, "2014-12-31"),
        ),
        (  # what is compared with is no period of its own, and a form that is named is not the document's
            "Exhibit 99.1\nZEPHYR REPORTS SECOND QUARTER FISCAL 2018 EARNINGS\nYORK, PA, May 12, 2018 – "
            "Zephyr\nNews, Inc. (OTC BB: ZEPH) earned more than in the quarter ended March 31, 2017: see Form 10-K.",
            "Zephyr News", "ZEPH", "2018-05-12", ReportingPeriod("FY2018 Q2", 2018, 2),
        ),
        (  # the headline stands between the day and the name
            "Exhibit 99\nApril 23, 2015\nHARBOR LANE, INC. ANNOUNCES SECOND QUARTER RESULTS\n"
            "Harbor Lane, Inc. (NYSE: HBLN) earned $4 in the second fiscal quarter of 2015.",
            "Harbor Lane", "HBLN", "2015-04-23", ReportingPeriod("FY2015 Q2", 2015, 2),
        ),
        (  # of no results
            "Exhibit 99.1\nACME SOFTWARE RECEIVES NOTICE DUE TO LATE FILING OF FORM 10-Q\nBEDFORD, Mass., October "
            "19, 2006—Acme Software Corporation (NASDAQ: ACSW) today announced that it has not filed its Report on "
            "Form 10-Q for the three months ended August 31, 2006.",
            "Acme Software", "ACSW", "2006-10-19", ReportingPeriod(),
        ),
    ],
)  # fmt: skip
def test_releases(text: str, company: str, ticker: str, published: str, period: ReportingPeriod) -> None:
    facts = read(text)
    assert facts.document_type == "press release"
    assert (facts.company, facts.ticker, facts.published) == (company, ticker, published)
    assert facts.period == period and facts.title.startswith(f"{company} press release, ")


@pytest.mark.parametrize(
    "text",
    [
        "Zebra Corporation\nQ2 2022 Earnings Conference Call\nAugust 10, 2022",
        "Q2 2022 Zebra Earnings Call Transcript\nAug 10, 2022",
    ],
)  # fmt: skip
def test_a_transcript_is_of_the_quarter_in_its_title(text: str) -> None:
    facts = read(f"{text}\nOperator\nGood morning. At this time, all participants are in listen-only mode.")
    assert (facts.company, facts.document_type, facts.published) == ("Zebra", "earnings call", "2022-08-10")
    assert facts.period == ReportingPeriod("FY2022 Q2", 2022, 2)


CURRENT = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
FORM 8-K
CURRENT REPORT
{}
NORTHWIND FOODS, INC.
(Exact name of Registrant as specified in its charter)
Item 5.02 Departure of Directors or Certain Officers
Jane Doe left. Her salary for the fiscal year ended December 31, 2023 is paid.
{}"""


@pytest.mark.parametrize(
    ("day", "signature", "published"),
    [
        ("March 1, 2024\nDate of Report (Date of earliest event reported)", "", "2024-03-01"),
        ("Date of Report (Date of earliest event reported): March 1, 2024",
         "SIGNATURES\nDate: March 5, 2024", "2024-03-05"),
    ],
)  # fmt: skip
def test_a_current_report_has_the_day_of_its_signature_or_event_and_no_period(
    day: str, signature: str, published: str
) -> None:
    facts = read(CURRENT.format(day, signature))
    assert (facts.company, facts.document_type, facts.published) == ("Northwind Foods", "8-K", published)
    assert facts.period == ReportingPeriod()
    assert facts.title.startswith("Northwind Foods 8-K, March ") and facts.title.endswith(
        ": Departure of Directors or Certain Officers"
    )


def test_a_proxy_statement_has_its_company() -> None:
    facts = read(
        "UNITED STATES\nSECURITIES AND EXCHANGE COMMISSION\nSCHEDULE 14A\nProxy Statement Pursuant to Section 14(a)\n"
        "NORTHWIND FOODS, INC.\n(Name of Registrant as Specified In Its Charter)\nSee our annual report on Form 10-K."
    )
    assert (facts.company, facts.document_type) == ("Northwind Foods", "DEF 14A")


def test_a_report_that_speaks_of_releases_is_none() -> None:
    facts = read("Our memo on policy\nFunds for immediate release of the reserve are counted.\nWe announced nothing.")
    assert facts.document_type == ""
