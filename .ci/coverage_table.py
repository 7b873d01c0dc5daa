"""Prints what the tests ran of each distribution, and of all: after `coverage run`, in the environment of the tests."""

from __future__ import annotations

import io
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import coverage


def main() -> int:
    """Combine what each process left, and print."""
    measured = coverage.Coverage(config_file="pyproject.toml")
    measured.combine(keep=True)
    kept = Path(".cache/ci/coverage.json")
    measured.json_report(outfile=str(kept))
    files = json.loads(kept.read_text())["files"]
    statements: dict[str, int] = defaultdict(int)
    missing: dict[str, int] = defaultdict(int)
    for path, found in files.items():
        parts = Path(path).parts
        for name in ("/".join(parts[: 1 if parts[0] in ("client", "cli", "evaluation", "training") else 2]), "all"):
            statements[name] += found["summary"]["num_statements"]
            missing[name] += found["summary"]["missing_lines"]
    out, by = io.StringIO(), os.environ.get("QUELEA_MEASURED", "the tests that were measured")
    for name in sorted(statements, key=lambda name: (name == "all", name)):
        share = 100 * (1 - missing[name] / max(statements[name], 1))
        out.write(f"{name:24} {statements[name]:7,} statements {share:6.1f} % run by {by}\n")
    sys.stdout.write(out.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main())
