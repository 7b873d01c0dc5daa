"""The table of docs/threat-model.md, from the suite: `PYTHONPATH=tests .venv/bin/python -m escape.table` writes it."""

from __future__ import annotations

from pathlib import Path

from escape.attacks import WITH_DOOR
from escape.backends import BACKENDS, DIFFERS, verdicts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "threat-model.md"
BEGIN, END = "<!-- attacks: written by tests/escape/table.py -->", "<!-- /attacks -->"


def verdict(backend: str, attack: str, held: dict[str, list[str]]) -> str:
    """One cell: what the suite has recorded there."""
    if attack not in held.get(backend, ()):
        return "not run"
    return "contained" if attack in DIFFERS.get(backend, {}) else "holds"


def table() -> str:
    """Markdown: one table a group, then what differs where."""
    held, number = verdicts(), sum(map(len, WITH_DOOR.values()))
    lines = [f"{number} attacks, each a test of tests/escape/test_escape.py or, at the door, test_door.py.", ""]
    for group, attacks in WITH_DOOR.items():
        heads = ["attack", "tries", "what holds", *BACKENDS.values()]
        lines += [f"### {group}", "", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
        for attack in attacks:
            cells = [f"`{attack.name}`", attack.tries, attack.holds]
            cells += [verdict(backend, attack.name, held) for backend in BACKENDS]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    for backend, differing in DIFFERS.items():
        if differing:
            lines += [f"### Contained, but otherwise, on {BACKENDS[backend]}", "", "| attack | what was seen |"]
            lines += ["|---|---|", *(f"| `{name}` | {seen} |" for name, seen in differing.items()), ""]
    return "\n".join(lines)


def page_with(text: str) -> str:
    """The page with its table replaced."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
