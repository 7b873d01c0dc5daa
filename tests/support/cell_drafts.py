"""Drafts made from the cells of filings: true ones, and the same with one thing wrong that the cells tell.

A draft is a sentence with a figure of a statement, or one computed from two, as a model writes it: in the notation of
`templates/answer.*.txt` and in plain figures. It is made false by a procedure over the cells: the figure of another
row, column, part or length of time takes its place, or the sentence says another sign, direction or kind of unit.
What the cells are is told by the filing's facts (of inline XBRL its tags), never by what the gateway reads in them.
"""

from __future__ import annotations

import gzip
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from pathlib import Path

from quelea_fintext.amount_format import decimals_of, scale_of, write_amount
from quelea_fintext.concepts import concepts
from quelea_gateway.core.model import Passage
from quelea_search.core.model import Chunk, ParseLimits
from quelea_search.core.statements.model import Fact
from quelea_search.jobs.file_parsing import ReadDocument, read_file

KINDS = ("row", "column", "length", "part", "operand", "sign", "direction", "unit")
"""What may be wrong: whose figure it is, of when, or what the sentence says of it."""
FORMS = ("notation", "plain")
_MONTH_NAMES = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
_CLEAN = re.compile(r"\s*[(（][^()（）]*[)）]|:.*$|(?<=[a-z])\s?\d$")
_NO_LABEL = re.compile(r"\b(?:other|total|net)\W*$|^(?:other|basic|diluted|net)\W*$", re.IGNORECASE)
_MOVES = re.compile(r"increase|decrease|change|adjust|proceeds|gain|loss|增加|减少|变动", re.IGNORECASE)
_DIGITS = re.compile(r"\d[\d,，]*(?:\.\d+)?|\.\d+")
_STATEMENTS = ("income", "balance", "cash_flow")
_OF_LINES = ("revenue", "total_assets")
_LEAST_DIGITS = 3
_PAIR = 2
_LARGEST = 3
"""A share or a growth that is larger is none that anybody writes."""
_FURTHER = 4
"""Passages beside those that a draft points at."""
_NUMBER_CELL = re.compile(r"^\(?-?[$€£¥]?\s?\(?\d[\d,]*(?:\.\d+)?\)?$")


@dataclass(frozen=True)
class CellDraft:
    """A draft with its evidence.

    Attributes:
        kind: One of KINDS; empty of a true one.
        shape: What the sentence says: a level, a move, growth, a share, a part's ratio.
        form: One of FORMS.
    """

    id: str
    language: str
    kind: str
    shape: str
    form: str
    question: str
    draft: str
    evidence: tuple[Passage, ...]


@dataclass(frozen=True)
class _Cell:
    """A figure with its place, and what it is of."""

    fact: Fact
    chunk: int

    @property
    def digits(self) -> str:
        """As printed, without sign and currency."""
        found = _DIGITS.search(self.fact.printed)
        return found[0] if found else ""

    @property
    def months(self) -> int:
        """How long its time is; 0 of an instant."""
        period = self.fact.period
        return round((period.end - period.start).days / 30.4) if period.start else 0


def read_filing(path: Path) -> ReadDocument:
    """A filing as an upload of it is read."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return read_file(data, path.name.removesuffix(".gz"), None, ParseLimits())  # type: ignore[arg-type]  # nothing given


def make_drafts(
    name: str, filing: ReadDocument, chance: random.Random, most: int = 40, shapes: str = "first"
) -> Iterator[CellDraft]:
    """True and false drafts on a filing; of each shape so many true sentences at most, each in both forms.

    Args:
        shapes: "first": those by whose misses the comparison was mended. "fresh": others, by which nothing was.
    """
    maker = _Maker(name, filing, chance)
    made = (maker.levels, maker.losses, maker.moves, maker.growths, maker.shares, maker.parts)
    for shape in made if shapes == "first" else (maker.pairs,):
        for drafts in islice(shape(), most):
            yield from drafts


class _Maker:
    def __init__(self, name: str, filing: ReadDocument, chance: random.Random) -> None:
        self._name, self._chance = name, chance
        self._chunks = filing.chunks
        self._doc = filing.facts
        self._zh = filing.facts.language == "zh"
        self._company = filing.facts.company or name
        self._cells = [cell for fact in filing.statement_facts if (cell := self._cell(fact))]
        chance.shuffle(self._cells)
        self._by_row: dict[tuple[str, ...], list[_Cell]] = defaultdict(list)
        self._by_column: dict[tuple[object, ...], list[_Cell]] = defaultdict(list)
        for cell in self._cells:
            self._by_row[_row(cell)].append(cell)
            self._by_column[cell.fact.statement, cell.fact.basis, cell.fact.period, cell.fact.unit].append(cell)
        self._count = 0

    def _cell(self, fact: Fact) -> _Cell | None:
        good = fact.statement in _STATEMENTS and fact.label and fact.value and not fact.failed and not fact.column
        if not good or fact.basis != "consolidated":
            return None
        found = next(
            (n for n, c in enumerate(self._chunks) if c.page == fact.page and c.start <= fact.start < c.end), None
        )
        return _Cell(fact, found) if found is not None else None

    # --- what sentences are made of

    def _label(self, cell: _Cell) -> str:
        """As printed, or one of the other names of its concept."""
        fact = cell.fact
        said = " ".join(_CLEAN.sub("", fact.label).split()).strip(" ,:：、")
        if fact.concept and self._chance.random() < 0.5:
            names = [
                n for n in concepts()[fact.concept].names
                if "…" not in n and n.isascii() is not self._zh and len(n) > 3 and "(" not in n
                and not re.search(r"loss|亏损", n)
            ]  # fmt: skip
            said = self._chance.choice(names[:4]) if names else said
        return said if self._zh or said[:2].isupper() else said[:1].lower() + said[1:]

    def _when(self, cell: _Cell) -> str:
        period, months = cell.fact.period, cell.months
        end = period.end
        if self._zh:
            return f"{end.year}年" if months == 12 else f"{end.year}年末"
        day = f"{_MONTH_NAMES[end.month - 1]} {end.day}, {end.year}"
        if not months:
            return self._chance.choice((f"at {day}", f"as of {day}"))
        if months == 12:
            ways = [f"in the year ended {day}", f"for the fiscal year ended {day}"]
            return self._chance.choice([f"in {end.year}", *ways] if end.month == 12 else ways)
        word = {3: "three", 6: "six", 9: "nine"}.get(months, str(months))
        ways = [f"in the {word} months ended {day}", f"for the {word} months ended {day}"]
        return self._chance.choice([f"in the quarter ended {day}", *ways] if months == 3 else ways)

    def _amount(self, value: Decimal, like: _Cell, form: str, said: str = "") -> str:
        """A figure in either form."""
        fact = like.fact
        if form == "notation" and said:
            return f"{{{said}}}"
        language = "zh" if self._zh else "en"
        scale = scale_of(fact.printed, fact.value)
        amount = write_amount(abs(value), fact.unit, language, scale=scale, decimals=decimals_of(fact.printed))
        numbers = "".join(f"[{n}]" for n in dict.fromkeys(re.findall(r"\[(\d+)\]", said)))
        return f"{amount} {numbers}".strip()

    def _point(self, cell: _Cell, order: Sequence[int]) -> str:
        return f"{cell.digits} [{order.index(cell.chunk) + 1}]"

    def _rate(self, value: Decimal, expression: str, form: str) -> str:
        if form == "notation":
            return f"{{{expression} = %}}"
        numbers = "".join(f"[{n}]" for n in dict.fromkeys(re.findall(r"\[(\d+)\]", expression)))
        return f"{(abs(value) * 100).quantize(Decimal('0.1'), ROUND_HALF_UP)}% {numbers}"

    def _evidence(self, cells: Sequence[_Cell]) -> list[int]:
        """Numbers of the chunks that have them, with others that print the same labels."""
        own = list(dict.fromkeys(cell.chunk for cell in cells))
        words = {w for cell in cells for w in re.findall(r"[a-z]{4,}|[\u4e00-\u9fff]{2}", cell.fact.label.lower())}

        def alike(number: int) -> int:
            text = self._chunks[number].text.lower()
            return sum(word in text for word in words) + 2 * self._chunks[number].is_table

        others = sorted((n for n in range(len(self._chunks)) if n not in own), key=alike, reverse=True)
        return [*own, *others[:_FURTHER]]

    def _passages(self, order: Sequence[int]) -> tuple[Passage, ...]:
        return tuple(self._passage(self._chunks[n]) for n in order)

    def _passage(self, chunk: Chunk) -> Passage:
        doc, period = self._doc, self._doc.period
        end = period.end_date
        name = f"{doc.company} ({doc.ticker})" if doc.ticker else doc.company or doc.title
        long = f"{'quarter' if period.fiscal_quarter else 'year'} ended {_long(end)}" if end and not self._zh else end
        header = " · ".join(p for p in (name, doc.document_type, period.label, long, chunk.section) if p)
        return Passage(
            document_id=self._name, page=chunk.page, start=chunk.start, end=chunk.end, text=chunk.text,
            is_table=chunk.is_table, table_head=chunk.table_head, section=chunk.section, header=header,
            title=doc.title, published=doc.published, company=doc.company, ticker=doc.ticker,
            document_type=doc.document_type, language=doc.language, period=period.label, period_end=end,
        )  # fmt: skip

    def _make(self, kind: str, shape: str, form: str, question: str, text: str, order: Sequence[int]) -> CellDraft:
        self._count += 1
        return CellDraft(
            f"{self._name} {self._count}", "zh" if self._zh else "en", kind, shape, form, question, text,
            self._passages(order),
        )  # fmt: skip

    # --- cells beside a cell

    def _other_rows(self, cell: _Cell) -> list[_Cell]:
        fact = cell.fact
        every = self._by_column[fact.statement, fact.basis, fact.period, fact.unit]
        return [o for o in every if o.chunk == cell.chunk and _row(o) != _row(cell) and _differ(o, cell)]

    def _other_columns(self, cell: _Cell) -> list[_Cell]:
        """Of the same length, at another time."""
        row = self._by_row[_row(cell)]
        return [
            o for o in row
            if o.fact.period.end != cell.fact.period.end and abs(o.months - cell.months) < 1 and _differ(o, cell)
        ]  # fmt: skip

    def _other_lengths(self, cell: _Cell) -> list[_Cell]:
        row = self._by_row[_row(cell)]
        return [
            o for o in row
            if o.fact.period.end == cell.fact.period.end and o.months != cell.months and _differ(o, cell)
        ]  # fmt: skip

    def _at(self, cells: Sequence[_Cell], cell: _Cell) -> _Cell | None:
        return next((o for o in cells if o.fact.period == cell.fact.period), None)

    def _year_before(self, cell: _Cell) -> _Cell | None:
        end = cell.fact.period.end
        return next(
            (o for o in self._by_row[_row(cell)]
             if abs((end - o.fact.period.end).days - 365) < 9 and abs(o.months - cell.months) < 1
             and o.chunk == cell.chunk), None,
        )  # fmt: skip

    def _plain_cells(self) -> Iterator[_Cell]:
        """Positive amounts of money whose label says what they are."""
        for cell in self._cells:
            digits = cell.digits.replace(",", "").replace(".", "").lstrip("0")
            named = not _NO_LABEL.search(cell.fact.label) and 4 <= len(cell.fact.label) <= 70
            if self._zh:
                named = 3 <= len(cell.fact.label) <= 24
            if named and cell.fact.value > 0 and len(digits) >= _LEAST_DIGITS and "(" not in cell.fact.printed:
                yield cell

    # --- shapes

    def levels(self) -> Iterator[list[CellDraft]]:
        """ "Net sales were {81,797 [1]} in the quarter ended …"."""
        for cell in self._plain_cells():
            if len(cell.fact.unit) != 3 and cell.fact.unit != "USD/share":
                continue
            label, when = self._label(cell), self._when(cell)
            way = self._chance.randrange(2)

            def say(figure: str, label: str = label, when: str = when, way: int = way, be: str = _be(label)) -> str:
                if self._zh:
                    return f"{when}，{self._company}的{label}为{figure}。"
                if way:
                    return f"{self._company} reported {label} of {figure} {when}."
                return f"{self._company}'s {label} {be} {figure} {when}."

            question = self._ask(label, when)
            wrong: list[tuple[str, _Cell]] = []
            for kind, others in (
                ("row", self._other_rows(cell)), ("column", self._other_columns(cell)),
                ("length", self._other_lengths(cell)),
            ):  # fmt: skip
                if others:
                    wrong.append((kind, self._chance.choice(others)))
            found = []
            for form in FORMS:
                for kind, one in (("", cell), *wrong):
                    order = self._evidence([one] if one.chunk == cell.chunk else [one, cell])
                    figure = self._amount(one.fact.value, one, form, self._point(one, order))
                    found.append(self._make(kind, "level", form, question, say(figure), order))
                found += self._of_other_kind(cell, label, when, question, form)
            yield found

    def _of_other_kind(self, cell: _Cell, label: str, when: str, question: str, form: str) -> Iterator[CellDraft]:
        """The figure of a money cell as a number of people or a percentage; of one in millions as plain or billions."""
        order = self._evidence([cell])
        point = self._point(cell, order)
        if self._zh:
            texts = [f"{when}，{self._company}有{{{point}}}名员工。"] if form == "notation" else []
        elif form == "notation":
            texts = [self._chance.choice((
                f"{self._company} had {{{point}}} employees {when}.",
                f"{self._company}'s {label} was {{{point}}} shares {when}.",
            ))]  # fmt: skip
        else:
            scale = scale_of(cell.fact.printed, cell.fact.value)
            other = {3: "million", 6: "billion"}.get(scale)
            texts = [
                f"{self._company} had {cell.digits} employees [1] {when}.",
                *([f"{self._company}'s {label} {_be(label)} ${cell.digits} {other} [1] {when}."] if other else []),
            ]
            texts = texts if cell.fact.unit == "USD" else []
        for text in texts:
            yield self._make("unit", "level", form, question, text, order)

    def losses(self) -> Iterator[list[CellDraft]]:
        """A loss that widened or narrowed; a profit that is called a loss."""
        if self._zh:
            return
        for cell in self._cells:
            fact = cell.fact
            if fact.concept not in ("net_income", "operating_income") or len(cell.digits) < _LEAST_DIGITS:
                continue
            name = "net" if fact.concept == "net_income" else "operating"
            when, before = self._when(cell), self._year_before(cell)
            question = self._ask(f"{name} income", when)
            found = []
            for form in FORMS:
                order = self._evidence([cell])
                x = self._amount(fact.value, cell, form, self._point(cell, order))
                wrong = (("sign", "income"),) if form == "plain" else ()  # in the notation its minus is put in
                for kind, word in (("", "loss"), *wrong) if fact.value < 0 else (("", "income"), ("sign", "loss")):
                    text = f"{self._company} had {'an' if name[0] == 'o' else 'a'} {name} {word} of {x} {when}."
                    text = text.replace(" a net income", " net income").replace(
                        " an operating income", " operating income"
                    )
                    found.append(self._make(kind, "loss", form, question, text, order))
                if before and fact.value < 0 and before.fact.value < 0 and _differ(cell, before):
                    y = self._amount(before.fact.value, before, form, self._point(before, order))
                    wider = abs(fact.value) > abs(before.fact.value)
                    for kind, word in (
                        ("", "widened" if wider else "narrowed"), ("direction", "narrowed" if wider else "widened"),
                    ):  # fmt: skip
                        text = f"{self._company}'s {name} loss {word} to {x} {when} from {y} a year earlier."
                        found.append(self._make(kind, "loss", form, question, text, order))
            yield found

    def moves(self) -> Iterator[list[CellDraft]]:
        """ "Net sales rose to {…} from {…} a year earlier"."""
        for cell, before in self._pairs():
            label, when = self._label(cell), self._when(cell)
            up = cell.fact.value > before.fact.value
            question = self._ask(label, when)

            def say(x: str, y: str, rose: bool, label: str = label, when: str = when) -> str:
                if self._zh:
                    return f"{when}{self._company}的{label}由上年的{y}{'增长' if rose else '下降'}到{x}。"
                return f"{self._company}'s {label} {'rose' if rose else 'fell'} to {x} {when} from {y} a year earlier."

            others = [(o, b) for o in self._other_rows(cell) if (b := self._year_before(o)) and _differ(b, before)]
            longer = [(o, b) for o in self._other_lengths(cell) if (b := self._year_before(o)) and _differ(b, before)]
            wrong = [("direction", cell, before, not up), ("column", before, cell, not up)]
            wrong += [("row", *o, o[0].fact.value > o[1].fact.value) for o in others[:1]]
            wrong += [("length", *o, o[0].fact.value > o[1].fact.value) for o in longer[:1]]
            wrong += [("operand", cell, o[1], cell.fact.value > o[1].fact.value) for o in others[1:2]]
            found = []
            for form in FORMS:
                for kind, a, b, rose in (("", cell, before, up), *wrong):
                    order = self._evidence([a, b])
                    x = self._amount(a.fact.value, a, form, self._point(a, order))
                    y = self._amount(b.fact.value, b, form, self._point(b, order))
                    found.append(self._make(kind, "move", form, question, say(x, y, rose), order))
            yield found

    def growths(self) -> Iterator[list[CellDraft]]:
        """ "Net sales rose by {(… - …) / … = %}"."""
        for cell, before in self._pairs():
            label, when = self._label(cell), self._when(cell)
            up = cell.fact.value > before.fact.value
            question = self._ask(label, when, "change")

            def say(figure: str, rose: bool, label: str = label, when: str = when) -> str:
                if self._zh:
                    return f"{when}{self._company}的{label}同比{'增长' if rose else '下降'}{figure}。"
                return f"{self._company}'s {label} {'rose' if rose else 'fell'} by {figure} {when}."

            others = [
                (o, b)
                for o in self._other_rows(cell)
                if (b := self._year_before(o)) and b.fact.value > 0 < o.fact.value
            ]
            longer = [(o, b) for o in self._other_lengths(cell) if (b := self._year_before(o)) and b.fact.value > 0]
            older = [(before, b) for b in [self._year_before(before)] if b and b.fact.value > 0]
            wrong = [("direction", cell, before, not up)]
            wrong += [
                (k, *o, o[0].fact.value > o[1].fact.value)
                for k, every in (("row", others), ("length", longer), ("column", older))
                for o in every[:1]
            ]
            wrong += [("operand", cell, o[1], cell.fact.value > o[1].fact.value) for o in others[1:2]]
            true = (cell.fact.value - before.fact.value) / before.fact.value
            found = []
            for form in FORMS:
                for kind, a, b, rose in (("", cell, before, up), *wrong):
                    value = (a.fact.value - b.fact.value) / b.fact.value
                    if (
                        abs(value) > 3
                        or (kind != "direction" and kind and round(value, 3) == round(true, 3))
                        or not round(value, 3)
                    ):
                        continue
                    order = self._evidence([a, b])
                    x, y = self._point(a, order), self._point(b, order)
                    figure = self._rate(value, f"({x} - {y}) / {y}", form)
                    found.append(self._make(kind, "growth", form, question, say(figure, rose), order))
            yield found

    def shares(self) -> Iterator[list[CellDraft]]:
        """ "Gross profit was {… / … = %} of net sales"."""
        for cell in self._plain_cells():
            fact = cell.fact
            column = self._by_column[fact.statement, fact.basis, fact.period, fact.unit]
            whole = next((o for o in column if o.fact.concept in _OF_LINES and o.chunk == cell.chunk), None)
            if whole is None or whole.fact.value <= fact.value or fact.unit != whole.fact.unit or len(fact.unit) != 3:
                continue
            label, of, when = self._label(cell), self._label(whole), self._when(cell)
            question = self._ask(label, when, f"share of {of}")

            def say(figure: str, label: str = label, of: str = of, when: str = when) -> str:
                if self._zh:
                    return f"{when}，{self._company}的{label}占{of}的{figure}。"
                return f"{self._company}'s {label} {_be(label)} {figure} of {of} {when}."

            rows = [(o, whole) for o in self._other_rows(cell) if o.fact.value > 0 and o is not whole]
            at = [(o, w) for o in self._other_columns(cell) if (w := self._at(self._by_row[_row(whole)], o))]
            longer = [(o, w) for o in self._other_lengths(cell) if (w := self._at(self._by_row[_row(whole)], o))]
            base = [(cell, o) for o in self._other_rows(cell) if o.fact.value > fact.value and o is not whole]
            wrong = [
                (k, *o)
                for k, every in (("row", rows), ("column", at), ("length", longer), ("operand", base))
                for o in every[:1]
            ]
            true = fact.value / whole.fact.value
            found = []
            for form in FORMS:
                for kind, a, b in (("", cell, whole), *wrong):
                    value = a.fact.value / b.fact.value
                    if value > _LARGEST or (kind and round(value, 3) == round(true, 3)) or not round(value, 3):
                        continue
                    order = self._evidence([a, b])
                    figure = self._rate(value, f"{self._point(a, order)} / {self._point(b, order)}", form)
                    found.append(self._make(kind, "share", form, question, say(figure), order))
            yield found

    def _pairs(self) -> Iterator[tuple[_Cell, _Cell]]:
        """A cell and that of the same row a year before."""
        for cell in self._plain_cells():
            before = self._year_before(cell)
            if (
                before and before.fact.value > 0 and _differ(cell, before) and len(cell.fact.unit) == 3
                and not _MOVES.search(cell.fact.label)
            ):  # fmt: skip
                yield cell, before

    def pairs(self) -> Iterator[list[CellDraft]]:
        """Two rows of one time, added, apart, one in the other and listed; a row at two times in two sentences."""
        if self._zh:
            return
        short = [cell for cell in self._plain_cells() if _is_short(cell)]
        for one in short:
            rows = [cell for cell in self._other_rows(one) if cell in short]
            before = self._year_before(one)
            if len(rows) < _PAIR or before is None or before.fact.value <= 0 or not _differ(one, before):
                continue
            other, third = self._chance.sample(rows, _PAIR)
            if not _differ(other, third) or not _differ(other, before):
                continue
            when, a, b = self._when(one), self._label(one), self._label(other)
            who, question = self._company, self._ask(f"{a} and {b}", when)
            big, small = (one, other) if one.fact.value > other.fact.value else (other, one)
            large, little = (a, b) if big is one else (b, a)
            old, old_other = before, self._at(self._by_row[_row(other)], before)
            told: list[tuple[str, str, str, tuple[_Cell, ...]]] = []
            for kind, x, y in (("", one, other), ("row", one, third), ("column", old, old_other)):
                if y is not None:
                    told.append((kind, "sum", f"{who}'s {a} and {b} together came to # {when}.", (x, y)))
            for kind, x, y in (("", big, small), ("operand", third, small)):
                if x.fact.value > y.fact.value:
                    told.append((kind, "gap", f"{who}'s {large} exceeded its {little} by # {when}.", (x, y)))
                    told.append((kind, "multiple", f"{who}'s {large} {_be(large)} # its {little} {when}.", (x, y)))
            for kind, x, y in (("", one, other), ("row", other, one), ("operand", one, third)):
                told.append((kind, "list", f"{who}'s {a} and {b} were # and # {when}, respectively.", (x, y)))
            for kind, x, y in (("", one, before), ("column", before, one)):
                text = f"{who} had {a} of # {when}. A year earlier, it was #."
                told.append((kind, "sentences", text, (x, y)))
            yield [
                self._fill_in(kind, shape, form, question, text, cells)
                for form in FORMS for kind, shape, text, cells in told
            ]  # fmt: skip

    def _fill_in(
        self, kind: str, shape: str, form: str, question: str, text: str, cells: tuple[_Cell, ...]
    ) -> CellDraft:
        order = self._evidence(cells)
        x, y = (self._point(cell, order) for cell in cells)
        one, other = (cell.fact.value for cell in cells)
        if shape in ("list", "sentences"):
            for cell, point in zip(cells, (x, y), strict=True):
                text = text.replace("#", self._amount(cell.fact.value, cell, form, point), 1)
            return self._make(kind, shape, form, question, text, order)
        sign, value = {"sum": ("+", one + other), "gap": ("-", one - other)}.get(shape, ("/", one / other))
        if shape == "multiple":
            said = f"{{{x} / {y} = x}}" if form == "notation" else f"{value:.2f} times [1]"
        else:
            said = self._amount(value, cells[0], form, f"{x} {sign} {y}")
        return self._make(kind, shape, form, question, text.replace("#", said), order)

    def _positive_pairs(self, cells: Sequence[_Cell]) -> list[tuple[_Cell, _Cell]]:
        """Each with that of its row a year before."""
        pairs = ((cell, before) for cell in cells if (before := self._year_before(cell)))
        return [(cell, before) for cell, before in pairs if cell.fact.value > 0 and before.fact.value > 0]

    def parts(self) -> Iterator[list[CellDraft]]:
        """A part's profit as a share of its revenue, from tables that print both for several parts."""
        if self._zh:
            return
        chunks = list(enumerate(self._chunks))
        self._chance.shuffle(chunks)
        for number, chunk in chunks:
            if not chunk.is_table:
                continue
            for part, (revenue, profit) in _parts_of(chunk.text).items():
                others = [o for o in _parts_of(chunk.text).items() if o[0] != part]
                if not others:
                    continue
                order = [number, *(n for n in self._evidence([]) if n != number)][: _FURTHER + 1]
                other = self._chance.choice(others)[1]
                true = profit / revenue
                found = []
                for form in FORMS:
                    for kind, a, b in (
                        ("", profit, revenue),
                        ("part", other[1], other[0]),
                        ("operand", other[1], revenue),
                    ):
                        value = a / b
                        if abs(value) > 2 or (kind and round(value, 3) == round(true, 3)):
                            continue
                        figure = self._rate(value, f"{a:,} [1] / {b:,} [1]", form)
                        text = f"{part}'s operating margin was {figure}."
                        question = f"What was {self._company}'s operating margin of {part}?"
                        found.append(self._make(kind, "part", form, question, text, order))
                yield found

    def _ask(self, label: str, when: str, what: str = "") -> str:
        if self._zh:
            return f"{when}{self._company}的{label}{'变动' if what else ''}是多少？"
        return (
            f"What was the {what} in {self._company}'s {label} {when}?".replace("the  in ", "")
            if what != ""
            else (f"What was {self._company}'s {label} {when}?")
        )


def _parts_of(text: str) -> dict[str, tuple[Decimal, Decimal]]:
    """Of each part its revenue and operating income in the first column, where both are positive.

    Either a heading "Revenue" and one "Operating income" over the names of parts, or the parts over the names of lines.
    """
    found: dict[str, dict[str, Decimal]] = defaultdict(dict)
    head = ""
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split("\t") if cell.strip()]
        if not cells:
            continue
        label, numbers = cells[0], [c for c in cells[1:] if _NUMBER_CELL.match(c)]
        if len(cells) == 1:
            head = label
            continue
        if not numbers or "(" in numbers[0]:
            continue
        value = Decimal(re.sub(r"[^\d.]", "", numbers[0]))
        for name, line_name in ((label, head), (head, label)):
            low = line_name.lower().strip(" :")
            key = {"revenue": 0, "revenues": 0, "net sales": 0, "net revenue": 0, "operating income": 1}.get(low)
            if key is not None and name and not re.search(r"total|consolidated|\d", name, re.IGNORECASE):
                found[name.strip(" :")].setdefault(str(key), value)
    return {
        part: (two["0"], two["1"]) for part, two in found.items() if len(two) == 2 and two["0"] and two["1"] >= 100
    }  # fmt: skip


def _is_short(cell: _Cell) -> bool:
    """Money, under a label that two of fit into a sentence."""
    return len(cell.fact.unit) == 3 and len(cell.fact.label) <= 40 and not re.search(r"[,—–]", cell.fact.label)


def _row(cell: _Cell) -> tuple[str, ...]:
    fact = cell.fact
    return fact.statement, fact.basis, fact.group, fact.label, fact.unit


def _differ(one: _Cell, other: _Cell) -> bool:
    """By more than what rounding hides."""
    a, b = abs(one.fact.value), abs(other.fact.value)
    return abs(a - b) > max(a, b) / 200 and one.digits != other.digits


def _be(label: str) -> str:
    last = label.rsplit(maxsplit=1)[-1].lower() if label.split() else ""
    return "were" if last.endswith("s") and not last.endswith("ss") else "was"


def _long(day: str) -> str:
    one = date.fromisoformat(day)
    return f"{_MONTH_NAMES[one.month - 1]} {one.day}, {one.year}"
