"""Amounts of statements in words: as printed, with scale and unit, in the question's language."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from babel.numbers import get_currency_name

_DIGITS = re.compile(r"\d[\d,，]*(?:\.\d+)?|\.\d+")
SCALE_WORDS = {
    "en": {3: " thousand", 6: " million", 9: " billion", 12: " trillion"},
    "zh": {3: "千", 4: "万", 6: "百万", 8: "亿", 9: "十亿"},
}
"""Words for powers of ten, by language."""
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
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


def write_amount(value: Decimal, unit: str, language: str, *, scale: int = 0, decimals: int | None = None) -> str:
    """ "$47,061 million", "−$2.46 per share", "1,598,221,013.32元".

    Args:
        value: Unscaled.
        unit: ISO 4217, that code per share, "shares", "percent", "points", "times" or "days".
        language: "en" or "zh".
        scale: Power of ten to write it in; one that has no word is written out.
        decimals: Digits behind the point; None: as the unit usually has.
    """
    chinese = language == "zh"
    if unit in ("percent", "points", "times", "days"):
        return _write_rate(value, unit, chinese=chinese)
    word = SCALE_WORDS[language].get(scale, "")
    number = value.scaleb(-scale) if word else value
    places = decimals if decimals is not None else 2 if unit.endswith("/share") else 0
    said = f"{abs(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}"
    sign = "−" if number < 0 else ""
    if unit == "shares":
        return f"{sign}{said}{word}股" if chinese else f"{sign}{said}{word} shares"
    currency, _, per = unit.partition("/")
    if len(currency) != 3 or not currency.isalpha():
        return f"{sign}{said}{word}"
    if chinese:
        name = "元" if currency == "CNY" else get_currency_name(currency, locale="zh")
        return f"{'每股' if per else ''}{sign}{said}{word}{name}"
    share = " per share" if per else ""
    if currency in _SIGNS:
        return f"{sign}{_SIGNS[currency]}{said}{word}{share}"
    return f"{sign}{said}{word} {currency}{share}"


def _write_rate(value: Decimal, unit: str, *, chinese: bool) -> str:
    """A percentage has one decimal, or two below ten; a multiple two; days one."""
    step = _HUNDREDTH if unit == "times" or (unit != "days" and abs(value) < 10) else _TENTH
    rounded = value.quantize(step, ROUND_HALF_UP)
    said = f"{'−' if rounded < 0 else ''}{abs(rounded):,f}"
    if unit == "percent":
        return f"{said}%"
    if unit == "points":
        return f"{said}个百分点" if chinese else f"{said} percentage points"
    if unit == "days":
        return f"{said}天" if chinese else f"{said} days"
    return said
