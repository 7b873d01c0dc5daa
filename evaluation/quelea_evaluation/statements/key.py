"""The answer key of an inline XBRL filing: what its tags say of every figure of the primary statements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from html.parser import HTMLParser

_TAGS = re.compile(r"</?ix:[^<>]*>", re.IGNORECASE)
_HEADER_EDGE = re.compile(r"<ix:header|</ix:header>", re.IGNORECASE)
_NO_LABEL = re.compile(r"[\d.,()$%—–\-\s]*")
_ANCHORS: tuple[tuple[str, set[str], set[str]], ...] = (
    ("balance", {"Assets", "LiabilitiesAndStockholdersEquity"}, set()),
    ("cash_flow", {"NetCashProvidedByUsedInOperatingActivities", "NetCashProvidedByUsedInFinancingActivities"}, set()),
    (
        "comprehensive_income",
        set(),
        {
            "ComprehensiveIncomeNetOfTax",
            "ComprehensiveIncomeNetOfTaxIncludingPortionAttributableToNoncontrollingInterest",
        },
    ),
    ("income", set(), {"EarningsPerShareBasic", "EarningsPerShareDiluted"}),
)
_LEAST = 12
_MOST_PARTS = 0.5
"""Share of figures of parts of the company above which a table is the statement of equity, which is left out."""


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A tagged figure of a statement."""

    statement: str
    label: str
    tag: str
    value: Decimal
    printed: Decimal
    """The value with the sign that is printed."""
    period_start: str
    period_end: str
    in_label: bool
    """It is printed within the words of a label: "less allowances of $506"."""


@dataclass(slots=True)
class _Open:
    """A tag whose text is being read."""

    name: str
    context: str
    scale: int
    negative: bool
    format: str
    text: str = ""
    cell: int = 0


@dataclass(slots=True)
class _Table:
    figures: list[tuple[_Open, int]] = field(default_factory=list)
    """With the number of the cell."""
    cells: dict[int, str] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    """By the number of the cell: of its row."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.contexts: dict[str, dict[str, str]] = {}
        self.tables: list[_Table] = []
        self._table: _Table | None = None
        self._cell = 0
        self._row: list[int] = []
        self._open: list[_Open] = []
        self._context = ""
        self._part = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "xbrli:context":
            self._context = said.get("id", "")
            self.contexts[self._context] = {}
        elif tag.startswith("xbrldi:"):
            self.contexts[self._context]["part"] = "1"
        elif tag.startswith("xbrli:"):
            self._part = tag.removeprefix("xbrli:")
        elif tag == "table":
            self._table = _Table()
            self.tables.append(self._table)
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th"):
            self._cell += 1
            self._row.append(self._cell)
        elif tag == "ix:nonfraction":
            scale = said.get("scale") or "0"
            self._open.append(
                _Open(
                    said.get("name", ""),
                    said.get("contextref", ""),
                    int(scale),
                    said.get("sign") == "-",
                    said.get("format", ""),
                    cell=self._cell,
                )
            )

    def handle_endtag(self, tag: str) -> None:
        if tag.startswith("xbrli:"):
            self._part = ""
        elif tag == "table":
            self._table = None
        elif tag == "tr" and self._table is not None:
            said = (self._table.cells.get(cell, "").strip() for cell in self._row)
            label = next((" ".join(one.split()) for one in said if not _NO_LABEL.fullmatch(one)), "")
            self._table.labels.update(dict.fromkeys(self._row, label))
        elif tag == "ix:nonfraction" and self._open:
            one = self._open.pop()
            if self._table is not None:
                self._table.figures.append((one, one.cell))

    def handle_data(self, data: str) -> None:
        if self._context and self._part in ("startdate", "enddate", "instant"):
            self.contexts[self._context][self._part] = data.strip()
        for one in self._open:
            one.text += data
        if self._table is not None:
            self._table.cells[self._cell] = self._table.cells.get(self._cell, "") + data


def without_tags(html: str) -> str:
    """The filing as it would be without inline XBRL."""
    return _TAGS.sub("", _without_headers(html))


def _without_headers(html: str) -> str:
    """A header that is not closed stays."""
    kept: list[str] = []
    begin, end = -1, 0
    for edge in _HEADER_EDGE.finditer(html):
        if not edge[0].startswith("</"):
            begin = edge.start() if begin < 0 else begin
        elif begin >= 0:
            kept.append(html[end:begin])
            begin, end = -1, edge.end()
    return "".join([*kept, html[end:]])


def answer_key(html: str) -> list[KeyFigure]:
    """Every figure of the four statements that is of the whole company and printed.

    The largest table of each kind is the statement. The statement of changes in equity is left out: all but its last
    column are parts.
    """
    reader = _Reader()
    reader.feed(html)
    found: dict[str, list[KeyFigure]] = {}
    for table in reader.tables:
        parts = [reader.contexts.get(one.context, {}).get("part") for one, _ in table.figures]
        names = {one.name.rpartition(":")[2] for one, _ in table.figures}
        kind = next((kind for kind, every, some in _ANCHORS if every <= names and (not some or some & names)), "")
        if not kind or len(parts) < _LEAST or sum(map(bool, parts)) > _MOST_PARTS * len(parts):
            continue
        figures = [figure for one in table.figures if (figure := _figure(*one, table, reader, kind)) is not None]
        if len(figures) > len(found.get(kind, ())):
            found[kind] = figures
    return [figure for figures in found.values() for figure in figures]


def tagged_amounts(html: str) -> set[tuple[str, Decimal]]:
    """Day and amount of everything that any table tags, parts of the company too."""
    reader = _Reader()
    reader.feed(html)
    found = set()
    for table in reader.tables:
        for one, cell in table.figures:
            reader.contexts.get(one.context, {}).pop("part", None)
            figure = _figure(one, cell, table, reader, "")
            if figure is not None:
                found.add((figure.period_end, abs(figure.value)))
    return found


def _figure(one: _Open, cell: int, table: _Table, reader: _Reader, kind: str) -> KeyFigure | None:
    context = reader.contexts.get(one.context, {})
    text = one.text.strip()
    end = context.get("enddate") or context.get("instant", "")
    if context.get("part") or not text or not end:
        return None
    digits = re.sub(r"[^\d.]", "", text)
    try:
        value = Decimal(digits) * Decimal(10) ** one.scale if digits else Decimal(0)
    except InvalidOperation:
        return None
    said = table.cells.get(cell, "")
    bracketed = bool(digits) and re.search(rf"[(−-]\s*\$?\s*{re.escape(text)}", said) is not None
    return KeyFigure(
        statement=kind,
        label=table.labels.get(cell, ""),
        tag=one.name,
        value=-value if one.negative else value,
        printed=-value if bracketed else value,
        period_start=context.get("startdate", ""),
        period_end=end,
        in_label=re.search(r"[A-Za-z]{3}", said) is not None,
    )
