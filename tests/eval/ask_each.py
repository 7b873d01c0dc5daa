"""Ask every question of a file with expected kinds (periods.jsonl) of a running Quelea, and count how they end.

    .venv/bin/python tests/eval/ask_each.py tests/eval/periods.jsonl http://127.0.0.1:8080

Of kind "real": `first` when the figure is in the first quote (its row as printed does not count where a column was
chosen), `quoted` when it is in another one or in the row, else `missed` or `declined`. Of kind "exists", an odd period
that there is, `right` unless a notice says that there is none. Of others `declined` is right.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2

_ROW = re.compile("from the row|见表格行")
_NONE = re.compile("There is no such period|No report can be|不存在这样的期间|不可能有该期间")


def outcome(expected: dict[str, Any], answer: dict[str, Any]) -> str:
    """How one question ended."""
    if expected["kind"] == "exists":
        return "denied" if any(_NONE.match(notice) for notice in answer["notices"]) else "right"
    if answer["declined"]:
        return "declined"
    lines = [line for line in answer["answer"].splitlines()[1:] if line.strip()]
    if expected["kind"] != "real":
        return "answered"
    figures = expected["figures"]
    if lines and any(figure in _ROW.split(lines[0])[0] for figure in figures):
        return "first"
    return "quoted" if any(figure in answer["answer"] for figure in figures) else "missed"


def main(path: str, url: str) -> None:
    """Print each question that did not end as wanted, then the counts."""
    counts: Counter[str] = Counter()
    with httpx2.Client(base_url=url, timeout=120) as client:
        for line in Path(path).read_text("utf-8").splitlines():
            expected = json.loads(line)
            reply = client.post("/v1/ask", json={"question": expected["question"], "route": "local"})
            answer = reply.raise_for_status().json()
            end = outcome(expected, answer)
            counts[f"{expected['id'][:2]} {expected['kind']}: {end}"] += 1
            if end not in ("first", "right", "declined" if expected["kind"] != "real" else ""):
                print(expected["id"], end, expected["question"], *answer["notices"], sep=" | ")
    for name, count in sorted(counts.items()):
        print(f"{count:4} {name}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8080")
