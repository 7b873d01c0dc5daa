"""Drafts made from the cells of filings: true ones, and the same with one thing wrong that the cells tell.

A draft is a sentence with a figure of a statement, or one computed from two, as a model writes it: in the notation of
`templates/answer.*.txt` and in plain figures. It is made false by a procedure over the cells: the figure of another
row, column, part or length of time takes its place, or the sentence says another sign, direction or kind of unit.
What the cells are is told by the filing's facts (of inline XBRL its tags), never by what the gateway reads in them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice

from quelea_fintext.amount_format import decimals_of, scale_of, write_amount
from quelea_fintext.concepts import concepts
from quelea_gateway.core.model import Passage
from quelea_search.jobs.file_parsing import ReadDocument
from support.filing_cells import (
    FURTHER,
    LEAST_DIGITS,
    MONTH_NAMES,
    Cell,
    FilingCells,
    differ,
    is_short,
    parts_of,
    row_of,
)

KINDS = ("row", "column", "length", "part", "operand", "sign", "direction", "unit")
"""What may be wrong: whose figure it is, of when, or what the sentence says of it."""
FORMS = ("notation", "plain")
_CLEAN = re.compile(r"\s*[(（][^()（）]*[)）]|:.*$|(?<=[a-z])\s?\d$")
_OF_LINES = ("revenue", "total_assets")
_PAIR = 2
_LARGEST = 3
"""A share or a growth that is larger is none that anybody writes."""


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
        self._filing = FilingCells(name, filing, chance)
        self._zh = self._filing.zh
        self._company = filing.facts.company or name
        self._count = 0

    # --- what sentences are made of

    def _label(self, cell: Cell) -> str:
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

    def _when(self, cell: Cell) -> str:
        period, months = cell.fact.period, cell.months
        end = period.end
        if self._zh:
            return f"{end.year}年" if months == 12 else f"{end.year}年末"
        day = f"{MONTH_NAMES[end.month - 1]} {end.day}, {end.year}"
        if not months:
            return self._chance.choice((f"at {day}", f"as of {day}"))
        if months == 12:
            ways = [f"in the year ended {day}", f"for the fiscal year ended {day}"]
            return self._chance.choice([f"in {end.year}", *ways] if end.month == 12 else ways)
        word = {3: "three", 6: "six", 9: "nine"}.get(months, str(months))
        ways = [f"in the {word} months ended {day}", f"for the {word} months ended {day}"]
        return self._chance.choice([f"in the quarter ended {day}", *ways] if months == 3 else ways)

    def _amount(self, value: Decimal, like: Cell, form: str, said: str = "") -> str:
        """A figure in either form."""
        fact = like.fact
        if form == "notation" and said:
            return f"{{{said}}}"
        language = "zh" if self._zh else "en"
        scale = scale_of(fact.printed, fact.value)
        amount = write_amount(abs(value), fact.unit, language, scale=scale, decimals=decimals_of(fact.printed))
        numbers = "".join(f"[{n}]" for n in dict.fromkeys(re.findall(r"\[(\d+)\]", said)))
        return f"{amount} {numbers}".strip()

    def _point(self, cell: Cell, order: Sequence[int]) -> str:
        return f"{cell.digits} [{order.index(cell.chunk) + 1}]"

    def _rate(self, value: Decimal, expression: str, form: str) -> str:
        if form == "notation":
            return f"{{{expression} = %}}"
        numbers = "".join(f"[{n}]" for n in dict.fromkeys(re.findall(r"\[(\d+)\]", expression)))
        return f"{(abs(value) * 100).quantize(Decimal('0.1'), ROUND_HALF_UP)}% {numbers}"

    def _make(self, kind: str, shape: str, form: str, question: str, text: str, order: Sequence[int]) -> CellDraft:
        self._count += 1
        return CellDraft(
            f"{self._name} {self._count}", "zh" if self._zh else "en", kind, shape, form, question, text,
            self._filing.passages(order),
        )  # fmt: skip

    # --- shapes

    def levels(self) -> Iterator[list[CellDraft]]:
        """ "Net sales were {81,797 [1]} in the quarter ended …"."""
        for cell in self._filing.plain():
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
            wrong: list[tuple[str, Cell]] = []
            for kind, others in (
                ("row", self._filing.other_rows(cell)), ("column", self._filing.other_columns(cell)),
                ("length", self._filing.other_lengths(cell)),
            ):  # fmt: skip
                if others:
                    wrong.append((kind, self._chance.choice(others)))
            found = []
            for form in FORMS:
                for kind, one in (("", cell), *wrong):
                    order = self._filing.evidence([one] if one.chunk == cell.chunk else [one, cell])
                    figure = self._amount(one.fact.value, one, form, self._point(one, order))
                    found.append(self._make(kind, "level", form, question, say(figure), order))
                found += self._of_other_kind(cell, label, when, question, form)
            yield found

    def _of_other_kind(self, cell: Cell, label: str, when: str, question: str, form: str) -> Iterator[CellDraft]:
        """The figure of a money cell as a number of people or a percentage; of one in millions as plain or billions."""
        order = self._filing.evidence([cell])
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
        for cell in self._filing.cells:
            fact = cell.fact
            if fact.concept not in ("net_income", "operating_income") or len(cell.digits) < LEAST_DIGITS:
                continue
            name = "net" if fact.concept == "net_income" else "operating"
            when, before = self._when(cell), self._filing.year_before(cell)
            question = self._ask(f"{name} income", when)
            found = []
            for form in FORMS:
                order = self._filing.evidence([cell])
                x = self._amount(fact.value, cell, form, self._point(cell, order))
                wrong = (("sign", "income"),) if form == "plain" else ()  # in the notation its minus is put in
                for kind, word in (("", "loss"), *wrong) if fact.value < 0 else (("", "income"), ("sign", "loss")):
                    text = f"{self._company} had {'an' if name[0] == 'o' else 'a'} {name} {word} of {x} {when}."
                    text = text.replace(" a net income", " net income").replace(
                        " an operating income", " operating income"
                    )
                    found.append(self._make(kind, "loss", form, question, text, order))
                if before and fact.value < 0 and before.fact.value < 0 and differ(cell, before):
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
        for cell, before in self._filing.pairs():
            label, when = self._label(cell), self._when(cell)
            up = cell.fact.value > before.fact.value
            question = self._ask(label, when)

            def say(x: str, y: str, rose: bool, label: str = label, when: str = when) -> str:
                if self._zh:
                    return f"{when}{self._company}的{label}由上年的{y}{'增长' if rose else '下降'}到{x}。"
                return f"{self._company}'s {label} {'rose' if rose else 'fell'} to {x} {when} from {y} a year earlier."

            others = [
                (o, b)
                for o in self._filing.other_rows(cell)
                if (b := self._filing.year_before(o)) and differ(b, before)
            ]
            longer = [
                (o, b)
                for o in self._filing.other_lengths(cell)
                if (b := self._filing.year_before(o)) and differ(b, before)
            ]
            wrong = [("direction", cell, before, not up), ("column", before, cell, not up)]
            wrong += [("row", *o, o[0].fact.value > o[1].fact.value) for o in others[:1]]
            wrong += [("length", *o, o[0].fact.value > o[1].fact.value) for o in longer[:1]]
            wrong += [("operand", cell, o[1], cell.fact.value > o[1].fact.value) for o in others[1:2]]
            found = []
            for form in FORMS:
                for kind, a, b, rose in (("", cell, before, up), *wrong):
                    order = self._filing.evidence([a, b])
                    x = self._amount(a.fact.value, a, form, self._point(a, order))
                    y = self._amount(b.fact.value, b, form, self._point(b, order))
                    found.append(self._make(kind, "move", form, question, say(x, y, rose), order))
            yield found

    def growths(self) -> Iterator[list[CellDraft]]:
        """ "Net sales rose by {(… - …) / … = %}"."""
        for cell, before in self._filing.pairs():
            label, when = self._label(cell), self._when(cell)
            up = cell.fact.value > before.fact.value
            question = self._ask(label, when, "change")

            def say(figure: str, rose: bool, label: str = label, when: str = when) -> str:
                if self._zh:
                    return f"{when}{self._company}的{label}同比{'增长' if rose else '下降'}{figure}。"
                return f"{self._company}'s {label} {'rose' if rose else 'fell'} by {figure} {when}."

            others = [
                (o, b)
                for o in self._filing.other_rows(cell)
                if (b := self._filing.year_before(o)) and b.fact.value > 0 < o.fact.value
            ]
            longer = [
                (o, b)
                for o in self._filing.other_lengths(cell)
                if (b := self._filing.year_before(o)) and b.fact.value > 0
            ]
            older = [(before, b) for b in [self._filing.year_before(before)] if b and b.fact.value > 0]
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
                    order = self._filing.evidence([a, b])
                    x, y = self._point(a, order), self._point(b, order)
                    figure = self._rate(value, f"({x} - {y}) / {y}", form)
                    found.append(self._make(kind, "growth", form, question, say(figure, rose), order))
            yield found

    def shares(self) -> Iterator[list[CellDraft]]:
        """ "Gross profit was {… / … = %} of net sales"."""
        for cell in self._filing.plain():
            fact = cell.fact
            column = self._filing.by_column[fact.statement, fact.basis, fact.period, fact.unit]
            whole = next((o for o in column if o.fact.concept in _OF_LINES and o.chunk == cell.chunk), None)
            if whole is None or whole.fact.value <= fact.value or fact.unit != whole.fact.unit or len(fact.unit) != 3:
                continue
            label, of, when = self._label(cell), self._label(whole), self._when(cell)
            question = self._ask(label, when, f"share of {of}")

            def say(figure: str, label: str = label, of: str = of, when: str = when) -> str:
                if self._zh:
                    return f"{when}，{self._company}的{label}占{of}的{figure}。"
                return f"{self._company}'s {label} {_be(label)} {figure} of {of} {when}."

            rows = [(o, whole) for o in self._filing.other_rows(cell) if o.fact.value > 0 and o is not whole]
            at = [
                (o, w)
                for o in self._filing.other_columns(cell)
                if (w := self._filing.at(self._filing.by_row[row_of(whole)], o))
            ]
            longer = [
                (o, w)
                for o in self._filing.other_lengths(cell)
                if (w := self._filing.at(self._filing.by_row[row_of(whole)], o))
            ]
            base = [(cell, o) for o in self._filing.other_rows(cell) if o.fact.value > fact.value and o is not whole]
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
                    order = self._filing.evidence([a, b])
                    figure = self._rate(value, f"{self._point(a, order)} / {self._point(b, order)}", form)
                    found.append(self._make(kind, "share", form, question, say(figure), order))
            yield found

    def pairs(self) -> Iterator[list[CellDraft]]:
        """Two rows of one time, added, apart, one in the other and listed; a row at two times in two sentences."""
        if self._zh:
            return
        short = [cell for cell in self._filing.plain() if is_short(cell)]
        for one in short:
            rows = [cell for cell in self._filing.other_rows(one) if cell in short]
            before = self._filing.year_before(one)
            if len(rows) < _PAIR or before is None or before.fact.value <= 0 or not differ(one, before):
                continue
            other, third = self._chance.sample(rows, _PAIR)
            if not differ(other, third) or not differ(other, before):
                continue
            when, a, b = self._when(one), self._label(one), self._label(other)
            who, question = self._company, self._ask(f"{a} and {b}", when)
            big, small = (one, other) if one.fact.value > other.fact.value else (other, one)
            large, little = (a, b) if big is one else (b, a)
            old, old_other = before, self._filing.at(self._filing.by_row[row_of(other)], before)
            told: list[tuple[str, str, str, tuple[Cell, ...]]] = []
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
        self, kind: str, shape: str, form: str, question: str, text: str, cells: tuple[Cell, ...]
    ) -> CellDraft:
        order = self._filing.evidence(cells)
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

    def parts(self) -> Iterator[list[CellDraft]]:
        """A part's profit as a share of its revenue, from tables that print both for several parts."""
        if self._zh:
            return
        chunks = list(enumerate(self._filing.chunks))
        self._chance.shuffle(chunks)
        for number, chunk in chunks:
            if not chunk.is_table:
                continue
            for part, (revenue, profit) in parts_of(chunk.text).items():
                others = [o for o in parts_of(chunk.text).items() if o[0] != part]
                if not others:
                    continue
                order = [number, *(n for n in self._filing.evidence([]) if n != number)][: FURTHER + 1]
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


def _be(label: str) -> str:
    last = label.rsplit(maxsplit=1)[-1].lower() if label.split() else ""
    return "were" if last.endswith("s") and not last.endswith("ss") else "was"
