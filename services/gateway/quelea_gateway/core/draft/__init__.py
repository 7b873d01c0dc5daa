"""A model's draft, in which a figure is pointed at or computed from figures that are; made into the text that is shown.

    notation    what is written between braces, parsed
    sources     which cell or phrase of the evidence a figure points at
    arithmetic  what an expression over them comes to, and in which unit
    writer      the text, piece by piece as it streams, with a record of every figure

The generator's prompt (`templates/answer.*.txt`) teaches the notation.
"""

from __future__ import annotations

from quelea_gateway.core.draft.sources import Sources
from quelea_gateway.core.draft.writer import DraftFigure, DraftWriter, write_draft

__all__ = ["DraftFigure", "DraftWriter", "Sources", "write_draft"]
