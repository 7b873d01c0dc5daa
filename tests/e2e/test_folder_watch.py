"""`quelea ingest --watch` on a running stack: a new file, a new version of it, and a restart."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS = 120.0

Next = Callable[[], dict[str, Any]]


@contextmanager
def watching(folder: Path, url: str) -> Iterator[Next]:
    """The command while the block runs; gives the next thing that it tells."""
    command = [sys.executable, "-m", "quelea_cli", "ingest", "--watch", str(folder), "--url", url, "--json"]
    process = subprocess.Popen(command, cwd=folder.parent, stdout=subprocess.PIPE, text=True)
    deadline = threading.Timer(SECONDS, process.kill)
    deadline.start()

    def listen() -> dict[str, Any]:
        assert process.stdout
        line = process.stdout.readline()
        assert line, "it told nothing before its deadline"
        told: dict[str, Any] = json.loads(line)
        return told

    try:
        yield listen
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=SECONDS)
        assert (process.returncode, out) == (0, "")
    finally:
        deadline.cancel()
        process.kill()
        process.wait()


def test_a_watched_folder_comes_in_and_stays_in_step(
    stack: Any, make_pdf: Callable[..., bytes], tmp_path: Path
) -> None:
    folder = tmp_path / "memos"
    folder.mkdir()
    with watching(folder, stack.url) as listen:
        (folder / "memo.pdf").write_bytes(make_pdf(["Heron Mills sold 1,204 looms in 2031."]))
        assert listen()["state"] == "succeeded"
        first = [one["id"] for one in stack.documents().values() if one["uri"].endswith("/memo.pdf")]
        (folder / "memo.pdf").write_bytes(make_pdf(["Heron Mills sold 1,377 looms in 2031, as corrected."]))
        assert [listen()["replaced"]] == first
    jobs = stack.http.get("/v1/jobs").json()["jobs"]

    with watching(folder, stack.url) as listen:
        (folder / "other.txt").write_text("Heron Mills employs 310 people.")
        other = listen()
    assert (Path(other["path"]).name, other["state"]) == ("other.txt", "succeeded")
    assert len(stack.http.get("/v1/jobs").json()["jobs"]) == len(jobs) + 1
