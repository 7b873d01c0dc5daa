"""Before and after on what was held out: a table by source, language and similarity, pictures, and a model card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from quelea_evaluation.reports.plots import blank

from quelea_training import runs
from quelea_training.encoder.examples import Bench
from quelea_training.encoder.measures import SIMILARITIES, K, best, score, similarities
from quelea_training.encoder.towers import Towers

Row = Mapping[str, Any]
LEVELS = ("passage", "document")


def measure(towers: Towers, benches: Sequence[Bench], when: str, say: Callable[[str], None]) -> list[Row]:
    """MAP and MAR at 5 of each bench, language, similarity and level.

    Level `passage`: the right passages. Level `document`: only the best passage of each document counts, and the right
    document is one of a right passage.
    """
    rows: list[Row] = []
    for bench in benches:
        passages = towers.encode([one.encoded for one in bench.passages], "passage")
        queries = towers.encode([one.query for one in bench.queries], "query")
        names = {
            "passage": [one.id for one in bench.passages],
            "document": [one.document for one in bench.passages],
        }
        of = {one.id: one.document for one in bench.passages}
        right = {"passage": bench.right()}
        right["document"] = [frozenset(of[name] for name in each) for each in right["passage"]]
        for by in SIMILARITIES:
            scores = similarities(queries, passages, by)
            for level in LEVELS:
                places = best(scores, K, names["document"] if level == "document" else None)
                ranked = [[names[level][place] for place in each] for each in places]
                for language in sorted({one.language for one in bench.queries}):
                    mine = [at for at, one in enumerate(bench.queries) if one.language == language]
                    found = score([ranked[at] for at in mine], [right[level][at] for at in mine])
                    about = {"source": bench.source, "language": language, "similarity": by, "level": level}
                    rows.append({**about, "when": when, "passages": len(bench.passages), **asdict(found)})
        say(f"measured {when}: {bench.source}, {len(bench.queries)} queries on {len(bench.passages)} passages")
    return rows


def pick(rows: Sequence[Row], **wanted: str | float) -> list[Row]:
    """The rows with these fields."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def table(rows: Sequence[Row]) -> str:
    """Markdown: by cosine, before and after; the other similarities are in the file."""
    lines = [
        f"| source | language | level | queries | passages | MAP@{K} before | after | MAR@{K} before | after |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for before in pick(rows, when="before", similarity="cosine"):
        same = {name: before[name] for name in ("source", "language", "similarity", "level")}
        after = pick(rows, when="after", **same)
        lines += [
            f"| {before['source']} | {before['language']} | {before['level']} | {before['queries']} | "
            f"{before['passages']} | {100 * before['map']:.1f} | {100 * one['map']:.1f} | "
            f"{100 * before['mar']:.1f} | {100 * one['mar']:.1f} |"
            for one in after
        ]
    return "\n".join(lines)


def table_of_shares(rows: Sequence[Row]) -> str:
    """Markdown: MAP by cosine, a column for each share of the trained weights."""
    shown = pick(rows, similarity="cosine")
    shares = sorted({row["share"] for row in shown})
    lines = [
        f"| source | language | level | queries | passages | {' | '.join(f'{one:g}' for one in shares)} |",
        f"|---|---|---|---|---|{'---|' * len(shares)}",
    ]
    for first in (row for row in shown if row["share"] == shares[0]):
        about = {name: first[name] for name in ("source", "language", "level")}
        values = " | ".join(f"{100 * row['map']:.1f}" for share in shares for row in pick(shown, share=share, **about))
        lines.append(f"| {' | '.join(about.values())} | {first['queries']} | {first['passages']} | {values} |")
    return "\n".join(lines)


def draw(rows: Sequence[Row], path: Path) -> None:
    """MAP and MAR of passages by each similarity, before and after, a panel for each source and language (PNG)."""
    shown = pick(rows, level="passage")
    panels = sorted({(row["source"], row["language"]) for row in shown})
    figure = blank(9, 2.6 * len(panels) + 0.4)
    axes = figure.subplots(len(panels), 2, squeeze=False)
    for (source, language), pair in zip(panels, axes, strict=True):
        for axis, name in zip(pair, ("map", "mar"), strict=True):
            for at, when in enumerate(("before", "after")):
                values = [
                    row[name]
                    for by in SIMILARITIES
                    for row in pick(shown, source=source, language=language, similarity=by, when=when)
                ]
                places = [place + 0.4 * at for place in range(len(values))]
                bars = axis.bar(places, values, 0.38, label=when, color=("#bbbbbb", "#4477aa")[at])
                axis.bar_label(bars, fmt="%.3f", fontsize=8)
            axis.set_xticks([place + 0.2 for place in range(len(SIMILARITIES))], SIMILARITIES)
            axis.set_ylim(0, 1.1)
            axis.set_title(f"{source}, {language}: {name.upper()}@{K}", fontsize=10)
    axes[0][0].legend(fontsize=8)
    figure.savefig(path, dpi=110)


def card(about: Mapping[str, Any], measured: str) -> str:
    """The model card, with the text `measured` about what was held out."""
    what = "A text encoder for retrieval, trained with `quelea train encoder`."
    held_out = "On documents and companies that were not trained on, by cosine, in percent:"
    return runs.card(about, what, f"## Held out\n\n{held_out}\n\n{measured}", about["pairs"])
