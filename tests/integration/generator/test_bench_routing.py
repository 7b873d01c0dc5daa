"""The bench of routing, over engines made here that count what a prefix cache would find."""

import json
import subprocess
import sys
from typing import Any


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "quelea_generator.bench_routing", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_affinity_finds_more_in_the_caches_than_round_robin(engines: list[Any]) -> None:
    # Five questions a group: .8 is all that can be found. What waits at one engine may be worth a group at both.
    shape = "--model tiny --groups 10 --questions 5 --words 350 --rounds 2 --at-once 2".split()
    done = run(*(engine.url for engine in engines), *shape)
    assert done.returncode == 0, done.stderr
    found = {line["policy"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert {line["requests"] for line in found.values()} == {100}
    assert found["affinity"]["cached_share"] <= 0.801
    assert found["affinity"]["cached_share"] > found["round robin"]["cached_share"] + 0.05
    assert all(len(engine.bodies) > 50 for engine in engines)
    assert found["affinity"]["first_text_p95_ms"] >= found["affinity"]["first_text_p50_ms"] > 0


def test_what_is_missing_is_said(engines: list[Any]) -> None:
    assert "two different engines" in run(engines[0].url, engines[0].url).stderr
    engines[1].stop()
    done = run(*(engine.url for engine in engines), "--model", "tiny", "--wait-seconds", "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "An engine failed" in done.stderr
