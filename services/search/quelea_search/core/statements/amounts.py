"""Printed amounts, and what the lines over a table say of their units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache

from quelea_fintext.languages import LANGUAGES

_DASH = re.compile(r"[($€£¥\s]*[-–—−‒]{1,3}[)\s]*")
_AMOUNT = re.compile(r"\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
_NEGATIVE = re.compile(r"^[\s$€£¥￥A-Z]*[(（\-–−]|^\s*[-–−]")
_MULTIPLES = {
    "thousands": Decimal(1000),
    "ten_thousands": Decimal(10_000),
    "millions": Decimal(1_000_000),
    "hundred_millions": Decimal(100_000_000),
    "billions": Decimal(1_000_000_000),
}
_CURRENCIES = (
    (re.compile(r"HK\$|港元|HKD"), "HKD"),
    (re.compile(r"US\$|美元|USD|U\.S\. dollars", re.I), "USD"),
    (re.compile(r"RMB|人民币|CNY|yuan", re.I), "CNY"),
    (re.compile(r"€|EUR\b|euros?\b", re.I), "EUR"),
    (re.compile(r"£|GBP\b|pounds?\b", re.I), "GBP"),
    (re.compile(r"\$|dollars", re.I), "USD"),
)


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a statement."""

    currency: str
    scale: Decimal
    share_scale: Decimal
    """What counts of shares are printed in."""


@cache
def _said(key: str) -> re.Pattern[str]:
    return re.compile(LANGUAGES.alternatives(f"statements.{key}"), re.IGNORECASE)


def _says(key: str, text: str) -> bool:
    return _said(key).search(text) is not None


def units_of(lines: Sequence[str], language: str) -> Units:
    """What lines over a table, and its heads, say of currency and scale."""
    text = " ".join(lines)
    scale = next((by for name, by in _MULTIPLES.items() if _says(f"units.{name}", text)), Decimal(1))
    if _says("units.ten_thousands", text):
        scale = _MULTIPLES["ten_thousands"]
    if _says("units.millions", text):
        scale = _MULTIPLES["millions"]
    currency = next((code for pattern, code in _CURRENCIES if pattern.search(text)), "")
    currency = currency or ("CNY" if language == "zh" else "USD")
    shares = Decimal(1) if _says("units.shares_apart", text) else scale
    if _says("units.shares_thousands", text):
        shares = _MULTIPLES["thousands"]
    elif _says("units.shares_millions", text):
        shares = _MULTIPLES["millions"]
    return Units(currency, scale, shares)


def amount(text: str) -> Decimal | None:
    """The figure of a cell, without scale; a dash is none."""
    if _DASH.fullmatch(text):
        return Decimal(0)
    match = _AMOUNT.search(text)
    if match is None:
        return None
    try:
        number = Decimal(match[0].replace(",", "").replace("，", ""))
    except InvalidOperation:
        return None
    return -number if _NEGATIVE.search(text[: match.start() + 1]) else number
