"""Facts of a document: companies with odd years, Chinese reports, news, regulations, what the uploader says."""

from __future__ import annotations

import pytest
from quelea_fintext.times.periods import ReportingPeriod
from quelea_search.core.layout.page_assembly import Block, build_page
from quelea_search.core.metadata.companies import display_name
from quelea_search.core.metadata.periods import chinese_period, english_period, file_label
from quelea_search.core.metadata.read import read_metadata
from quelea_search.core.model import CELL, DocumentFacts, LineKind, ParsedDocument


def document(*pages: str, kind: str = "pdf", **stated: str) -> ParsedDocument:
    built = tuple(
        build_page([Block(LineKind.TEXT if CELL not in line else LineKind.ROW, line) for line in page.splitlines()])
        for page in pages
    )
    return ParsedDocument(built, kind, stated)


def cover(form: str, period: str, name: str, symbol: str) -> str:
    return f"""UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
FORM {form}
☒ REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934
For the {period}
Commission File Number: 001-99999
{name}
(Exact name of registrant as specified in its charter)
Delaware{CELL}12-3456789
Title of each class{CELL}Trading Symbol(s){CELL}Name of each exchange on which registered
Common stock, $0.01 par value{CELL}{symbol}{CELL}New York Stock Exchange
"""


def test_ten_q_of_a_company_whose_year_ends_in_june() -> None:
    body = (
        "Northwind Foods and its subsidiaries grow. Northwind Foods sells. Northwind Foods pays. See our Annual Report "
        "on Form 10-K for the fiscal year ended June 30, 2021. In the second quarter of fiscal 2022 sales rose; in the "
        "second quarter of fiscal 2022 costs fell, and in the second quarter of fiscal 2021 they rose."
    )
    end = "SIGNATURES\nThe registrant has signed.\nNORTHWIND FOODS, INC.\nDate: February 3, 2022\nJane Doe"
    facts = read_metadata(
        document(
            cover("10-Q", "quarterly period ended December 31, 2021", "NORTHWIND FOODS, INC.", "NWND"),
            body,
            "Exhibits",
            end,
        ),
        "q.pdf",
        None,
    )
    assert facts.company == "Northwind Foods" and facts.ticker == "NWND" and facts.document_type == "10-Q"
    assert facts.period == ReportingPeriod("FY2022 Q2", 2022, 2, "2021-12-31", "")
    assert facts.published == "2022-02-03" and facts.language == "en"
    assert facts.title == "Northwind Foods 10-Q, quarter ended December 31, 2021"
    assert any("Inc." in alias for alias in facts.company_aliases)


@pytest.mark.parametrize(
    ("end", "words", "label"),
    [
        ("January 28, 2023", "In fiscal 2022 sales rose. In fiscal 2022 we grew, not so in fiscal 2021.", "FY2022"),
        ("January 29, 2023", "In fiscal year 2023 sales rose; fiscal 2023 beat fiscal 2022 and fiscal 2022.", "FY2023"),
        ("September 30, 2023", "Sales rose.", "FY2023"),
        ("January 1, 2023", "Sales rose.", "FY2022"),
    ],
)  # fmt: skip
def test_ten_k_of_an_odd_year(end: str, words: str, label: str) -> None:
    facts = read_metadata(
        document(cover("10-K", f"fiscal year ended {end}", "Quux Retail Group, Inc.", "QUX"), words), "annual.pdf", None
    )
    assert facts.document_type == "10-K" and facts.period.label == label and facts.period.fiscal_quarter == 0
    assert facts.title.endswith(f"10-K, fiscal year ended {end}")


def test_quarters_of_53_week_years_without_words() -> None:
    sheet = "CONSOLIDATED BALANCE SHEETS (in millions) April 1, 2023 December 31, 2022"
    assert english_period("10-Q", "For the quarterly period ended April 1, 2023", sheet).label == "FY2023 Q1"
    sheet = "BALANCE SHEETS July 2, 2022 September 25, 2021"
    assert english_period("10-Q", "For the quarterly period ended July 2, 2022", sheet).label == "FY2022 Q3"
    assert english_period("10-Q", "For the quarterly period ended October 1, 2022", "nothing").label == "FY2022 Q3"
    assert english_period("10-Q", "no period here", "") == ReportingPeriod()


def test_file_label_differs_from_the_filing() -> None:
    facts = read_metadata(
        document(
            cover("10-Q", "quarterly period ended December 31, 2022", "Acme Corp", "ACM"),
            "fiscal year ended June 30, 2022",
        ),
        "2023 Q1 ACM.pdf",
        None,
    )
    assert (
        facts.period.label == "FY2023 Q2"
        and facts.period.file_label == "2023 Q1"
        and facts.period.end_date == "2022-12-31"
    )


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("2023 Q3 AAPL.pdf", "2023 Q3"), ("Q2-2021_results.pptx", "2021 Q2"), ("acme_3Q22.pdf", "2022 Q3"),
        ("FY2020 report.pdf", "2020"), ("x__2019年__年度报告.pdf", "2019"), ("2021年第三季度报告.pdf", "2021 Q3"),
        ("10-K_2022.htm", "2022"), ("notes.txt", ""), ("model_20231.csv", ""),
    ],
)  # fmt: skip
def test_file_labels(name: str, label: str) -> None:
    assert file_label(name) == label


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("2020 年年度报告", ReportingPeriod("FY2020", 2020, 0, "2020-12-31")),
        ("2021年半年度报告", ReportingPeriod("FY2021 H1", 2021, 0, "2021-06-30")),
        ("2021年第三季度报告", ReportingPeriod("FY2021 Q3", 2021, 3, "2021-09-30")),
        ("2022年一季度报告全文", ReportingPeriod("FY2022 Q1", 2022, 1, "2022-03-31")),
        ("关于2020年的说明", ReportingPeriod()),
    ],
)
def test_chinese_periods(text: str, period: ReportingPeriod) -> None:
    assert chinese_period(text) == period


def test_chinese_annual_report_without_a_telling_file_name() -> None:
    first = "公司代码：600999 公司简称：远山科技\n远山科技股份有限公司\n2021 年年度报告"
    facts = read_metadata(
        document(first, "重要提示\n本公司董事会保证年度报告内容的真实、准确、完整。"), "report.pdf", None
    )
    assert (facts.company, facts.ticker, facts.document_type) == ("远山科技", "600999", "annual report")
    assert facts.company_aliases == ("远山科技股份有限公司",) and facts.language == "zh"
    assert facts.title == "远山科技 2021年年度报告" and facts.period.label == "FY2021"


def test_file_name_date_and_names() -> None:
    parsed = document("第一节 重要提示、目录和释义\n公司董事会保证内容真实。")
    facts = read_metadata(parsed, "2020-01-21__远山科技股份有限公司__300999__远山科技__2019年__年度报告.html", None)
    assert (facts.published, facts.ticker, facts.company, facts.period.file_label) == (
        "2020-01-21",
        "300999",
        "远山科技",
        "2019",
    )


def test_news_and_regulations_are_about_no_company() -> None:
    news = read_metadata(
        document(
            "央行宣布降准\n中国人民银行决定下调准备金率。", kind="json", title="央行宣布降准", published="2023-09-14"
        ),
        "n.json",
        None,
    )
    assert (news.document_type, news.published, news.title, news.company) == ("news", "2023-09-14", "央行宣布降准", "")
    rule = read_metadata(
        document(
            "Code of Banking Practice\nThe Guideline applies to Authorized Institutions under the Banking Ordinance."
        ),
        "Code of Banking Practice.pdf",
        None,
    )
    assert (rule.document_type, rule.company, rule.title) == ("regulation", "", "Code of Banking Practice")


def test_the_uploader_wins_field_by_field() -> None:
    parsed = document(
        cover("10-Q", "quarterly period ended December 31, 2022", "Acme Corp", "ACM"), "fiscal year ended June 30, 2022"
    )
    given = DocumentFacts(
        company="Acme Europe", period=ReportingPeriod(file_label="the winter quarter"), published="2023-01-30"
    )
    facts = read_metadata(parsed, "a.pdf", given)
    assert (facts.company, facts.published, facts.ticker) == ("Acme Europe", "2023-01-30", "ACM")
    assert facts.period == ReportingPeriod("FY2023 Q2", 2023, 2, "2022-12-31", "the winter quarter")


@pytest.mark.parametrize(
    ("legal", "body", "name"),
    [
        ("MICROSOFT CORPORATION", "Microsoft sells. " * 5, "Microsoft"),
        ("NVIDIA CORPORATION", "NVIDIA sells. " * 12, "NVIDIA"),
        ("AMAZON.COM, INC.", "Amazon.com, Inc. Amazon pays. " * 8, "Amazon"),
        ("The Coca-Cola Company", "Coca-Cola drinks. " * 8, "Coca-Cola"),
        ("Deere & Company", "Deere sells. " * 8, "Deere"),
        ("Blue Bird Holdings, Inc.", "Blue Bird Holdings grows.", "Blue Bird Holdings"),
        ("Apple Inc.", "", "Apple"),
    ],
)
def test_display_names(legal: str, body: str, name: str) -> None:
    assert display_name(legal, body) == name


def test_a_document_that_says_nothing_has_a_title() -> None:
    facts = read_metadata(document("hello there, this is a plain note about nothing"), "my_notes.txt", None)
    assert facts == DocumentFacts(title="my notes", language="en")
