"""Why there is no answer: one list of reasons, set by the stage that declines and carried to the caller."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from quelea_fintext.languages import REFUSALS
from quelea_fintext.notices import say

_ENDS = " \t\n.。!！\"“”'"


class DeclineReason(StrEnum):
    """Why a question was declined; docs/howto/why-was-my-answer-declined.md says what to do about each.

    The first five are known before the reader is asked, the next five are the reader's, the last three the checks'.
    """

    NO_SUCH_PERIOD = "no_such_period"
    PERIOD_NOT_BEGUN = "period_not_begun"
    PERIOD_NOT_COVERED = "period_not_covered"
    COMPANY_NOT_COVERED = "company_not_covered"
    NO_EVIDENCE = "no_evidence"
    NOT_IN_EVIDENCE = "not_in_evidence"
    ADVICE_ASKED = "advice_asked"
    NOT_A_QUESTION = "not_a_question"
    MODEL_REFUSED = "model_refused"
    EMPTY_ANSWER = "empty_answer"
    UNGROUNDED = "ungrounded"
    WEAK_EVIDENCE = "weak_evidence"
    ALL_WITHHELD = "all_withheld"


@dataclass(frozen=True)
class Decline:
    """A reason, and one sentence about it in the question's language."""

    reason: DeclineReason
    detail: str


def refusal(text: str, language: str) -> str:
    """The sentence of a refusal: as the reader wrote it when it wrote nothing else, in the right language."""
    return text if text.strip(_ENDS) == REFUSALS[language] else REFUSALS[language]


def decline(reason: DeclineReason, language: str, detail: str = "") -> Decline:
    """A decline with its sentence in the question's language ("en" or "zh")."""
    return Decline(reason, say(f"answer.{reason}", language, detail=detail))
