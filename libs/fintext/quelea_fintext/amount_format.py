"""Amounts and rates as Quelea writes them, in the question's language: scale, unit, decimals."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from babel.numbers import get_currency_name

from quelea_fintext.languages import LANGUAGES

_DIGITS = re.compile(r"\d[\d,，]*(?:\.\d+)?|\.\d+")
_WRITTEN: dict[str, dict[str, Any]] = LANGUAGES.of("numbers.written")
SCALE_WORDS: dict[str, dict[int, str]] = {
    language: {int(power): word for power, word in written["scales"].items()} for language, written in _WRITTEN.items()
}
"""Words for powers of ten, by language."""
_TENTH, _HUNDREDTH = Decimal("0.1"), Decimal("0.01")


def scale_of(printed: str, value: Decimal) -> int:
    """The power of ten that a table's figures are in: 6 where "47,061" stands for 47,061,000,000; 0 of zero."""
    match = _DIGITS.search(printed)
    try:
        number = Decimal(match[0].replace(",", "").replace("，", "")) if match else Decimal(0)
    except InvalidOperation:
        return 0
    if not number or not value:
        return 0
    return (abs(value) / number).adjusted()


def decimals_of(printed: str) -> int:
    """Digits behind the point of a printed figure."""
    match = _DIGITS.search(printed)
    return len(match[0].partition(".")[2]) if match else 0


def write_amount(
    value: Decimal,
    unit: str,
    language: str,
    *,
    scale: int = 0,
    decimals: int | None = None,
    rate_decimals: int | None = None,
) -> str:
    """ "$47,061 million", "−$2.46 per share", "1,598,221,013.32元".

    Args:
        value: Unscaled.
        unit: ISO 4217, that code per share, "shares", "percent", "points", "times", "days" or a Chinese word: "吨".
        language: Of the amount: a folder of `languages`.
        scale: Power of ten to write it in; one that has no word is written out.
        decimals: Digits behind the point; None: as the unit usually has.
        rate_decimals: The same of percentages, multiples and days, which no cell prints.
    """
    written = _WRITTEN[language]
    if unit in ("percent", "points", "times", "days"):
        return str(written[unit].format(amount=_round_rate(value, unit, rate_decimals)))
    word = SCALE_WORDS[language].get(scale, "")
    number = value.scaleb(-scale) if word else value
    places = decimals if decimals is not None else 2 if unit.endswith("/share") else 0
    said = f"{abs(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}{word}"
    minus = "−" if number < 0 else ""
    amount = f"{minus}{said}"
    if unit == "shares":
        return str(written["shares"].format(amount=amount))
    currency, _, per = unit.partition("/")
    if not currency.isascii():
        return f"{amount}{unit}"  # "万毫升"
    if len(currency) != 3 or not currency.isalpha():
        return amount
    if sign := written["signs"].get(currency):
        amount = written["signed"].format(minus=minus, sign=sign, number=said)
    else:
        name = written["names"].get(currency) or get_currency_name(currency, locale=language)
        amount = written["currency"].format(amount=amount, name=name, code=currency)
    return str(written["per_share"].format(amount=amount) if per else amount)


def _round_rate(value: Decimal, unit: str, decimals: int | None) -> str:
    """A percentage has one decimal, or two below ten; a multiple two; days one."""
    if decimals is not None:
        step = Decimal(1).scaleb(-decimals)
    else:
        step = _HUNDREDTH if unit == "times" or (unit != "days" and abs(value) < 10) else _TENTH
    rounded = value.quantize(step, ROUND_HALF_UP)
    return f"{'−' if rounded < 0 else ''}{abs(rounded):,f}"
