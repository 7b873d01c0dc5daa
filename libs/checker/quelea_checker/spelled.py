"""Scales, currencies, units by their words; figures whose number is a word: 三千五百万元, 五成, twelve percent."""

from __future__ import annotations

import re
from decimal import Decimal

from quelea_fintext.numerals import chinese, english

from quelea_checker.model import ONE, Figure, Kind

SCALES = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 10**3, "mn": 10**6, "mm": 10**6, "mln": 10**6, "m": 10**6, "bn": 10**9, "b": 10**9, "tn": 10**12,
    "trn": 10**12, "t": 10**12, "十": 10, "百": 10**2, "千": 10**3, "万": 10**4, "十万": 10**5, "百万": 10**6,
    "千万": 10**7, "亿": 10**8, "十亿": 10**9, "百亿": 10**10, "千亿": 10**11, "万亿": 10**12,
}  # fmt: skip
"""What a scale word multiplies by."""

CURRENCIES = {
    "us$": "USD", "usd": "USD", "us dollars": "USD", "u.s. dollars": "USD", "美元": "USD", "hk$": "HKD", "hkd": "HKD",
    "港元": "HKD", "港币": "HKD", "nt$": "TWD", "a$": "AUD", "au$": "AUD", "c$": "CAD", "ca$": "CAD", "cad": "CAD",
    "aud": "AUD", "s$": "SGD", "r$": "BRL", "$": "$", "dollars": "$", "dollar": "$", "€": "EUR", "eur": "EUR",
    "euro": "EUR", "euros": "EUR", "欧元": "EUR", "£": "GBP", "gbp": "GBP", "pounds": "GBP", "英镑": "GBP", "¥": "¥",
    "cny": "CNY", "rmb": "CNY", "yuan": "CNY", "renminbi": "CNY", "人民币": "CNY", "元": "CNY", "jpy": "JPY",
    "yen": "JPY", "日元": "JPY", "chf": "CHF", "₹": "INR", "rs": "INR", "inr": "INR", "₩": "KRW", "krw": "KRW",
}  # fmt: skip
_ZH = re.compile(
    r"(?P<sign>负)?(?:(?P<of>百分之|千分之)(?P<num>[零〇一二三四五六七八九十百点两]+|\d+(?:\.\d+)?)"
    r"|(?P<cheng>[一二两三四五六七八九](?![个十百千万亿]))成(?P<more>[一二三四五六七八九半])?(?![为本立功交员果长熟人就绩分])"
    r"|(?<![\d.])(?P<num2>[零〇一二两三四五六七八九十百千万亿点]{1,})(?P<unit>个?百分点|个?基点|倍|美元|港元"
    r"|欧元|英镑|日元|元|股|家|名|人|户)(?P<half>(?<=倍)半)?)"
)
_EN = re.compile(
    r"\b(?P<num>(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three"
    r"|four|five|six|seven|eight|nine))?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|half an?)(?P<more> and a half)?"
    r"[ -](?P<unit>percent\b|per cent\b|percentage points?\b|basis points?\b|(?:thousand|million|billion|trillion)\b"
    r"|times(?= (?:that|the|its|as|higher|larger|more|what|bigger|greater)\b)|fold\b)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\b(?P<num>two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty)\b"
    r"|(?<![第\d.,零〇一二两三四五六七八九十百千万])(?P<zh>[二两三四五六七八九])(?=[家座名位艘项款间处台辆架套笔起件种所栋])",
    re.IGNORECASE,
)

_LOOSELY = Decimal("0.2")
"""The step of "three times", "two and a half billion"."""


def unit_kind(unit: str) -> tuple[Kind, Decimal]:
    """What a unit makes of a number, and what it multiplies by: a basis point is .01, 成 10 percent."""
    low = unit.lower().replace("-", " ")
    if not low or low in CURRENCIES or low in "股家名人户":
        return "number", ONE
    if "basis" in low or low.startswith("bp") or "基点" in low:
        return "points", Decimal("0.01")
    if "point" in low or low.startswith(("pp", "pt")) or "百分点" in low:
        return "points", ONE
    if low in {"倍", "x", "times"}:
        return "multiple", ONE
    if low == "成":
        return "percent", Decimal(10)
    return "percent", Decimal("0.1") if low == "‰" else ONE


def _in_chinese(match: re.Match[str]) -> Figure | None:
    start, end = match.span()
    if match["of"]:
        value = chinese(match["num"]) if not match["num"][0].isdigit() else Decimal(match["num"])
        if value is None:
            return None
        times = ONE if match["of"] == "百分之" else Decimal("0.1")
        step = ONE.scaleb(-len(match["num"].replace(".", "点").partition("点")[2]))
        return Figure("", start, end, "percent", value * times, step * times, negative=bool(match["sign"]))
    if match["cheng"]:
        more = match["more"]
        tens = chinese(match["cheng"]) or ONE
        ones = Decimal(5) if more == "半" else (chinese(more) or ONE) if more else Decimal(0)
        return Figure("", start, end, "percent", tens * 10 + ones, ONE if more else Decimal(10))
    said = match["num2"]
    value = chinese(said)
    if value is None or (len(said) < 2 and match["unit"] not in {"倍", "元"} and not match["unit"].startswith("个")):
        return None
    kind, times = unit_kind(match["unit"])
    if match["half"]:
        value, times = value + Decimal("0.5"), ONE
    currency = CURRENCIES.get(match["unit"], "")
    return Figure("", start, end, kind, value * times, _chinese_step(said) * times, currency=currency,
                  negative=bool(match["sign"]))  # fmt: skip


def _chinese_step(said: str) -> Decimal:
    """三千五百万 is exact to the hundred of 万: its last place that was said."""
    if "点" in said:
        rest = said.partition("点")[2]
        return ONE.scaleb(-len(rest))
    step = 1
    for c in reversed(said):
        if c not in SCALES:
            break
        step *= SCALES[c]
    return Decimal(step)


def _in_words(match: re.Match[str]) -> Figure | None:
    half = match["num"].lower().startswith("half")
    said = Decimal(0) if half else english(match["num"])
    if said is None:
        return None
    value = said + Decimal("0.5") if half or match["more"] else Decimal(said)
    unit = match["unit"].lower()
    if unit in {"times", "fold"}:
        return None if half else Figure("", *match.span(), "multiple", value, _LOOSELY)
    step = Decimal("0.1") if half else _LOOSELY if match["more"] else ONE
    if unit in SCALES:
        return Figure("", *match.span(), "number", value, step, scale=Decimal(SCALES[unit]))
    kind, times = unit_kind(unit)
    return Figure("", *match.span(), kind, value * times, step * times)


def counted(text: str) -> list[Figure]:
    """Number words without a unit, as evidence has them: "five days", 五家. In an answer they are no figures."""
    return [
        Figure("", *match.span(), "number", Decimal(value))
        for match in _COUNTED.finditer(text)
        if (value := english(match["num"]) if match["num"] else chinese(match["zh"])) is not None
    ]


def spelled(text: str) -> list[Figure]:
    """The figures of a plain() text whose number is a word; texts are left empty."""
    found = [_in_words(match) for match in _EN.finditer(text)] + [_in_chinese(match) for match in _ZH.finditer(text)]
    return [figure for figure in found if figure is not None]
