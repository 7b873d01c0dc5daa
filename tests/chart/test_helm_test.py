"""What `helm test` runs: it does real work, fails where that fails, and bears with a release that is still starting."""

from __future__ import annotations

import http.server
import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from support.chart_files import load_file, run_file
from support.chart_render import MATRIX, merged, of_kind, render
from support.stack import Stack


def test_helm_test_ingests_and_asks_for_real(stack: Stack) -> None:
    told = {"QUELEA_URL": stack.url, "QUELEA_KEY": "none-is-asked-for"}
    early = run_file("helm_test", "ask", **told)
    assert early.returncode == 1, "a question about a document that is not there passed"
    assert "FAILED" in early.stderr
    for _ in range(2):  # and again, as after an upgrade
        done = run_file("helm_test", "ingest", **told)
        assert done.returncode == 0, done.stderr
    answered = run_file("helm_test", "ask", **told)
    assert answered.returncode == 0, answered.stderr
    assert "4,517" in answered.stdout
    assert stack.documents() == {}, "it leaves nothing behind"


def test_helm_test_fails_without_an_agent(stack: Stack) -> None:
    done = run_file("helm_test", "code", QUELEA_URL=stack.url, QUELEA_KEY="k")
    assert done.returncode == 1
    assert "FAILED: POST /v1/agent/runs" in done.stderr


@pytest.mark.parametrize(
    ("kind", "printed", "passes"),
    [("execution", "5,050", True), ("execution", "5,051", False), ("passage", "5050", False), ("", "5050", False)],
)
def test_helm_test_of_the_sandbox_wants_a_result_of_code(kind: str, printed: str, passes: bool) -> None:
    polls: list[str] = []
    answer = {"text": printed, "sources": [{"kind": kind, "excerpt": printed}]} if kind else None

    class Gateway(http.server.BaseHTTPRequestHandler):
        def _say(self, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            assert self.headers["Authorization"] == "Bearer k"
            self.rfile.read(int(self.headers["Content-Length"]))
            self._say({"id": "r1", "state": "queued"})

        def do_GET(self) -> None:
            polls.append(self.path)
            self._say({"state": "running" if len(polls) < 2 else "finished", "answer": answer})

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        done = run_file("helm_test", "code", QUELEA_URL=f"http://127.0.0.1:{server.server_port}", QUELEA_KEY="k")
        server.shutdown()
    assert (done.returncode == 0) is passes, done.stderr
    assert polls == ["/v1/agent/runs/r1"] * 2


@pytest.mark.parametrize(
    ("says", "passes"),
    [
        ([(503, "The sandbox service is not ready yet."), (409, "No language model is configured, and …")], True),
        ([(409, "The agent is off.")], False),
        ([(200, "")], False),
    ],
)
def test_helm_test_of_the_sandbox_without_a_model_waits_for_the_sandbox(
    says: list[tuple[int, str]], passes: bool
) -> None:
    """The gateway asks the sandbox's health first: that it then wants a model says that containers start."""
    seen: list[str] = []

    class Gateway(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, message = says[len(seen)]
            seen.append(self.path)
            data = json.dumps({"error": {"message": message}} if message else {"id": "r1"}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        done = run_file("helm_test", "sandbox", QUELEA_URL=f"http://127.0.0.1:{server.server_port}", QUELEA_KEY="k")
        server.shutdown()
    assert (done.returncode == 0) is passes, done.stderr
    assert seen == ["/v1/agent/runs"] * len(says)


def test_the_release_has_the_test_that_its_reader_allows() -> None:
    def tests(values: Any) -> list[str]:
        return [pod["spec"]["containers"][0]["command"][-1] for pod in of_kind(render(values), "Pod")]

    assert tests(MATRIX["small"]) == ["ingest", "ask"]
    assert tests(MATRIX["pods"]) == ["ingest", "ask", "sandbox"], "the extractive reader writes no code"
    model = {"reader": {"endpoint": "http://engine:8000/v1", "model": "m"}}
    assert tests(merged(MATRIX["pods"], model)) == ["ingest", "ask", "code"]


class _Starting(http.server.BaseHTTPRequestHandler):
    """A gateway that has no place, then no retriever, then breaks a connection, then answers."""

    seen: list[tuple[str, str]]

    def _say(self, status: int, body: Any, **headers: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(("POST", self.path))
        match len(self.seen):
            case 1:
                self._say(429, {"error": {"code": "OVERLOADED"}}, Retry_After="2")
            case 2:
                self._say(503, {"error": {"code": "UNAVAILABLE"}})
            case 3:
                self.close_connection = True  # and not a word
            case _:
                self._say(200, {"id": "r1"})

    def do_GET(self) -> None:
        answer = {"text": "5050", "sources": [{"kind": "execution", "excerpt": "5050"}]}
        self._say(200, {"state": "finished", "answer": answer})

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def test_helm_test_bears_with_services_that_have_not_found_one_another() -> None:
    _Starting.seen = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Starting) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        done = run_file("helm_test", "code", QUELEA_URL=f"http://127.0.0.1:{server.server_port}", QUELEA_KEY="k")
        server.shutdown()
    assert done.returncode == 0, done.stderr
    assert _Starting.seen == [("POST", "/v1/agent/runs")] * 4


def test_helm_test_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    helm_test = load_file("helm_test")
    slept: list[float] = []
    now = [0.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    def refused(*_: Any) -> dict[str, Any]:
        raise helm_test.NotNow("POST /v1/ask: 503", "60")

    monkeypatch.setattr(helm_test, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: now[0]))
    monkeypatch.setattr(helm_test, "STARTED", 0.0)
    monkeypatch.setattr(helm_test, "once", refused)
    with pytest.raises(helm_test.Failed, match="503, for 240 s"):
        helm_test.call("POST", "/v1/ask", b"")
    assert set(slept) == {helm_test.LONGEST_PAUSE}
    assert sum(slept) < helm_test.SECONDS
