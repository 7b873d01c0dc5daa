"""The commands that speak to a gateway, against a server that answers as it does."""

from __future__ import annotations

import importlib.metadata
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from quelea_cli.errors import EXIT_KEY, EXIT_NOT_FOUND, EXIT_UNREACHABLE, EXIT_USAGE
from quelea_cli.output import say
from quelea_kit.testing import free_port
from rich.console import Console

ANSWER: dict[str, Any] = {
    "answer": "It is 7 [1].",
    "citations": [{"number": 1, "document_id": "d1", "title": "T", "page": 1, "quote": "7", "start": 0, "end": 1}],
}

if TYPE_CHECKING:
    from .conftest import FakeGateway

Run = Callable[..., tuple[int, str, str]]


def sent(gateway: FakeGateway, index: int = -1) -> Any:
    return json.loads(gateway.seen[index][3])


def test_ask_streams_reading_answer_citations_and_times(gateway: FakeGateway, run: Run) -> None:
    code, out, err = run("ask", "What were the sales?", "--as-of", "2023-09-01", "--k", 12, "--company", "Apple")
    assert (code, err) == (0, "")
    assert sent(gateway) == {
        "question": "What were the sales?", "as_of": "2023-09-01", "k": 12, "filters": {"companies": ["Apple"]},
        "stream": True,
    }  # fmt: skip
    lines = [line for line in out.splitlines() if line]
    assert lines[0] == "reading: Apple · FY2023 Q3"
    assert lines[1] == "Total net sales were 81,797 [1]."
    assert lines[2] == "[1] Apple 10-Q FY2023 Q3 · p. 4 · 2023-08-04"
    assert lines[3].strip() == "“Total net sales 81,797”"
    assert lines[4].strip() == f"{gateway.url}/v1/documents/d1/pages/4?start=10&end=33#quote"
    assert "  · [b]Other · FY2023 Q3 · p. 2 · 2023-08-04" in out
    assert lines[-1] == "reader extractive · route local · as of 2026-11-21 · 130 ms (retrieve 120, generate 3)"
    assert "\x1b" not in out


def test_a_model_may_be_named_and_escapes_reach_no_terminal(gateway: FakeGateway, run: Run) -> None:
    code, _, _ = run("ask", "What were the sales?", "--model", "finance")
    assert (code, sent(gateway)["model"]) == (0, "finance")
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, color_system=None, width=80)
    say(terminal, "a\x1b]0;owned\x07\x1b[2Jb\u202ec\td\n")
    assert "a]0;owned[2Jbc" in written.getvalue()
    assert "\x1b" not in written.getvalue()


def test_long_lists_and_repeated_notices_are_shortened(gateway: FakeGateway, run: Run) -> None:
    more = {
        "further_reading": [{**ANSWER["citations"][0], "number": n} for n in range(2, 10)],
        "reading": {"text": "Tesla", "fallback": "no document of Tesla"},
        "notices": ["no document of Tesla", "the reader was slow"],
    }
    gateway.answer("/v1/ask", (200, {**ANSWER, **more}))
    _, out, _ = run("ask", "q", "--no-stream")
    assert out.count("  · ") == 5
    assert "and 3 more" in out
    assert out.count("no document of Tesla") == 1
    assert "note: the reader was slow" in out


def test_ask_without_stream_prints_the_same(run: Run, gateway: FakeGateway) -> None:
    _, streamed, _ = run("ask", "q")
    _, whole, _ = run("ask", "q", "--no-stream")
    assert [line for line in whole.splitlines() if line] == [line for line in streamed.splitlines() if line]
    assert "stream" not in sent(gateway)


def test_json_is_one_document_and_nothing_else(gateway: FakeGateway, run: Run) -> None:
    for arguments, key in (
        (("ask", "q"), "answer"), (("search", "q"), "passages"), (("docs", "list"), "documents"),
        (("docs", "show", "d1"), "id"), (("docs", "show", "d1", "--page", 4), "text"),
        (("docs", "rm", "d1"), "removed"),
    ):  # fmt: skip
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        assert key in json.loads(out)


def test_search_shows_scores_and_where_it_opens(gateway: FakeGateway, run: Run) -> None:
    _, out, _ = run("search", "net sales", "--k", 3, "--type", "10-Q", "--language", "en")
    assert "1. Apple 10-Q FY2023 Q3 · p. 4 · 2023-08-04 (score 0.900, cosine 0.880)" in out
    assert sent(gateway) == {"query": "net sales", "k": 3, "filters": {"document_types": ["10-Q"], "languages": ["en"]}}


def test_an_error_in_the_stream_is_one_line(gateway: FakeGateway, run: Run) -> None:
    error = json.dumps({"error": {"code": "UNAVAILABLE", "message": "The reader does not answer.", "details": {}}})
    gateway.answer("/v1/ask", (200, f"event: error\ndata: {error}\n\n".encode()))
    code, _, err = run("ask", "q")
    assert (code, err) == (1, "quelea: The reader does not answer.\n")


@pytest.mark.parametrize(
    ("status", "code"), [(401, EXIT_KEY), (404, EXIT_NOT_FOUND), (400, 1), (503, EXIT_UNREACHABLE), (500, 1)]
)
def test_errors_are_one_line_and_an_exit_code(gateway: FakeGateway, run: Run, status: int, code: int) -> None:
    gateway.answer("/v1/ask", (status, {"error": {"code": "X", "message": "It is so.", "details": {}}}))
    for option in ("--stream", "--no-stream", "--json"):
        assert run("ask", "q", option)[0] == code
    _, out, err = run("ask", "q")
    assert out == ""
    assert err.startswith("quelea: It is so.")
    assert err.count("\n") == 1
    assert ("QUELEA_API_KEY" in err) == (status == 401)


def test_no_server_says_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUELEA_URL", f"http://127.0.0.1:{free_port()}")
    code, _, err = run("ask", "q")
    assert code == EXIT_UNREACHABLE
    assert "Start it with `quelea up`" in err
    assert run("ask", "q", "--url", "nonsense")[0] == EXIT_USAGE


def test_a_busy_server_is_asked_again(gateway: FakeGateway, run: Run) -> None:
    busy = (429, {"error": {"code": "OVERLOADED", "message": "Busy.", "details": {}}})
    gateway.answer("/v1/search", busy, busy, (200, {"passages": [], "timings": {}}))
    code, out, _ = run("search", "q")
    assert code == 0
    assert "Nothing found" in out
    assert len(gateway.seen) == 3


def test_the_key_is_sent_and_only_then(gateway: FakeGateway, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("search", "q")
    assert "authorization" not in gateway.headers_seen[-1]
    monkeypatch.setenv("QUELEA_API_KEY", "secret")
    run("search", "q")
    assert gateway.headers_seen[-1]["authorization"] == "Bearer secret"


def test_ingest_takes_folders_and_says_what_became_of_each(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    (tmp_path / "in/2023").mkdir(parents=True)
    for name in ("in/2023/a.pdf", "in/b.txt", "in/photo.png", "in/.hidden.pdf", "named.bin"):
        (tmp_path / name).write_bytes(b"data of " + name.encode())
    gateway.jobs["j2"] = [{"id": "j2", "state": "failed", "error": "It is encrypted."}]
    code, out, err = run("ingest", tmp_path / "in", tmp_path / "named.bin", "--metadata", '{"company": "Apple"}')
    assert code == 1
    assert err == ""
    uploads = [body for method, path, _, body in gateway.seen if (method, path) == ("POST", "/v1/documents")]
    places = ("in~[0-9a-f]{8}/2023/a.pdf", "in~[0-9a-f]{8}/b.txt", f"{tmp_path.name}~[0-9a-f]{{8}}/named.bin")
    for body, place in zip(uploads, places, strict=True):
        assert re.search(rf'\[{{"uri": "upload:{place}", "company": "Apple"}}\]', body.decode())
    assert f"ready   {tmp_path / 'in/2023/a.pdf'} (3 pages)" in out
    assert f"failed  {tmp_path / 'in/b.txt'}: It is encrypted." in out
    assert "2 documents ready, 1 failed, 1 files of other kinds passed over" in out


def test_a_refused_file_does_not_stop_the_others(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    refused = (413, {"error": {"code": "TOO_LARGE", "message": "a.txt is too large.", "details": {}}})
    gateway.jobs["j9"] = [{"id": "j9", "state": "succeeded", "unchanged": True, "progress": {"done": 1, "total": 1}}]
    gateway.answer("/v1/documents", refused, (202, {"jobs": [{"id": "j9", "filename": "b.txt"}], "errors": []}))
    code, out, _ = run("ingest", tmp_path, "--json")
    assert code == 1
    first, second = json.loads(out)["jobs"]
    assert (first["state"], first["error"]) == ("failed", "a.txt is too large.")
    assert (second["state"], second["unchanged"]) == ("succeeded", True)


@pytest.mark.parametrize("given", ["{not json", "[1]", "/no/such/file.json"])
def test_metadata_that_cannot_be_read_uploads_nothing(
    gateway: FakeGateway, run: Run, tmp_path: Path, given: str
) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "list.json").write_text("[1]")
    code, _, err = run("ingest", tmp_path / "a.txt", "--metadata", tmp_path / "list.json" if given == "[1]" else given)
    assert code == EXIT_USAGE
    assert "--metadata" in err
    assert not gateway.seen


def test_ingest_of_nothing_is_an_error(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    assert run("ingest", tmp_path)[0] == 1
    code, _, err = run("ingest", tmp_path / "absent.pdf")
    assert code == EXIT_USAGE
    assert "absent.pdf" in err


def test_docs_and_jobs_in_a_pipe(gateway: FakeGateway, run: Run) -> None:
    assert run("docs")[1] == "d1\tApple 10-Q\t10-Q\tApple\tFY2023 Q3\t2023-08-04\t28\t110\n"
    assert run("docs", "show", "d1", "--page", 4)[1] == "Products [1] net\n81,797\n"
    assert "company: Apple" in run("docs", "show", "d1")[1]
    assert run("docs", "rm", "d1")[1] == "removed d1\n"
    assert run("docs", "show", "nope")[0] == EXIT_NOT_FOUND
    job = {"id": "j1", "state": "failed", "filename": "x.pdf", "progress": {"done": 0, "total": 0}, "error": "Empty."}
    gateway.answer("/v1/jobs", (200, {"jobs": [job]}))
    gateway.jobs["j1"] = [job]
    assert run("jobs")[1] == run("jobs", "j1")[1] == "j1  failed     0/0  x.pdf  Empty.\n"


def test_the_list_of_documents_follows_the_pages(gateway: FakeGateway, run: Run) -> None:
    page = {"documents": [{"id": "a"}], "next_page_token": "t", "total": 2}
    gateway.answer(
        "/v1/documents", (200, page), (200, {"documents": [{"id": "b"}], "next_page_token": None, "total": 2})
    )
    assert [one["id"] for one in json.loads(run("docs", "list", "--json")[1])["documents"]] == ["a", "b"]
    assert gateway.seen[1][2]["page_token"] == ["t"]


@pytest.mark.parametrize(("command", "package"), [("eval", "evaluation"), ("train", "training")])
def test_a_command_is_handed_to_its_package(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, f"quelea_{package}.cli", None)
    code, _, err = run(command, "something")
    assert code == 1
    assert f"The package quelea-{package} is not installed" in err


def test_the_version_is_printed(run: Run) -> None:
    code, out, _ = run("--version")
    assert (code, out) == (0, f"quelea {importlib.metadata.version('quelea-cli')}\n")
