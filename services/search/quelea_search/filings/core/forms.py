"""Forms: which source has them, and what they are called in the knowledge base."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType

from quelea_fintext.text import CJK
from quelea_kit.errors import InvalidInput

from quelea_search.filings.core.model import Source

REPORTS = MappingProxyType(
    {
        "年报": ("category_ndbg_szsh", "annual report"),
        "半年报": ("category_bndbg_szsh", "half-year report"),
        "一季报": ("category_yjdbg_szsh", "quarterly report"),
        "三季报": ("category_sjdbg_szsh", "quarterly report"),
    }
)
"""Name of a periodic report -> cninfo's category, and our document type."""

DEFAULT_FORMS = MappingProxyType({Source.EDGAR: ("10-K", "10-Q"), Source.CNINFO: ("年报",)})
"""Fetched when no form is named."""

WITH_EXHIBITS = ("8-K", "6-K")
"""Current reports, whose exhibits (releases, transcripts, letters) say more than they do."""
_FORM = re.compile(r"[0-9A-Z][0-9A-Z /-]{0,19}")
_CODE = re.compile(r"(?:(?:SH|SZ|BJ)\.?)?(\d{6})(?:\.(?:SH|SS|SZ|BJ))?", re.I)
_CIK = re.compile(r"(?:CIK\s{0,3})?0{0,10}([1-9]\d{0,9})", re.I)
_MOST_FORMS = 20


def choose(company: str, forms: Sequence[str]) -> tuple[Source, tuple[str, ...]]:
    """Which source a request means, and the forms as that source writes them.

    Reports of 沪深京 companies have Chinese names, forms of EDGAR do not. Where no form is named, a company in Chinese
    and a code of six digits mean cninfo; a CIK of six digits is written with its zeros or as "CIK320193".

    Raises:
        InvalidInput: No company, a form that neither has, or forms of both.
    """
    if not company.strip():
        raise InvalidInput(
            "company is required: a ticker, a name, a stock code or a CIK.", details={"field": "company"}
        )
    if len(forms) > _MOST_FORMS:
        raise InvalidInput(f"forms may have at most {_MOST_FORMS} items.", details={"field": "forms"})
    named = tuple(dict.fromkeys(form.strip().upper() for form in forms if form.strip()))
    if not named:
        is_chinese = CJK.search(company) or _CODE.fullmatch(company.strip())
        source = Source.CNINFO if is_chinese else Source.EDGAR
        return source, DEFAULT_FORMS[source]
    for form in named:
        if form not in REPORTS and not _FORM.fullmatch(form):
            raise InvalidInput(
                f"forms has {form[:40]!r}; use forms of EDGAR such as 10-K, 10-Q, 8-K, 20-F, or {', '.join(REPORTS)}.",
                details={"field": "forms"},
            )
    chinese = [form in REPORTS for form in named]
    if any(chinese) and not all(chinese):
        raise InvalidInput(
            "forms mixes EDGAR's with those of cninfo; fetch them one after the other.", details={"field": "forms"}
        )
    return (Source.CNINFO if chinese[0] else Source.EDGAR), named


def stock_code(text: str) -> str:
    """The six digits of an A share ("600519", "600519.SH", "SH600519"); empty when it is none."""
    found = _CODE.fullmatch(text.strip())
    return found[1] if found else ""


def cik(text: str) -> str:
    """A CIK in ten digits ("320193", "CIK0000320193"); empty when it is none."""
    found = _CIK.fullmatch(text.strip())
    return found[1].zfill(10) if found else ""
