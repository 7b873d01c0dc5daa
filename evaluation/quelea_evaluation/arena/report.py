"""One page of an arena that opens offline, and its pictures beside it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from quelea_evaluation.arena.arena_folder import Arena, dialogue_id
from quelea_evaluation.arena.leaderboard import count_pair_games, count_pair_wins
from quelea_evaluation.arena.pictures import draw_radar, draw_ratings, draw_wins, label
from quelea_evaluation.arena.record import Record
from quelea_evaluation.endpoints.prices import Prices
from quelea_evaluation.reports.page import page, table, warning
from quelea_evaluation.reports.store import Row, write_json, write_whole

_LONGEST = 4000
"""Characters of one turn, and of a judge's reasons, that are shown; the rest is in the files."""
Table = Mapping[str, Any]


def write_report(folder: Path, rated: Table, record: Record, items: Iterator[str], agreement: Table | None) -> Path:
    """`index.html`, `leaderboard.json` and PNGs in this folder; returns the page's path.

    Args:
        folder: Made when it is not there.
        rated: As `quelea eval arena rate --json` prints it.
        record: The wins behind it.
        items: HTML of single comparisons.
        agreement: As `quelea eval arena agree --json` prints it; None without votes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {
        "ratings": draw_ratings(rated),
        "wins": draw_wins(
            [line["model"] for line in rated["leaderboard"]], count_pair_wins(record), count_pair_games(record)
        ),
        "radar": draw_radar(rated),
    }
    for name, png in pictures.items():
        if png:
            (folder / f"{name}.png").write_bytes(png)
    write_json(folder / "leaderboard.json", rated)
    out = folder / "index.html"
    write_whole(out, page("Arena", _parts(rated, pictures, items, agreement)))
    return out


def _parts(
    rated: Table, pictures: Mapping[str, bytes | None], items: Iterator[str], agreement: Table | None
) -> Iterator[str]:
    yield "<h1>Arena: which system helps better</h1>"
    judge = f", judged by {escape(rated['judge'])}" if "judge" in rated else ""
    yield (
        f"<p>{len(rated['models'])} systems, {len(rated['tasks'])} tasks, {rated['games']:,} games{judge}. "
        f"{escape(rated['method'])}.</p>"
    )
    yield from (warning(notice) for notice in rated["notices"])
    yield "<h2>Leaderboard</h2>"
    lines = rated["leaderboard"]
    yield table(
        [escape(name.replace("_", " ")) for name in lines[0]],
        ([_cell(n, v) for n, v in line.items()] for line in lines),
    )
    if not rated["compat"]:
        yield (
            "<p><small>Two systems whose intervals overlap widely cannot be told apart. A difference of 100 points is "
            "an expected score of 64 % between the two.</small></p>"
        )
    yield _picture(pictures["ratings"], "Ratings with their intervals")
    yield "<h2>Who beats whom</h2>" + _picture(pictures["wins"], "Wins of the row over the column")
    yield "<h2>By task</h2>"
    if pictures["radar"]:
        yield _picture(pictures["radar"], "Rating by task")
    ends = rated.get("intervals", {}).get("per_task", {})
    yield table(
        ["task", *map(escape, rated["models"])],
        (
            [
                f'<td class="text">{escape(label(task))}</td>',
                *(_rating(v, ends.get(task, {}).get(m)) for m, v in own.items()),
            ]
            for task, own in rated["per_task"].items()
        ),
    )
    if "judgements" in rated:
        yield from _run(rated)
    if agreement:
        yield from _agreement(agreement)
    shown = list(items)
    if shown:
        yield "<h2>Comparisons</h2>"
        yield from shown


def _run(rated: Table) -> Iterator[str]:
    yield "<h2>How the run went</h2>"
    if rated["commits"]:
        yield f"<p>Commit: {escape(', '.join(rated['commits']))}.</p>"
    rows = []
    prices = Prices(currency=rated["currency"])
    for name, told in rated["dialogues"].items():
        for who, sums in told["usage"].items():
            if sums["calls"]:
                called = name if who == "system" else f"the user with {name}"
                rows.append(
                    [escape(called), _statuses(told["statuses"]) if who == "system" else "", *_sums(sums, prices)]
                )
    judged = rated["judgements"]
    rows.append([f"judge {escape(rated['judge'])}", _statuses(judged["statuses"]), *_sums(judged["usage"], prices)])
    yield table(
        ["who", "done", "calls", "prompt tokens", "completion tokens", "calls that counted no tokens", "cost"], rows
    )
    if judged["first_place"] is not None:
        yield (
            f"<p>The judge found whoever was shown first better in {judged['first_place']:.0%} of its verdicts "
            "(50 % where places do not matter); ties are left out.</p>"
        )
    if judged["errors"]:
        yield table(["why judgements failed", "times"], ([escape(why), str(n)] for why, n in judged["errors"].items()))


def _agreement(agreement: Table) -> Iterator[str]:
    raters = agreement["raters"]
    yield "<h2>People</h2>"
    yield f"<p>{raters['votes']} votes of {len(raters['raters'])} raters on {raters['units']} comparisons.</p>"
    rows = [
        [f"raters among themselves, Krippendorff's alpha, {kind}", *_ends(raters[f"alpha_{kind}"])]
        for kind in ("nominal", "ordinal")
    ]
    for level, what in (("verdicts", "judge and people, single comparisons"), ("systems", "judge and people, ratings")):
        for measure, value in agreement.get("people", {}).get(level, {}).items():
            if isinstance(value, dict):
                rows.append([f"{what}, {measure}", *_ends(value)])
    yield table(["agreement", "value", "95 % interval"], rows)


def show_comparisons(arena: Arena, judge: str, most: int) -> Iterator[str]:
    """HTML of the first comparisons of an arena: both dialogues, and what the judge said."""
    dialogues = {system: arena.dialogues(system) for system in arena.systems}
    for number, line in enumerate(arena.judgements(judge).latest()):
        if number >= most:
            yield f"<p><small>The first {most} are shown; all are in the folder's files.</small></p>"
            return
        yield _comparison(
            line, {name: dialogues[name].get(dialogue_id(line["item"])) for name in (line["first"], line["second"])}
        )


def _comparison(line: Row, both: Mapping[str, Row | None]) -> str:
    first, second = escape(line["first"]), escape(line["second"])
    outcome = {1.0: f"{first} better", 0.5: "tie", 0.0: f"{second} better"}.get(
        line["score"], f"no game: {escape(str(line['error']))}"
    )
    if line["disagreed"]:
        outcome = "tie: the two orders disagreed"
    matter = f"{escape(label(line['task']))}, item {line['item']}"
    parts = [f"<details><summary>{matter}: {first} and {second}, {outcome}</summary>"]
    for verdict in line["verdicts"]:
        said = escape(str(verdict.get("text", verdict["error"]))[-_LONGEST:])
        parts.append(f"<article><strong>Judge, {escape(verdict['order'][0])} first</strong><pre>{said}</pre></article>")
    for name, dialogue in both.items():
        turns = "".join(
            f"<p><small>{turn['role']}</small></p><pre>{escape(turn['content'][:_LONGEST])}</pre>"
            for turn in (dialogue or {}).get("turns", [])
        )
        parts.append(
            f"<details><summary>Dialogue of {escape(name)}</summary><article>{turns or 'none'}</article></details>"
        )
    return "".join([*parts, "</details>"])


def _picture(png: bytes | None, described: str) -> str:
    if png is None:
        return ""
    data = base64.b64encode(png).decode()
    return f'<img alt="{escape(described)}" style="max-width:100%" src="data:image/png;base64,{data}">'


def _cell(name: str, value: object) -> str:
    if value is None:
        return '<td class="none">–</td>'
    if isinstance(value, float):
        return f"{value:.3f}" if name == "score" else f"{value:.1f}"
    return f'<td class="text">{escape(value)}</td>' if isinstance(value, str) else str(value)


def _rating(value: float, ends: list[float] | None) -> str:
    return f"{value:.0f}" + (f" <small>{ends[0]:.0f}–{ends[1]:.0f}</small>" if ends else "")


def _ends(value: Table) -> tuple[str, str]:
    if value["value"] is None:
        return "–", "too few values, or all the same"
    return f"{value['value']:.3f}", "–" if value["low"] is None else f"{value['low']:.3f} to {value['high']:.3f}"


def _statuses(statuses: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in statuses.items())


def _sums(sums: Mapping[str, Any], prices: Prices) -> list[str]:
    counts = [f"{sums[name]:,}" for name in ("calls", "prompt_tokens", "completion_tokens", "uncounted_calls")]
    return [*counts, escape(prices.write_cost(sums["cost"]))]
