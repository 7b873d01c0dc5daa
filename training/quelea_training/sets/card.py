"""A model card, written from a set's manifest and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quelea_training.sets.manifest import PARTS, ModelSet

CARD = "MODEL_CARD.md"


def write_card(folder: Path, found: ModelSet) -> None:
    """Beside the manifest."""
    (folder / CARD).write_text(card(found), "utf-8")


def card(found: ModelSet) -> str:
    """The card as Markdown."""
    lines = [f"# {found.name}", "", f"Made {found.created}. {found.note}".strip(), ""]
    if found.encoder_id:
        lines += [f"Gate and ranker are for the encoder `{found.encoder_id}`; with another one they are refused.", ""]
    lines += ["## Parts", "", "| part | files | licence | fitted |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {len(part.files)} in `{PARTS[name]}` | {part.licence} | {part.version or '–'} |"
        for name, part in found.parts.items()
    ]
    lines += ["", "## How well it does", ""]
    if found.metrics:
        lines += ["| measure | |", "|---|---|", *(f"| {name} | {v:.3f} |" for name, v in sorted(found.metrics.items()))]
    else:
        lines += ["Nothing was measured."]
    lines += ["", "## Made from", "", *(_data(found.data) or ["Nothing is said of the data."])]
    lines += ["", "## SHA-256", "", "```"]
    lines += [f"{digest}  {path}" for part in found.parts.values() for path, digest in sorted(part.files.items())]
    return "\n".join([*lines, "```", ""])


def _data(said: dict[str, Any]) -> list[str]:
    return [f"- {name}: {value}" for name, value in said.items()]
