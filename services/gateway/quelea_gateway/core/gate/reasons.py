"""Why the gate judged as it did, in words, in the question's language."""

from __future__ import annotations

from collections.abc import Callable

from quelea_fintext import notices
from quelea_fintext.notices import NoteReason

from quelea_gateway.core.gate.features import Measured
from quelea_gateway.core.model import Reading

MOST = 4
"""Reasons given, at most."""
_LISTED = 4


def say(name: str, language: str, **values: object) -> str:
    """One phrase."""
    return notices.say(f"gate.{name}", language, **values)


def explain_weights(
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


def _quote(names: tuple[str, ...], language: str) -> str:
    shown = [f"“{name}”" if language == "zh" else f"'{name}'" for name in names[:_LISTED]]
    return ("、" if language == "zh" else ", ").join(shown)


def _list_names(names: tuple[str, ...], language: str) -> str:
    return ("、" if language == "zh" else ", ").join(names[:_LISTED])


def _company(measured: Measured, reading: Reading, language: str) -> str:
    if not reading.company_missing:
        return ""
    noted = (note.companies for note in reading.notes if note.reason is NoteReason.COMPANY_NOT_STORED)
    names = next(noted, reading.companies)  # a note calls them as the question does
    return say("company", language, names=_list_names(names, language)) if names else say("this_company", language)


def _period(measured: Measured, reading: Reading, language: str) -> str:
    if not reading.period_missing:
        return ""
    if reading.periods:
        names = tuple(notices.say_period(one, language) for one in reading.periods)
        return say("period", language, names=_list_names(names, language))
    return say("this_period", language)


def _newer(measured: Measured, reading: Reading, language: str) -> str:
    return say("newer", language) if reading.period_newer else ""


def _terms(measured: Measured, reading: Reading, language: str) -> str:
    whole, lost = len(measured.wanted), measured.missing_terms
    if not whole:
        return ""
    if not lost:
        return say("covers", language, had=whole, all=whole)
    return say("lacks", language, had=whole - len(lost), all=whole, names=_quote(lost, language))


def _names(measured: Measured, reading: Reading, language: str) -> str:
    lost = measured.missing_names
    return say("unnamed", language, names=_quote(lost, language)) if lost else ""


def _years(measured: Measured, reading: Reading, language: str) -> str:
    lost = measured.missing_years
    return say("unnamed", language, names=_list_names(lost, language)) if lost else ""


def _numbers(measured: Measured, reading: Reading, language: str) -> str:
    lost = measured.missing_numbers
    return say("unnamed", language, names=_list_names(lost, language)) if lost else ""


def _cosine(measured: Measured, reading: Reading, language: str) -> str:
    return say("cosine", language, value=measured.features["cosine"])


def _known(measured: Measured, reading: Reading, language: str) -> str:
    if not reading.companies or reading.company_missing:
        return ""
    return say("known", language, names=_list_names(reading.companies, language))


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
