"""Questions for advice or a forecast: a reader of documents has neither, and says so beside the facts it quotes."""

from __future__ import annotations

from typing import Literal

from quelea_fintext.languages import LANGUAGES

Opinion = Literal["", "advice", "forecast"]

_ADVICE = LANGUAGES.pattern("questions.advice", ignore_case=False)
_FORECAST = LANGUAGES.pattern("questions.forecast", ignore_case=False)


def opinion_asked(question: str) -> Opinion:
    """Whether a question asks for advice or a forecast; empty for one that asks for what was reported.

    Args:
        question: Normalised: lower case, full-width signs made ordinary.
    """
    if _ADVICE.search(question):
        return "advice"
    return "forecast" if _FORECAST.search(question) else ""
