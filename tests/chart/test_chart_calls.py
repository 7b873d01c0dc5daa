"""The table of arrows is what the services do: who connects to whom while a document comes in and is asked about."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading

import psutil
import yaml
from support.chart_render import CHART
from support.stack import Stack

Arrow = tuple[str, str]


def _family(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def _connections(pid: int) -> list[psutil._common.pconn]:
    found = []
    for process in _family(pid):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            found += process.net_connections(kind="tcp")
    return found


def _calls(pids: dict[str, int]) -> set[Arrow]:
    """Who is connected to whom now: caller, callee."""
    connections = {name: _connections(pid) for name, pid in pids.items()}
    listens = {c.laddr.port: name for name, own in connections.items() for c in own if c.status == psutil.CONN_LISTEN}
    return {
        (name, listens[c.raddr.port])
        for name, own in connections.items()
        for c in own
        if c.status == psutil.CONN_ESTABLISHED and c.raddr and c.raddr.port in listens and c.laddr.port not in listens
    }


def test_the_services_call_one_another_as_the_table_says(stack: Stack) -> None:
    pids, seen, enough = stack.pids, set(), threading.Event()

    def watch() -> None:
        while not enough.is_set():
            seen.update(_calls(pids))
            enough.wait(0.1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for what in ("ingest", "ask"):
            done = subprocess.run(
                [sys.executable, str(CHART / "files/helm_test.py"), what],
                env={"QUELEA_URL": stack.url, "QUELEA_KEY": "none"},
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert done.returncode == 0, done.stderr
    finally:
        enough.set()
        watcher.join()
    arrows = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["networkPolicy"]["arrows"]
    table = {(caller, callee.partition(":")[0]) for caller, callees in arrows.items() for callee in callees}
    # Here the store is embedded, and no beat, engine, sandbox or door runs.
    assert seen == {(caller, callee) for caller, callee in table if caller in pids and callee in pids}
    assert len(seen) == 8
