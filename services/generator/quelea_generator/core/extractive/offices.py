"""Who holds an office: the row of the company's own list of its officers."""

from __future__ import annotations

import re
from functools import cache

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import normalise

from quelea_generator.core.extractive.scoring import Candidate

_CELL = "\t"
_LISTED = re.compile(r"[、,，/]|\band\b")


@cache
def _asked() -> tuple[re.Pattern[str], ...]:
    return LANGUAGES.grouped("questions.office_holder")


def keep_holders(question: str, ranked: list[Candidate]) -> list[Candidate]:
    """The rows of people with the office that the question asks about, where there are some; else all.

    Such a row begins with the name, and the office is the next cell, or one of several in it. Where the next cell is
    a company's name the row is of an office elsewhere, and a sentence about somebody's career may be as well.
    """
    office = asked_office(question)
    return [one for one in ranked if office and _holds(office, one.text)] or ranked


def asked_office(question: str) -> str:
    """The office whose holder is asked for; empty where none is."""
    text = normalise(question)
    found = next((match for pattern in _asked() if (match := pattern.search(text))), None)
    return next((said for said in found.groupdict().values() if said), "").strip() if found else ""


def _holds(office: str, row: str) -> bool:
    cells = [cell.strip() for cell in row.split(_CELL)]
    return len(cells) > 2 and office in (normalise(one).strip() for one in _LISTED.split(cells[1]))
