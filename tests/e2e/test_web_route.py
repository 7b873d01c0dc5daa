"""The web half on the running product, over the sample web: found, kept or quarantined, answered locally afterwards."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any

import pytest
from quelea_cli import __main__ as command_line
from support.stack import SAMPLES, Stack

EARNINGS = "九阳股份2023年第一季度的收入是多少？"
STAKE = "Stellantis集团计划投资多少欧元获取零跑汽车的股权？"
REFRESH_SECONDS = 300.0


@pytest.fixture(scope="module")
def web_stack(new_stack: Callable[..., Stack]) -> Stack:
    started = new_stack("--sample-web")
    started.ingest(("2023-10-27-149.json", (SAMPLES / "news/2023-10-27-149.json").read_bytes()))
    return started


def quelea(stack: Stack, *arguments: str) -> str:
    """What a command prints."""
    out, given = io.StringIO(), sys.argv
    try:
        sys.argv = ["quelea", *arguments, "--url", stack.url]
        with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as ended:
            command_line.main()
    finally:
        sys.argv = given
    assert not ended.value.code, out.getvalue()
    return out.getvalue()


def pages(stack: Stack, **params: Any) -> list[dict[str, Any]]:
    found = stack.http.get("/v1/web/pages", params=params).raise_for_status().json()
    return list(found["pages"])


def page_of(stack: Stack, path: str, state: str) -> dict[str, Any]:
    """The page of the sample web under a path, once it is in a state."""
    found: list[dict[str, Any]] = []

    def look() -> bool:
        found[:] = [page for page in pages(stack, state=state) if page["url"].endswith(path)]
        return bool(found)

    stack.wait_until(look, REFRESH_SECONDS, f"{path} is {state}")
    return found[0]


def in_the_knowledge_base(stack: Stack, url: str) -> bool:
    return any(one["uri"] == url and one["provenance"] == "web" for one in stack.documents().values())


def test_the_first_answer_is_from_the_web_and_the_second_from_the_knowledge_base(web_stack: Stack) -> None:
    first = web_stack.ask(EARNINGS)
    assert first["route"] == "local+web", first["gate"]
    assert not first["gate"]["passed"]
    assert first["gate"]["reasons"]
    assert first["web"]["provider"] == "searxng"
    cited = next(one for one in first["citations"] if one["uri"].endswith("/research/002242.html"))
    assert (cited["source"], cited["published"]) == ("web", "2023-04-26")
    text = web_stack.page(cited["document_id"], cited["page"])["text"]
    assert text[cited["start"] : cited["end"]] == cited["quote"]

    page = page_of(web_stack, "/research/002242.html", "kept")
    assert EARNINGS in page["queries"]
    assert page["published_source"] == "page"
    web_stack.wait_until(lambda: in_the_knowledge_base(web_stack, page["url"]), REFRESH_SECONDS, "the page is indexed")
    second = web_stack.ask(EARNINGS)
    assert second["route"] == "local", second["gate"]
    assert any(one["uri"] == page["url"] for one in second["citations"])
    assert second["timings"]["total"] < first["timings"]["total"]


def test_a_host_that_nobody_trusts_waits_for_approval_and_can_be_rolled_back(web_stack: Stack) -> None:
    answer = web_stack.ask(STAKE)
    assert answer["route"] == "local+web", answer["gate"]
    assert any("15亿欧元" in one["quote"] for one in answer["citations"])
    page = page_of(web_stack, "/article/083.html", "pending")
    assert not in_the_knowledge_base(web_stack, page["url"])
    assert page["url"] in quelea(web_stack, "docs", "--web", "--state", "pending")
    assert f"approved  {page['url']}" in quelea(web_stack, "docs", "approve", page["url"])
    web_stack.wait_until(lambda: in_the_knowledge_base(web_stack, page["url"]), REFRESH_SECONDS, "it is approved")
    assert web_stack.ask(STAKE)["route"] == "local"
    assert f"rolled back  {page['url']}" in quelea(web_stack, "docs", "roll-back", "--host", page["host"])
    web_stack.wait_until(
        lambda: not in_the_knowledge_base(web_stack, page["url"]), REFRESH_SECONDS, "it is rolled back"
    )
    assert not [one for one in pages(web_stack) if one["url"] == page["url"]]


def test_a_page_added_by_hand_becomes_a_document(web_stack: Stack) -> None:
    port = web_stack.record()["services"]["sample-web"]["port"]
    url = f"http://reports.localhost:{port}/research/600660.html"
    assert f"ready   {url}" in quelea(web_stack, "ingest", url)
    document = next(one for one in web_stack.documents().values() if one["uri"] == url)
    assert (document["provenance"], document["published"]) == ("web", "2022-10-22")


def test_a_page_that_gives_orders_is_not_obeyed(web_stack: Stack) -> None:
    before = set(web_stack.documents())
    answer = web_stack.ask("How many passengers did Harbourline Ferries carry in the first half of 2023?", route="web")
    assert any(one["uri"].endswith("/article/harbourline.html") for one in answer["citations"])
    assert "double its dividend" not in answer["answer"]
    assert "delete_document" not in answer["answer"]
    assert before <= set(web_stack.documents())


def test_what_robots_txt_closes_is_left_out_and_named(web_stack: Stack) -> None:
    answer = web_stack.ask("瑞尔集团创始人邹其芳如何看待规模与利润的平衡？", route="web")
    assert any("/members/080.html" in problem for problem in answer["web"]["problems"])
    assert not any("/members/" in one["uri"] for one in answer["citations"])


def test_a_question_can_be_kept_at_home(web_stack: Stack) -> None:
    answer = web_stack.ask(STAKE, route="local")
    assert (answer["route"], answer["web"]) == ("local", None)
    assert "route: local" in quelea(web_stack, "ask", STAKE, "--route", "local")
