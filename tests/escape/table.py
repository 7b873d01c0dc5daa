"""The table of docs/threat-model.md, from the suite: `PYTHONPATH=tests .venv/bin/python -m escape.table` writes it."""

from __future__ import annotations

from pathlib import Path

from escape.attacks import ALL, GROUPS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "threat-model.md"
BEGIN, END = "<!-- attacks: written by tests/escape/table.py -->", "<!-- /attacks -->"


def table() -> str:
    """Markdown: one table a group."""
    lines = [f"{len(ALL)} attacks, each a test of tests/escape/test_escape.py.", ""]
    for group, attacks in GROUPS.items():
        lines += [f"### {group}", "", "| attack | tries | what holds | Docker | Kubernetes | gVisor |"]
        lines += ["|---|---|---|---|---|---|"]
        for attack in attacks:
            cells = [f"`{attack.name}`", attack.tries, attack.holds, "holds", "not yet", "not tested"]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def page_with(text: str) -> str:
    """The page with its table replaced."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
