"""What the reader of an answer should know beside it, in the question's language."""

from __future__ import annotations

from collections.abc import Sequence

from quelea_fintext import notices
from quelea_fintext.notices import write_notes

from quelea_gateway.core.model import Finished, Reading, Retrieved


def say(name: str, language: str, detail: str = "") -> str:
    """The sentence of a notice, in "en" or "zh"."""
    return notices.say(f"answer.{name}", language, detail=detail)


def not_covered(reading: Reading, language: str) -> list[str]:
    """What the question names and no document has, as exactly as the retriever tells it."""
    if reading.notes:
        return [write_notes(reading.notes, language)]
    missing = [say("company_not_covered", language)] if reading.company_missing else []
    return missing + ([say("period_not_covered", language)] if reading.period_missing else [])


def notices_for(
    retrieved: Retrieved,
    finished: Finished,
    language: str,
    route: tuple[str, ...] = (),
    checked: Sequence[tuple[str, str]] = (),
    *,
    as_of: str,
) -> tuple[str, ...]:
    """One line for each thing that was missing, left out or doubtful.

    Args:
        retrieved: With the reading in the light of the evidence.
        finished: How the reader ended.
        language: Of the question.
        route: Names of those of the web step.
        checked: Names of those of the checks, each with what fills it in.
        as_of: The day of the question: what came out later does not count.
    """
    reading, found = retrieved.reading, [say(name, language) for name in route]
    if not retrieved.passages:
        found.append(say("no_evidence", language, as_of))
    found.extend(not_covered(reading, language))
    if finished.reason == "length":
        found.append(say("length", language))
    found.extend(say(name, language, detail) for name, detail in checked)
    return tuple(found)
