"""Why the gate judged as it did, in words, in the question's language."""

from __future__ import annotations

from collections.abc import Callable

from quelea_gateway.core.gate.features import Measured
from quelea_gateway.core.model import Reading

MOST = 4
"""Reasons given, at most."""
_LISTED = 4

_TEXTS = {
    "stated": ("financial statements state what is asked for", "财务报表列有所问数据"),
    "none": ("no passage was found", "没有检索到任何内容"),
    "latest": (
        "asks for the latest; the newest evidence is {days} days old",
        "问题要求最新信息；现有内容最近的日期距今 {days} 天",
    ),
    "undated": ("asks for the latest; the evidence has no date", "问题要求最新信息；现有内容没有日期"),
    "newer": ("asks about a period newer than anything stored", "问题所问的报告期晚于知识库中的全部文档"),
    "company": ("no document of {names}", "没有关于{names}的文档"),
    "this_company": ("no document of this company", "没有该公司的文档"),
    "period": ("no document of {names}", "没有{names}的文档"),
    "this_period": ("no document of this period", "没有该报告期的文档"),
    "covers": ("covers {had} of {all} key terms", "覆盖 {all} 个关键词中的 {had} 个"),
    "lacks": ("covers {had} of {all} key terms: missing {names}", "覆盖 {all} 个关键词中的 {had} 个：缺少{names}"),
    "unnamed": ("the best passages do not name {names}", "检索到的内容没有提到{names}"),
    "cosine": ("closest passage: cosine {value:.3f}", "最相近段落的余弦相似度为 {value:.3f}"),
    "known": ("documents of {names} are stored", "知识库中有{names}的文档"),
    "above": ("best cosine {value:.3f} is above c = {c:.3f}", "最高余弦相似度 {value:.3f} 高于 c = {c:.3f}"),
    "below": ("best cosine {value:.3f} is not above c = {c:.3f}", "最高余弦相似度 {value:.3f} 不高于 c = {c:.3f}"),
}


def say(name: str, language: str, **values: object) -> str:
    """One phrase."""
    return _TEXTS[name][1 if language == "zh" else 0].format(**values)


def weighed(
    measured: Measured, reading: Reading, contributions: dict[str, float], language: str, *, passed: bool
) -> tuple[str, ...]:
    """The features that speak for the verdict, the weightiest first.

    Args:
        measured: The features and what they were made of.
        reading: What the question was understood to ask about.
        contributions: Feature -> what it added to the log-odds.
        language: "en" or "zh".
        passed: The verdict.
    """
    speaking = sorted(contributions, key=lambda name: -contributions[name] if passed else contributions[name])
    phrases = (
        _PHRASES[name](measured, reading, language)
        for name in speaking
        if name in _PHRASES and (contributions[name] > 0) == passed and contributions[name] != 0
    )
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))


def _quoted(names: tuple[str, ...], language: str) -> str:
    shown = [f"“{name}”" if language == "zh" else f"'{name}'" for name in names[:_LISTED]]
    return ("、" if language == "zh" else ", ").join(shown)


def _listed(names: tuple[str, ...], language: str) -> str:
    return ("、" if language == "zh" else ", ").join(names[:_LISTED])


def _company(measured: Measured, reading: Reading, language: str) -> str:
    if not reading.company_missing:
        return ""
    if reading.companies:
        return say("company", language, names=_listed(reading.companies, language))
    return say("this_company", language)


def _period(measured: Measured, reading: Reading, language: str) -> str:
    if not reading.period_missing:
        return ""
    if reading.periods:
        return say("period", language, names=_listed(reading.periods, language))
    return say("this_period", language)


def _newer(measured: Measured, reading: Reading, language: str) -> str:
    return say("newer", language) if reading.period_newer else ""


def _terms(measured: Measured, reading: Reading, language: str) -> str:
    whole, lost = len(measured.wanted), measured.missing_terms
    if not whole:
        return ""
    if not lost:
        return say("covers", language, had=whole, all=whole)
    return say("lacks", language, had=whole - len(lost), all=whole, names=_quoted(lost, language))


def _names(measured: Measured, reading: Reading, language: str) -> str:
    lost = measured.missing_names
    return say("unnamed", language, names=_quoted(lost, language)) if lost else ""


def _years(measured: Measured, reading: Reading, language: str) -> str:
    lost = measured.missing_years
    return say("unnamed", language, names=_listed(lost, language)) if lost else ""


def _numbers(measured: Measured, reading: Reading, language: str) -> str:
    lost = measured.missing_numbers
    return say("unnamed", language, names=_listed(lost, language)) if lost else ""


def _cosine(measured: Measured, reading: Reading, language: str) -> str:
    return say("cosine", language, value=measured.features["cosine"])


def _known(measured: Measured, reading: Reading, language: str) -> str:
    if not reading.companies or reading.company_missing:
        return ""
    return say("known", language, names=_listed(reading.companies, language))


def latest(measured: Measured, reading: Reading, language: str) -> str:
    """That the question asks for the latest, and how old the evidence is."""
    if not reading.asks_latest:
        return ""
    if measured.age_days is None:
        return say("undated", language)
    return say("latest", language, days=measured.age_days)


_PHRASES: dict[str, Callable[[Measured, Reading, str], str]] = {
    "cosine": _cosine,
    "terms_covered": _terms,
    "terms_best": _terms,
    "names_missing": _names,
    "years_missing": _years,
    "numbers_missing": _numbers,
    "company_found": _known,
    "company_missing": _company,
    "period_missing": _period,
    "period_newer": _newer,
    "latest_age": latest,
}
"""What can be said of a feature; the others weigh in silence."""
