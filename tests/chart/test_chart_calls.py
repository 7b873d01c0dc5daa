"""The table of arrows is what processes do: who connects to whom while documents come in, questions are asked and the
agent works.

Seen from outside, in the tables of the kernel: what a process has open at another's port. QUESTIONS, QDRANT and AGENT
say in which test each arrow of the table is seen, UNCOVERED which are not and why; an arrow that is in none fails.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from quelea_kit.testing import free_port, wait_until
from support.chart_render import CHART, REPOSITORY
from support.sandbox import no_engine
from support.scripted_model import NAME, scripted_model
from support.stack import Stack

Arrow = tuple[str, str]
DECISIONS = REPOSITORY / "samples/agent/nvidia_two_weeks.json"
RUN_SECONDS = 240
ROUNDS = 5
"""A connection of milliseconds may be missed by who looks now and then: the same is done again."""
ESTABLISHED, LISTEN = "01", "0A"
QUESTIONS = {
    ("gateway", "retriever"), ("gateway", "search"), ("gateway", "generator"), ("retriever", "embedder"),
    ("search", "retriever"), ("search", "redis"), ("worker", "retriever"), ("worker", "redis"), ("test", "gateway"),
}  # fmt: skip
QDRANT = {("retriever", "qdrant")}
AGENT = {
    ("gateway", "sandbox"), ("gateway", "door"), ("sandbox", "door"), ("generator", "engine"), ("beat", "redis"),
}  # fmt: skip
_JOBS = "jobs; tests/integration/retriever and search run their commands, test_chart_jobs.py compares their settings"
UNCOVERED = {
    ("search", "door"): "filings are fetched only when somebody asks for them: test_fetch_filings.py",
    ("worker", "door"): "likewise",
    ("gateway", "redis"): "only with signIn or limits.shared: tests/integration/gateway/test_shared_redis.py",
    ("qdrant", "qdrant"): "members of a Qdrant cluster; no Qdrant server can be had where these tests run",
    (
        "evaluation",
        "gateway",
    ): "a job: tests/contract/evaluation runs its command, test_chart_evaluation.py has its settings",
    ("evaluation", "engine"): "likewise",
    **dict.fromkeys([("maintenance", "qdrant"), ("maintenance", "embedder"), ("maintenance", "redis")], _JOBS),
}


def table() -> set[Arrow]:
    """Caller and callee of every arrow in values.yaml."""
    arrows = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["networkPolicy"]["arrows"]
    return {(caller, callee.partition(":")[0]) for caller, callees in arrows.items() for callee in callees}


def _family(pid: int) -> list[int]:
    """A process and what it has started, asked of the kernel: cheap enough to be asked all the time."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def _sockets(pid: int) -> set[str]:
    """Inodes of what a process and its children have open."""
    found: set[str] = set()
    for one in _family(pid):
        with contextlib.suppress(OSError):
            for file in Path(f"/proc/{one}/fd").iterdir():
                with contextlib.suppress(OSError):
                    found.add(str(file.readlink()).removeprefix("socket:[").removesuffix("]"))
    return found


def _calls(pids: dict[str, int], fixed: dict[int, str]) -> set[Arrow]:
    """Who is connected to whom now: caller, callee. The kernel's table is read once for all."""
    own = {inode: name for name, pid in pids.items() for inode in _sockets(pid)}
    listens, connected = dict(fixed), []
    for kind in ("tcp", "tcp6"):
        for line in Path("/proc/net", kind).read_text(encoding="ascii").splitlines()[1:]:
            _, here, there, state, *_ = words = line.split()
            if name := own.get(words[9]):
                ports = int(here.rpartition(":")[2], 16), int(there.rpartition(":")[2], 16)
                if state == LISTEN:
                    listens[ports[0]] = name
                elif state == ESTABLISHED:
                    connected.append((name, *ports))
    return {(name, listens[to]) for name, at, to in connected if to in listens and at not in listens}


@contextlib.contextmanager
def watching(pids: Callable[[], dict[str, int]], fixed: dict[int, str] | None = None) -> Iterator[set[Arrow]]:
    """The calls seen so far; `fixed` names ports of servers in this process."""
    seen: set[Arrow] = set()
    enough = threading.Event()

    def watch() -> None:
        while not enough.is_set():
            seen.update(_calls(pids(), fixed or {}))
            enough.wait(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        enough.set()
        watcher.join()


def test_every_arrow_of_the_table_is_seen_below_or_said_not_to_be() -> None:
    covered = QUESTIONS | QDRANT | AGENT
    assert covered <= table()
    assert table() - covered <= UNCOVERED.keys()
    assert not covered & UNCOVERED.keys()


def test_documents_and_questions(stack: Stack) -> None:
    pids = dict(stack.pids)
    with watching(lambda: dict(pids)) as seen:
        for _ in range(ROUNDS):
            for what in ("ingest", "ask"):  # both: what the one brings in the other takes out
                environment = {"QUELEA_URL": stack.url, "QUELEA_KEY": "none"}
                command = [sys.executable, str(CHART / "files/helm_test.py"), what]
                with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as done:
                    pids["test"] = done.pid
                    _, said = done.communicate(timeout=300)
                assert done.returncode == 0, said
            if seen >= QUESTIONS:
                break
    assert seen == QUESTIONS


class _Slow(http.server.BaseHTTPRequestHandler):
    """Stands for Qdrant: it takes its time, so that the connection is seen, and knows nothing."""

    def do_GET(self) -> None:  # the base class's name
        time.sleep(1)
        self.send_error(503)

    do_POST = do_PUT = do_GET  # noqa: N815  # as above


def test_the_retriever_calls_a_qdrant_server(tmp_path: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Slow) as silent:
        threading.Thread(target=silent.serve_forever, args=(0.05,), daemon=True).start()
        told = {
            "QUELEA_RETRIEVER_LISTEN": f"127.0.0.1:{free_port()}",
            "QUELEA_RETRIEVER_STORE": "qdrant",
            "QUELEA_RETRIEVER_QDRANT_URL": f"http://127.0.0.1:{silent.server_port}",
            "QUELEA_RETRIEVER_EMBEDDER": f"127.0.0.1:{free_port()}",
        }
        with (tmp_path / "retriever.log").open("wb") as log:
            retriever = subprocess.Popen(
                [sys.executable, "-m", "quelea_retriever"], env={**os.environ, **told}, stdout=log, stderr=log
            )
        try:
            with watching(lambda: {"retriever": retriever.pid}, {silent.server_port: "qdrant"}) as seen:
                wait_until(lambda: seen >= QDRANT, seconds=240, what="the retriever calls Qdrant")
        finally:
            retriever.kill()
            retriever.wait()
            silent.shutdown()
    assert seen == QDRANT


@pytest.mark.slow(reason="starts the whole product with its agent, whose code runs in containers")
def test_the_agent_its_sandbox_and_an_engine(tmp_path: Path) -> None:
    """A run of the agent with recorded decisions, code in real containers, and the relay of the sandbox's pod."""
    if why := no_engine():
        pytest.skip(f"ARROWS {sorted(AGENT)} ARE NOT COMPARED WITH CALLS: {why}")
    data = free_port()
    told = {
        "QUELEA_SEARCH_WEB": "true",  # there is a beat then
        "QUELEA_SEARCH_REREAD_SECONDS": "2",
        "QUELEA_MARKET_HTTP_LISTEN": f"127.0.0.1:{data}",
        "QUELEA_SANDBOX_MAX_CONTAINERS": "2",
        "QUELEA_SANDBOX_PRELOAD": "",
    }
    path = str(tmp_path / "door.sock")
    relay = subprocess.Popen([sys.executable, str(CHART / "files/relay.py"), path, f"127.0.0.1:{data}"])
    with scripted_model(DECISIONS) as (url, server):
        decide = server.decide

        def slowly(body: dict[str, Any]) -> str:
            time.sleep(1)  # a model thinks; the connection can be seen meanwhile
            return decide(body)

        server.decide = slowly  # type: ignore[method-assign]  # the test's own server
        options = ("--agent", "--reader", "openai", "--openai-base-url", url, "--openai-model", NAME)
        try:
            stack = Stack(tmp_path / "home", *options, environment=told)
            try:
                # The relay is a container of the sandbox's pod.
                whole = [("sandbox+relay", relay.pid), *stack.pids.items()]
                with watching(lambda: dict(whole), {server.server_address[1]: "engine"}) as seen:
                    _run_the_agent(stack)
                    with socket.socket(socket.AF_UNIX) as guest:
                        guest.connect(path)  # held open until it has been seen
                        wait_until(lambda: _of_pods(seen) >= AGENT, what=f"all of {sorted(AGENT)}")
            finally:
                stack.stop()
        finally:
            relay.kill()
            relay.wait()
    assert _of_pods(seen) <= table()


def _of_pods(seen: set[Arrow]) -> set[Arrow]:
    return {(caller.partition("+")[0], callee) for caller, callee in list(seen)}


def _run_the_agent(stack: Stack) -> None:
    told = json.loads(DECISIONS.read_text(encoding="utf-8"))
    started = stack.http.post("/v1/agent/runs", json={"question": told["question"], "as_of": told["as_of"]})
    assert started.status_code in (200, 202), started.text
    run, last = started.json()["id"], ""

    def ended() -> bool:
        nonlocal last
        last = stack.http.get(f"/v1/agent/runs/{run}").json()["state"]
        return last not in ("queued", "running")

    stack.wait_until(ended, RUN_SECONDS, lambda: f"the run is {last}")
