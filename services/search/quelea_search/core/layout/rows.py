"""What a table looks like when only lines and cells are left."""

from __future__ import annotations

import re

from quelea_fintext.languages import LANGUAGES

from quelea_search.core.model import CELL

_NUMBER = re.compile(
    r"""[(\[（]?\s*+(?:[$€£¥￥]|US\$|HK\$|RMB|NT\$)?\s*+[(（]?\s*+[-–—+−]?\s*+[$€£¥￥]?\s*+
    (?:\d{1,3}(?:[,，]\d{3})+|\d+)?(?:\.\d+)?\s*+(?:[%％x‰]|bps?|pts?|ppts?|[BMK]|亿|万|元|亿元|万元)?\s*+[)\]）]?\s*+(?:\(\w\)|[*†‡])?""",
    re.VERBOSE,
)
_DIGIT = re.compile(r"\d")
_NOTHING = re.compile(r"[$€£¥]?\s*[-–—−‒]{1,3}\s*%?|n/?[am]\.?|N/?[AM]\.?|nm|NM|\*|不适用|无")
_SPLIT_LABEL = re.compile(r"(?<=\S)\s+(?=[($€£¥—–-]*\s?\d[\d,.]*\s?[%)]*(?:\s|$)|—(?:\s|$))")
_UNITS = LANGUAGES.pattern("statements.plain_rows.units")
_PERIOD = LANGUAGES.pattern("statements.plain_rows.periods")


def is_number(cell: str) -> bool:
    """A figure, an amount, a share or the dash that stands for none."""
    cell = cell.strip()
    if not cell:
        return False
    if _NOTHING.fullmatch(cell):
        return True
    return _DIGIT.search(cell) is not None and _NUMBER.fullmatch(cell) is not None


def numbers_in(cells: list[str]) -> int:
    """How many cells are figures."""
    return sum(1 for cell in cells if is_number(cell))


def is_units(text: str) -> bool:
    """ "(In millions, except per share amounts)", "单位：元 币种：人民币"."""
    return len(text) <= 140 and _UNITS.search(text) is not None


def is_period(text: str) -> bool:
    """Words that name a column: dates, "Three Months Ended", "本期", "Total"."""
    return len(text) <= 80 and _PERIOD.search(text) is not None


def split_plain(line: str) -> list[str]:
    """Cells of a text line whose columns are lost: at tabs, bars or wide gaps, else before each trailing figure."""
    if len(line.split(None, 1)) < 2 and "|" not in line:
        return [line.strip()]
    if CELL in line:
        return [cell.strip() for cell in line.split(CELL)]
    if line.count("|") >= 2:
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    wide = re.split(r"\s{3,}|\s{2,}(?=[($€£¥\d—-])", line.strip())
    if len(wide) > 1:
        return [cell.strip() for cell in wide]
    cells = _SPLIT_LABEL.split(line.strip())
    figures = 0
    while figures < len(cells) and is_number(cells[-1 - figures]):
        figures += 1
    if figures < 2 or len(cells) - figures > 6:
        return [line.strip()]
    label = " ".join(cells[: len(cells) - figures])
    return ([label] if label else []) + cells[len(cells) - figures :]
