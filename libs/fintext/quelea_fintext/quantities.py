"""Words of amounts, in every language of `languages`: what a scale multiplies by, and which currency is named.

The checker reads amounts with them. Names of currencies and of large numbers are Unicode's (babel), with what the
folders add.
"""

from __future__ import annotations

from babel import Locale
from babel.numbers import get_currency_name, get_currency_symbol

from quelea_fintext.languages import LANGUAGES, Languages

_CODES = "USD EUR GBP JPY CNY HKD TWD KRW INR CHF CAD AUD SGD NZD SEK NOK DKK BRL MXN ZAR RUB THB".split()
"""Currencies whose names and signs are known, by their ISO 4217 codes."""


def read_scales(languages: Languages = LANGUAGES) -> dict[str, int]:
    """Words of large numbers, lower case: Unicode's compact forms ("00 million" of 10,000,000 has million) and more."""
    found: dict[str, int] = {}
    for code in languages.codes:
        for forms in Locale.parse(code).compact_decimal_formats.values():
            for pattern in (pattern for plural in forms.values() for pattern in plural.items()):
                size, form = int(pattern[0]), str(pattern[1].pattern)
                word = form.strip("0 \xa0¤'.").lower()
                if word and not word.isdigit() and (zeros := form.count("0")):
                    found.setdefault(word, size // 10 ** (zeros - 1))
    return found | languages.table("numbers.scales")


def read_currencies(languages: Languages = LANGUAGES) -> dict[str, str]:
    """Names and signs of currencies, lower case, to their codes; "$" of any dollar, "¥" of yuan or yen."""
    found: dict[str, str] = {}
    for code in languages.codes:
        for currency in _CODES:
            names = [get_currency_name(currency, count, code) for count in (None, 1, 2)]
            for name in (*names, get_currency_symbol(currency, code), currency):
                found.setdefault(name.lower(), currency)
    return found | languages.table("numbers.currencies")


SCALES = read_scales()
CURRENCIES = read_currencies()
