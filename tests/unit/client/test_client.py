"""The client against a gateway that is a function: errors, retries, streams, uploads, files."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
import quelea
from quelea_client import (
    ApiError,
    AsyncClient,
    Client,
    Delta,
    JobFailed,
    MissingExtra,
    NotFound,
    NotRunning,
    RateLimited,
    TimedOut,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
    UploadProgress,
)
from quelea_client.events import ProgressReport
from quelea_client.models import Answer, Figures, Job, Progress

FIGURE = {
    "company": "Kestrel", "metric": "", "value": "900.10", "unit": "USD", "period_start": "2031-01-01",
    "period_end": "2031-12-31", "formula": "{0}", "growth": "", "fiscal_year": 2031, "absent": [],
    "operands": [
        {"label": "Turnover", "concept": "revenue", "value": "900.10", "unit": "USD", "period_start": "2031-01-01",
         "period_end": "2031-12-31", "source": "table", "number": 2, "document_id": "d1", "page": 7, "start": 10,
         "end": 16, "printed": "900.10"},
    ],
}  # fmt: skip
CITATION = {
    "number": 1, "document_id": "d1", "title": "Kestrel 10-K", "uri": "", "page": 7, "published": "2032-02-01",
    "quote": "Turnover 900.10", "score": 1.0, "start": 1, "end": 16, "company": "Kestrel", "period": "FY2031",
    "source": "local", "fetched": "2032-02-02T01:02:03Z",
}  # fmt: skip
READING = {
    "text": "Kestrel", "fallback": "", "companies": ["Kestrel"], "periods": [], "document_ids": [],
    "company_missing": False, "period_missing": False, "is_comparison": False, "asks_latest": False,
    "period_newer": False,
}  # fmt: skip
GATE = {"kind": "cosine", "probability": 0.9, "threshold": 0.5, "passed": True, "reasons": [], "features": {}}
ANSWER = {
    "answer": "Turnover was 900.10 [1].", "citations": [CITATION], "further_reading": [], "route": "local",
    "as_of": "2032-03-01", "reader": "extractive", "checks": [], "timings": {"total": 1.5}, "reading": READING,
    "declined": None, "language": "en", "notices": [], "model": "", "prompt_version": "", "gate": GATE, "web": None,
    "figures": [FIGURE], "of_tomorrow": {"a": 1},
}  # fmt: skip


class Served:
    """Answers in order, and what was asked."""

    def __init__(self, *answers: Callable[[httpx2.Request], httpx2.Response] | httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    def client(self, **more: Any) -> Client:
        return Client("http://127.0.0.1:1", transport=httpx2.MockTransport(self), **more)


def refused(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> httpx2.Response:
    body = {"error": {"code": code, "message": message, "details": {"field": "k"}}}
    return httpx2.Response(status, json=body, headers=headers)


def events(*sent: tuple[str, Any]) -> httpx2.Response:
    text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in sent)
    return httpx2.Response(200, text=text, headers={"content-type": "text/event-stream"})


def test_the_names_of_the_client_stand_beside_the_wire() -> None:
    from quelea.search.v1 import search_pb2

    assert quelea.Client is Client
    assert search_pb2.Job().id == ""
    with pytest.raises(AttributeError, match="no attribute 'Server'"):
        quelea.Server  # noqa: B018


def test_an_answer_is_typed_and_its_figures_are_a_table() -> None:
    served = Served(httpx2.Response(200, json=ANSWER))
    answer = served.client().ask("What was turnover?", k=5, filters={"tickers": ["KST"]}, as_of="")
    assert json.loads(served.requests[0].content) == {
        "question": "What was turnover?", "k": 5, "filters": {"tickers": ["KST"]},
    }  # fmt: skip
    assert (answer.text, answer.citations[0].fetched.year, answer.question) == (
        "Turnover was 900.10 [1].",
        2032,
        "What was turnover?",
    )
    table = answer.figures.to_frame()
    assert table.loc[0, ["company", "label", "value", "fiscal_year"]].tolist() == ["Kestrel", "Turnover", 900.1, 2031]
    assert table.loc[0, "formula"] == ""
    unknown = Answer.model_validate({**ANSWER, "figures": [{**FIGURE, "fiscal_year": 0}]}).figures.to_frame()
    assert (str(unknown.dtypes["fiscal_year"]), unknown["fiscal_year"].isna().tolist()) == ("Int64", [True])
    assert str(answer.figures.to_frame(exact=True).loc[0, "value"]) == "900.10"
    assert list(Figures().to_frame().columns) == list(table.columns)
    assert "http://127.0.0.1:1/v1/documents/d1/pages/7?start=1&end=16#quote" in answer._repr_markdown_()
    with pytest.raises(ValueError, match="frozen"):
        answer.answer = "other"


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [(401, "UNAUTHENTICATED", Unauthenticated), (404, "NOT_FOUND", NotFound), (503, "UNAVAILABLE", Unavailable)],
)
def test_errors_are_the_servers_own_words(status: int, code: str, kind: type[ApiError]) -> None:
    served = Served(refused(status, code, "Say it otherwise."))
    with pytest.raises(kind, match=r"^Say it otherwise\.$") as error:
        served.client(retries=0).ask("?")
    assert (error.value.status, error.value.code, error.value.details) == (status, code, {"field": "k"})


def test_what_is_no_gateway_is_said() -> None:
    with pytest.raises(UnexpectedAnswer, match="not answer like a Quelea gateway"):
        Served(httpx2.Response(200, text="<html>")).client().ask("?")
    with pytest.raises(UnexpectedAnswer):
        Served(httpx2.Response(200, json={"companies": "?"})).client().companies()
    with pytest.raises(ValueError, match="not the address of a gateway"):
        Client("localhost:8080")
    with pytest.raises(ApiError, match="500"):
        Served(httpx2.Response(500, text="oops")).client().info()


def test_what_a_deleted_document_leaves_behind_is_told() -> None:
    told = {"document_id": "d1", "passages": 3, "answers_forgotten": 1, "unreadable": 2}
    served = Served(httpx2.Response(200, json=told))
    deleted = served.client().delete_document("d1", forget_quotes=True)
    assert (deleted.answers_forgotten, deleted.unreadable) == (1, 2)
    assert served.requests[0].url.query == b"forget_quotes=true"
    before = Served(httpx2.Response(200, json={"document_id": "d1", "passages": 3}))  # a gateway of before
    assert before.client().delete_document("d1").unreadable == 0


def test_who_is_sent_elsewhere_is_told_where_and_nothing_counts_as_done(tmp_path: Path) -> None:
    served = Served(httpx2.Response(308, headers={"location": "https://gate.example/v1"}))
    client = served.client()
    for call in (
        lambda: client.delete_document("d1"),
        lambda: client.download_original("d1", tmp_path / "d1.pdf"),
        lambda: list(client.stream("?")),
    ):
        with pytest.raises(UnexpectedAnswer, match=r"sends on to https://gate\.example/v1; give the gateway's own"):
            call()
    assert len(served.requests) == 3
    assert not list(tmp_path.iterdir())


def test_only_what_changes_nothing_is_sent_again_and_not_for_ever() -> None:
    busy = refused(503, "UNAVAILABLE", "Wait.", {"retry-after": "0"})
    served = Served(busy, busy, httpx2.Response(200, json=ANSWER))
    assert served.client().ask("?").answer
    assert len(served.requests) == 3
    for answer in (busy, httpx2.ReadError("gone")):
        served = Served(answer)
        with pytest.raises((Unavailable, Unreachable)):
            served.client(retries=1).ask("?")
        assert len(served.requests) == 2
    served = Served(busy)
    with pytest.raises(Unavailable):
        served.client().start_run("?")
    assert len(served.requests) == 1
    served = Served(refused(429, "OVERLOADED", "Busy.", {"retry-after": "0"}))
    with pytest.raises(RateLimited):
        served.client(retries=2).start_run("?")
    assert len(served.requests) == 3
    served = Served(refused(429, "OVERLOADED", "Tomorrow.", {"retry-after": "86400"}))
    with pytest.raises(RateLimited) as error:
        served.client().ask("?")
    assert (error.value.retry_after, len(served.requests)) == (86400.0, 1)


def test_a_connection_that_cannot_be_made_says_what_to_do() -> None:
    served = Served(httpx2.ConnectError("refused"))
    with pytest.raises(NotRunning, match="quelea up"):
        served.client().info()
    assert len(served.requests) == 1  # nobody listens on this machine: waiting does not help
    with pytest.raises(TimedOut, match="larger timeout="):
        Served(httpx2.ReadTimeout("slow")).client().info()


def test_the_key_and_the_address_come_from_arguments_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUELEA_API_KEY", "from-env")
    monkeypatch.setenv("QUELEA_URL", "https://quelea.example/")
    served = Served(httpx2.Response(200, json={"next_page_token": None, "companies": [], "total": 0}))
    for given, sent in ((None, "Bearer from-env"), ("mine", "Bearer mine"), ("", None)):
        with Client(api_key=given, transport=httpx2.MockTransport(served)) as client:
            assert (client.url, client.companies()) == ("https://quelea.example", [])
        assert served.requests[-1].headers.get("authorization") == sent


def test_a_stream_ends_with_the_answer_and_its_errors_are_raised() -> None:
    served = Served(events(("delta", {"text": "Turn"}), ("of_tomorrow", {}), ("answer", ANSWER)))
    found = list(served.client().stream("?"))
    assert found[0] == Delta("Turn")
    assert isinstance(found[1], Answer)
    assert found[1].question == "?"
    body = {"error": {"code": "UNAVAILABLE", "message": "The reader is down.", "details": {}}}
    with pytest.raises(Unavailable, match="reader is down"):
        list(Served(events(("delta", {"text": "T"}), ("error", body))).client().stream("?"))
    with pytest.raises(Unreachable, match="before the answer was complete"):
        list(Served(events(("delta", {"text": "T"}))).client().stream("?"))
    with pytest.raises(NotFound):
        list(Served(refused(404, "NOT_FOUND", "No.")).client().stream("?"))


@pytest.mark.parametrize("text", ["<html>", "[1]", "null"])
def test_an_event_that_is_no_object_is_no_gateways(text: str) -> None:
    streamed = httpx2.Response(
        200, text=f"event: error\ndata: {text}\n\n", headers={"content-type": "text/event-stream"}
    )
    with pytest.raises(UnexpectedAnswer, match="event error of the stream is no JSON object"):
        list(Served(streamed).client().events("POST", "/v1/ask"))


def job(state: str, done: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": "j1", "filename": "a.pdf", "state": state, "stage": "parse", "progress": {"done": done, "total": 2},
        "document_id": None, "error": None, "error_reason": None, "created": None, "updated": None, "finished": None,
        "attempts": 1, "unchanged": False, "lane": "upload", "url": None, "replaced": None, "replayable": False, **more,
    }  # fmt: skip


def test_an_upload_tells_how_far_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(b"x" * 200_000)
    accepted = httpx2.Response(202, json={"jobs": [{"id": "j1", "filename": "a.pdf"}], "errors": []})
    busy = refused(429, "OVERLOADED", "Busy.", {"retry-after": "0"})
    states = [httpx2.Response(200, json=job(state, done)) for state, done in (("running", 1), ("succeeded", 2))]
    served = Served(busy, accepted, *states)
    told: list[UploadProgress] = []
    (done,) = served.client().ingest(file, metadata={"company": "Kestrel"}, on_progress=told.append)
    assert done.state == "succeeded"
    assert b"x" * 200_000 in served.requests[1].content
    assert b'{"company": "Kestrel"}' in served.requests[1].content
    sent = [one.done for one in told if one.stage == "sending"]
    assert (sent[-1], told[0].total) == (200_000, 200_000)
    assert [(one.stage, one.done) for one in told[-2:]] == [("parse", 1), ("parse", 2)]
    failed = httpx2.Response(200, json=job("failed", error="It is encrypted."))
    with pytest.raises(JobFailed, match=r"a\.pdf: It is encrypted"):
        Served(failed).client().wait("j1")
    with pytest.raises(TimedOut, match="it goes on"):
        Served(httpx2.Response(200, json=job("running"))).client().wait("j1", seconds=0)


def test_lists_are_read_to_their_end_or_bound() -> None:
    def page(request: httpx2.Request) -> httpx2.Response:
        start = int(request.url.params.get("page_token", "0"))
        size = int(request.url.params["page_size"])
        jobs = [job("queued") | {"id": f"j{number}"} for number in range(start, min(start + size, 1500))]
        token = str(start + size) if start + size < 1500 else None
        return httpx2.Response(200, json={"jobs": jobs, "next_page_token": token})

    assert len(Served(page).client().jobs(most=5000)) == 1500
    served = Served(page)
    assert [one.id for one in served.client().jobs(most=3)] == ["j0", "j1", "j2"]
    assert served.requests[0].url.params["page_size"] == "3"


def test_answers_go_to_files_whole(tmp_path: Path) -> None:
    served = Served(httpx2.Response(200, json=ANSWER), httpx2.Response(200, content=b"PK"))
    with served.client() as client:
        answer = client.ask("What was turnover?")
        assert answer.export_xlsx(tmp_path / "a.xlsx").read_bytes() == b"PK"
        sent = json.loads(served.requests[1].content)
        assert (sent["question"], sent["format"], sent["answer"]["of_tomorrow"]) == (
            "What was turnover?",
            "xlsx",
            {"a": 1},
        )
        assert sent["answer"]["figures"][0]["value"] == "900.10"
        client.export(answer, tmp_path / "note.DOCX")
        assert json.loads(served.requests[-1].content)["format"] == "docx"
        with pytest.raises(ValueError, match=r"\.docx"):
            client.export(answer, tmp_path / "note.odt")
    with pytest.raises(TypeError, match=r"client\.export"):
        Answer.model_validate(ANSWER).export(tmp_path / "x.pdf")


def test_a_run_is_watched_over_a_broken_connection() -> None:
    def watched(request: httpx2.Request) -> httpx2.Response:
        after = int(request.url.params["after"])
        if after == 1:
            raise httpx2.ReadError("gone")
        lines = "".join(f"id: {number}\nevent: step\ndata: {{}}\n\n" for number in (2, 3) if number > after)
        return httpx2.Response(200, text=lines, headers={"content-type": "text/event-stream"})

    assert [one.number for one in Served(watched).client().run_events("r1", 0)] == [2, 3]
    with pytest.raises(Unreachable):
        list(Served(watched).client(retries=1).run_events("r1", 1))


def test_a_run_that_cannot_be_watched_is_asked_for_no_more_often_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    for broken in (httpx2.ReadError("gone"), httpx2.ConnectError("none"), refused(503, "UNAVAILABLE", "Wait.")):
        served = Served(broken)
        with pytest.raises((Unreachable, Unavailable)):
            list(served.client(retries=3).run_events("r1"))
        assert len(served.requests) == 4


def test_a_piece_of_an_answer_without_its_text_is_named() -> None:
    with pytest.raises(UnexpectedAnswer, match="event delta"):
        list(Served(events(("delta", {"words": "Turn"}))).client().stream("?"))


def test_the_async_client_does_the_same(tmp_path: Path) -> None:
    async def use() -> None:
        stream = events(("delta", {"text": "Turn"}), ("answer", ANSWER))
        served = Served(
            refused(503, "UNAVAILABLE", "Wait.", {"retry-after": "0"}),
            httpx2.Response(200, json=ANSWER),
            stream,
            httpx2.Response(200, content=b"%PDF"),
            httpx2.Response(202, json={"jobs": [{"id": "j1", "filename": "a.pdf"}], "errors": []}),
            httpx2.Response(200, json=job("succeeded", 2)),
        )
        async with AsyncClient("http://127.0.0.1:1", transport=httpx2.MockTransport(served)) as client:
            answer = await client.ask("What was turnover?")
            assert answer.figures.to_frame().loc[0, "label"] == "Turnover"
            assert [type(one).__name__ async for one in client.stream("?")] == ["Delta", "Answer"]
            with pytest.raises(TypeError):
                answer.export_xlsx(tmp_path / "a.xlsx")
            assert (await client.export(answer, tmp_path / "a.pdf")).read_bytes() == b"%PDF"
            (tmp_path / "b.txt").write_text("hello")
            told: list[UploadProgress] = []
            (done,) = await client.ingest(tmp_path / "b.txt", on_progress=told.append)
            assert (done.state, told[-1].stage) == ("succeeded", "parse")

    asyncio.run(use())


def test_both_clients_have_the_same_methods() -> None:
    names = [{name for name in vars(kind) if not name.startswith("_")} for kind in (Client, AsyncClient)]
    assert names[0] == names[1]


def test_usage_is_asked_for_by_its_days() -> None:
    row = {
        "day": "2026-11-27", "tenant": "", "key": "", "questions": 3, "tokens_read": 10, "tokens_written": 2, "runs": 0,
        "uploads": 0, "refusals": 0,
    }  # fmt: skip
    served = Served(httpx2.Response(200, json={"usage": [row], "next_page_token": None}))
    (found,) = served.client().usage("2026-11-01", "2026-11-30", by="day")
    assert (found.day, found.questions) == ("2026-11-27", 3)
    sent = served.requests[0].url.params
    assert (sent["from"], sent["to"], sent["by"]) == ("2026-11-01", "2026-11-30", "day")


def filing(state: str, job_id: str = "") -> dict[str, Any]:
    return {
        "id": "edgar:1", "form": "10-K", "title": "t", "url": "https://www.sec.gov/a.htm", "filed": "2025-01-27",
        "period_end": "2024-12-31", "state": state, "document_id": None if job_id else "d8",
        "job": job("queued") | {"id": job_id} if job_id else None,
    }  # fmt: skip


FETCHED = {
    "run_id": "fetch-1", "source": "edgar", "company": "Kestrel", "ticker": "KST", "filed_from": "2024-01-01",
    "filed_to": "2026-01-01", "left_out": 0,
    "filings": [filing("stored"), filing("queued", "j1"), filing("queued", "j2")],
}  # fmt: skip


def test_a_fetch_waits_for_its_filings_and_says_which_failed() -> None:
    states = [
        job("running", 1),
        job("failed", error="It is encrypted.") | {"id": "j2"},
        job("succeeded", 2, document_id="d9"),
    ]
    served = Served(httpx2.Response(202, json=FETCHED), *(httpx2.Response(200, json=one) for one in states))
    told: list[UploadProgress] = []
    found = served.client().fetch("KST", forms=["10-K"], years=2, on_progress=told.append)
    assert json.loads(served.requests[0].content) == {"company": "KST", "forms": ["10-K"], "years": 2}
    assert [one.url.path for one in served.requests[1:]] == ["/v1/jobs/j1", "/v1/jobs/j2", "/v1/jobs/j1"]
    assert [one.done for one in told] == [1, 0, 2]
    assert [one.document_id for one in found.filings] == ["d8", "d9", None]
    assert [one.job.error for one in found.failed if one.job] == ["It is encrypted."]
    table = found.to_frame()
    assert table["state"].tolist() == ["stored", "succeeded", "failed"]
    assert "It is encrypted." in (found._repr_html_() or "")
    served = Served(httpx2.Response(202, json=FETCHED))
    assert [one.state for one in served.client().fetch("KST", wait=False).filings] == ["stored", "queued", "queued"]
    assert len(served.requests) == 1
    running = httpx2.Response(200, json=job("running"))
    with pytest.raises(TimedOut, match="j1 and 1 more are not done after 0 s"):
        Served(httpx2.Response(202, json=FETCHED), running).client().fetch("KST", seconds=0)


def test_a_thumb_carries_what_the_answer_was_made_of() -> None:
    thumb = {
        "id": "t1", "created": "2026-11-27T01:02:03Z", "thumb": "down", "question": "?", "answer": "a", "why": "",
        "reasons": ["wrong_figure"], "answer_id": "", "as_of": "", "model": "", "prompt_version": "",
        "document_ids": ["d1"],
    }  # fmt: skip
    served = Served(httpx2.Response(200, json=ANSWER), httpx2.Response(201, json=thumb))
    client = served.client()
    assert client.rate(client.ask("What was turnover?"), "down", reasons=["wrong_figure"]).id == "t1"
    assert json.loads(served.requests[1].content) == {
        "question": "What was turnover?", "answer": ANSWER["answer"], "thumb": "down", "reasons": ["wrong_figure"],
        "as_of": "2032-03-01", "document_ids": ["d1"],
    }  # fmt: skip


def test_any_route_can_be_asked() -> None:
    pages = [
        {"prompts": [{"name": "a"}], "next_page_token": "x"},
        {"prompts": [{"name": "b"}], "next_page_token": None},
    ]
    served = Served(*(httpx2.Response(200, json=one) for one in pages))
    assert [one["name"] for one in served.client().items("/v1/prompts", "prompts", {"language": "en"})] == ["a", "b"]
    assert dict(served.requests[1].url.params) == {"language": "en", "page_size": "1000", "page_token": "x"}
    served = Served(refused(503, "UNAVAILABLE", "Wait.", {"retry-after": "0"}), httpx2.Response(204))
    assert served.client().request("GET", "/v1/x") is None
    with pytest.raises(Unavailable):
        Served(refused(503, "UNAVAILABLE", "Wait.", {"retry-after": "0"})).client().request("DELETE", "/v1/x")
    sent = events(("step", {"run": "r1"}), ("error", {"run": "r1", "message": "It failed."}))
    assert [one.name for one in Served(sent).client().events("GET", "/v1/agent/runs/r1/events")] == ["step", "error"]


def test_records_are_tables_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Served(httpx2.Response(200, json=ANSWER)).client().ask("?")
    assert "<table" in (answer.citations._repr_html_() or "")
    assert "Turnover" in (answer.figures._repr_html_() or "")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert answer.citations._repr_html_() is None
    with pytest.raises(MissingExtra, match="pip install"):
        answer.citations.to_frame()


def test_progress_is_told_when_a_job_has_moved_and_not_at_every_look() -> None:
    told: list[UploadProgress] = []
    progress = ProgressReport(told.append)
    for state, done in (("queued", 0), ("queued", 0), ("running", 0), ("running", 3), ("running", 3)):
        progress.tell(
            Job.model_construct(id="j1", filename="a.md", state=state, stage="", progress=Progress(done=done, total=7))
        )
    assert [(one.stage, one.done) for one in told] == [("queued", 0), ("running", 0), ("running", 3)]
