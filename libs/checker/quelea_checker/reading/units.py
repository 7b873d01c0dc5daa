"""What a table says about its figures: "in millions, except per share amounts", 单位：万元."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from quelea_fintext.quantities import CURRENCIES, SCALES
from quelea_fintext.text import CJK, STOP_WORDS, stem

from quelea_checker.model import ONE

_MONEY = (
    r"(?:Canadian|Australian|Hong Kong|Singapore|US|New Taiwan) dollars"
    r"|US\$|HK\$|A\$|C\$|\$|€|£|¥|RMB|USD|EUR|CNY|SEK|NOK|CHF|U\.S\. dollars|dollars|euros"
)
STATEMENT = re.compile(
    rf"(?:(?P<cur>{_MONEY})[ ,]*(?:amounts )?)?\bin (?:(?P<cur2>{_MONEY}) ?)?(?P<word>thousands?"
    rf"|millions?|billions?)\b(?: of (?P<cur3>{_MONEY}|[A-Za-z.]+ dollars))?"
    rf"|(?P<cur4>{_MONEY})\s?(?:in )?(?P<word2>'?(?:millions?|billions?|thousands?)\b|'?000'?s?\b)(?!\d)"
    r"|\bin '?(?P<word4>000'?s?)\b|\((?P<word5>thousands|millions|billions)\)"
    rf"|(?:\(|\b|^)(?P<word3>millions|thousands|billions) of (?P<cur5>{_MONEY}|[A-Za-z.]+)"
    r"|(?<![A-Za-z])(?P<cur6>US\$|HK\$|A\$|C\$|\$|€|£|RMB|¥|USD|EUR|GBP|SEK|NOK"
    r"|CHF)\s?(?P<letter>m|M|bn|k|mn|mm|MM|B)(?![A-Za-z0-9])"
    r"|单位[:：是为]?\s{0,8}+(?P<cur7>人民币|美元|港元|港币)?\s{0,8}+(?P<zh>万亿|千亿|百亿|十亿|亿|千万|百万|万"
    r"|千)?(?P<cur8>元(?:人民币)?|美元|港元|港币|股|吨|台|人|桶|千瓦时)"
    r"|[(（](?P<cur9>人民币)?(?P<zh2>万亿|十亿|亿|千万|百万|万|千)?(?P<cur10>元|美元|港元|人|股|吨|台|桶|千瓦时)[)）]"
    r"|(?P<cur11>人民币)(?P<zh3>百万|千|万|亿)元",
    re.IGNORECASE,
)
MAY_STATE = re.compile(
    r"thousand|illion|000|单位|[万亿千]元|[万亿千](?:美元|港元)"
    r"|[(（](?:人民币)?(?:万亿|[十百千]?[亿万]|千)?(?:元|美元|港元|人|股|吨|台|桶|千瓦时)[)）]"
    r"|(?:\$|€|£|¥|RMB|USD|EUR|GBP|SEK|NOK|CHF)\s?(?:m|bn|k|mn|mm|b)(?![a-z0-9])",
    re.IGNORECASE,
)
"""A cheap look: no text without one of these states a unit."""
_PER = re.compile(r"\bper\b|\beach\b|每股|元/股|\bEPS\b|\bpar value\b", re.IGNORECASE)
_PER_SHARE = re.compile(
    r"\b(?:earnings|loss(?:es)?|income|dividends?|cash|value|price)\b.{0,60}\bper (?:\w+ ){0,2}(?:share|unit|ADS)\b"
    r"|\bEPS\b|每股",
    re.IGNORECASE,
)
_OF_SHARES = re.compile(
    r"\bshares (?:outstanding|used|issued)\b|\bnumber of (?:\w{1,30} ){0,6}shares\b|股数", re.IGNORECASE
)
"""Of "diluted EPS shares outstanding": shares are counted, though the label speaks of what is earned by each."""
_MAY_BE_PER = re.compile(
    r"\bprices?\b|\bdiluted\b|\bbasic\b|\b(?:days|years|months|life)\b|(?<!-)\bterm\b(?! (?:debt|loan|note|borrowing))"
    r"|\btimes\b|\bmultiple\b|\bratio\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"[%％]|\bpercent(?:age)?s?\b|百分比|占比|比例|比重|增减幅度|增长率|收益率|毛利率|净利率|利率|税率", re.IGNORECASE
)
_COUNTED = re.compile(r"(?:\s?\[\d{1,3}(?:,\s?\d{1,3})*\])*\s?([a-z]{3,20}s|people)\b(?!')")
_VERBS = frozenset(
    "accounts adds allows amounts appears arises brings combines comes compares comprises consists contains "
    "contrasts corresponds covers derives differs equals exceeds excludes follows gives gets goes helps implies "
    "includes indicates involves keeps lags leaves lies looks makes marks matches means meets misses needs puts "
    "ranks reaches reflects refers relates remains represents rests results seems shows sits stands starts stems "
    "suggests surpasses takes tells tops totals translates trails underlines".split()
)
"""What is told of a figure, not what it counts: "$510 million compares with"."""
_COUNTED_HAN = re.compile(r"(?:\s?\[\d{1,3}\])*\s?(人次|人(?!民币|均)|[名家户位台辆套座艘])")
_NAMED_RATE = re.compile(r"\d\s?[%％]")
"""Of "3.20% notes due 2026": part of a name, no unit of the row."""
_RATE = re.compile(
    r"\b(?:rates?|margins?|yields?|ratios?|return|growth|volatility|change)\b|率|增减|变动", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What applies to a cell.

    Attributes:
        scales: The multipliers that are possible; empty: nothing is said, so any is.
        currency: As in Figure; empty when not said.
        percent: True, False, or None when it could be either.
    """

    scales: tuple[Decimal, ...] = ()
    currency: str = ""
    percent: bool | None = False


_AROUND = 80
"""Code points before and behind what MAY_STATE finds in which the whole statement is."""


def find_statements(text: str) -> Iterator[re.Match[str]]:
    """Every statement of a unit in a text."""
    spans: list[tuple[int, int]] = []
    for hint in MAY_STATE.finditer(text):
        start, end = max(0, hint.start() - _AROUND), hint.end() + _AROUND
        if spans and start <= spans[-1][1]:
            start = spans.pop()[0]
        spans.append((start, end))
    for start, end in spans:
        yield from STATEMENT.finditer(text, start, end)


@lru_cache(maxsize=8192)
def read_stated_unit(text: str) -> tuple[tuple[Decimal, ...], str]:
    """The scales and the currency that a text states for figures: ((10**6,), "$") for "($ in millions)".

    "In millions, except number of shares, which are reflected in thousands": the first is the table's, all are given.
    """
    scales: list[Decimal] = []
    currency = ""
    for match in find_statements(text):
        got = {key: value for key, value in match.groupdict().items() if value}
        word = next((got[k].lower() for k in ("word", "word2", "word3", "word4", "word5") if k in got), "")
        scale = SCALES.get(word.lstrip("'"), 0)
        if "letter" in got:
            scale = SCALES.get(got["letter"].lower(), 0)
        chinese = next((got[k] for k in ("zh", "zh2", "zh3") if k in got), "")
        if chinese:
            scale = SCALES[chinese]
        money = next((v.lower() for k, v in got.items() if k.startswith("cur")), "")
        currency = currency or CURRENCIES.get(money, "")
        value = Decimal(scale) if scale else ONE
        if value not in scales:
            scales.append(value)
    return tuple(scales), currency


def find_counted(text: str, end: int) -> str | None:
    """What is counted behind a figure that ends there: a plural, "employees", or a measure word, 名; None: nothing.

    Names of currencies and words that only look like plurals are none.
    """
    if CJK.search(text):
        match = _COUNTED_HAN.match(text, end)
        return match[1] if match else None
    match = _COUNTED.match(text, end)
    word = match[1] if match else ""
    is_none = not word or word in STOP_WORDS or word in CURRENCIES or word in _VERBS or stem(word) == word
    return None if is_none else word


def counts_shares(label: str) -> bool:
    """A row of so many shares, by its label."""
    return bool(_OF_SHARES.search(label))


@dataclass(frozen=True, slots=True)
class _Words:
    """What the words of a label, a head or a line above a table say of its unit."""

    percent: bool
    rate: bool
    per: bool


@lru_cache(maxsize=8192)
def _words(text: str) -> _Words:
    return _Words(
        bool(_PERCENT.search(text)),
        bool(_RATE.search(text)),
        bool(_PER.search(text) and not _OF_SHARES.search(text)),
    )


@lru_cache(maxsize=8192)
def unit_of(label: str, column: str, table: str) -> Unit:
    """The unit of a cell from its row's label, its column's head and its table's statement (head and lines above)."""
    own, own_currency = read_stated_unit(label)
    head, head_currency = read_stated_unit(column)
    every, currency = read_stated_unit(table)
    currency = own_currency or head_currency or currency
    row, over, above = _words(label), _words(column), _words(table)
    if over.percent or (not own and row.percent and _PERCENT.search(_NAMED_RATE.sub(" ", label))):
        return Unit((ONE,), "", True)
    percent = None if row.rate or over.rate or above.percent else False
    if own or head:
        return Unit(own or head, currency, percent)
    if every and row.per and _PER_SHARE.search(label):
        return Unit((ONE,), currency, percent)  # "in millions, except per share data"
    if row.per or over.per or (every and _MAY_BE_PER.search(label)):
        return Unit((ONE, *every), currency, percent)
    return Unit(every, currency, percent)
