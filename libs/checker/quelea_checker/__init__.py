"""Whether the figures and citations of an answer hold, given the passages that it was written from.

The folders are the way of a sentence, and import only those before them:

reading     sentences, amounts, periods, tables and units of the answer and of the passages: facts
matching    which facts a figure may be, by size, unit, sign, direction and time; the words about a figure
binding     which of them it is said of: whether the words fit better a fact that it disagrees with (weights.json,
            fitted by `quelea eval binding`), whether two figures of a sentence are exchanged
deriving    whether a figure that stands nowhere follows from facts: computations that its words ask for, a search
            of tables, and a test against chance
verdicts    on figures, sentences and markers; sentences in another language than the evidence's
"""

from __future__ import annotations

from quelea_checker.model import (
    UNSUPPORTED,
    CheckedFigure,
    CheckedSentence,
    CheckPassage,
    MarkerFault,
    Markers,
    MissingMarker,
    Near,
    Report,
)
from quelea_checker.verdicts.answers import check_answer

__all__ = [
    "UNSUPPORTED",
    "CheckPassage",
    "CheckedFigure",
    "CheckedSentence",
    "MarkerFault",
    "Markers",
    "MissingMarker",
    "Near",
    "Report",
    "check_answer",
]
