"""Amounts that a text states in digits: $81.8 billion, (1,234), 12.5 percent, 3.2亿元. The one reader of them.

Numbers in words are `numerals`' to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from babel import Locale
from babel.numbers import get_currency_name, get_currency_symbol, get_decimal_symbol, get_group_symbol

from quelea_fintext.languages import LANGUAGES, Languages

CURRENCIES = "USD EUR GBP JPY CNY HKD TWD KRW INR CHF CAD AUD SGD NZD SEK NOK DKK BRL MXN ZAR RUB THB".split()
"""Those whose names and signs are known, by their ISO 4217 codes."""


_LONGEST = 24
"""Code points of a word beside a number, at most."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount as a text states it: text[start:end] in code points."""

    number: Decimal
    """As printed, without sign and scale."""
    start: int
    end: int
    scale: Decimal = Decimal(1)
    """What a word such as "billion" or 亿 multiplies by."""
    unit: str = ""
    """ "percent", "points" (of percent), "basis points", "times"; empty: a plain number or an amount of money."""
    currency: str = ""
    """ISO 4217 code; "$" of any dollar, "¥" of yuan or yen; empty where none is named."""
    negative: bool = False
    """A minus sign or word, or a bookkeeper's parentheses."""
    about: bool = False
    """The text calls it approximate."""

    @property
    def value(self) -> Decimal:
        """With scale and sign."""
        return -self.number * self.scale if self.negative else self.number * self.scale


class QuantityReader:
    """Reads amounts.

    Args:
        languages: Whose words are known.
        language: By whose rules digits are grouped and decimals are set apart: "1,234.5" or "1.234,5".
    """

    def __init__(self, languages: Languages = LANGUAGES, language: str = "en") -> None:
        self._scales = _scales(languages) | {k: Decimal(v) for k, v in languages.table("numbers.scales").items()}
        self._units: dict[str, str] = languages.table("numbers.units")
        self._currencies = _currencies(languages) | languages.table("numbers.currencies")
        group, decimal = get_group_symbol(language), get_decimal_symbol(language)
        self._group, self._decimal = group, decimal
        self._negative = dict.fromkeys((*"-−–", *languages.words("numbers.negative")), "")
        self._about = dict.fromkeys(languages.words("numbers.about"), "")
        self._number = re.compile(
            rf"(?<![\d{re.escape(group + decimal)}])(?:\d{{1,3}}(?:{re.escape(group)}\d{{3}})+(?!\d)|\d+)"
            rf"(?:{re.escape(decimal)}\d+)?"
        )

    def read(self, text: str) -> Iterator[Quantity]:
        """Every amount in digits, in order. Years and days are numbers too: who looks for amounts takes them out."""
        low = text.lower()
        if len(low) != len(text):  # a few letters change their length; offsets must not
            low = text
        for match in self._number.finditer(text):
            start, inner = _opened(low, match.start())
            start, minus = _word_before(low, start, self._negative)
            start, currency = _word_before(low, start, self._currencies)
            start, before = _word_before(low, start, self._negative)
            start, outer = _opened(low, start)
            start, about = _word_before(low, start, self._about)
            end, closed = _closed(low, match.end(), inner)
            end, scale = _word_after(low, end, self._scales)
            end, unit = _word_after(low, end, self._units)
            if not unit and not currency:
                end, currency = _word_after(low, end, self._currencies)
            end, closed_late = _closed(low, end, (inner or outer) and not closed)
            yield Quantity(
                number=Decimal(match.group().replace(self._group, "").replace(self._decimal, ".")),
                start=start,
                end=end,
                scale=self._scales[scale] if scale else Decimal(1),
                unit=self._units[unit] if unit else "",
                currency=self._currencies[currency] if currency else "",
                negative=bool(minus or before or closed or closed_late),
                about=bool(about),
            )


def _opened(low: str, at: int) -> tuple[int, bool]:
    return (at - 1, True) if low[at - 1 : at] in ("(", "（") else (at, False)


def _closed(low: str, at: int, is_open: bool) -> tuple[int, bool]:
    return (at + 1, True) if is_open and low[at : at + 1] in (")", "）") else (at, False)


def _word_before(low: str, at: int, words: Mapping[str, object]) -> tuple[int, str]:
    """(where the longest of these words begins that ends here, the word); one space may be between."""
    end = at - 1 if low[at - 1 : at] in (" ", "\xa0") else at
    for start in range(max(0, end - _LONGEST), end):
        if low[start:end] in words and not (_is_latin(low[start]) and _is_latin(low[start - 1 : start])):
            return start, low[start:end]
    return at, ""


def _word_after(low: str, at: int, words: Mapping[str, object]) -> tuple[int, str]:
    """(where the longest of these words ends that begins here, the word); a space or a hyphen may be between."""
    start = at + 1 if low[at : at + 1] in (" ", "\xa0", "-") else at
    for end in range(min(len(low), start + _LONGEST), start, -1):
        if low[start:end] in words and not (_is_latin(low[end - 1]) and _is_latin(low[end : end + 1])):
            return end, low[start:end]
    return at, ""


def _is_latin(letter: str) -> bool:
    return letter.isascii() and letter.isalpha()


def _scales(languages: Languages) -> dict[str, Decimal]:
    """Words of large numbers by Unicode's compact forms: "00 million" of 10,000,000 has million."""
    found: dict[str, Decimal] = {}
    for code in languages.codes:
        for forms in Locale.parse(code).compact_decimal_formats.values():
            for pattern in (pattern for plural in forms.values() for pattern in plural.items()):
                size, form = int(pattern[0]), str(pattern[1].pattern)
                word = form.strip("0 \xa0¤'.").lower()
                if word and not word.isdigit() and (zeros := form.count("0")):
                    found.setdefault(word, Decimal(size) / 10 ** (zeros - 1))
    return found


def _currencies(languages: Languages) -> dict[str, str]:
    found: dict[str, str] = {}
    for code in languages.codes:
        for currency in CURRENCIES:
            names = [get_currency_name(currency, count, code) for count in (None, 1, 2)]
            for name in (*names, get_currency_symbol(currency, code), currency):
                found.setdefault(name.lower(), currency)
    return found


@cache
def quantity_reader(language: str = "en") -> QuantityReader:
    """The one for Quelea's own languages, with a language's own decimal sign."""
    return QuantityReader(language=language)


def find_quantities(text: str) -> Iterator[Quantity]:
    """Every amount of a text in digits, in order, with the decimal point of English and Chinese."""
    return quantity_reader().read(text)
