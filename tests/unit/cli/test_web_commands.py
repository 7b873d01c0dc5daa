"""The commands of the web half, against a server that answers as a gateway does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from quelea_cli.errors import EXIT_USAGE
from quelea_cli.output import route_line

if TYPE_CHECKING:
    from .conftest import FakeGateway

Run = Callable[..., tuple[int, str, str]]
ADDRESS = "http://filings.localhost:2345/nvidia/10-q.pdf"
GATE: dict[str, Any] = {
    "kind": "calibrated", "probability": 0.312, "threshold": 0.6, "passed": False,
    "reasons": ["the period is newer than anything stored", "no passage names Data Center"],
}  # fmt: skip
WEB = {
    "provider": "searxng", "pages_read": 5, "cached": True, "problems": ["news.localhost: robots.txt closes it"],
    "kept": [{"url": ADDRESS, "state": "kept", "job_id": "j5"},
             {"url": "http://news.localhost:2345/a", "state": "pending", "job_id": ""}],
}  # fmt: skip
CITATION = {
    "number": 1, "document_id": "d9", "title": "NVIDIA 10-Q", "uri": ADDRESS, "page": 3, "published": "2023-08-28",
    "quote": "13,507", "start": 1, "end": 7, "source": "web", "fetched": "2026-11-22T01:50:12Z", "period": "",
}  # fmt: skip
ANSWER: dict[str, Any] = {
    "answer": "Revenue was 13,507 [1].", "citations": [CITATION], "route": "local+web", "gate": GATE, "web": WEB,
    "as_of": "2026-11-22", "reader": "extractive",
}  # fmt: skip
PAGE = {
    "url": ADDRESS, "host": "filings.localhost:2345", "state": "pending", "published": "2023-08-28", "title": "NVIDIA",
    "expires": "2027-08-28T01:02:03Z", "reason": "awaiting approval", "queries": ["q"],
}  # fmt: skip


def sent(gateway: FakeGateway, index: int = -1) -> Any:
    return json.loads(gateway.seen[index][3])


def test_ask_says_the_route_the_verdict_and_what_came_of_the_web(gateway: FakeGateway, run: Run) -> None:
    gateway.answer("/v1/ask", (200, ANSWER))
    code, out, err = run("ask", "q", "--route", "web", "--no-stream")
    assert (code, err) == (0, "")
    assert sent(gateway) == {"question": "q", "route": "web"}
    lines = [line for line in out.splitlines() if line]
    assert lines[0] == (
        "route: local+web · local evidence is not enough (calibrated 0.31 < 0.60) · "
        "the period is newer than anything stored; no passage names Data Center"
    )
    assert "[1] NVIDIA 10-Q · p. 3 (web, published 2023-08-28, fetched 2026-11-22 01:50)" in lines
    assert f"    {ADDRESS}" in lines
    assert "web: searxng, 5 pages read, results from the cache" in lines
    assert f"  kept: {ADDRESS} (job j5)" in lines
    assert "  pending: http://news.localhost:2345/a; `quelea docs approve URL` lets it in" in lines
    assert "note: web: news.localhost: robots.txt closes it" in lines
    assert "\x1b" not in out


def test_the_route_is_told_when_the_stream_begins(gateway: FakeGateway, run: Run) -> None:
    started = {"reading": {"text": "NVIDIA"}, "route": "local", "gate": {**GATE, "passed": True, "probability": 0.97}}
    events = (("started", started), ("delta", {"text": "It is."}), ("answer", {**ANSWER, "web": None}))
    stream = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    gateway.answer("/v1/ask", (200, stream.encode()))
    lines = run("ask", "q")[1].splitlines()
    assert lines[0] == "reading: NVIDIA"
    assert lines[1].startswith("route: local · local evidence is enough (calibrated 0.97 ≥ 0.60)")
    assert "web:" not in "\n".join(lines)
    assert "route" not in sent(gateway)


def test_a_route_that_the_caller_chose_has_no_verdict() -> None:
    gate = {"kind": "none", "probability": 0.0, "threshold": 0.0, "passed": False, "reasons": ["the caller chose it"]}
    assert route_line({"route": "local+web", "gate": gate}) == "route: local+web · the caller chose it"
    assert route_line({"route": "local"}) == ""


def test_ask_takes_no_other_route(gateway: FakeGateway, run: Run) -> None:
    assert run("ask", "q", "--route", "sideways")[0] == EXIT_USAGE
    assert gateway.seen == []


def test_addresses_are_ingested_beside_files(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    code, out, err = run("ingest", ADDRESS, tmp_path / "a.txt", ADDRESS, "--metadata", '{"company": "NVIDIA"}')
    assert (code, err) == (0, "")
    posts = [body for method, path, _, body in gateway.seen if (method, path) == ("POST", "/v1/documents")]
    assert len(posts) == 2
    assert json.loads(posts[0]) == {"url": ADDRESS, "metadata": {"company": "NVIDIA"}}
    assert f"ready   {ADDRESS} (3 pages)" in out
    assert "2 documents ready" in out


def test_an_address_that_is_refused_fails_alone(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    refused = {"code": "INVALID_INPUT", "message": "10.0.0.1 is a private address.", "details": {}}
    gateway.jobs["j1"] = [{"id": "j1", "state": "succeeded", "progress": {"done": 1, "total": 1}}]
    taken = {"jobs": [{"id": "j1", "filename": "a.txt"}], "errors": []}
    gateway.answer("/v1/documents", (400, {"error": refused}), (202, taken))
    code, out, _ = run("ingest", "http://10.0.0.1/x", tmp_path / "a.txt", "--json")
    assert code == 1
    first, second = json.loads(out)["jobs"]
    assert (first["url"], first["error"]) == ("http://10.0.0.1/x", "10.0.0.1 is a private address.")
    assert (second["path"], second["state"]) == (str(tmp_path / "a.txt"), "succeeded")


def test_pages_of_the_web_in_a_pipe(gateway: FakeGateway, run: Run) -> None:
    gateway.answer("/v1/web/pages", (200, {"pages": [PAGE], "total": 1}))
    code, out, _ = run("docs", "--web", "--state", "pending", "--host", "a.b", "--host", "c.d", "--from", "2026-11-01")
    assert code == 0
    assert out == (
        "pending\tfilings.localhost:2345\t2023-08-28\t2027-08-28 01:02\tNVIDIA\tawaiting approval\t" + ADDRESS + "\n"
    )
    assert gateway.seen[-1][2] == {
        "page_size": ["1000"], "state": ["pending"], "host": ["a.b", "c.d"], "added_from": ["2026-11-01"],
    }  # fmt: skip
    assert json.loads(run("docs", "--web", "--json")[1])["total"] == 1
    assert run("docs", "--host", "a.b")[0] == EXIT_USAGE


@pytest.mark.parametrize(
    ("name", "says"), [("approve", "approved"), ("reject", "rejected"), ("roll-back", "rolled back")]
)
def test_decisions(gateway: FakeGateway, run: Run, name: str, says: str) -> None:
    gateway.answer(f"/v1/web/pages/{name}", (200, {"pages": [PAGE], "jobs": [{"id": "j7"}]}))
    code, out, _ = run("docs", name, ADDRESS, "--host", "a.b", "--from", "2026-11-01", "--to", "2026-11-22")
    assert code == 0
    assert out == f"{says}  {ADDRESS}\njob j7; `quelea jobs j7` shows its progress\n"
    assert sent(gateway) == {
        "urls": [ADDRESS], "hosts": ["a.b"], "added_from": "2026-11-01", "added_to": "2026-11-22",
    }  # fmt: skip
    assert json.loads(run("docs", name, "--state", "pending", "--json")[1])["jobs"] == [{"id": "j7"}]
    assert sent(gateway) == {"states": ["pending"]}


def test_a_decision_about_nothing_asks_nobody(gateway: FakeGateway, run: Run) -> None:
    code, _, err = run("docs", "roll-back")
    assert code == EXIT_USAGE
    assert "--host" in err
    gateway.answer("/v1/web/pages/reject", (200, {"pages": [], "jobs": []}))
    assert "No web page" in run("docs", "reject", "--host", "nowhere")[1]
    assert len(gateway.seen) == 1


def test_dead_letters_are_listed_and_replayed(gateway: FakeGateway, run: Run) -> None:
    job = {
        "id": "9", "state": "failed", "filename": "", "url": ADDRESS, "lane": "reread", "replayable": True,
        "progress": {"done": 0, "total": 0}, "error": "The retriever did not answer.",
    }  # fmt: skip
    gateway.answer("/v1/jobs", (200, {"jobs": [job]}))
    line = f"9  failed     0/0  {ADDRESS}  [reread]  The retriever did not answer.  (can be replayed)\n"
    assert run("jobs", "--failed")[1] == line
    assert gateway.seen[-1][2]["replayable"] == ["true"]
    gateway.answer("/v1/jobs/replay", (200, {"jobs": [{**job, "state": "queued", "error": None, "replayable": False}]}))
    assert run("jobs", "replay", "9", "10")[1] == f"9  queued     0/0  {ADDRESS}  [reread]\n"
    assert sent(gateway) == {"ids": ["9", "10"]}
    assert json.loads(run("jobs", "replay", "--all", "--json")[1])["jobs"][0]["id"] == "9"
    assert sent(gateway) == {"ids": []}


@pytest.mark.parametrize("arguments", [("replay",), ("replay", "1", "--all"), ("1", "2"), ("--all",)])
def test_jobs_says_how_it_is_used(gateway: FakeGateway, run: Run, arguments: tuple[str, ...]) -> None:
    assert run("jobs", *arguments)[0] == EXIT_USAGE
    assert gateway.seen == []
