"""Computed sentences about TAT-QA's tables by template, true and false, in two languages: `quelea eval figures --set
computed`.

A sentence says a growth, change, share, multiple, sum, difference, average or compound growth of rows of a table, or
what follows from a sentence made of a row ("rose 12.3% to 1,496.5": what it was before). A false one has the result of
another operation, base, row or time under the same words. Row names of Chinese sentences are Chinese where the glossary
knows all of their words.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from quelea_fintext.glossary import known_phrases

from quelea_evaluation.figures.items import half_of
from quelea_evaluation.figures.pairs import Pair
from quelea_evaluation.figures.templates import Row, Told, sentences

_YEAR = re.compile(r"(?:FY|fiscal )?((?:19|20)\d\d)(?: ?[$€£]?m)?", re.IGNORECASE)
_CELL = re.compile(r"[$€£]?\s{0,8}+(\()?[$€£]?\s{0,8}+(\d[\d,]*(?:\.\d+)?)\)?")
_NAME = re.compile(r"[A-Za-z][A-Za-z ,&/-]{4,54}[A-Za-z]")
_COLUMNS = 4
_LEAST, _MOST = Decimal(20), Decimal(10) ** 7
_APART = Decimal("0.03")
"""By how much of itself a false figure differs from the true one at least."""


def make_computed_pairs(data: Path, half: str) -> list[Pair]:
    """The sentences about the tables of one half ("development" or "frozen"), the same in every run."""
    contexts = json.loads((data / "tatqa" / "tatqa_dataset_dev.json").read_text(encoding="utf-8"))
    pairs: list[Pair] = []
    for number, context in enumerate(contexts):
        if half_of(f"tatqa-{number}") != half:
            continue
        table = [[cell.strip() for cell in row] for row in context["table"]["table"]]
        lines = ["\t".join(cell for cell in row if cell) for row in table]
        passages = (
            {"text": "\n".join(line for line in lines if line)},
            *({"text": p["text"]} for p in context["paragraphs"]),
        )
        years, rows = read_table(table)
        chance = random.Random(f"computed {number}")  # noqa: S311  # a seeded choice, no secret
        for at, told in enumerate(sentences(years, rows, chance)):
            ways = {
                language: chance.choice(told_in[-1:] if half == "frozen" else told_in[:-1])
                for language, told_in in (("en", told.english), ("zh", told.chinese))
            }
            pairs += _pairs(f"c{number}-{at}", told, ways, told.passages or passages, chance)
    return pairs


def _pairs(
    name: str, told: Told, ways: dict[str, str], passages: tuple[dict[str, str], ...], chance: random.Random
) -> Iterator[Pair]:
    for language, text in ways.items():
        yield Pair(f"{name}-{language}", told.kind, language, True, text.replace("#", told.true), passages)
    for wrong, figure in told.false.items():
        if figure != told.true and _differ(figure, told.true):
            language, text = chance.choice(list(ways.items()))
            answer = text.replace("#", figure)
            yield Pair(f"{name}-{wrong}", f"{told.kind}: {wrong}", language, False, answer, passages)


def _differ(one: str, other: str) -> bool:
    a, b = (Decimal(re.sub(r"[^\d.]", "", figure)) for figure in (one, other))
    return abs(a - b) > max(abs(b) * _APART, Decimal("0.15"))


def read_table(table: Sequence[Sequence[str]]) -> tuple[list[int], list[Row]]:
    """The years of a table with one column for each, and its rows with a name of their own; empty where it is none."""
    years: list[int] = []
    rows: list[Row] = []
    for line in table:
        cells = [cell for cell in line[1:] if cell]
        heads = [_YEAR.fullmatch(cell) for cell in cells]
        if not years and len(cells) > 1 and all(heads) and len(cells) == len(line) - 1:
            years = [int(head[1]) for head in heads if head]
            continue
        found = [_CELL.fullmatch(cell) for cell in cells]
        if not years or len(cells) != len(years) or not all(found) or not _NAME.fullmatch(line[0]):
            continue
        values = [Decimal(m[2].replace(",", "")) * (-1 if m[1] else 1) for m in found if m]
        if all(_LEAST <= value < _MOST for value in values):
            rows.append(Row(line[0], _chinese(line[0]), dict(zip(years, values, strict=True))))
    names = [row.name for row in rows]
    each = sorted(years)
    if not 1 < len(each) <= _COLUMNS or each != list(range(each[0], each[0] + len(each))):
        return [], []
    return sorted(years, reverse=True), [row for row in rows if names.count(row.name) == 1]


def _chinese(name: str) -> str:
    phrases, rest = known_phrases(name.lower())
    return "".join(ways[0] for ways in phrases) if phrases and not re.search(r"[a-z]", rest) else name
