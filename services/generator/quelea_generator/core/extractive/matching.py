"""How well a line of text meets one thing that a question asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.line_items import Expression, generic_terms, line_items
from quelea_fintext.text import terms

from quelea_generator.core.extractive.glosses import has_expression
from quelea_generator.core.extractive.question import Facet, Query

_APART = 3
"""Longest expression whose words count when they stand apart."""


def meets(facet: Facet, line: str, abroad: bool) -> float:
    """How well a line of terms meets a facet: 1 in the question's words, less in others, less when words stand apart.

    `abroad`: the line is of another language, in which the facet's gloss counts.
    """
    for blocker in facet.blockers:
        phrase = f" {' '.join(blocker)} "
        while phrase in line:  # again: of two beside one another the first takes the space between them
            line = line.replace(phrase, " ~ ")
    if f" {' '.join(facet.own)} " in line:
        return 1.0
    if abroad and facet.gloss and line.strip():
        bare = line.replace(" ", "")
        if any(has_expression(one, line, bare) for one in facet.gloss):
            return 0.9
    if any(f" {' '.join(one)} " in line for one in facet.long):
        return 0.9
    best = 0.0
    for other in facet.others:
        if f" {' '.join(other)} " in line:
            return 0.9
        if 1 < len(other) <= _APART and all(f" {word} " in line for word in other):
            best = 0.7
    if len(facet.own) == 1:
        return best
    share = sum(f" {word} " in line for word in facet.own) / len(facet.own)
    return max(best, 0.8 if share == 1 else 0.4 * share)


OTHER_ITEMS = LANGUAGES.pattern("questions.other_items")
"""Begins the label of what is left over: "Other current assets" are no "current assets"."""
_FACET_MET = 0.7


def label_precision(query: Query, line: str, words: Sequence[str], abroad: bool) -> float:
    """The part of a row's label that the question explains; an unexplained "total" or "net" costs little.

    Args:
        query: The question.
        line: The label's terms between spaces.
        words: The same one by one.
        abroad: The label is in another language than the question.
    """
    explained = set(query.words)
    for facet in query.facets:
        for expression in _expressions(facet, abroad):
            if f" {' '.join(expression)} " in line:
                explained.update(expression)
    worth = [(0.25 if word in generic_terms() and word not in explained else 1.0, word) for word in words]
    whole = sum(value for value, _ in worth)
    return sum(value for value, word in worth if word in explained) / whole if whole else 0.0


def is_exact(facets: Sequence[Facet], words: tuple[str, ...], abroad: bool) -> bool:
    """The row's label is a thing asked for, and nothing more; or it is made of several of them."""
    if len(facets) > 1 and _is_made_of(facets, words, abroad):
        return True
    bare = tuple(word for word in words if word not in generic_terms())
    for facet in facets:
        for expression in _expressions(facet, abroad):
            if words == expression:
                return True
            if bare and bare == tuple(word for word in expression if word not in generic_terms()):
                return True
    return False


def _is_made_of(facets: Sequence[Facet], words: tuple[str, ...], abroad: bool) -> bool:
    """Every word of the label is one of plain words of the question, and they are more than one: "Online stores"."""
    said = {
        word
        for facet in facets
        if facet.weight == 1 and not facet.others
        for expression in ((facet.own, *facet.gloss) if abroad else (facet.own,))
        for word in expression
    }
    return len(words) > 1 and said.issuperset(words)


def distinguishing_facets(
    query: Query, rows: Sequence[tuple[float, ...]], sentences: Iterable[tuple[str, bool]]
) -> tuple[int, ...]:
    """Which facets tell the row that is meant from others of the same item: the data center of "data center revenue".

    They are words beside an item of the question that some row has in its label, or that some sentence has before that
    item too ("gaming revenue was down"): the row of the whole company is not what was asked for. Indices into
    query.facets.

    Args:
        query: The question.
        rows: For each row how well its label meets each facet.
        sentences: Each sentence as terms between spaces, and whether it is in another language than the question.
    """
    said = _beside_items(query)
    found = {at for at in said if any(met[at] >= _FACET_MET for met in rows)}
    for at in said:
        item = query.facets[at + 1] if at + 1 < len(query.facets) else None
        if at in found or item is None or not item.others or not _adjacent(query, at):
            continue
        pairs = {abroad: _side_by_side(query.facets[at], item, abroad) for abroad in (False, True)}
        if any(pair in line for line, abroad in sentences for pair in pairs[abroad]):
            found.add(at)
    return tuple(sorted(found))


def says_together(query: Query, distinguishing_facets: Sequence[int], line: str, abroad: bool) -> bool:
    """A sentence has a demanded word right before the item that it belongs to: "gaming revenue was up"."""
    for at in distinguishing_facets:
        item = query.facets[at + 1] if at + 1 < len(query.facets) else None
        if item is not None and item.others and _adjacent(query, at):
            facet = query.facets[at]
            if any(pair in line for pair in _side_by_side(facet, item, abroad)):
                return True
    return False


def qualifiers(query: Query) -> list[int]:
    """The plain words that stand right before an item and say of what it is: the vaccine of "vaccine revenue"."""
    beside = _beside_items(query)
    items = {at for at, facet in enumerate(query.facets) if facet.others}
    return [at for at in beside if any(at < item for item in items) and at + 1 in items | set(beside)] if items else []


def _beside_items(query: Query) -> list[int]:
    """Plain words that run up to an item, and the one right behind it; all where the question has no item."""
    plain = [facet.weight == 1 and not facet.others for facet in query.facets]
    items = {at for at, facet in enumerate(query.facets) if facet.others}
    if not items:
        return [at for at, is_plain in enumerate(plain) if is_plain]
    joined = set(items)
    for at in range(len(plain) - 2, -1, -1):
        if plain[at] and at + 1 in joined and _adjacent(query, at):
            joined.add(at)
    joined |= {at + 1 for at in items if at + 1 < len(plain) and plain[at + 1] and _adjacent(query, at)}
    return sorted(joined - items)


def _adjacent(query: Query, at: int) -> bool:
    """The facet stands right before the next one in the question."""
    return (query.facets[at].own[-1], query.facets[at + 1].own[0]) in query.pairs


def _side_by_side(facet: Facet, item: Facet, abroad: bool) -> list[str]:
    both = product(facet.gloss if abroad else (facet.own,), _expressions(item, abroad))
    return [f" {' '.join((*one, *other))} " for one, other in both]


@lru_cache(maxsize=1024)
def names_item(heading: str) -> bool:
    """Whether a heading names a financial item, which the rows below it are then of."""
    line = f" {' '.join(terms(heading))} "
    return any(f" {' '.join(expression)} " in line for item in line_items() for expression in item.expressions)


def _expressions(facet: Facet, abroad: bool) -> tuple[Expression, ...]:
    return (facet.own, *facet.others, *facet.long, *(facet.gloss if abroad else ()))
