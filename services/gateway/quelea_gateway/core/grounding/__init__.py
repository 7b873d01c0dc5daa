"""What is shown of an answer once it was checked: markers put right, verdicts on the final text, or a refusal."""

from __future__ import annotations

from quelea_gateway.core.grounding.company_attribution import attribute
from quelea_gateway.core.grounding.ground import Grounded, Placed, ground, opened_by
from quelea_gateway.core.grounding.markers import Mark, marks, tidy
from quelea_gateway.core.grounding.pointed_figures import compare, find_asked, settle
from quelea_gateway.core.grounding.quotes import Region, find_quotations, find_quotes, only_quoted, report_of_quotes
from quelea_gateway.core.grounding.stated_figures import report_of_figures

__all__ = [
    "Grounded",
    "Mark",
    "Placed",
    "Region",
    "attribute",
    "compare",
    "find_asked",
    "find_quotations",
    "find_quotes",
    "ground",
    "marks",
    "only_quoted",
    "opened_by",
    "report_of_figures",
    "report_of_quotes",
    "settle",
    "tidy",
]
