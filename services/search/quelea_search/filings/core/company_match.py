"""Which company of a source's list is meant: by ticker, by name with or without its legal form, else the nearest."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from quelea_fintext.company_names import short_forms

from quelea_search.filings.core.model import Company

_NEAREST = 5
_LEAST_ALIKE = 0.6
_LONGEST = 100


class CompanyNames:
    """The companies of a source by ticker and by name. Takes half a second for EDGAR's ten thousand.

    Args:
        companies: Of several with one name, such as the classes of a share, the first is meant.
    """

    def __init__(self, companies: Sequence[Company]) -> None:
        self.companies = companies
        self._tickers: dict[str, Company] = {}
        self._names: dict[str, Company] = {}
        for company in companies:
            self._tickers.setdefault(_ticker(company.ticker), company)
            for form in short_forms(company.name):
                self._names.setdefault(form, company)

    def find(self, asked: str) -> Company | None:
        """The company that a ticker or a name means; None when there is none.

        A name also fits without its legal form ("Tesla" is "Tesla, Inc."), but only a whole name: "Apple" is not
        "Apple Hospitality REIT".
        """
        text = asked.strip()[:_LONGEST]
        if company := self._tickers.get(_ticker(text)):
            return company
        # EDGAR writes most names without their hyphens: "COCA COLA CO".
        forms = [*short_forms(text), *short_forms(text.replace("-", " "))]
        return next((self._names[form] for form in forms if form in self._names), None)

    def nearest(self, asked: str) -> list[Company]:
        """At most five companies whose ticker or name is like what was asked for, the likest first."""
        text = asked.strip()[:_LONGEST].lower()
        by_word = {ticker.lower(): company for ticker, company in self._tickers.items()} | self._names
        begins = sorted((word for word in by_word if len(text) > 1 and word.startswith(text)), key=len)
        alike = difflib.get_close_matches(text, by_word, n=3 * _NEAREST, cutoff=_LEAST_ALIKE)
        return list(dict.fromkeys(by_word[word] for word in [*begins, *alike]))[:_NEAREST]


def _ticker(text: str) -> str:
    return text.upper().replace(".", "-")  # EDGAR writes BRK-B
