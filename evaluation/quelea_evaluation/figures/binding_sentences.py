"""True and false sentences about tables and prose, made from what the checker reads in them: to fit weights.json with.

They are made by templates: of a cell "its row was its value at its time", true; with a value of another row of the
column or of another table, false. Of a sentence of prose a shortened one is true; with a figure from elsewhere in its
passage it is false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from quelea_checker.model import Period
from quelea_checker.reading.calendar import periods_fit
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, Group
from quelea_fintext.glossary import known_phrases
from quelea_fintext.text import language_of

_CELLS, _SENTENCES = 14, 8
"""Of one set of passages, that sentences are made of."""
_TOLD = 2
_LONGEST, _SHORTEST = 420, 20
_LONG_SECTION = 50
_LONG_LABEL = 3
_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
_LENGTHS = {3: ("three", "三"), 6: ("six", "六"), 9: ("nine", "九"), 12: ("twelve", "十二")}
_SMALL = re.compile(r"\b(?:and|of|the|in|for|to|net|total|from|on)\b|\W")
_EN = (
    "{the}{label} was {value} {time}.", "{time} {the}{label} came to {value}.",
    "{the}{label} amounted to {value} {time}.", "It reported {value} of {label} {time}.",
)  # fmt: skip
_ZH = ("{time}，{label}为{value}。", "{time}{label}达到{value}。", "{label}在{time}为{value}。")
_TWO_EN = (
    "{a} was {x} and {b} {y} {time}.", "It reported {x} of {a} and {y} of {b} {time}.",
    "{time}, {a} came to {x}, while {b} stood at {y}.",
)  # fmt: skip
_TWO_ZH = ("{time}，{a}为{x}，{b}为{y}。", "{time}{a}（{x}）与{b}（{y}）。")


@dataclass(frozen=True, slots=True)
class Made:
    """A sentence; `wrong` is the figure that is false, empty where it is true."""

    text: str
    kind: str
    wrong: str = ""


def make_sentences(evidence: Evidence, rnd: Random) -> list[Made]:
    """Sentences about the evidence, in a random order."""
    found = [*_of_tables(evidence, rnd), *_of_prose(evidence, rnd)]
    rnd.shuffle(found)
    return found


def _of_tables(evidence: Evidence, rnd: Random) -> Iterator[Made]:
    cells = [fact for fact in evidence.facts if fact.table >= 0 and _is_usable(fact)]
    rnd.shuffle(cells)
    for fact in cells[:_CELLS]:
        group = evidence.groups[fact.group]
        if any(other is not fact and not other.change and _times(other) == _times(fact) for other in group.facts):
            continue  # its column has to be named as well
        for chinese in (False, True) if language_of(group.label) == "en" else (True,):
            yield from _of_cell(fact, cells, evidence, rnd, chinese=chinese)


def _of_cell(fact: Fact, cells: Sequence[Fact], evidence: Evidence, rnd: Random, *, chinese: bool) -> Iterator[Made]:
    label, value, time = _label(fact, evidence, rnd, chinese), _value(fact, chinese), _time(fact, chinese)
    if not label or not value or time is None:
        return

    def say(said: str) -> str:
        the = rnd.choice(("", "the ", "the company's ", "reported "))
        return _tidy(rnd.choice(_ZH if chinese else _EN).format(the=the, label=label, value=said, time=time))

    yield Made(say(value), "cell")
    group = evidence.groups[fact.group]
    alike = [o for o in cells if o.value != fact.value and o.figure.kind == fact.figure.kind and _scale(o, fact)]
    rows = [o for o in alike if (o.table, o.column) == (fact.table, fact.column) and o.group != fact.group]
    rows = [o for o in rows if evidence.groups[o.group].label != group.label]
    far = [o for o in alike if o.table != fact.table and periods_fit(fact.periods, o.periods, o.years)]
    far = [o for o in far if not evidence.groups[o.group].name & group.name]
    for kind, others in (("row", rows), ("table", far)):
        other = rnd.choice(others) if others else None
        wrong = _value(other, chinese) if other else None
        if wrong and wrong != value:
            yield Made(say(wrong), kind, wrong)
        if other and wrong and kind == "row" and (b := _label(other, evidence, rnd, chinese)) and b != label:
            two = rnd.choice(_TWO_ZH if chinese else _TWO_EN)
            yield Made(_tidy(two.format(a=label, b=b, x=value, y=wrong, time=time)), "two")


def _of_prose(evidence: Evidence, rnd: Random) -> Iterator[Made]:
    groups = [g for g in evidence.groups if g.table < 0 and _SHORTEST < len(g.label) < _LONGEST and "\t" not in g.label]
    rnd.shuffle(groups)
    for group in groups[:_SENTENCES]:
        facts = [f for f in group.facts if f.figure.digits >= _TOLD and not f.figure.loose]
        if not facts:
            continue
        chinese = language_of(group.label) == "zh"
        text = _shorten(group.label.strip(), rnd, chinese=chinese) if rnd.random() < 0.75 else group.label.strip()
        text = text if re.search(r"[.。]$", text) else text + ("。" if chinese else ".")
        fact = rnd.choice(facts)
        if text.count(fact.figure.text) != 1:
            continue
        yield Made(text, "prose")
        others = [
            o for o in evidence.facts
            if o.passage == fact.passage and o.table < 0 and o.value != fact.value and o.figure.digits >= _TOLD
            and _form(o) == _form(fact) and o.figure.text not in text
        ]  # fmt: skip
        if others:
            wrong = rnd.choice(others).figure.text.strip()
            yield Made(text.replace(fact.figure.text, wrong), "prose-value", wrong)


def _form(fact: Fact) -> tuple[object, ...]:
    return fact.figure.kind, fact.figure.currency, fact.figure.scale


def _shorten(text: str, rnd: Random, *, chinese: bool) -> str:
    """Without some of its clauses and words that hold no figure."""
    clauses = re.split(r"(?<=[，；])" if chinese else r"(?<=[,;])\s", text)
    kept = [c for c in clauses if re.search(r"\d", c) or rnd.random() < 0.6]
    if chinese:
        return re.sub(r"[，；]$", "。", "".join(kept))
    words = " ".join(kept).split(" ")
    small = {"and", "of", "by", "to", "from", "in", "compared"}
    return " ".join(w for w in words if re.search(r"[\dA-Z$,.]", w) or w in small or rnd.random() < 0.8)


def _is_usable(fact: Fact) -> bool:
    figure = fact.figure
    plain = figure.kind in {"number", "percent"} and not fact.change and not figure.negative
    return plain and figure.digits >= _TOLD and figure.size != 0 and len(_dated_periods(fact)) <= 1


def _dated_periods(fact: Fact) -> list[Period]:
    return [period for period in fact.periods if period.year]


def _times(fact: Fact) -> set[tuple[int, ...]]:
    return {(p.year, p.quarter, p.half, p.month, p.day, p.months) for p in fact.periods}


def _scale(one: Fact, other: Fact) -> bool:
    return one.unit.scales == other.unit.scales


def _tidy(text: str) -> str:
    text = re.sub(r"\s{1,8}([.,])", r"\1", re.sub(r"^[\s，,]+", "", text.replace("在为", "为")))
    return text[:1].upper() + text[1:]


def _time(fact: Fact, chinese: bool) -> str | None:
    """Empty where the table tells none; None where it cannot be said."""
    dated = _dated_periods(fact)
    if not dated:
        return ""
    p = dated[0]
    if p.day and (not p.months or p.months in _LENGTHS):
        length = _LENGTHS.get(p.months)
        if chinese:
            return f"截至{p.year}年{p.month}月{p.day}日" + (f"的{length[1]}个月" if length else "")
        day = f"{_MONTHS[p.month - 1]} {p.day}, {p.year}"
        return f"in the {length[0]} months ended {day}" if length else f"at {day}"
    if p.quarter:
        return f"{p.year}年第{'一二三四'[p.quarter - 1]}季度" if chinese else f"in Q{p.quarter} {p.year}"
    if p.month:
        return None
    return f"{p.year}年" if chinese else f"in {p.year}"


def _value(fact: Fact, chinese: bool) -> str | None:
    """As an answer would write it; None where the unit is not known."""
    figure, unit = fact.figure, fact.unit
    printed = figure.text.strip().strip("()").strip()
    if figure.kind == "percent" or unit.percent is True:
        return f"{figure.number}%"
    if figure.scale or len(unit.scales) != 1:
        return None if figure.scale and chinese else printed
    size, currency = figure.number * unit.scales[0], unit.currency or figure.currency
    if chinese:
        of = {"$": "美元", "USD": "美元", "": ""}.get(currency, "元")
        ways = ((Decimal(10) ** 8, "亿"), (Decimal(10) ** 4, "万"))
        return next((f"{size / by:.2f}{name}{of}" for by, name in ways if size >= by), None)
    name = {3: "thousand", 6: "million", 9: "billion"}.get(unit.scales[0].adjusted())
    sign = "$" if currency in {"$", "USD"} else ""
    return f"{sign}{printed.lstrip('$ ')} {name}" if name else printed


def _label(fact: Fact, evidence: Evidence, rnd: Random, chinese: bool) -> str | None:
    """What the row is called, with its section where others are called so; in Chinese, of an English one, if known."""
    group = evidence.groups[fact.group]
    label = _plain(group.label)
    section = (
        _plain(group.section) if len(group.section) < _LONG_SECTION and not re.search(r"\d", group.section) else ""
    )
    repeated = _is_repeated(group, evidence)
    if not label or (repeated and not section):
        return None
    if language_of(group.label) == "zh":
        return (f"{section}的" if repeated else "") + label if chinese else None
    if chinese:
        names = [_translate(name, rnd) for name in ((section, label) if repeated else (label,))]
        return "的".join(n for n in names if n) if all(names) else None
    words = label.split()
    at = rnd.randrange(len(words))
    if len(words) > _LONG_LABEL and rnd.random() < 0.4 and not _SMALL.fullmatch(words[at].lower()):
        words.pop(at)
    label = " ".join(words)
    label = label if re.search(r"[A-Z]{2}|[a-z][A-Z]", label) else label[0].lower() + label[1:]
    return f"{section} {label}" if repeated else label


def _plain(label: str) -> str:
    return re.sub(r"\([^()]*\)|\d+|[:：*]", "", label).strip(" ,")


def _is_repeated(group: Group, evidence: Evidence) -> bool:
    return sum(row.label == group.label for row in evidence.rows.get(group.table, ())) > 1


def _translate(label: str, rnd: Random) -> str | None:
    known, rest = known_phrases(label)
    return None if not known or _SMALL.sub("", rest) else "".join(rnd.choice(ways[:2]) for ways in known)
