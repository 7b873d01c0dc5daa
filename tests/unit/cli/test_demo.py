"""The demo's web half: it is content only when the web answered first, and the knowledge base afterwards."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from quelea_cli import agent_demo, demo
from quelea_cli.demo import DemoQuestion, read_questions, through_the_web, wait_for_pages
from quelea_cli.errors import CliError
from quelea_client import Client, Unavailable
from rich.console import Console

if TYPE_CHECKING:
    from .conftest import FakeGateway

SAMPLES = Path(__file__).parents[3] / "samples"
QUESTION = DemoQuestion("What was the revenue?", "13,507", "later", web=True)
PAGE = {
    "url": "http://filings.localhost:1/a.pdf", "state": "kept", "title": "10-Q", "reason": "host on the allow-list",
    "queries": [QUESTION.question],
}  # fmt: skip
JOB = {"id": "j", "lane": "refresh", "state": "succeeded", "url": PAGE["url"], "error": None}


def answer(route: str, source: str, **more: Any) -> dict[str, Any]:
    citation = {
        "number": 1, "document_id": "d9", "title": "10-Q", "uri": PAGE["url"], "page": 4, "published": "2023-08-28",
        "quote": "13,507", "start": 0, "end": 6, "source": source, "period": "", "fetched": "",
    }  # fmt: skip
    return {
        "answer": "13,507 [1].", "citations": [citation], "route": route, "declined": None, "checks": [],
        "timings": {"total": 2000.0 if source == "web" else 100.0}, "as_of": "2026-11-22", "reader": "extractive",
        **more,
    }  # fmt: skip


def ready(gateway: FakeGateway, *answers: dict[str, Any], page: dict[str, Any] = PAGE, jobs: Any = (JOB,)) -> Client:
    streams = [f"event: answer\ndata: {json.dumps(one)}\n\n".encode() for one in answers]
    gateway.answer("/v1/ask", *((200, stream) for stream in streams))
    gateway.answer("/v1/documents/d9/pages/4", (200, {"text": "13,507 million", "page": 4}))
    gateway.answer("/v1/web/pages", (200, {"pages": []}), (200, {"pages": [page]}))
    gateway.answer("/v1/jobs", *((200, {"jobs": [job]}) for job in jobs))
    return Client(gateway.url, "")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_POLL_SECONDS", 0.01)


def test_first_the_web_then_the_knowledge_base(gateway: FakeGateway, capsys: pytest.CaptureFixture[str]) -> None:
    on_its_way = [{**JOB, "state": state} for state in ("queued", "running", "running", "succeeded")]
    asked = ready(gateway, answer("local+web", "web"), answer("local", "local"), jobs=on_its_way)
    assert through_the_web(asked, QUESTION, Console()) == []
    out = capsys.readouterr().out
    assert "kept: 10-Q · http://filings.localhost:1/a.pdf (host on the allow-list)" in out
    assert "through the web 2.00 s, from the knowledge base 0.10 s" in out
    assert len(gateway.canned["/v1/jobs"]) == 1


@pytest.mark.parametrize(
    ("answers", "page", "fault"),
    [
        ([answer("local", "local")], PAGE, "was not answered from the web"),
        ([answer("local+web", "local")], PAGE, "was not answered from the web"),
        ([answer("local+web", "web")], {**PAGE, "state": "pending"}, "no page of the web flowed back"),
        ([answer("local+web", "web"), answer("local+web", "web")], PAGE, "was not answered locally the second time"),
        ([answer("local+web", "web"), answer("local", "local", citations=[])], PAGE, "got no cited answer"),
    ],
)
def test_what_does_not_go_as_it_should_is_a_fault(
    gateway: FakeGateway, answers: list[dict[str, Any]], page: dict[str, Any], fault: str
) -> None:
    faults = through_the_web(ready(gateway, *answers, page=page), QUESTION, Console(quiet=True))
    assert any(fault in one for one in faults), faults


def test_a_page_that_cannot_be_taken_in_ends_the_demo(gateway: FakeGateway) -> None:
    asked = ready(gateway, jobs=[{**JOB, "state": "failed", "error": "The retriever is away."}])
    with pytest.raises(CliError, match="The retriever is away"):
        wait_for_pages(asked, QUESTION.question)


def test_a_job_of_an_earlier_run_is_none_of_ours(gateway: FakeGateway) -> None:
    asked = ready(gateway)
    earlier = [{**JOB, "state": "failed", "error": "rolled back"}, {**JOB, "url": "http://other/", "state": "failed"}]
    gateway.answer("/v1/jobs", (200, {"jobs": [JOB, *earlier]}))
    assert wait_for_pages(asked, QUESTION.question) == [PAGE]


def test_a_refresh_that_never_comes_ends_the_demo(gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_REFRESH_SECONDS", 0.2)
    asked = ready(gateway, jobs=[{**JOB, "state": "running"}])
    with pytest.raises(CliError, match="No web page was added within"):
        wait_for_pages(asked, QUESTION.question)


def test_the_samples_have_one_question_for_the_web() -> None:
    questions = read_questions(SAMPLES / demo.QUESTIONS)
    assert [question.web for question in questions].count(True) == 1
    assert all(question.says for question in questions if question.web)


def test_the_wait_for_the_catalogue_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_demo, "_POLL_SECONDS", 0.0)
    done = iter(("0", "320", "320", "640"))

    class Gateway:
        def request(self, *_: object, **__: object) -> dict[str, list[str]]:
            if (now := next(done, None)) is None:
                return {"tools": ["stock_us_daily"]}
            raise Unavailable("The index is being built.", status=503, details={"indexed": now, "tools": "1080"})

    written = io.StringIO()
    agent_demo.wait_for_catalogue(Gateway(), Console(file=written))  # type: ignore[arg-type]  # as much of a client as it needs
    shown = [line.strip() for line in written.getvalue().splitlines()]
    assert shown == ["0 of 1080 indexed", "320 of 1080 indexed", "640 of 1080 indexed"]
