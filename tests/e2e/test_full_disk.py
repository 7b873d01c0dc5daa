"""A home on a small disk: what happens when it is nearly full, full, and free again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "support/full_disk.py"


@pytest.mark.slow(reason="a stack starts, its disk is filled, and it has to heal by itself")
def test_a_full_disk_refuses_new_work_and_heals_by_itself(tmp_path: Path) -> None:
    alone = ["unshare", "-Urm"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system gives no namespaces to its users")
    done = subprocess.run(
        [*alone, sys.executable, str(SCRIPT), str(tmp_path)], check=False, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-3000:]
