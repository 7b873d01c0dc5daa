"""kill -9 of each process while it works, and of the supervisor; stacks side by side; what a shutdown leaves."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

pytestmark = pytest.mark.slow(reason="the product is killed and started again")

SERVICES = ("worker", "search", "retriever", "embedder", "redis", "generator", "gateway")
BACK_SECONDS = 240


def report(name: str, regions: int) -> list[str]:
    """Pages of a document that takes the stack some seconds."""
    line = "In region {n}, plant {m} of {name} made {made} thousand units at a cost of {cost} dollars."
    pages = [
        "\n".join(line.format(n=n, m=m, name=name, made=n * 40 + m, cost=m + 7) for m in range(12))
        for n in range(regions)
    ]
    return [*pages, f"The chief engineer of {name} holds patent number 5512."]


def is_alive(pid: int) -> bool:
    """Whether the process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_of(stack: Any) -> set[int]:
    """The supervisor and every process below it."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found, fresh = set(), {stack.process.pid}
    while fresh:
        found |= fresh
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
    assert set(stack.pids.values()) <= found
    return found


@pytest.mark.parametrize("service", SERVICES)
def test_a_killed_process_costs_time_and_nothing_else(stack: Any, make_pdf: Callable[..., bytes], service: str) -> None:
    """A job that runs when any one process is killed ends well, and a question is answered again."""
    name = f"Foundry {service.title()}"
    job_id = stack.submit((f"{service}.pdf", make_pdf(report(name, 24))))[0]
    stack.wait_until(lambda: stack.job(job_id)["state"] != "queued", 240, "the job runs")
    old = stack.kill(service)
    stack.wait_until(lambda: stack.is_back(service, old), BACK_SECONDS, f"{service} is back")
    job = stack.ended(job_id)
    assert job["state"] == "succeeded", job

    question = {"question": f"Which patent number does the chief engineer of {name} hold?"}

    def answers() -> bool:
        try:
            reply = stack.http.post("/v1/ask", json=question)
        except httpx2.HTTPError:
            return False
        return reply.status_code == 200 and any(
            "5512" in one["quote"] and one["uri"].endswith(f"/{service}.pdf") for one in reply.json()["citations"]
        )

    stack.wait_until(answers, BACK_SECONDS, "the question is answered")
    documents = stack.documents()
    assert {one["id"] for uri, one in documents.items() if uri.endswith(f"/{service}.pdf")} == {job["document_id"]}


@pytest.fixture(scope="module")
def locked(new_stack: Callable[..., Any]) -> Any:
    """A second stack beside the first, with keys on, a key in its client and one document."""
    made = new_stack("--auth")
    key = run("keys", "create", "test", "--home", made.home).stdout.strip()
    made.http.headers["Authorization"] = f"Bearer {key}"
    assert made.http.post("/v1/search", json={"query": "anything"}).json()["passages"] == []
    job = made.ingest(("only-here.txt", b"Only the second stack knows that the vault number is 7741."))[0]
    assert job["state"] == "succeeded"
    return made


@pytest.fixture
def guarded(locked: Any) -> Any:
    """That one, running whatever the test before did to it."""
    if locked.process.poll() is not None:
        locked.start()
    return locked


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quelea_cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_two_stacks_share_nothing_and_keys_open_one(stack: Any, guarded: Any) -> None:
    assert guarded.url != stack.url
    assert not set(guarded.pids.values()) & set(stack.pids.values())
    body = {"question": "What is there?"}
    with httpx2.Client(base_url=guarded.url, timeout=120, trust_env=False) as stranger:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}):
            answer = stranger.post("/v1/ask", json=body, headers=headers)
            assert answer.status_code == 401
            assert answer.json()["error"]["code"] == "UNAUTHENTICATED"
        assert stranger.get("/v1/documents").status_code == 401
        assert stranger.get("/healthz").status_code == 200
    refused = run("ask", "x", "--url", guarded.url, "--api-key", "wrong")
    assert (refused.returncode, "QUELEA_API_KEY" in refused.stderr) == (4, True)
    assert any(uri.endswith("/only-here.txt") for uri in guarded.documents())
    assert not any(uri.endswith("/only-here.txt") for uri in stack.documents())


def test_a_second_up_on_one_home_or_port_is_refused(stack: Any, tmp_path: Path) -> None:
    again = run("up", "--home", stack.home, "--port", 0)
    assert (again.returncode, "already runs in" in again.stderr) == (1, True)
    taken = run("up", "--home", tmp_path, "--port", stack.url.rpartition(":")[2])
    assert (taken.returncode, "is in use" in taken.stderr) == (1, True)


def test_a_killed_supervisor_takes_its_processes_along_and_no_data(guarded: Any) -> None:
    before = all_of(guarded)
    assert len(before) > len(SERVICES)
    guarded.process.kill()
    guarded.process.wait()
    guarded.wait_until(lambda: not any(map(is_alive, before)), 120, "nothing is left")
    guarded.start()
    assert any(uri.endswith("/only-here.txt") for uri in guarded.documents())
    found = guarded.http.post("/v1/search", json={"query": "the vault number"}).json()["passages"]
    assert "7741" in found[0]["text"]


def test_a_shutdown_leaves_no_process(guarded: Any) -> None:
    before = all_of(guarded)
    done = run("down", "--home", guarded.home)
    assert done.returncode == 0, done.stderr
    assert guarded.process.wait(60) == 0
    assert not any(map(is_alive, before))
    assert not (guarded.home / "run/stack.json").exists()
