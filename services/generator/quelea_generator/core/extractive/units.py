"""The unit of a table's figures, as the table says it: "in millions", "单位：万元". It is named, never converted."""

from __future__ import annotations

import re

from quelea_generator.core.extractive.spans import Span
from quelea_generator.core.model import Evidence

_UNIT = re.compile(
    r"\b(?:(?:amounts|dollars|RMB|USD|[$€£¥]) ?)?in "
    r"(?P<en>(?:thousands|millions|billions|hundreds)(?: of [A-Za-z.]+)?)\b"
    r"|单位(?:[:：]|均?[为是])\s*(?P<zh>[^\s)）,，。;；]{1,8})"
    r"|(?P<yuan>人民币(?:百万|千|万|亿)元)"
    r"|(?P<thousands>(?:RMB|HK\$|US\$|[$€£¥]) ?['’]000s?)"
    r"|\((?P<sign>[$€£¥] ?[MB]|[$€£¥][BMbm]?(?:illions|n)?|£m|€m|\$m)\)",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r",?\s*\b(?:except|other than)\b[^)）\n]*", re.IGNORECASE)
_SHARES = re.compile(r"\bshares?\b|\bstock units\b|股数|股份数", re.IGNORECASE)
_PER_SHARE = re.compile(r"\bper\b.{0,20}\b(?:share|unit)s?\b|每股|元/股|\b(?:EPS|par value)\b", re.IGNORECASE)
_MONEY = re.compile(r"[$€£¥￥]")

_BARE = 10
"""A label of so few characters needs the heading above it to say what it is: "Basic", "Diluted"."""


def units_of(evidence: Evidence, span: Span) -> str:
    """The unit that stands nearest above a row; empty when the table says nothing, or not for this row.

    "In millions, except number of shares, which are reflected in thousands, and per share amounts": most rows are in
    millions, a row of shares in thousands, and a row of amounts per share in no unit of the table.
    """
    label = span.row.label if span.row else " ".join(row.label for row in span.rows)
    figures = evidence.text[span.start : span.end]
    heading = _EXCEPT.sub(" ", span.above).rsplit("\n", 1)[-1]
    per_share = _PER_SHARE.search(f"{label} {heading}" if len(label) <= _BARE else label)
    for text in (evidence.table_head, evidence.text[: span.start], evidence.header):
        plain = _last(_EXCEPT.sub(" ", text))
        if not plain:
            continue
        if per_share:
            return ""
        exceptions = " ".join(match.group() for match in _EXCEPT.finditer(text))
        if _SHARES.search(label) and _SHARES.search(exceptions) and not _MONEY.search(figures):
            return _last(exceptions) or plain
        return plain
    return ""


def _last(text: str) -> str:
    matches = list(_UNIT.finditer(text))
    if not matches:
        return ""
    match = matches[-1]
    if match["en"]:
        return f"in {match['en'].lower()}"
    if match["zh"] or match["yuan"]:
        return f"单位：{match['zh'] or match['yuan']}"
    return match["thousands"] or match["sign"] or ""
