"""Probe of a process whose main thread must wake up now and then: loop_alive.py PID [SECONDS] [FOLDER].

It compares how often the thread has gone to sleep (voluntary_ctxt_switches) with what the probe saw before; a thread
for which that has not changed for SECONDS (300) hangs.
"""

# ruff: noqa: T201  # a probe or a test says on its output why

import json
import re
import sys
import time
from pathlib import Path


def main(pid: str, seconds: float = 300.0, folder: str = "/tmp") -> int:  # noqa: S108  # an empty folder of this container alone
    """0 while it turns."""
    try:
        status = Path("/proc", pid, "status").read_text(encoding="utf-8")
    except OSError:
        print(f"there is no process {pid}", file=sys.stderr)
        return 1
    slept = int(re.findall(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)[0])
    now = time.monotonic()
    kept = Path(folder, f"loop-{pid}.json")
    try:
        before = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    if before.get("slept") != slept or now < before.get("since", now):
        kept.write_text(json.dumps({"slept": slept, "since": now}), encoding="utf-8")
        return 0
    silence = now - before["since"]
    if silence <= seconds:
        return 0
    print(f"process {pid} has not woken up for {silence:.0f} s", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *(float(text) for text in sys.argv[2:3]), *sys.argv[3:4]))
