"""What the heads and cells of tables of parts say: names of what can be told of a part, and figures."""

from __future__ import annotations

import re
from functools import cache

from quelea_fintext.concepts import concept_of_label
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.metrics import Metric, metrics

from quelea_search.core.layout.rows import is_number
from quelea_search.core.statements.printed_tables import Cell

LONGEST_HEAD = 40
"""Characters of a column's head, and of a cell that names what a row tells."""
_BRACKETED = re.compile(r"[（(]([^（）()]{0,20})[）)]")
_SPACE = re.compile(r"\s+")
_BROKEN = re.compile(r"[-−]?\d{1,3}(?:,\d{3})*(?:\.\d{1,4})?%?")
_WHOLE = re.compile(r"[-−]?\d{1,3}(?:,\d{3})*")
_TO_CENTS = re.compile(r"\.\d{2,}$")


@cache
def said(key: str) -> re.Pattern[str]:
    """A pattern of `statements.breakdowns` in the languages' data."""
    return re.compile(LANGUAGES.alternatives(f"statements.breakdowns.{key}"), re.IGNORECASE)


def figure(cell: Cell) -> str:
    """The figure of a cell, which a narrow column may have broken ("1,905,943,80 5.66"); empty where it is none."""
    text = cell.text.strip()
    if is_number(text):
        return text
    whole = ""
    for piece in text.split():
        if piece[0].isdigit() and (_WHOLE.fullmatch(whole) or _TO_CENTS.search(whole)):
            return ""  # two figures: "2 15.3%"
        whole += piece
    return whole if _BROKEN.fullmatch(whole) else ""


def _unspaced(text: str) -> str:
    return _SPACE.sub("", text)


@cache
def _metrics_by_name() -> dict[str, Metric]:
    return {_unspaced(name): one for one in metrics().values() for name in one.names}


def metric_named(name: str) -> Metric | None:
    """The metric that is called so."""
    return _metrics_by_name().get(name)


def bare(text: str) -> tuple[str, str]:
    """A head's words without spaces, and the unit in its brackets."""
    text = said("none").sub("", text)
    units = _BRACKETED.findall(text)
    return _SPACE.sub("", _BRACKETED.sub("", text)), (units[-1].strip() if units else "")


def is_measure(name: str) -> bool:
    """Whether a head or a cell names what can be told of a part."""
    if not name or len(name) > LONGEST_HEAD:
        return False
    return (
        concept_of_label(name) is not None
        or metric_named(name) is not None
        or said("measures").fullmatch(name) is not None
        or whole_of(name) != ""
    )


def whole_of(name: str) -> str:
    """Of what a column is the share: "营业收入" of "占营业收入比重"; empty where it is none."""
    found = said("share").search(name)
    whole = found["whole"] if found else ""
    return whole if whole and (concept_of_label(whole) or said("measures").fullmatch(whole)) else ""
