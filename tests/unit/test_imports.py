"""What a process does not load at its start: heavy libraries that only some calls, or some deployments, use.

An import at the top of any module brings such a library back into every process, unnoticed. The measurements are in
docs/experiments/2026-11-29-start-up.md.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

_LOADED = "import importlib, json, sys; importlib.import_module(sys.argv[1]); print(json.dumps(sorted(sys.modules)))"


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        (
            "quelea_gateway.__main__",
            {"mcp", "mcp_types", "openpyxl", "docx", "reportlab", "nbformat", "authlib", "joserfc"},
        ),
        ("quelea_generator.__main__", {"openai", "aiohttp"}),
    ],
)
def test_a_start_loads_no_library_that_only_some_calls_use(module: str, unwanted: set[str]) -> None:
    done = subprocess.run([sys.executable, "-c", _LOADED, module], capture_output=True, check=True, timeout=120)
    loaded = set(json.loads(done.stdout))
    assert module.partition(".")[0] in loaded
    assert not unwanted & loaded
