"""Whose figure the one answer of a small model and the extractive reader should have (core/joint_answer.py).

python tests/eval/fit_joint.py answers.jsonl --data ../shared/data: reads what `ask_joint.py` stored, has the product's
code decide again, and prints how often the answer is right: each reader alone, both by the bounds that there are, by
others, and by a logistic fit over how sure the model is, the quote's score and how the two stand to each other. Every
other question chooses; the rest are counted only. Right: all numbers of the key are in the answer's figure, which of a
quote is the cell where its column is certain, else the row or sentence.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from ask_joint import prompt_of, questions
from numpy.typing import NDArray
from quelea_evaluation.judging.figures import numbers_in
from quelea_fintext.asked_lines import without_periods
from quelea_generator.core.extractive.rows import find_figures
from quelea_generator.core.joint_answer import (
    BOUNDS,
    Bounds,
    Comparison,
    Preparation,
    compare,
    first_sentence,
    is_better_choice,
    prepare,
)
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # no stubs are published

SURE = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01)
AS_GOOD = (0.0, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 9.0)
EXCERPT = 360
_LEAST = 1e-4


@dataclass(frozen=True)
class Said:
    """What both readers say to a question, and who is right.

    `of_figures` is the sureness of the compared figures alone, without those of periods, markers and the question.
    """

    prepared: Preparation
    sentence: str
    sureness: float | None
    of_figures: float | None
    quote_right: bool
    model_right: bool

    @property
    def compared(self) -> Comparison:
        """How the two figures stand to each other."""
        return compare(self.sentence, self.prepared)

    def is_right(self, models: bool) -> bool:
        """Of the answer that has the model's figure, or the quote's."""
        return self.model_right if models else self.quote_right


Decides = Callable[[Said], bool]


def load(answers: Path, data: Path) -> tuple[list[Said], int]:
    """The stored answers with the readings of today, and how many were asked with another excerpt."""
    stored = {one["name"]: one for one in map(json.loads, answers.open(encoding="utf-8"))}
    found, other = [], 0
    for asked in questions(data):
        if (one := stored.get(asked.name)) is None:
            continue
        prepared = prepare(asked.task, EXCERPT)
        if prepared.quoted.decline or not prepared.needs_model:
            continue
        other += prompt_of(prepared) != one["excerpt"]
        sentence, sureness = first_sentence(one["pieces"])
        key = numbers_in(asked.key)
        quoted = " ".join(prepared.quoted.cells) or prepared.quoted.quotes[0].text
        by_quote, by_model = key <= numbers_in(quoted), bool(sentence) and key <= numbers_in(sentence)
        own = sureness_of_figures(one["pieces"], asked.task.question)
        found.append(Said(prepared, sentence, sureness, own, by_quote, by_model))
    return found, other


def sureness_of_figures(pieces: Sequence[tuple[str, float | None]], question: str) -> float | None:
    """The lowest probability of a digit of those figures of the first sentence that compare() goes by."""
    sentence, _ = first_sentence(pieces)
    text = "".join(text for text, _ in pieces)
    begin = text.find(sentence)
    meant = find_figures(without_periods(re.sub(r"\[\d+\]", " ", sentence))) - find_figures(question)
    spans = [
        (begin + match.start(), begin + match.end())
        for match in re.finditer(r"\d[\d,]*(?:\.\d+)?", sentence)
        if find_figures(match.group()) & meant
    ]
    lowest, at = None, 0
    for piece, sureness in pieces:
        if sureness is not None and any(at < end and start < at + len(piece) for start, end in spans):
            lowest = sureness if lowest is None else min(lowest, sureness)
        at += len(piece)
    return lowest


def by_bounds(bounds: Bounds, *, told: Literal["all", "figures", "nothing"] = "all") -> Decides:
    """The product's own choice, where the endpoint says how sure the model is of all its digits, or less."""

    def decides(one: Said) -> bool:
        sureness = {"all": one.sureness, "figures": one.of_figures, "nothing": None}[told]
        return is_better_choice(one.sentence, one.prepared, sureness, bounds)

    return decides


def features(one: Said) -> list[float]:
    """How sure the model is (log odds), what the quote's score is, and how the figures stand to each other."""
    sure = min(max(0.0 if one.sureness is None else one.sureness, _LEAST), 1 - _LEAST)
    found = one.compared
    return [
        math.log(sure / (1 - sure)),
        one.prepared.quoted.quotes[0].score,
        found.ratio,
        float(found.relation == "same line"),
        float(found.relation == "one in line"),
        float(found.relation == "other line"),
        float(bool(one.prepared.quoted.cells)),
        float(one.prepared.one_figure),
    ]


def fitted(chosen: Sequence[Said], pull: float) -> Decides:
    """A choice by logistic regression, taught by the questions where one of the two is right."""
    rows: NDArray[np.float64] = np.array([features(one) for one in chosen if one.model_right != one.quote_right])
    right = [one.model_right for one in chosen if one.model_right != one.quote_right]
    if len(set(right)) < 2:
        return by_bounds(BOUNDS)
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    model = LogisticRegression(C=1 / pull).fit((rows - middle) / spread, right)
    return lambda one: bool(model.predict((np.array([features(one)]) - middle) / spread)[0])


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, help="What ask_joint.py stored.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    said, other = load(options.answers, options.data)
    chosen, held = said[::2], said[1::2]
    print(f"{len(said)} questions, {len(chosen)} choose and {len(held)} are held; {other} had another excerpt")

    def tell(name: str, decides: Decides) -> None:
        counts = [sum(one.is_right(decides(one)) for one in some) for some in (chosen, held)]
        print(f"{name:<32}{counts[0]:>5}{counts[1]:>6}")

    print(f"{'right':<32}{'choose':>5}{'held':>5}")
    tell("extractive reader", lambda _: False)
    tell("model", lambda _: True)
    tell("the better of both", lambda one: one.model_right)
    tell(f"as it is, sure {BOUNDS.sure}", by_bounds(BOUNDS))
    for sure in SURE:
        tell(f"  sure from {sure}", by_bounds(Bounds(sure=sure)))
    for sure in SURE:
        tell(f"  of its figures from {sure}", by_bounds(Bounds(sure=sure), told="figures"))
    for good in AS_GOOD:
        tell(f"  by score alone from {good}", by_bounds(Bounds(as_good=good), told="nothing"))
    for pull in (0.3, 1.0, 3.0):
        tell(f"logistic, pull {pull}", fitted(chosen, pull))

    kinds = defaultdict(list)
    for one in said:
        kinds[one.compared.relation].append(one)
    print("relation: questions, quote right, model right, either; sureness of right and wrong figures (medians)")
    for name, some in sorted(kinds.items()):
        sure = [[one.sureness or 0.0 for one in some if one.model_right is right] for right in (True, False)]
        middle = ", ".join(f"{np.median(part):.2f}" if part else "-" for part in sure)
        quote, model = sum(one.quote_right for one in some), sum(one.model_right for one in some)
        either = sum(one.quote_right or one.model_right for one in some)
        print(f"  {name:<12}{len(some):>5}{quote:>5}{model:>5}{either:>5}  {middle}")


if __name__ == "__main__":
    main()
