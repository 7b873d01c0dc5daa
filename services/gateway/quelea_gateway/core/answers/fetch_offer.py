"""What a declined answer offers: to fetch the filings that the question needs and nobody has stored."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from quelea_fintext.company_names import KnownCompany, known_companies
from quelea_fintext.text import CJK

from quelea_gateway.core.model import FetchOffer, Reading
from quelea_gateway.core.review.decline import Decline, DeclineReason

_FETCHABLE = (
    DeclineReason.COMPANY_NOT_COVERED,
    DeclineReason.PERIOD_NOT_COVERED,
    DeclineReason.NO_EVIDENCE,
    DeclineReason.NOT_IN_EVIDENCE,
    DeclineReason.MODEL_REFUSED,
)
"""The first two say that a filing is missing; the others may, and the reading tells."""
_MOST_COMPANIES = 3
_MOST_YEARS = 20
_YEARS = 3
_CODE_DIGITS = 6
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_QUARTER = re.compile(r"Q[1-3]")
_TEXTS = {
    "en": "{company}'s {forms} for {periods} is not here. Fetch it?",
    "zh": "知识库中没有{company}{periods}的{forms}。现在获取？",
}
_ANY_TEXTS = {"en": "{company}'s filings are not here. Fetch them?", "zh": "知识库中没有{company}的公告。现在获取？"}


def offers_for(
    reading: Reading, declined: Decline | None, *, language: str, as_of: str, sources: Collection[str]
) -> tuple[FetchOffer, ...]:
    """What could be fetched for a question that was declined, one offer for each company.

    Args:
        reading: As the knowledge base alone has it.
        declined: Why there is no answer.
        language: Of the question.
        as_of: The day of the question, YYYY-MM-DD.
        sources: Those that this deployment asks: "edgar", "cninfo".
    """
    if declined is None or declined.reason not in _FETCHABLE:
        return ()
    if not (reading.company_missing or reading.period_missing):
        return ()
    found = []
    for name in reading.companies[:_MOST_COMPANIES]:
        asked = _asked_name(name, language)
        if asked.isdigit() and len(asked) != _CODE_DIGITS:  # of Hong Kong, which neither source has
            continue
        is_chinese = bool(CJK.search(asked)) or asked.isdigit()
        if ("cninfo" if is_chinese else "edgar") in sources:
            found.append(_offer(name, asked, reading.periods, is_chinese=is_chinese, language=language, as_of=as_of))
    return tuple(found)


def _offer(
    name: str, asked: str, periods: tuple[str, ...], *, is_chinese: bool, language: str, as_of: str
) -> FetchOffer:
    # Since when: a year's report is filed in the year after it, and a fiscal year may have another number.
    years = [int(year) for period in periods for year in _YEAR.findall(period)]
    back = min(max(int(as_of[:4]) - min(years) + 1, 1), _MOST_YEARS) if years else _YEARS
    # The fourth quarter is in the year's report.
    kinds = {"10-Q" if _QUARTER.search(period) else "10-K" for period in periods}
    forms = () if is_chinese else tuple(sorted(kinds))
    text = (_TEXTS if forms or (periods and is_chinese) else _ANY_TEXTS)[language]
    shown = " / ".join(forms or ("年报",))
    return FetchOffer(text.format(company=name, forms=shown, periods=", ".join(periods)), asked, forms, back)


def _asked_name(name: str, language: str) -> str:
    """What to ask a source for: a ticker where it is known, in Chinese the usual Chinese name, else the name itself."""
    known = _known().get(name.lower())
    if known is None:
        return name
    chinese = known.names.get("zh", ())
    return known.ticker or (chinese[0] if language == "zh" and chinese else name)


@cache
def _known() -> dict[str, KnownCompany]:
    """Well-known companies by their shown name in lower case."""
    return {company.name.lower(): company for company in known_companies()}
