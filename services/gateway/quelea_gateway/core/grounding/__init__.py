"""What is shown of an answer once it was checked: markers put right, verdicts on the final text, or a refusal."""

from __future__ import annotations

from quelea_gateway.core.grounding.attributing import attributed
from quelea_gateway.core.grounding.ground import Grounded, Placed, ground
from quelea_gateway.core.grounding.marking import Mark, marks, tidy
from quelea_gateway.core.grounding.quoted import Region, behind, quotations, regions, report_of_quotes

__all__ = [
    "Grounded",
    "Mark",
    "Placed",
    "Region",
    "attributed",
    "behind",
    "ground",
    "marks",
    "quotations",
    "regions",
    "report_of_quotes",
    "tidy",
]
