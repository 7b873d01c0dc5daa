"""Pictures of an arena as PNG: ratings with their intervals, wins of each over each, ratings by task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from quelea_evaluation.reports.plots import as_png, blank, draw_heatmap

_MOST_IN_RADAR = 8
"""More lines than these cannot be told apart."""
_LABELS = {
    "0_股价预测": "Stock price prediction",
    "0_负面信息侦测": "Negative information detection",
    "0_金融指标计算": "Financial indicator calculation",
    "0_金融文本总结": "Financial text summarization",
}
"""UCFE's names of its four Chinese tasks, in its paper."""


def label(task: str) -> str:
    """A task's name as people read it."""
    return _LABELS.get(task, task.removeprefix("0_").replace("_", " "))


def draw_ratings(table: Mapping[str, Any]) -> bytes:
    """A point for each system, best above, with its interval where it has one."""
    lines = table["leaderboard"]
    figure = blank(8, 1.2 + 0.36 * len(lines))
    axes = figure.add_subplot()
    for place, line in enumerate(reversed(lines)):
        rating = line.get("rating", line.get("overall"))
        if line.get("low") is not None:
            axes.plot([line["low"], line["high"]], [place, place], color="#2a6f97", linewidth=2)
        axes.plot(rating, place, "o", color="#12344d")
        axes.annotate(
            f"{rating:.0f}", (rating, place), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8
        )
    axes.set_yticks(range(len(lines)), [line["model"] for line in reversed(lines)])
    axes.set_ylim(-0.6, len(lines) - 0.2)
    axes.axvline(1000, color="#999999", linewidth=0.8, linestyle=":")
    axes.set_xlabel("rating; a line is the 95 % interval" if any(line.get("low") for line in lines) else "rating")
    axes.grid(axis="x", alpha=0.3)
    return as_png(figure)


def draw_wins(
    models: Sequence[str], wins: Mapping[str, Mapping[str, int]], games: Mapping[str, Mapping[str, int]]
) -> bytes:
    """Wins of the row over the column; the colour is their share of the pair's games, grey where none was played."""
    played = [(row, column) for row in models for column in models if row != column and games[row][column]]
    return draw_heatmap(
        "Wins of the row over the column",
        models,
        models,
        {(row, column): wins[row][column] / games[row][column] for row, column in played},
        {(row, column): str(wins[row][column]) for row, column in played},
        legend="share of the pair's games",
    )


def draw_radar(table: Mapping[str, Any]) -> bytes | None:
    """Ratings by task, a line for each of the best eight systems; None with fewer than three tasks."""
    tasks = table["tasks"]
    if len(tasks) < 3:
        return None
    shown = [line["model"] for line in table["leaderboard"]][:_MOST_IN_RADAR]
    angles = [2 * math.pi * place / len(tasks) for place in range(len(tasks))]
    figure = blank(12, 8)
    axes: Any = figure.add_subplot(projection="polar")  # polar axes have methods that plain ones lack
    values = [table["per_task"][task][model] for model in shown for task in tasks]
    low, high = min(values), max(values)
    for model in shown:
        ratings = [table["per_task"][task][model] for task in tasks]
        axes.plot([*angles, angles[0]], [*ratings, ratings[0]], linewidth=1.5, label=model)
    room = max(high - low, 100)  # ratings that are the same are a ring, and no noise of decimals
    axes.set_ylim(low - 0.1 * room, high + 0.05 * room)
    axes.set_xticks(angles, [label(task) for task in tasks], fontsize=8)
    axes.set_rlabel_position(math.degrees(angles[1]) / 2)
    for angle, text in zip(angles, axes.get_xticklabels(), strict=True):
        side = math.cos(angle)
        text.set_horizontalalignment("left" if side > 0.1 else "right" if side < -0.1 else "center")
    axes.yaxis.set_major_formatter("{x:.0f}")
    axes.tick_params(axis="y", labelsize=7)
    axes.legend(loc="upper left", bbox_to_anchor=(1.3, 1.05), fontsize=8)
    axes.set_title("Rating by task", pad=24)
    return as_png(figure)
