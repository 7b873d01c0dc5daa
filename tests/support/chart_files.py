"""What the chart puts into pods beside the services, run as a program."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import Any

from support.chart_render import CHART

FILES = CHART / "files"


def run_file(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One of the chart's Python files with these arguments and, beside this process's own, these variables."""
    return subprocess.run(
        [sys.executable, str(FILES / f"{name}.py"), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def load_file(name: str) -> Any:
    """The same as a module."""
    spec = importlib.util.spec_from_file_location(f"chart_{name}", FILES / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
