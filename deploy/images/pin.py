"""Writes services/agent-sandbox/runner/requirements.txt from requirements.in: what pip chooses today, with hashes.

Run it with the Python whose version the image has: `python deploy/images/pin.py`. Read the difference, then commit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[2] / "services" / "agent-sandbox" / "runner"


def main() -> None:
    """Resolve, and write one line a release."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--report", report.name, "-r", str(RUNNER / "requirements.in")]
        subprocess.run(command, check=True)  # noqa: S603 - pip, with a file of this repository
        chosen = json.loads(Path(report.name).read_text())["install"]
    lines = [
        f"# By deploy/images/pin.py from requirements.in, CPython {sys.version_info.major}.{sys.version_info.minor}."
    ]
    for item in sorted(chosen, key=lambda item: item["metadata"]["name"].lower()):
        digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{item['metadata']['name']}=={item['metadata']['version']} --hash=sha256:{digest}")
    (RUNNER / "requirements.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
