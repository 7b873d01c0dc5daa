"""Statements of the parent company alone, which stand beside the group's in a report and have the same rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from quelea_generator.core.extractive.scoring import Candidate

_STATEMENT = r"(?:资产负债表|利润表|现金流量表|(?:所有者|股东)权益变动表|财务报表|会计报表)"
_TITLE = re.compile(
    rf"(?P<parent>母公司{_STATEMENT}|\bparent[- ]company(?:[- ]only)?\b[^.\n]{{0,40}}\bstatements?\b)"
    rf"|合并(?:及母公司)?{_STATEMENT}|\bconsolidated\b[^.\n]{{0,60}}\b(?:statements?|balance sheets?)\b",
    re.IGNORECASE,
)
_ATTRIBUTED = re.compile(
    r"归(?:属于?)?(?:于)?母公司|attributable to (?:the )?(?:parent|owners of the parent)", re.IGNORECASE
)
_ASKED = re.compile(r"母公司|\bparent[- ]company\b", re.IGNORECASE)
_OTHERS = 3.0
"""Cost of a row of the parent company alone, where the company as a whole is asked for."""


def of_whom(question: str, ranked: Sequence[Candidate], *, figure: bool) -> list[Candidate]:
    """Candidates with the parent company's own rows set back; only those rows, where just it is asked for a figure.

    What belongs to the parent's shareholders (归属于母公司) is of the group's statement, in a question and in a row.
    """
    if _ASKED.search(_ATTRIBUTED.sub("", question)):
        return [one for one in ranked if _is_parents(one)] if figure else list(ranked)
    found = [
        replace(one, score=one.score - _OTHERS) if one.span.row is not None and _is_parents(one) else one
        for one in ranked
    ]
    return sorted(found, key=lambda one: -one.score)


def _is_parents(one: Candidate) -> bool:
    """By its own words, else by the last title above it, else by its table's head or its section."""
    item = one.evidence
    if _ASKED.search(_ATTRIBUTED.sub("", one.text)):
        return True
    for text in (item.text[: one.span.start], item.table_head, item.header.rsplit(" · ", 1)[-1]):
        titles = list(_TITLE.finditer(text))
        if titles:
            return titles[-1]["parent"] is not None
    return False
