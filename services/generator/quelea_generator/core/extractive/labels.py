"""What a row's label says of the question: how much of it is explained, and whether it is the very thing asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product

from quelea_fintext.text import terms

from quelea_generator.core.extractive.question import Asked, Unit
from quelea_generator.core.line_items import Expression, concepts, generic_terms

OTHER = re.compile(r"(?:\W*\bothers?\b|其[他它])", re.IGNORECASE)
"""Begins the label of what is left over: "Other current assets" are no "current assets"."""
_MET = 0.7


def precision(asked: Asked, line: str, words: Sequence[str], abroad: bool) -> float:
    """The part of a row's label that the question explains; an unexplained "total" or "net" costs little.

    Args:
        asked: The question.
        line: The label's terms between spaces.
        words: The same one by one.
        abroad: The label is in another language than the question.
    """
    explained = set(asked.words)
    for unit in asked.units:
        for expression in _expressions(unit, abroad):
            if f" {' '.join(expression)} " in line:
                explained.update(expression)
    worth = [(0.25 if word in generic_terms() and word not in explained else 1.0, word) for word in words]
    whole = sum(value for value, _ in worth)
    return sum(value for value, word in worth if word in explained) / whole if whole else 0.0


def is_exact(units: Sequence[Unit], words: tuple[str, ...], abroad: bool) -> bool:
    """The row's label is a thing asked for, and nothing more; or it is made of several of them."""
    if len(units) > 1 and _made_of(units, words, abroad):
        return True
    bare = tuple(word for word in words if word not in generic_terms())
    for unit in units:
        for expression in _expressions(unit, abroad):
            if words == expression:
                return True
            if bare and bare == tuple(word for word in expression if word not in generic_terms()):
                return True
    return False


def _made_of(units: Sequence[Unit], words: tuple[str, ...], abroad: bool) -> bool:
    """Every word of the label is one of plain words of the question, and they are more than one: "Online stores"."""
    said = {
        word
        for unit in units
        if unit.weight == 1 and not unit.others
        for expression in ((unit.own, *unit.gloss) if abroad else (unit.own,))
        for word in expression
    }
    return len(words) > 1 and said.issuperset(words)


def demanded(asked: Asked, rows: Sequence[tuple[float, ...]], sentences: Iterable[tuple[str, bool]]) -> tuple[int, ...]:
    """Which units tell the row that is meant from others of the same item: the data center of "data center revenue".

    They are words beside an item of the question that some row has in its label, or that some sentence has before that
    item too ("gaming revenue was down"): the row of the whole company is not what was asked for. Indices into
    asked.units.

    Args:
        asked: The question.
        rows: For each row how well its label meets each unit.
        sentences: Each sentence as terms between spaces, and whether it is in another language than the question.
    """
    said = _beside_items(asked)
    found = {at for at in said if any(met[at] >= _MET for met in rows)}
    for at in said:
        item = asked.units[at + 1] if at + 1 < len(asked.units) else None
        if at in found or item is None or not item.others or not _adjacent(asked, at):
            continue
        pairs = {abroad: _side_by_side(asked.units[at], item, abroad) for abroad in (False, True)}
        if any(pair in line for line, abroad in sentences for pair in pairs[abroad]):
            found.add(at)
    return tuple(sorted(found))


def says_together(asked: Asked, demanded: Sequence[int], line: str, abroad: bool) -> bool:
    """A sentence has a demanded word right before the item that it belongs to: "gaming revenue was up"."""
    for at in demanded:
        item = asked.units[at + 1] if at + 1 < len(asked.units) else None
        if item is not None and item.others and _adjacent(asked, at):
            unit = asked.units[at]
            if any(pair in line for pair in _side_by_side(unit, item, abroad)):
                return True
    return False


def qualifiers(asked: Asked) -> list[int]:
    """The plain words that stand right before an item and say of what it is: the vaccine of "vaccine revenue"."""
    beside = _beside_items(asked)
    items = {at for at, unit in enumerate(asked.units) if unit.others}
    return [at for at in beside if any(at < item for item in items) and at + 1 in items | set(beside)] if items else []


def _beside_items(asked: Asked) -> list[int]:
    """Plain words that run up to an item, and the one right behind it; all where the question has no item."""
    plain = [unit.weight == 1 and not unit.others for unit in asked.units]
    items = {at for at, unit in enumerate(asked.units) if unit.others}
    if not items:
        return [at for at, is_plain in enumerate(plain) if is_plain]
    joined = set(items)
    for at in range(len(plain) - 2, -1, -1):
        if plain[at] and at + 1 in joined and _adjacent(asked, at):
            joined.add(at)
    joined |= {at + 1 for at in items if at + 1 < len(plain) and plain[at + 1] and _adjacent(asked, at)}
    return sorted(joined - items)


def _adjacent(asked: Asked, at: int) -> bool:
    """The unit stands right before the next one in the question."""
    return (asked.units[at].own[-1], asked.units[at + 1].own[0]) in asked.pairs


def _side_by_side(unit: Unit, item: Unit, abroad: bool) -> list[str]:
    both = product(unit.gloss if abroad else (unit.own,), _expressions(item, abroad))
    return [f" {' '.join((*one, *other))} " for one, other in both]


@lru_cache(maxsize=1024)
def names_item(heading: str) -> bool:
    """Whether a heading names a financial item, which the rows below it are then of."""
    line = f" {' '.join(terms(heading))} "
    return any(f" {' '.join(expression)} " in line for concept in concepts() for expression in concept)


def _expressions(unit: Unit, abroad: bool) -> tuple[Expression, ...]:
    return (unit.own, *unit.others, *unit.long, *(unit.gloss if abroad else ()))
