"""python -m quelea_sandbox.bench: how long code takes from the gRPC call to its result, beside plain `docker run`.

With --llm-sandbox PYTHON, the interpreter of an environment that has PyPI's llm-sandbox, beside that too; --llm-image
names an image that it can use (it needs mkdir, chown and a command that stays; the runner image has none of them).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea.sandbox.v1 import sandbox_pb2_grpc as pb_grpc
from quelea_kit.client import channel, stream
from quelea_kit.logging import setup_logging
from quelea_kit.testing import running

from quelea_sandbox.__main__ import build
from quelea_sandbox.service import NAME, SandboxService
from quelea_sandbox.settings import SandboxSettings

PRINT = "print(1)"
PLOT = """
import numpy as np, pandas as pd
import matplotlib; matplotlib.use("Agg")
import matplotlib.pyplot as plt
days = pd.date_range("2024-01-01", periods=250, freq="B")
df = pd.DataFrame({"close": 100 + np.random.default_rng(1).normal(size=250).cumsum()}, index=days)
df["mean"] = df["close"].rolling(20).mean()
df.plot(title="close")
plt.savefig("/tmp/plot.png")
print(df.describe())
"""
_LLM = """
import sys, time
from llm_sandbox import SandboxSession
code, image = sys.argv[1:]
began = time.perf_counter()
with SandboxSession(lang="python", image=image, skip_environment_setup=True, keep_template=True, workdir="/tmp") as box:
    ran = box.run(code)
    seconds = time.perf_counter() - began  # without its end: ours is removed in the background too
assert ran.exit_code == 0 and ran.stdout, ran
print(seconds)
"""


async def _once(stub: pb_grpc.SandboxServiceStub, code: str) -> tuple[float, bool]:
    """Seconds from the call to the end of its stream, and whether the container was warm."""
    began, warm, reason = time.perf_counter(), False, pb.EXIT_REASON_UNSPECIFIED
    call: Any = stub.Execute(pb.ExecuteRequest(code=code), timeout=300)
    async for event in stream(call):
        if event.HasField("started"):
            warm = event.started.warm
        if event.HasField("finished"):
            reason = event.finished.reason
    if reason != pb.EXIT_REASON_OK:
        raise RuntimeError(f"the run ended with {pb.ExitReason.Name(reason)}")
    return time.perf_counter() - began, warm


async def _until_ready(service: SandboxService, number: int) -> None:
    async with asyncio.timeout(300):
        while service.pool.counts.ready < number or service.pool.counts.starting or service.pool.counts.removing:  # noqa: ASYNC110  # a benchmark polls
            await asyncio.sleep(0.05)


def _line(what: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    sys.stdout.write(f"| {what} | {len(ordered)} | {1000 * statistics.median(ordered):.0f} | {1000 * p95:.0f} |\n")
    sys.stdout.flush()


async def _ours(settings: SandboxSettings, rounds: int, callers: int) -> None:
    service = SandboxService(build(settings), settings)
    try:
        async with (
            running(
                lambda server: pb_grpc.add_SandboxServiceServicer_to_server(service, server), [NAME], settings=settings
            ) as target,
            channel(target, NAME) as open_channel,
        ):
            stub = pb_grpc.SandboxServiceStub(open_channel)
            service.start()
            for name, code in (("print(1)", PRINT), ("pandas + plot", PLOT)):
                alone = []
                for _ in range(rounds):
                    await _until_ready(service, 1)
                    seconds, _warm = await _once(stub, code)
                    alone.append(seconds)
                _line(f"{name}, warm, 1 caller", alone)
            for name, code in (("print(1)", PRINT), ("pandas + plot", PLOT)):
                together, warm_ones = [], 0
                for _ in range(max(1, rounds // callers)):
                    await _until_ready(service, callers)
                    results = await asyncio.gather(*(_once(stub, code) for _ in range(callers)))
                    together += [seconds for seconds, _ in results]
                    warm_ones += sum(warm for _, warm in results)
                _line(f"{name}, {callers} callers at once ({warm_ones} of {len(together)} warm)", together)
    finally:
        await service.stop()


def _time(work: Callable[[], object], rounds: int) -> list[float]:
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds


def _docker_run(image: str, code: str) -> None:
    options = ["--rm", "--network", "none", "--memory", "768m", "--cpus", "1", "--pids-limit", "64", "--read-only"]
    tmpfs = ["--tmpfs", "/tmp", "--tmpfs", "/work"]  # noqa: S108  # inside the container
    subprocess.run(  # noqa: S603  # a benchmark of this very command
        ["docker", "run", *options, *tmpfs, image, "python", "-I", "-B", "-c", code],  # noqa: S607  # the reader's docker
        check=True,
        capture_output=True,
        timeout=300,
    )


def _llm_sandbox(python: str, image: str, code: str) -> float:
    command = [python, "-W", "ignore", "-c", _LLM, code, image]
    done = subprocess.run(command, check=True, capture_output=True, timeout=300, text=True)  # noqa: S603  # the same
    return float(done.stdout.splitlines()[-1])


def main() -> None:
    """Print a table in Markdown; times in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--cold-rounds", type=int, default=3)
    parser.add_argument("--llm-sandbox", default="", metavar="PYTHON")
    parser.add_argument("--llm-image", default="")
    chosen = parser.parse_args()
    settings = SandboxSettings(
        min_warm=chosen.callers, max_warm=chosen.callers, max_containers=chosen.callers + 2, log_level="error"
    )
    setup_logging("sandbox", settings)
    sys.stdout.write("| what | n | p50 ms | p95 ms |\n|---|---|---|---|\n")
    asyncio.run(_ours(settings, chosen.rounds, chosen.callers))
    for name, code in (("print(1)", PRINT), ("pandas + plot", PLOT)):
        cold = _time(lambda code=code: _docker_run(settings.image, code), chosen.cold_rounds)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        _line(f"{name}, `docker run` of the same image", cold)
        if chosen.llm_sandbox:
            image = chosen.llm_image or settings.image
            _line(
                f"{name}, llm-sandbox",
                [_llm_sandbox(chosen.llm_sandbox, image, code) for _ in range(chosen.cold_rounds)],
            )


if __name__ == "__main__":
    main()
