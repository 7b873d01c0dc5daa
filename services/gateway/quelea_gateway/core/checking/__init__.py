"""Whether the figures and citations of an answer hold, given the passages that it was written from."""

from __future__ import annotations

from quelea_gateway.core.checking.checker import check_answer
from quelea_gateway.core.checking.model import (
    CheckedFigure,
    CheckedSentence,
    CheckPassage,
    MarkerFault,
    Markers,
    MissingMarker,
    Report,
)

__all__ = [
    "CheckPassage",
    "CheckedFigure",
    "CheckedSentence",
    "MarkerFault",
    "Markers",
    "MissingMarker",
    "Report",
    "check_answer",
]
