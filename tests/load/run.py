"""`make load`: the gateway alone under load, its services replaced by mocks with set delays (mocks.py).

Each step is run twice (`--traffic`): in `lockstep`, users begin together and ask again as soon as they are answered, so
that their answers' pieces fall due in the same moments and wait for one another; `spread`, twice as many users wait
between an answer and the next question, a random time as long as an answer on average: about as many questions a
second, at times of their own, as from people at front-ends.

Prints one JSON line per step: answers a second as served, milliseconds added to the ideal, refusals, and what each part
used of the processor. `floor` is what the same users see added where the mocks answer them (direct.py), in a step of
its own before; `gateway_added` is the difference. Gateway, mocks and callers share the machine. `two_cores_could` is
no measurement of served answers: it is 2,000 ms divided by the gateway's processor time per answer.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from direct import copied
from processes import HERE, busy, get, memory, process, until
from quelea_kit.testing import free_port
from whole import QUESTIONS
from whole import stack as whole_stack

QUESTION = "What were Apple's total net sales in the third quarter of fiscal 2023?"
_WARM_SECONDS = 120.0
_SAMPLE_SECONDS = 10.0


@dataclass
class Under:
    """What is under load.

    Attributes:
        ideal: Milliseconds of an answer when nothing but the set delays is in the way.
        direct: Where the mocks answer callers themselves.
        pids: By the part's name; a replica's name is its part's and a number.
    """

    urls: list[str]
    ideal: float
    pids: dict[str, int]
    folder: Path
    questions: str = QUESTION
    direct: str = ""
    peer: str = ""
    """Where hayhooks answers."""
    memory: list[tuple[float, float]] = field(default_factory=list)

    def used(self) -> dict[str, float]:
        """Seconds of processor time by part."""
        total: dict[str, float] = {}
        for name, pid in self.pids.items():
            part = name.partition("-")[0]
            total[part] = total.get(part, 0.0) + busy(pid)
        return total

    def each(self) -> dict[str, tuple[float, float]]:
        """Of every gateway seconds of processor time, and answers."""
        names = [name for name in self.pids if name.startswith("gateway")]
        return {name: (busy(self.pids[name]), answers(url)) for name, url in zip(names, self.urls, strict=True)}

    def held(self) -> float:
        """MiB of all gateways."""
        return sum(memory(pid) for name, pid in self.pids.items() if name.startswith("gateway"))


def answers(url: str) -> float:
    """So many answers a gateway has given, by its own metrics."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as reply:  # noqa: S310  # loopback
        lines = reply.read().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("quelea_answers_total{"))


def compared(under: Under, users: int, seconds: float, *, think: float = 0.0) -> dict[str, Any]:
    """A step, beside what the same users see of the mocks directly, for half as long."""
    alone = step(under, users, max(4.0, seconds / 2), think=think, urls=[under.direct]) if under.direct else {}
    row = step(under, users, seconds, think=think)
    for name in ("p50_ms", "p95_ms") if alone else ():
        floor = alone[f"added_{name}"]
        row |= {f"floor_{name}": floor, f"gateway_added_{name}": row[f"added_{name}"] - floor}
    return row


def step(
    under: Under,
    users: int,
    seconds: float,
    *,
    rate: float = 0.0,
    think: float = 0.0,
    urls: list[str] | None = None,
    model: str = "",
) -> dict[str, Any]:
    """So many users for so long; what Locust and the kernel say of it.

    With a rate: so many questions a second. With `think`: milliseconds between an answer and the next question, on
    average. They ask the gateways, or `urls`; with a model on the OpenAI-compatible route.
    """
    prefix = under.folder / f"users-{users}-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "locust", "-f", str(HERE / "locustfile.py"), "--headless", "--only-summary"]
    command += ["-u", str(users), "-r", str(users), "-t", f"{seconds:.0f}s", "--csv", str(prefix), "--reset-stats"]
    before, held, apart = under.used(), under.held(), under.each()
    used = under.folder / "callers"
    environment = {
        "QUELEA_LOAD_URLS": ",".join(urls or under.urls),
        "QUELEA_LOAD_IDEAL": str(under.ideal),
        "QUELEA_LOAD_PACE": str(rate / users),
        "QUELEA_LOAD_THINK": str(think),
        "QUELEA_LOAD_USED": str(used),
        "QUELEA_LOAD_ASK": under.questions,
        "QUELEA_LOAD_MODEL": model,
    }
    load = os.getloadavg()[0]
    with (under.folder / "locust.log").open("ab") as log:
        subprocess.run(
            command, env={**os.environ, **environment}, stdout=log, stderr=log, check=True, timeout=seconds + 180
        )
    with Path(f"{prefix}_stats.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["Name"]: row for row in csv.DictReader(file)}

    def of(name: str, column: str) -> float:
        return float(rows[name][column]) if name in rows and rows[name][column] != "N/A" else 0.0

    after, later = under.used(), under.each()
    spent = {part: after[part] - before[part] for part in before} | {"callers": float(used.read_text("ascii"))}
    answered, refused = of("answer", "Request Count"), of("429", "Request Count")
    each = {part: round(1000 * seconds / answered, 2) for part, seconds in spent.items()} if answered else {}
    own = {
        name: round(1000 * (used_now - apart[name][0]) / max(1.0, count - apart[name][1]), 2)
        for name, (used_now, count) in later.items()
    }
    whole = sum(spent.values()) or 1.0
    return {
        "users": users,
        "traffic": "paced" if rate else "spread" if think else "lockstep",
        **({"model": model} if model else {}),
        **({"asked_per_second": round(rate, 1)} if rate else {}),
        "answers_per_second": round(of("answer", "Requests/s"), 1),
        "added_p50_ms": of("added", "50%"),
        "added_p95_ms": of("added", "95%"),
        "first_token_p50_ms": of("first token", "50%"),
        "answer_p50_ms": of("answer", "50%"),
        "answer_p95_ms": of("answer", "95%"),
        "ideal_ms": under.ideal,
        "refused_429": round(refused / (answered + refused), 3) if refused else 0.0,
        "refused_p50_ms": of("429", "50%"),
        "refused_p95_ms": of("429", "95%"),
        "failures": int(of("http", "Failure Count")),
        "processor_ms_per_answer": each,
        **({"each_gateway": own} if len(own) > 1 else {}),
        "processor_share": {part: round(seconds / whole, 2) for part, seconds in spent.items()},
        "two_cores_could": round(2000 / each["gateway"]) if each.get("gateway") else 0,
        "memory_mib": [round(held, 1), round(under.held(), 1)],
        "load_before": round(load, 1),
    }


def beside_peer(under: Under, users: int, seconds: float, *, think: float = 0.0) -> Iterator[dict[str, Any]]:
    """A step on the gateway, on its OpenAI-compatible route, and on hayhooks, all with the same users."""
    yield compared(under, users, seconds, think=think)
    if under.peer:
        yield step(under, users, seconds, think=think, model="quelea")
        yield step(under, users, seconds, think=think, model="assistant", urls=[under.peer])


def curve(under: Under, calls: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Refusals as more and more is asked: shares of the capacity, `calls` at once divided by an answer's time."""
    alone = step(under, max(1, calls // 2), seconds)
    capacity = calls * 1000 / max(1.0, alone["answer_p50_ms"])
    yield {"capacity": round(capacity, 1), **alone}
    for share in (0.5, 1.0, 1.5, 2.0, 3.0):
        rate = share * capacity
        # So many users that each has its last answer before it asks again, nearly always.
        users = max(1, round(rate * max(1.0, 2 * alone["answer_p95_ms"] / 1000)))
        yield {"of_capacity": share, **step(under, users, seconds, rate=rate)}


def endurance(under: Under, users: int, minutes: float) -> Iterator[dict[str, Any]]:
    """Memory over minutes of load: a sample every ten seconds, and the slope behind the first two minutes."""
    began, ended = time.monotonic(), threading.Event()

    def sample() -> None:
        while not ended.wait(_SAMPLE_SECONDS):
            under.memory.append((time.monotonic() - began, under.held()))

    watch = threading.Thread(target=sample, daemon=True)
    watch.start()
    row = step(under, users, minutes * 60)
    ended.set()
    watch.join()
    later = [(at / 60, mib) for at, mib in under.memory if at > min(_WARM_SECONDS, minutes * 20)]
    yield {
        **row,
        "minutes": minutes,
        "mib_a_minute": round(slope(later), 3),
        "mib": [round(mib, 1) for _, mib in under.memory],
    }


def slope(points: list[tuple[float, float]]) -> float:
    """Of the straight line through the points, least squares."""
    if len(points) < 2:
        return 0.0
    x_mean, y_mean = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - x_mean) ** 2 for x, _ in points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / spread


def on_mocks(stack: contextlib.ExitStack, given: argparse.Namespace, folder: Path) -> Under:
    """Mocks, and gateways on them."""
    log, port_file = folder / "log", folder / "mocks.json"
    port_file.unlink(missing_ok=True)
    told = (given.retrieve_ms, given.first_token_ms, given.token_ms, given.tokens, given.reader, given.filings)
    command = [sys.executable, str(HERE / "mocks.py"), str(port_file), *map(str, told), str(given.gather_ms)]
    mocks = stack.enter_context(process(command, log))
    ports = until(lambda: json.loads(port_file.read_text()), "mocks.py", log)
    at = f"127.0.0.1:{ports['port']}"
    ideal = given.retrieve_ms + given.first_token_ms + (given.tokens - 1) * given.token_ms
    under = Under([], ideal, {"mocks": mocks.pid}, folder, direct=f"http://127.0.0.1:{ports['direct']}")
    for number in range(given.gateways + bool(given.beside)):
        old = number == given.gateways
        port = free_port()
        settings = dict.fromkeys(("RETRIEVER", "SEARCH", "GENERATOR"), at)
        settings |= {"AUTH": "off", "HTTP_LISTEN": f"127.0.0.1:{port}", "LOG_LEVEL": "warning"}
        settings |= {"MAX_CALLS_PER_KEY": str(given.calls or 100_000), "CALLS_PER_MINUTE_PER_KEY": "100000000"}
        named = {f"QUELEA_GATEWAY_{name}": value for name, value in settings.items()}
        if old:
            named["PYTHONPATH"] = (
                f"{given.beside}/services/gateway:{given.beside}/libs/kit:{given.beside}/libs/fintext:{given.beside}/libs/checker"
            )
        gateway = stack.enter_context(process([sys.executable, "-m", "quelea_gateway"], log, **named))
        under.urls.append(f"http://127.0.0.1:{port}")
        under.pids["gateway-beside" if old else f"gateway-{number}"] = gateway.pid
        until(lambda: get(f"{under.urls[-1]}/readyz"), "the gateway", log)
    if given.peer:
        port = free_port()
        command = [str(given.peer / "bin/hayhooks"), "run", "--host", "127.0.0.1", "--port", str(port)]
        command += ["--pipelines-dir", str(HERE / "peers/hayhooks")]
        named = {"QUELEA_PEER_MOCKS": at, "PYTHONPATH": str(HERE.parents[1] / "proto"), "LOG": "WARNING"}
        named |= {"HAYSTACK_TELEMETRY_ENABLED": "false", "HAYHOOKS_TELEMETRY": "false"}
        under.peer = f"http://127.0.0.1:{port}"
        under.pids["peer"] = stack.enter_context(process(command, log, **named)).pid
        until(lambda: get(f"{under.peer}/status"), "hayhooks", log)
    return under


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", default="20,60,120", help="steps, separated by commas")
    parser.add_argument("--traffic", default="lockstep,spread", help="how users ask; the steps have both in turn")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each step")
    parser.add_argument("--gateways", type=int, default=1, help="replicas; users are spread over them")
    parser.add_argument("--calls", type=int, default=0, help="calls at once that a gateway takes; gives the 429 curve")
    parser.add_argument("--minutes", type=float, default=0.0, help="one step so long, with memory over time")
    parser.add_argument("--retrieve-ms", type=float, default=30.0)
    parser.add_argument("--first-token-ms", type=float, default=100.0)
    parser.add_argument("--token-ms", type=float, default=10.0)
    parser.add_argument("--tokens", type=int, default=20, help="pieces of an answer")
    parser.add_argument(
        "--reader", default="extractive", help="extractive: its figures stand in its quotes; openai: all are checked"
    )
    parser.add_argument("--filings", type=int, default=200, help="documents the answers are from; checks remember some")
    parser.add_argument("--gather-ms", type=float, default=20.0, help="the generator's; 0: each piece by itself")
    parser.add_argument("--beside", type=Path, help="another checkout, of which one more gateway runs, to compare")
    parser.add_argument("--peer", type=Path, help="an environment with hayhooks (peers/make_envs.sh), to compare")
    parser.add_argument("--whole-stack", action="store_true", help="no mocks: all services, one filing in the store")
    parser.add_argument("--keep", type=Path, help="folder for logs and Locust's tables")
    return parser.parse_args()


def main() -> None:
    """Start mocks and gateways, run the steps, print them."""
    given = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    with contextlib.ExitStack() as stack:
        folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quelea-load-")))
        folder.mkdir(parents=True, exist_ok=True)
        if given.whole_stack:
            url, pids = stack.enter_context(whole_stack(folder))
            under = Under([url], 0.0, pids, folder, QUESTIONS)
        else:
            under = on_mocks(stack, given, folder)
        users = [int(part) for part in given.users.split(",")]
        step(under, 4, 3)  # warm
        if under.direct:
            copied(under.urls[0], under.questions, under.direct)
        if given.minutes:
            rows = endurance(under, users[0], given.minutes)
        elif given.calls:
            rows = curve(under, given.calls * given.gateways, given.seconds)
        else:
            kinds = given.traffic.split(",") if under.ideal else ["lockstep"]
            rows = (
                row
                for count in users
                for kind in kinds
                for row in (
                    beside_peer(under, 2 * count, given.seconds, think=under.ideal)
                    if kind == "spread"
                    else beside_peer(under, count, given.seconds)
                )
            )
        for row in rows:
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
