"""On what basis a figure is measured: under GAAP or adjusted, as reported or at constant exchange rates."""

from __future__ import annotations

import re

from quelea_checker import wording
from quelea_checker.facts import Evidence
from quelea_checker.matching import Claim
from quelea_checker.passage_facts import Fact, Group

_RATES = r"(?:foreign |currency |foreign currency )?(?:exchange|currency|FX)"
_AXES = (
    re.compile(
        r"(?P<other>\bnon-?\s?GAAP\b|\b(?<!un)adjusted (?!for\b)|\bcore (?:earnings|EPS)\b"
        r"|非公认会计|非通用会计|非国际财务报告"
        r"|(?<!未)经调整)"
        r"|(?P<plain>\b(?:U\.?S\.? )?GAAP\b|\bunadjusted\b|未经调整|(?<!非)(?:公认会计准则|通用会计准则))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<other>\bconstant (?:foreign )?(?:exchange|currenc)\w*|\bcurrency-neutral\b"
        rf"|\b(?:excluding|without|before|net of) (?:the )?(?:effects? |impacts? )?(?:of )?(?:changes? in )?{_RATES}"
        r"|(?:固定|恒定|不变)(?:汇率|货币)|汇率不变|(?:剔除|扣除|排除|不计|不考虑)[^，。；]{0,4}汇率)"
        r"|(?P<plain>\bas reported\b|\bon a reported basis\b|\bincluding (?:the )?(?:effects? |impacts? )?(?:of )?"
        rf"{_RATES}|按报告汇率|(?:包括|计入)[^，。；]{{0,4}}汇率)",
        re.IGNORECASE,
    ),
)
"""What is adjusted, and what is plainly not."""
_AMOUNT = re.compile(r"[$€£¥]\s?\d|\d\s?(?:%|[mbtr]+illion|[亿万元])")


def fit(claim: Claim, fact: Fact, evidence: Evidence) -> bool:
    """The evidence does not measure the figure otherwise than the sentence does."""
    figure = claim.figure
    group = evidence.groups[fact.group]
    for axis in _AXES:
        said = _said(axis, claim.sentence, figure.start, figure.end)
        if not said:
            continue
        if fact.table < 0:
            found = _said(axis, fact.words, fact.figure.start, fact.figure.end)
        else:
            found = _one(axis, fact.words)
            if not found and said == "other" and _has_other(axis, group, evidence):
                return False
        if found and found != said:
            return False
    return True


def _has_other(axis: re.Pattern[str], own: Group, evidence: Evidence) -> bool:
    """Its table has the same row once more, adjusted."""
    return any(
        row is not own
        and _one(axis, f"{row.label} {row.section}") == "other"
        and bool(own.name)
        and own.name <= row.name
        for row in evidence.rows.get(own.table, ())
    )


def _said(axis: re.Pattern[str], text: str, start: int, end: int) -> str:
    """By the clause of text[start:end], else by what stands before it without an amount between."""
    first, last = wording.clause(text, start, end)
    if axis.search(text[first:last]):
        return _one(axis, text[first:last])
    before = [*axis.finditer(text[:first])]
    return (before[-1].lastgroup or "") if before and not _AMOUNT.search(text, before[-1].end(), start) else ""


def _one(axis: re.Pattern[str], text: str) -> str:
    """The one basis that a text speaks of."""
    kinds = {match.lastgroup or "" for match in axis.finditer(text)}
    return kinds.pop() if len(kinds) == 1 else ""
