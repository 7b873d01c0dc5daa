"""Made-up filings of made-up and real companies, whose fiscal years run with and ahead of the calendar."""

from __future__ import annotations

from datetime import date

from quelea_fintext.times.periods import ReportingPeriod
from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.catalogue import Catalogue

TODAY = date(2026, 11, 21)


def filing(
    company: str,
    ticker: str,
    label: str,
    end: str,
    *,
    file_label: str = "",
    form: str = "10-Q",
    aliases: tuple[str, ...] = (),
) -> DocumentFacts:
    year, _, quarter = label.removeprefix("FY").partition(" Q")
    return DocumentFacts(
        id=f"{ticker} {end}",
        title=f"{company} {form}",
        language="zh" if ticker.isdigit() else "en",
        company=company,
        company_aliases=aliases,
        ticker=ticker,
        document_type=form,
        period=ReportingPeriod(label, int(year), int(quarter or 0), end, file_label),
    )


# Zebra's year ends in December, Harbor's in January: its fiscal year runs ahead of the calendar.
ZEBRA = [
    filing("Zebra", "ZBRA", f"FY{year} Q{quarter}", end, aliases=("Zebra Technologies Corporation",))
    for year, quarter, end in (
        (2022, 3, "2022-10-01"),
        (2023, 1, "2023-04-01"),
        (2023, 2, "2023-07-01"),
        (2023, 3, "2023-09-30"),
    )
]
ZEBRA_YEAR = filing("Zebra", "ZBRA", "FY2022", "2022-12-31", form="10-K")
HARBOR = [
    filing("Harbor", "HRBR", "FY2024 Q1", "2023-04-30", file_label="2023 Q1"),
    filing("Harbor", "HRBR", "FY2024 Q2", "2023-07-30", file_label="2023 Q2"),
    filing("Harbor", "HRBR", "FY2023 Q3", "2022-10-30", file_label="2022 Q3"),
]
APPLE = [filing("Apple", "AAPL", "FY2023 Q3", "2023-07-01"), filing("Apple", "AAPL", "FY2023 Q2", "2023-04-01")]
SHARP = [
    filing("海天味业", "603288", "FY2020", "2020-12-31", form="年度报告", aliases=("佛山市海天调味食品股份有限公司",)),
    filing("海天味业", "603288", "FY2019", "2019-12-31", form="年度报告", aliases=("佛山市海天调味食品股份有限公司",)),
]
NEWS = [
    DocumentFacts(
        "news 1", title="苹果两日市值蒸发1900亿美元", language="zh", document_type="news", published="2023-09-08"
    ),
    DocumentFacts("news 2", title="央行下调存款准备金率", language="zh", document_type="news", published="2023-09-14"),
]
FILINGS = [*ZEBRA, ZEBRA_YEAR, *HARBOR, *APPLE, *SHARP]
CATALOGUE = Catalogue.build(FILINGS)
