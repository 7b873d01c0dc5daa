"""Blind votes of people on two systems of an arena: who stands where, what a vote says, how far raters agree."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from quelea_kit.errors import InvalidInput

Choice = Literal["left", "right", "equal"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
Json = dict[str, Any]


@dataclass(frozen=True)
class Vote:
    """One person's comparison of two systems on one item."""

    item_id: str
    rater: str
    task: str
    first: str
    second: str
    score: float
    """Of the first: 1 better, 0.5 equal, 0 worse."""
    at: str
    """RFC 3339 in UTC."""


@dataclass(frozen=True)
class Agreement:
    """How far raters agree with one another, and the judge with them."""

    votes: int
    raters: Mapping[str, int]
    """Name → votes."""
    comparisons: int
    shared: int
    """Comparisons on which two or more voted; alpha is of these."""
    alpha: float | None
    """Krippendorff's, nominal: 1 full agreement, 0 as by chance; None where nobody could have disagreed."""
    judged: int
    """Comparisons that the judge compared too."""
    same: float | None
    """Share of these where the judge and the mean of the votes find the same side better, or both neither."""


def order_blind(evaluation_id: str, item_ids: Iterable[str]) -> list[str]:
    """Items in the order in which they are shown: by chance, the same for all, so that several vote on the first."""
    return sorted(item_ids, key=lambda one: _digest(evaluation_id, one))


def first_is_left(evaluation_id: str, item_id: str, rater: str) -> bool:
    """Whether the item's first system stands on the left for this person: by chance, and the same when seen again."""
    return int(_digest(evaluation_id, item_id, rater)[:8], 16) % 2 == 0


def make_vote(item: Json, rater: str, choice: Choice, *, left_first: bool, at: str) -> Vote:
    """A vote on an item of an arena.

    Raises:
        InvalidInput: The item has no two complete dialogues.
    """
    if not is_complete(item):
        raise InvalidInput(
            "This comparison has no two complete dialogues; vote on another.", details={"field": "number"}
        )
    first, second = (str(one["system"]) for one in item["dialogues"])
    score = 0.5 if choice == "equal" else float((choice == "left") == left_first)
    return Vote(str(item["id"]), rater, str(item["task"]), first, second, score, at)


def choice_of(vote: Vote, *, left_first: bool) -> Choice:
    """What the person chose, as the page shows it again."""
    if vote.score == 0.5:
        return "equal"
    return "left" if (vote.score == 1.0) == left_first else "right"


def is_complete(item: Json) -> bool:
    """It is a comparison of two dialogues that neither failed."""
    both = item["dialogues"]
    return len(both) == 2 and all(one["turns"] and not one["error"] for one in both)


def measure_agreement(votes: Sequence[Vote], judged: Mapping[str, float | None]) -> Agreement:
    """Of all votes.

    Args:
        votes: The last of each rater on each item.
        judged: Item → the judge's score of its first system; None where it has none.
    """
    units: dict[str, list[float]] = {}
    for vote in votes:
        units.setdefault(vote.item_id, []).append(vote.score)
    both = [
        (score, sum(units[item]) / len(units[item]))
        for item, score in judged.items()
        if score is not None and item in units
    ]
    same = [_side(judge) == _side(people) for judge, people in both]
    shared = [one for one in units.values() if len(one) > 1]
    return Agreement(
        votes=len(votes),
        raters=dict(sorted(Counter(vote.rater for vote in votes).items())),
        comparisons=len(units),
        shared=len(shared),
        alpha=nominal_alpha(shared),
        judged=len(both),
        same=sum(same) / len(same) if same else None,
    )


def nominal_alpha(units: Iterable[Sequence[float]]) -> float | None:
    """Krippendorff's alpha of nominal values: 1 − observed / expected disagreement (Krippendorff 2011, section C).

    Args:
        units: The values that each unit was given; those with fewer than two say nothing and are left out.

    Returns:
        None where fewer than two different values were given.
    """
    counts = [Counter(unit) for unit in units if len(unit) > 1]
    total = sum((one for one in counts), Counter[float]())
    n = total.total()
    expected = n * n - sum(number * number for number in total.values())
    if not expected:
        return None
    observed = sum(
        (one.total() ** 2 - sum(number * number for number in one.values())) / (one.total() - 1) for one in counts
    )
    return 1.0 - (n - 1) * observed / expected


def _side(score: float) -> int:
    return (score > 0.5) - (score < 0.5)


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
