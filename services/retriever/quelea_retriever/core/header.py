"""The contextual header: which document and which part of it a passage is from, indexed with it, not shown as text."""

from __future__ import annotations

from quelea_fintext.dates import parse_iso, write_date

from quelea_retriever.core.model import DocumentFacts

_DOT = " · "


def long_date(iso: str) -> str:
    """ "2023-07-01" as "July 1, 2023"; anything else unchanged."""
    day = parse_iso(iso)
    return write_date(day, "en") if day else iso


def period_phrase(facts: DocumentFacts) -> str:
    """ "quarter ended July 1, 2023", "year ended December 31, 2020", "2020年12月31日"; empty where unknown."""
    end = facts.period.end_date
    day = parse_iso(end)
    if day is None:
        return ""
    if facts.language == "zh":
        return write_date(day, "zh")
    return f"{'quarter' if facts.period.fiscal_quarter else 'year'} ended {long_date(end)}"


def contextual_header(facts: DocumentFacts, section: str) -> str:
    """`Apple (AAPL) · 10-Q · FY2023 Q3 · quarter ended July 1, 2023 · <section>`, without what is unknown.

    A document of no company is headed by its title, one of no period by the day it was published.
    """
    name = facts.company or facts.title
    if facts.company and facts.ticker:
        name = f"{facts.company} ({facts.ticker})"
    when = [facts.period.label or facts.period.file_label, period_phrase(facts)]
    if not any(when):
        when = [facts.published]
    return _DOT.join(part for part in (name, facts.document_type, *when, section) if part)
