"""An answer made false in one place; only where it can be known to be false then.

A digit, a scale, a period or a sign is changed; or the figure of another row or of another period's column takes its
place, or another subject's name the place of its own (figure_exchange.py).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from quelea_evaluation.figures.exchange import exchange_column, exchange_row, exchange_subject
from quelea_evaluation.figures.items import Item
from quelea_evaluation.judging.figures import numbers_in

_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_YEAR = re.compile(r"(?<![\d.,$])(?:19|20)\d\d(?![\d%]|[.,]\d)")
_NUMBER = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w]|[.,]\d|-(?:K|Q))")
_NO_NUMBER = re.compile(
    rf"(?:{_MONTH})\s{{1,8}}\d{{1,2}}|\bQ[1-4]|10-[QK]|\b(?:Note|Item|Part|Level|Windows|Section|Topic"
    r"|ASC|ASU|Form|No\.)\s?[\d-]+"
    r"|(?m:^\s{0,8}+\d{1,2}[.)])|(?<!\d)\d+-year|[A-Z]\d+|24/7|\b[a-z]+[A-Z]\w*\s\d+",
)
_SCALES = {
    "thousand": ("million", "billion"), "million": ("thousand", "billion"), "billion": ("million", "thousand"),
    "trillion": ("billion", "million"),
}  # fmt: skip
_SCALE = re.compile(r"(?<=\d) (thousand|million|billion|trillion)\b")
_STATED = {
    "thousand": re.compile(r"thousand|[’']?000s?\b|\b000", re.IGNORECASE),
    "million": re.compile(r"million|[$€£]\s?m\b|\bmn\b", re.IGNORECASE),
    "billion": re.compile(r"billion|\bbn\b", re.IGNORECASE),
    "trillion": re.compile(r"trillion", re.IGNORECASE),
}
OPPOSITE = {
    "increased": "decreased", "decreased": "increased", "increase": "decrease", "decrease": "increase",
    "grew": "fell", "rose": "fell", "declined": "rose", "higher": "lower", "lower": "higher",
}  # fmt: skip
_MOVE = re.compile(
    rf"\b({'|'.join(OPPOSITE)}) (?:of |by |in \w+ (?:\w+ )?of )?(?:about "
    r"|approximately )?\$?\d[\d,.]*(?:%| (?:million|billion))"
)
_SIGNED = re.compile(r"\b(?:percentage )?change\b", re.IGNORECASE)
_ONE_WAY = re.compile(r"increas|decreas|declin|reduc|grow|differen|drop|gain|loss", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"loss|decreas|deficit|expense|cost|charge|tax|paid|payment|outflow|used|provision|allowance|repurchase|purchase|"
    r"dividend|reduc|less|deduct|negative|impair|amorti|depreci|eliminat|write|debit|liabilit|interest|acqui|dispos|"
    r"settle|restruct|treasury|net of|\(",
    re.IGNORECASE,
)


def corrupt(item: Item) -> Iterator[Item]:
    """One corruption of each kind that is possible, the same in every run."""
    for kind, make in _MAKERS.items():
        found = make(item, random.Random(f"{item.id} {kind}"))  # noqa: S311  # a seeded choice, no secret
        if found:
            answer, spot = found
            yield replace(item, id=f"{item.id} {kind}", answer=answer, corruption=kind, spot=spot)


def _text(item: Item) -> str:
    return "\n".join(passage["text"] for passage in item.passages)


def _numbers(answer: str) -> list[re.Match[str]]:
    """Numbers that are figures: no dates, years, quarters, names of forms, numbers of lists."""
    taken = [m.span() for m in (*_NO_NUMBER.finditer(answer), *_YEAR.finditer(answer))]
    return [m for m in _NUMBER.finditer(answer) if not any(s < m.end() and m.start() < e for s, e in taken)]


def _digit(item: Item, chance: random.Random) -> tuple[str, int] | None:
    numbers = [match for match in _numbers(item.answer) if match.start() >= item.said_at]
    chance.shuffle(numbers)
    there = [Decimal(number) for number in numbers_in(_text(item))]
    for match in numbers:
        places = [i for i, c in enumerate(match.group()) if c.isdigit()]
        place = chance.choice(places)
        old = match.group()[place]
        new = chance.choice(
            [d for d in "123456789" if d != old] if place == 0 else [d for d in "0123456789" if d != old]
        )
        figure = match.group()[:place] + new + match.group()[place + 1 :]
        value = Decimal(figure.replace(",", ""))
        if value == 0 or _is_there(value, there):
            continue
        return item.answer[: match.start()] + figure + item.answer[match.end() :], match.start()
    return None


def _is_there(value: Decimal, there: list[Decimal]) -> bool:
    """A number of the passages is this value, or rounds to it at another scale."""
    step = Decimal(1).scaleb(int(value.as_tuple().exponent)) / 2
    return any(abs(number / scale - value) <= step for number in there for scale in (1, 10**3, 10**6, 10**9))


def _scale(item: Item, chance: random.Random) -> tuple[str, int] | None:
    found = [m for m in _SCALE.finditer(item.answer) if _STATED[m[1]].search(_text(item))]
    if not found:
        return None
    match = chance.choice(found)
    new = chance.choice(_SCALES[match[1]])
    return f"{item.answer[: match.start()]} {new}{item.answer[match.end() :]}", match.start() - 1


def _period(item: Item, chance: random.Random) -> tuple[str, int] | None:
    text = _text(item)
    years = list(_YEAR.finditer(item.answer))
    if not years or not _numbers(item.answer):
        return None
    there = sorted(set(_YEAR.findall(text)))
    said = {m.group() for m in years}
    chance.shuffle(years)
    for match in years:
        others = [year for year in there if year not in said]
        chance.shuffle(others)
        for other in others:
            if _is_false(item, match.group(), other):
                return _replace(item.answer, match, other), match.start()
    headers = " ".join(passage.get("header", "") for passage in item.passages)
    match = chance.choice(years)
    near = [str(int(match.group()) + n) for n in (1, -1, 2, -2, 3, -3, 4, 5, -4, -5)]
    other = next((y for y in near if y not in text and y not in headers and y not in item.question), "")
    return (_replace(item.answer, match, other), match.start()) if other else None


def _replace(answer: str, match: re.Match[str], other: str) -> str:
    return answer[: match.start()] + other + answer[match.end() :]


def _is_false(item: Item, year: str, other: str) -> bool:
    """The figures stand in a column headed with the one year, and not in one headed with the other, nor near it."""
    operands = item.operands or tuple(m.group() for m in _numbers(item.answer))
    columns = {y: _column(item, y) for y in (year, other)}
    if not columns[year] or not columns[other]:
        return False
    own = [o for o in operands if o in columns[year]]
    if not own or any(o in columns[other] for o in own):
        return False
    numbers = [m.group() for m in _numbers(item.answer)]
    paragraphs = [p["text"] for p in item.passages[1:] if other in p["text"]]
    return not any(number in paragraph for number in numbers for paragraph in paragraphs)


def _column(item: Item, year: str) -> frozenset[str]:
    """Numbers in the columns of a table that a year heads."""
    heads = [(r, c) for r, row in enumerate(item.table[:4]) for c, cell in enumerate(row) if c and year in cell]
    found = {row[c] for r, c in heads for row in item.table[r + 1 :] if c < len(row)}
    return frozenset(number for cell in found for number in re.findall(r"\d[\d,]*(?:\.\d+)?", cell))


def _sign(item: Item, chance: random.Random) -> tuple[str, int] | None:
    moves = list(_MOVE.finditer(item.answer))
    if item.group == "docugami":
        if not moves:
            return None
        match = chance.choice(moves)
        return item.answer[: match.start(1)] + OPPOSITE[match[1]] + item.answer[match.end(1) :], match.start()
    numbers = _numbers(item.answer)
    if len(numbers) != 1 or len(item.answer) > 300:
        return None
    number = numbers[0]
    before = item.answer[: number.start()]
    signed = re.search(r"[-−(]\s?[$€£]?\s?$", before)
    if item.operands:
        if (
            not _SIGNED.search(item.question)
            or _ONE_WAY.search(item.question)
            or float(number.group().replace(",", "")) == 0
        ):
            return None
        start = signed.start() if signed else number.start()
        return item.answer[:start] + ("" if signed else "-") + item.answer[number.start() :], start
    cell = [c for row in item.table for c in row[1:] if number.group() in re.findall(r"\d[\d,]*(?:\.\d+)?", c)]
    labels = " ".join(row[0] for row in item.table if any(c in cell for c in row))
    if signed or not cell or any(re.search(r"[-−(]", c) for c in cell) or _NEGATIVE.search(f"{item.question} {labels}"):
        return None
    at = len(re.sub(r"[$€£]\s*$", "", before))
    return f"{item.answer[:at]}-{item.answer[at:]}", at


_MAKERS = {
    "digit": _digit, "scale": _scale, "period": _period, "sign": _sign,
    "row": exchange_row, "column": exchange_column, "subject": exchange_subject,
}  # fmt: skip
KINDS = tuple(_MAKERS)
EXCHANGES = ("row", "column", "subject")
"""The kinds whose figure, period and subject all stand in the evidence, only not together."""
