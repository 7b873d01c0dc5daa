"""The sentences of `quelea eval figures --set computed`: templates in two languages, with what makes them false."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

_TOTAL = re.compile(r"\btotal\b", re.IGNORECASE)
_HUNDRED = Decimal(100)


@dataclass(frozen=True)
class Row:
    """A row: its name in either language, and its cells by year."""

    name: str
    chinese: str
    cells: dict[int, Decimal]


@dataclass(frozen=True)
class Told:
    """Sentences with their figure left out, the true figure, and false ones by what is wrong with them.

    The last way to say it in each language is only used for the frozen tables.
    """

    kind: str
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    true: str
    false: dict[str, str]
    passages: tuple[dict[str, str], ...] = ()
    """Its own evidence; else the table is."""


def _number(value: Decimal, like: Decimal = Decimal(0)) -> str:
    places = max(0, -int(like.as_tuple().exponent))
    return f"{abs(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,}"


def _percent(value: Decimal) -> str:
    return f"{abs(value).quantize(Decimal('0.1'), ROUND_HALF_UP)}%"


def _times(value: Decimal) -> str:
    return f"{abs(value).quantize(Decimal('0.01'), ROUND_HALF_UP)}"


def _growth(new: Decimal, old: Decimal) -> Decimal:
    return (new - old) / old * _HUNDRED


def sentences(years: Sequence[int], rows: Sequence[Row], chance: random.Random) -> Iterator[Told]:
    """One sentence of each kind, where the table has enough for it."""
    parts = [row for row in rows if not _TOTAL.search(row.name)]
    if len(years) < 2 or len(parts) < 3:
        return
    yield from _of_times(years, *chance.sample(parts, 2))
    yield from _of_rows(years, *chance.sample(parts, 3))
    totals = [row for row in rows if _TOTAL.search(row.name)]
    if totals:
        row, other = chance.sample(parts, 2)
        yield _share(years, row, other, chance.choice(totals))
    yield from _backwards(years, *chance.sample(parts, 2))


def _of_times(years: Sequence[int], row: Row, other: Row) -> Iterator[Told]:
    """One row at several times."""
    (y1, y0), oldest = years[:2], row.cells[years[-1]]
    a, b, c, d = row.cells[y1], row.cells[y0], other.cells[y1], other.cells[y0]
    name, zh = row.name, row.chinese
    up, noun, zh_up, more = ("rose", "increase", "增长", "增加") if a > b else ("fell", "decrease", "下降", "减少")
    growth, change, mean = _growth(a, b), a - b, (a + b) / 2
    if a != b and abs(growth) < _HUNDRED * 9:
        wrong = {"base": _percent(_growth(b, a)), "row": _percent(_growth(c, d)), "ratio": _percent(a / b * 100),
                 "digit": _percent(growth * Decimal("1.07"))}  # fmt: skip
        if len(years) > 2:
            wrong |= {"period": _percent(_growth(b, oldest)), "longer": _percent(_growth(a, oldest))}
        yield Told(
            "growth",
            (f"{name} {up} by # in {y1} compared with {y0}.", f"In {y1}, {name} {up} # year over year.",
             f"There was a # {noun} in {name} from {y0} to {y1}."),
            (f"{y1}年{zh}比{y0}年{zh_up}#。", f"{y1}年{zh}同比{zh_up}#。", f"与{y0}年相比，{y1}年{zh}{zh_up}了#。"),
            _percent(growth), wrong,
        )  # fmt: skip
        wrong = {"row": _number(c - d, a), "sum": _number(a + b, a)}
        if len(years) > 2:
            wrong["period"] = _number(b - oldest, a)
        yield Told(
            "change",
            (f"From {y0} to {y1}, {name} {up} by #.", f"{name} {up} by # in {y1} from the year before.",
             f"The {noun} in {name} between {y0} and {y1} was #."),
            (f"从{y0}年到{y1}年，{zh}{more}了#。", f"{y1}年{zh}比上年{more}#。", f"{y1}年{zh}同比{more}#。"),
            _number(change, a), wrong,
        )  # fmt: skip
    yield Told(
        "average",
        (f"{name} averaged # over {y0} and {y1}.", f"The average of {name} for {y0} and {y1} was #.",
         f"On average, {name} came to # a year in {y0} and {y1}."),
        (f"{y0}年和{y1}年{zh}平均为#。", f"{y0}年和{y1}年的平均{zh}为#。", f"{zh}在{y0}年和{y1}年年均#。"),
        _number(mean, mean if mean % 1 else a), {"row": _number((c + d) / 2, a), "sum": _number(a + b, a)},
    )  # fmt: skip
    if len(years) > 2 and a > oldest:
        first, n = years[-1], y1 - years[-1]
        rate, longer = (Decimal(str((float(a / oldest) ** (1 / m) - 1) * 100)) for m in (n, n + 1))
        yield Told(
            "compound",
            (f"{name} grew at a compound annual rate of # from {first} to {y1}.",
             f"The CAGR of {name} from {first} to {y1} was #.",
             f"Between {first} and {y1}, {name} had compound annual growth of #."),
            (f"{first}年至{y1}年{zh}的年均复合增长率为#。", f"{first}-{y1}年{zh}复合增长率#。",
             f"{zh}在{first}年到{y1}年间年复合增速为#。"),
            _percent(rate), {"total": _percent(_growth(a, oldest)), "last": _percent(growth), "n": _percent(longer)},
        )  # fmt: skip


def _of_rows(years: Sequence[int], one: Row, other: Row, third: Row) -> Iterator[Told]:
    """Two rows at one time."""
    y1, y0 = years[:2]
    big, small = sorted((one, other), key=lambda row: -row.cells[y1])
    a, b, c = big.cells[y1], small.cells[y1], third.cells[y1]
    a0, b0 = big.cells[y0], small.cells[y0]
    yield Told(
        "sum",
        (f"Together, {one.name} and {other.name} came to # in {y1}.",
         f"{one.name} and {other.name} totaled # in {y1}.",
         f"In {y1}, the sum of {one.name} and {other.name} was #."),
        (f"{y1}年{one.chinese}与{other.chinese}合计#。", f"{y1}年，{one.chinese}和{other.chinese}之和为#。",
         f"{one.chinese}加上{other.chinese}，{y1}年共#。"),
        _number(a + b, a), {"period": _number(a0 + b0, a), "row": _number(a + c, a), "difference": _number(a - b, a)},
    )  # fmt: skip
    yield Told(
        "sum of three",
        (f"{one.name}, {other.name} and {third.name} together came to # in {y1}.",
         f"In {y1}, {one.name}, {other.name} and {third.name} totaled #.",
         f"The combined amount of {one.name}, {other.name} and {third.name} was # in {y1}."),
        (f"{y1}年{one.chinese}、{other.chinese}和{third.chinese}合计#。",
         f"{one.chinese}、{other.chinese}与{third.chinese}{y1}年共计#。",
         f"{y1}年{one.chinese}、{other.chinese}、{third.chinese}三项之和为#。"),
        _number(a + b + c, a), {"left out": _number(a + b, a)},
    )  # fmt: skip
    if a == b:
        return
    yield Told(
        "difference",
        (f"In {y1}, {big.name} exceeded {small.name} by #.", f"{big.name} was # more than {small.name} in {y1}.",
         f"The difference between {big.name} and {small.name} in {y1} was #."),
        (f"{y1}年{big.chinese}比{small.chinese}多#。", f"{y1}年{big.chinese}减去{small.chinese}为#。",
         f"{y1}年{big.chinese}与{small.chinese}相差#。"),
        _number(a - b, a), {"sum": _number(a + b, a), "period": _number(a0 - b0, a), "row": _number(a - c, a)},
    )  # fmt: skip
    if a / b < 100:
        yield Told(
            "multiple",
            (f"In {y1}, {big.name} was # times {small.name}.",
             f"{big.name} was # times as large as {small.name} in {y1}.",
             f"The ratio of {big.name} to {small.name} was # in {y1}."),
            (f"{y1}年{big.chinese}是{small.chinese}的#倍。", f"{big.chinese}为{small.chinese}的#倍（{y1}年）。",
             f"{y1}年{big.chinese}与{small.chinese}之比为#。"),
            _times(a / b), {"inverted": _times(b / a), "period": _times(a0 / b0), "row": _times(a / c)},
        )  # fmt: skip
        yield Told(
            "ratio",
            (f"In {y1}, {small.name} was # of {big.name}.", f"{small.name} equaled # of {big.name} in {y1}.",
             f"As a percentage of {big.name}, {small.name} was # in {y1}."),
            (f"{y1}年{small.chinese}相当于{big.chinese}的#。", f"{y1}年{small.chinese}为{big.chinese}的#。",
             f"{y1}年{small.chinese}与{big.chinese}的比率为#。"),
            _percent(b / a * 100),
            {"inverted": _percent(a / b * 100), "period": _percent(b0 / a0 * 100),
             "growth": _percent((a - b) / a * 100), "row": _percent(c / a * 100)},
        )  # fmt: skip


def _share(years: Sequence[int], row: Row, other: Row, total: Row) -> Told:
    y1, y0 = years[:2]
    a, whole = row.cells[y1], total.cells[y1]
    name, zh, of, zh_of = row.name, row.chinese, total.name, total.chinese
    return Told(
        "share",
        (f"{name} accounted for # of {of} in {y1}.", f"{name} made up # of {of} in {y1}.",
         f"The share of {name} in {of} was # in {y1}."),
        (f"{y1}年{zh}占{zh_of}的#。", f"{y1}年{zh}占{zh_of}的比重为#。", f"{zh}在{y1}年{zh_of}中的占比为#。"),
        _percent(a / whole * 100),
        {"inverted": _percent(whole / a * 100), "period": _percent(row.cells[y0] / total.cells[y0] * 100),
         "row": _percent(other.cells[y1] / whole * 100), "base": _percent(a / other.cells[y1] * 100),
         "mixed": _percent(a / total.cells[y0] * 100)},
    )  # fmt: skip


def _backwards(years: Sequence[int], row: Row, other: Row) -> Iterator[Told]:
    """What was before, and amounts by piece, from sentences that a row is put into."""
    y1, y0 = years[:2]
    a, b, c = row.cells[y1], row.cells[y0], other.cells[y1]
    name, zh, growth = row.name, row.chinese, _growth(a, b)
    if a == b or abs(growth) > _HUNDRED * 5:
        return
    up, noun, did, zh_up = ("up", "an increase", "rose", "增长") if a > b else ("down", "a decrease", "fell", "下降")
    said, also = _percent(growth), f"{other.name} was {_number(c, c)} million."
    rate = Decimal(said[:-1]) / (100 if a > b else -100)
    prose = {"text": f"In {y1}, {name} was {_number(a, a)} million, {up} {said} from {y0}. {also}"}
    yield Told(
        "before, by growth",
        (f"In {y0}, {name} was about # million.", f"{name} had been about # million in {y0}.",
         f"This implies {name} of about # million for {y0}."),
        (f"{y0}年{zh}约为#百万。", f"由此推算，{y0}年{zh}约#百万。", f"{zh}在{y0}年大约是#百万。"),
        _number(a / (1 + rate)), {"new base": _number(a * (1 - rate)), "forward": _number(a * (1 + rate))}, (prose,),
    )  # fmt: skip
    unsaid = {"text": f"In {y1}, {name} was {_number(a, a)} million, {up} {said} from the year before. {also}"}
    yield Told(
        "before, year unsaid",
        (f"In {y0}, {name} was about # million.", f"A year earlier, {name} was about # million.",
         f"{name} had been about # million in {y0}."),
        (f"{y0}年{zh}约为#百万。", f"上年{zh}约为#百万。", f"推算{y0}年{zh}约#百万。"),
        _number(a / (1 + rate)), {"new base": _number(a * (1 - rate)), "forward": _number(a * (1 + rate))}, (unsaid,),
    )  # fmt: skip
    moved = {"text": f"In {y1}, {name} was {_number(a, a)} million, {noun} of {_number(a - b, a)} million from {y0}. "
                     f"{also}"}  # fmt: skip
    yield Told(
        "before, by amount",
        (f"In {y0}, {name} was # million.", f"{name} stood at # million in {y0}.", f"{name} was # million for {y0}."),
        (f"{y0}年{zh}为#百万。", f"{y0}年的{zh}是#百万。", f"{zh}{y0}年为#百万。"),
        _number(b, a), {"forward": _number(a + a - b, a)}, (moved,),
    )  # fmt: skip
    yield Told(
        "growth, from amount",
        (f"{name} {did} by # in {y1}.", f"In {y1}, {name} {did} # from {y0}.", f"{name} was {up} # in {y1}."),
        (f"{y1}年{zh}{zh_up}#。", f"{y1}年{zh}比{y0}年{zh_up}#。", f"{y1}年{zh}同比{zh_up}了#。"),
        _percent(growth), {"new base": _percent((a - b) / a * 100), "ratio": _percent(b / a * 100)}, (moved,),
    )  # fmt: skip
    count = Decimal(17 + int(b) % 60)
    sold = {"text": f"In {y1}, {name} was ${_number(a, a)} million on an area of {count} thousand square meters. "
                    f"In {y0}, it was ${_number(b, b)} million. {also}"}  # fmt: skip
    yield Told(
        "by unit",
        (f"In {y1}, {name} came to about $# per square meter.", f"{name} per square meter was about $# in {y1}.",
         f"That is about $# of {name} for each square meter in {y1}."),
        (f"{y1}年{zh}约为每平方米#美元。", f"{y1}年每平方米{zh}约#美元。", f"平均每平方米的{zh}{y1}年约为#美元。"),
        _number(a * 1000 / count), {"period": _number(b * 1000 / count), "product": _number(a * count)}, (sold,),
    )  # fmt: skip
