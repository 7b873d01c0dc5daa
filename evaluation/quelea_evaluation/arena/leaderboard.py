"""From a record, or from single games, to the tables that are printed and written as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from quelea_evaluation.arena.bradley_terry import SAME, Game, Rating, rate_games, rate_record, separate_groups
from quelea_evaluation.arena.elo import count_wins, rate_elo
from quelea_evaluation.arena.record import Record, build_record, few_shot, zero_shot
from quelea_evaluation.inputs import BadInput

Rate = Callable[[Sequence[str]], dict[str, Rating]]

MOST_PLAYED = 10_000_000
FEW_GAMES = 30
"""Fewer games than this between two models, and the table says that intervals are rough."""


def published_table(record: Record) -> dict[str, Any]:
    """UCFE's Table 5 and its table by task: Elo in file order, every game twice."""
    tasks = record.tasks
    games = sum(sum(cell.counts) for cell in record.cells())
    if games > MOST_PLAYED:
        raise BadInput(f"UCFE's ratings play every game, {MOST_PLAYED:,} at most; the record has {games:,}")
    overall, wins = rate_elo(record), count_wins(record)
    zero, few = (rate_elo(record, some) if some else None for some in (zero_shot(tasks), few_shot(tasks)))
    return {
        "compat": "ucfe",
        "method": "Elo, K 4, start 1000, games in file order, each counted from both sides",
        "models": record.models,
        "tasks": tasks,
        "games": games,
        "overall": overall,
        "zero_shot": zero,
        "few_shot": few,
        "win_counts": wins,
        "per_task": {task: rate_elo(record, [task]) for task in tasks},
        "leaderboard": [
            {
                "rank": rank,
                "model": model,
                "overall": overall[model],
                "zero_shot": zero and zero[model],
                "few_shot": few and few[model],
                "win_counts": wins[model],
            }
            for rank, model in enumerate(sorted(overall, key=lambda name: -overall[name]), 1)
        ],
        "notices": [
            "These ratings depend on the order of the file, and win counts count each win twice, as published. "
            "Without --compat the order does not matter.",
            *_notices(record),
        ],
    }


def rate_table(record: Record, *, resamples: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Bradley-Terry ratings of a record, with intervals that draw its games anew."""

    def rate(tasks: Sequence[str]) -> dict[str, Rating]:
        return rate_record(record.cells(tasks), record.models, resamples=resamples, seed=seed)

    drawn = {"resamples": resamples, "seed": seed, "drawn": "games of each pair and task"}
    return _table(record, rate, drawn)


def rate_games_table(games: Sequence[Game], *, resamples: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Bradley-Terry ratings of single games, with intervals that draw whole items anew."""
    record = build_record((game.task, game.first, game.second, game.score) for game in games)

    def rate(tasks: Sequence[str]) -> dict[str, Rating]:
        own = set(tasks)
        return rate_games([g for g in games if g.task in own], record.models, resamples=resamples, seed=seed)

    return _table(record, rate, {"resamples": resamples, "seed": seed, "drawn": "items with all their games"})


def count_pair_wins(record: Record) -> dict[str, dict[str, int]]:
    """Wins of each model over each other, over all tasks; UCFE's Figure B-4."""
    wins = {model: dict.fromkeys((m for m in record.models if m != model), 0) for model in record.models}
    for cell in record.sides():
        wins[cell.first][cell.second] += cell.counts[0]
    return wins


def count_pair_games(record: Record) -> dict[str, dict[str, int]]:
    """Games of each model with each other, over all tasks."""
    games = {model: dict.fromkeys((m for m in record.models if m != model), 0) for model in record.models}
    for cell in record.sides():
        games[cell.first][cell.second] += sum(cell.counts)
    return games


def _table(record: Record, rate: Rate, drawn: Mapping[str, Any]) -> dict[str, Any]:
    tasks = record.tasks
    rated = {"overall": rate(tasks)}
    for name, some in (("zero_shot", zero_shot(tasks)), ("few_shot", few_shot(tasks))):
        if some:
            rated[name] = rate(some)
    per_task = {task: rate([task]) for task in tasks}
    return {
        "compat": None,
        "method": "Bradley-Terry, a tie is half a win for each, prior of 1000 points",
        "interval": {"level": 0.95, "method": "percentile bootstrap", **drawn},
        "models": record.models,
        "tasks": tasks,
        "games": sum(sum(cell.counts) for cell in record.cells()),
        "overall": _points(rated["overall"]),
        "zero_shot": _points(rated["zero_shot"]) if "zero_shot" in rated else None,
        "few_shot": _points(rated["few_shot"]) if "few_shot" in rated else None,
        "win_counts": {model: record.total(model)[0] for model in record.models},
        "per_task": {task: _points(values) for task, values in per_task.items()},
        "intervals": {
            **{name: _ends(values) for name, values in rated.items()},
            "per_task": {task: _ends(values) for task, values in per_task.items()},
        },
        "pair_wins": count_pair_wins(record),
        "leaderboard": _leaderboard(record, rated["overall"]),
        "notices": [*_notices(record), *_bounds(rated["overall"])],
    }


def _leaderboard(record: Record, ratings: Mapping[str, Rating]) -> list[dict[str, Any]]:
    lines = []
    for model in sorted(ratings, key=lambda name: -ratings[name].rating):
        # Equal ratings share a rank, as in a sports table.
        rank = 1 + sum(other.rating > ratings[model].rating + SAME for other in ratings.values())
        wins, ties, losses = record.total(model)
        own, games = ratings[model], wins + ties + losses
        lines.append(
            {
                "rank": rank,
                "model": model,
                "rating": own.rating,
                "low": own.low,
                "high": own.high,
                "games": games,
                "wins": wins,
                "ties": ties,
                "losses": losses,
                "score": (wins + ties / 2) / games if games else None,
            }
        )
    return lines


def _points(ratings: Mapping[str, Rating]) -> dict[str, float]:
    return {model: one.rating for model, one in ratings.items()}


def _ends(ratings: Mapping[str, Rating]) -> dict[str, list[float] | None]:
    return {
        model: None if one.low is None or one.high is None else [one.low, one.high] for model, one in ratings.items()
    }


def _notices(record: Record) -> Iterable[str]:
    groups = separate_groups(record.cells(), record.models)
    if len(groups) > 1:
        shown = "; ".join(", ".join(group) for group in groups)
        yield f"No game links these groups, so their ratings cannot be compared: {shown}."
    together = {(c.first, c.second): 0 for c in record.cells()}
    for cell in record.cells():
        together[cell.first, cell.second] += sum(cell.counts)
    if missing := _unmet(record, together):
        yield f"{len(missing)} pairs never played: {', '.join(missing[:5])}{', …' if len(missing) > 5 else ''}."
    if short := _missing_games(record):
        yield f"{short} games fewer than the fullest pair of each task would give: judgements may have failed."
    if few := sum(1 for games in together.values() if 0 < games < FEW_GAMES):
        yield f"Pairs with fewer than {FEW_GAMES} games, whose intervals are rough: {few}."


def _unmet(record: Record, together: Mapping[tuple[str, str], int]) -> list[str]:
    return [
        f"{first} and {second}"
        for index, first in enumerate(record.models)
        for second in record.models[index + 1 :]
        if not together.get((first, second))
    ]


def _missing_games(record: Record) -> int:
    played: dict[str, list[int]] = {}
    for cell in record.cells():
        if games := sum(cell.counts):
            played.setdefault(cell.task, []).append(games)
    return sum(max(games) * len(games) - sum(games) for games in played.values())


def _bounds(ratings: Mapping[str, Rating]) -> Iterable[str]:
    if unbounded := [model for model, one in ratings.items() if one.low is None]:
        yield (
            f"Without an interval, as all games ended alike, or none was played: {', '.join(unbounded)}. "
            "Where all were won or lost, the prior alone keeps the rating finite."
        )
