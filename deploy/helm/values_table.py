"""The table of values in the chart's README, from the comments of values.yaml: `python deploy/helm/values_table.py`.

--check only says whether the README is up to date (exit 1 if not).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parent / "quelea"
BEGIN, END = "<!-- values: made by values_table.py -->", "<!-- end of values -->"
_KEY = re.compile(r"^( *)([A-Za-z0-9_-]+):(.*)$")
_LONGEST_DEFAULT = 60
FREE = re.compile(r"services\.[^.]+\.|networkPolicy\.arrows\.|(.*\.)?resources\.")
"""Keys that are described elsewhere: those of a service in serviceDefaults, the others by the key above them."""


def comments(text: str) -> dict[str, str]:
    """Path of every key in block style -> the comment above it, "" where there is none."""
    found: dict[str, str] = {}
    above: list[str] = []
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            above.append(stripped.lstrip("# "))
        elif match := _KEY.match(line):
            depth = len(match[1])
            path = [(at, key) for at, key in path if at < depth] + [(depth, match[2])]
            found[".".join(key for _, key in path)] = " ".join(above)
            above = []
        else:
            above = []  # a blank line, an item of a list
    return found


def value_at(values: dict[str, Any], path: str) -> Any:
    """The default of a key."""
    for key in path.split("."):
        values = values[key]
    return values


def table(text: str) -> str:
    """Markdown: one row a key; a service is one row, its keys are those of serviceDefaults."""
    values = yaml.safe_load(text)
    rows = ["| key | default | |", "|---|---|---|"]
    for path, comment in comments(text).items():
        parts = path.split(".")
        if FREE.match(path):
            continue
        default = value_at(values, path)
        if isinstance(default, dict) and default:
            if parts[0] == "services" and len(parts) == 2:
                shown = f"`{default.get('module') or default['image']['repository']}`"
                shown += "" if default.get("enabled", True) else ", off"
            elif any(other.startswith(f"{path}.") and not FREE.match(other) for other in comments(text)):
                shown = ""
            else:
                shown = _format_default(default)
        else:
            shown = _format_default(default)
        rows.append(f"| `{path}` | {shown} | {comment.replace('|', '&#124;')} |")
    return "\n".join(rows)


def _format_default(default: Any) -> str:
    text = json.dumps(default, ensure_ascii=False)
    return f"`{text}`" if len(text) <= _LONGEST_DEFAULT else "see `values.yaml`"


def main() -> int:
    """Write the table, or with --check say whether it is the one that is there."""
    readme = CHART / "README.md"
    was = readme.read_text(encoding="utf-8")
    before, rest = was.split(BEGIN)
    after = rest.split(END)[1]
    made = table((CHART / "values.yaml").read_text(encoding="utf-8"))
    now = f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"
    if "--check" in sys.argv[1:]:
        return 0 if now == was else 1
    readme.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
