"""`quelea fetch`, and the door of a stack that fetches."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from quelea_cli.errors import EXIT_FAILED, EXIT_NOT_FOUND, EXIT_USAGE
from quelea_cli.stack.home import Home
from quelea_cli.stack.plan import Options, plan

if TYPE_CHECKING:
    from .conftest import FakeGateway

Run = Callable[..., tuple[int, str, str]]
FETCH = "/v1/fetch"
JOB: dict[str, Any] = {
    "id": "j9", "state": "queued", "error": None, "replayable": False, "unchanged": False, "document_id": None,
    "progress": {"done": 0, "total": 0}, "filename": "a.htm", "stage": "", "attempts": 1, "lane": "upload",
}  # fmt: skip
DONE = {**JOB, "state": "succeeded", "document_id": "d9", "progress": {"done": 71, "total": 71}}
COMING = {
    "id": "edgar:1", "form": "10-K", "title": "t", "url": "https://www.sec.gov/a.htm", "filed": "2025-01-27",
    "period_end": "2024-12-31", "state": "queued", "document_id": None, "job": JOB,
}  # fmt: skip
STORED = {**COMING, "filed": "2024-01-26", "period_end": "", "state": "stored", "document_id": "d8", "job": None}


def found(*filings: dict[str, Any], left_out: int = 0) -> dict[str, Any]:
    return {
        "run_id": "fetch-1", "source": "edgar", "company": "NETFLIX INC", "ticker": "NFLX", "filed_from": "2022-11-25",
        "filed_to": "2025-11-25", "filings": filings, "left_out": left_out,
    }  # fmt: skip


def test_filings_are_followed_until_they_are_in(gateway: FakeGateway, run: Run) -> None:
    gateway.answer(FETCH, (202, found(COMING, STORED, left_out=2)))
    gateway.jobs["j9"] = [DONE]
    code, out, _ = run("fetch", "NFLX", "--forms", "10-K,10-Q", "--years", 3)
    assert code == 0
    assert json.loads(gateway.seen[0][3]) == {"company": "NFLX", "forms": ["10-K", "10-Q"], "years": 3}
    assert out.splitlines() == [
        "NETFLIX INC (NFLX), EDGAR, filed 2022-11-25 to 2025-11-25: 2 documents",
        "queued  2025-01-27  10-K  2024-12-31  https://www.sec.gov/a.htm",
        "stored  2024-01-26  10-K  https://www.sec.gov/a.htm",
        "2 older documents were left out; ask for fewer years or forms.",
        "fetch fetch-1; `quelea market export fetch-1 FILE` records it",
        "ready   10-K of 2025-01-27 (71 pages)",
        "1 stored before, 1 ready",
    ]


def test_json_has_the_last_state_of_each_job(gateway: FakeGateway, run: Run) -> None:
    gateway.answer(FETCH, (202, found(COMING)))
    gateway.jobs["j9"] = [DONE]
    code, out, _ = run("fetch", "600519", "--reports", "年报", "--json")
    assert (code, json.loads(out)["filings"][0]["document_id"]) == (0, "d9")
    assert json.loads(gateway.seen[0][3]) == {"company": "600519", "forms": ["年报"]}


def test_a_failed_filing_is_told(gateway: FakeGateway, run: Run) -> None:
    gateway.answer(FETCH, (202, found(COMING)))
    gateway.jobs["j9"] = [{**JOB, "state": "failed", "error": "It did not come.", "replayable": True}]
    code, out, _ = run("fetch", "NFLX")
    assert code == EXIT_FAILED
    assert "failed  10-K of 2025-01-27: It did not come.  (`quelea jobs replay` tries again)" in out


def test_an_error_is_one_line(gateway: FakeGateway, run: Run) -> None:
    message = "EDGAR has no company 'Netflx'. Did you mean NFLX (NETFLIX INC)?"
    gateway.answer(FETCH, (404, {"error": {"code": "NOT_FOUND", "message": message, "details": {}}}))
    assert run("fetch", "Netflx") == (EXIT_NOT_FOUND, "", f"quelea: {message}\n")
    assert run("fetch", "A", "--forms", "10-K", "--reports", "年报")[0] == EXIT_USAGE


def test_a_recording_is_imported_and_replayed(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(b"data")
    gateway.answer("/v1/agent/bundles", (201, {"id": "b1", "calls": 3}))
    gateway.answer(FETCH, (202, found(COMING)))
    assert run("fetch", "NFLX", "--replay", file, "--no-wait")[0] == 0
    assert json.loads(gateway.seen[1][3])["bundle_ids"] == ["b1"]
    assert run("fetch", "NFLX", "--replay", "b2", "--no-wait")[0] == 0
    assert json.loads(gateway.seen[2][3])["bundle_ids"] == ["b2"]
    code, out, err = run("fetch", "NFLX", "--replay", tmp_path / "b.zip", "--no-wait")
    assert (code, out, len(gateway.seen)) == (EXIT_USAGE, "", 3)
    assert "There is no file" in err
    for name in ("./b2", "b.bundle"):
        assert run("fetch", "NFLX", "--replay", name, "--no-wait")[0] == EXIT_USAGE, name
    assert len(gateway.seen) == 3


def test_where_the_source_is_not_reached_the_sample_recording_is_offered(gateway: FakeGateway, run: Run) -> None:
    away = {"error": {"code": "UNAVAILABLE", "message": "EDGAR is away.", "details": {}}}
    gateway.answer(FETCH, (409, away))
    err = run("fetch", "AAPL")[2]
    assert "EDGAR is away. Offline, a recording has NFLX, GOOGL and KO: quelea fetch NFLX --replay " in err
    file = Path(err.rsplit("--replay ", 1)[1].strip().strip("'"))
    assert file.is_file()
    assert "Offline" not in run("fetch", "AAPL", "--replay", "b2")[2]
    no_door = {"code": "CONFLICT", "message": "Not here.", "details": {"setting": "QUELEA_SEARCH_FILINGS_DOOR"}}
    gateway.answer(FETCH, (409, {"error": no_door}))
    assert run("fetch", "AAPL")[2] == "quelea: Not here.\n"  # a recording would be refused too


def test_the_recording_of_a_fetch_is_exported(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    gateway.answer("/v1/fetch/fetch-1/bundle", (200, {"some": "bytes"}))
    assert run("market", "export", "fetch-1", tmp_path / "out")[0] == 0


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A home whose socket fits into the 107 bytes that Linux allows; pytest's own folders can be too deep."""
    with tempfile.TemporaryDirectory(prefix="qh-") as folder:
        yield Path(folder)


@pytest.mark.parametrize(
    ("options", "environment", "fetches"),
    [
        ({"fetch": True}, {}, True),
        ({}, {"QUELEA_SEARCH_FILINGS_CONTACT": "Example Ltd admin@example.com"}, True),
        ({}, {}, False),
    ],
)
def test_a_stack_that_fetches_has_a_door(
    options: dict[str, Any], environment: dict[str, str], fetches: bool, short_folder: Path
) -> None:
    home = Home(short_folder)
    with home.locked():
        chosen = Options(host="127.0.0.1", port=8080, auth=False, model="m", reader={}, **options)
        services = {one.name: one.env for one in plan(home, chosen, environment)}
    assert ("door" in services) is ("beat" in services) is fetches
    assert "sandbox" not in services
    for name in ("search", "worker"):
        assert services[name].get("QUELEA_SEARCH_FILINGS_DOOR_DATA", "").endswith("door.sock") is fetches
    if fetches:
        door = services["door"]["QUELEA_MARKET_LISTEN"]
        assert services["search"]["QUELEA_SEARCH_FILINGS_DOOR"] == door == services["gateway"]["QUELEA_GATEWAY_MARKET"]


def test_companies_are_watched_listed_and_let_go(gateway: FakeGateway, run: Run) -> None:
    watch = {
        "id": "w1", "source": "edgar", "company": "NETFLIX INC", "ticker": "NFLX", "forms": ["10-K", "8-K"],
        "added": "2025-11-25T01:02:03Z", "looked": "2025-11-25T01:02:03Z", "due": None, "error": None, "new": 0,
        "new_at": None,
    }  # fmt: skip
    gateway.answer("/v1/watches", (202, {"watch": watch, "fetch": found(COMING, STORED)}))
    code, out, _ = run("watch", "add", "NFLX", "--forms", "10-K,8-K")
    assert (code, out) == (0, "w1  NETFLIX INC (NFLX)  10-K,8-K  1 document on its way\n")
    assert json.loads(gateway.seen[0][3]) == {"company": "NFLX", "forms": ["10-K", "8-K"], "years": 1}
    seen = {**watch, "new": 2, "new_at": "2025-11-24T05:06:07Z", "error": "The source is away."}
    gateway.answer("/v1/watches", (200, {"watches": [seen], "next_page_token": None}))
    line = run("watch", "list")[1]
    assert "2 new 2025-11-24 05:06" in line and "The source is away." in line
    gateway.answer("/v1/watches/w1", (200, {"id": "w1"}))
    assert run("watch", "remove", "w1") == (0, "removed  w1\n", "")
    gateway.answer("/v1/watches", (200, {"watches": [], "next_page_token": None}))
    assert "quelea watch add" in run("watch", "list")[1]
