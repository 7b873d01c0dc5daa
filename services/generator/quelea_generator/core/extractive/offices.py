"""Who holds an office or controls a company: the row of its own list, or the sentence that says who."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import normalise

from quelea_generator.core.extractive.scoring import Candidate
from quelea_generator.core.extractive.spans import Span
from quelea_generator.core.extractive.subjects import find_subjects
from quelea_generator.core.model import Evidence

_CELL = "\t"
_MOST_ROWS = 5
"""Under such a head: several people control a company together."""
_NAME_AND_VALUE = 2
"""Cells of such a row."""
_LISTED = re.compile(r"[、,，/]|\band\b")


@cache
def _asked() -> tuple[re.Pattern[str], ...]:
    return LANGUAGES.grouped("questions.office_holder")


def keep_holders(question: str, ranked: list[Candidate], evidence: Sequence[Evidence]) -> list[Candidate]:
    """The rows of people with the office that the question asks about, where there are some; else what is headed so, or
    says who it is; else all.

    Such a row begins with the name, and the office is the next cell, or one of several in it. Where the next cell is
    a company's name the row is of an office elsewhere, and a sentence about somebody's career may be as well.
    """
    office = asked_office(question)
    if not office or not ranked:
        return ranked
    listed = [one for one in ranked if _holds(office, one.text)]
    listed = listed or _headed(office, ranked[0], _of_company(question, evidence))
    return listed or [one for one in ranked if _tells(office, one)] or ranked


def asked_office(question: str) -> str:
    """The office whose holder is asked for; empty where none is."""
    text = normalise(question)
    found = next((match for pattern in _asked() if (match := pattern.search(text))), None)
    return next((said for said in found.groupdict().values() if said), "").strip() if found else ""


def _of_company(question: str, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """The evidence of the companies that the question names; none where it names none and there are several."""
    subjects = find_subjects(question, evidence)
    if subjects is None:
        return evidence if len({item.company for item in evidence}) <= 1 else ()
    return [item for item in evidence if subjects.names.search(item.company)]


def _headed(office: str, best: Candidate, evidence: Sequence[Evidence]) -> list[Candidate]:
    """The rows under a head whose first column is the office's names ("控股股东名称"). They may hold no figure, and
    are then no candidates; they are taken for as good as the best one.

    Head and rows have more than two cells: two are a name and what it says, and who holds the office is the second.
    """
    names = LANGUAGES.alternatives("questions.office_head")
    heading = re.compile(rf"{re.escape(office)}\s*(?:{names})", re.IGNORECASE)
    found: list[Candidate] = []
    for one in evidence:
        left, start = 0, 0
        for line in one.text.splitlines(keepends=True):
            cells = line.split(_CELL)
            if heading.fullmatch(cells[0].strip()):
                left = _MOST_ROWS if len(cells) > _NAME_AND_VALUE else 0
            elif left and len(cells) > _NAME_AND_VALUE:
                found.append(replace(best, evidence=one, span=Span(start, start + len(line.rstrip()), None, "")))
                left -= 1
            else:
                left = 0
            start += len(line)
    return found


def _tells(office: str, one: Candidate) -> bool:
    """Whether it says who that is, or that there is nobody."""
    said = LANGUAGES.alternatives("questions.office_told").replace("OFFICE", re.escape(office))
    return re.search(said, normalise(one.text)) is not None


def _holds(office: str, row: str) -> bool:
    cells = [cell.strip() for cell in row.split(_CELL)]
    return len(cells) > _NAME_AND_VALUE and office in (normalise(one).strip() for one in _LISTED.split(cells[1]))
