"""core/web/pages.py and core/web/page_source.py: by which rules a page enters the knowledge base and stays in it."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_search.core import records
from quelea_search.core.web import page_source
from quelea_search.core.web import pages as web_pages
from quelea_search.core.web.page_source import PageSource
from quelea_search.core.web.pages import MAX_LOOKS, MAX_QUERIES, PageFilter, PageState, TimeToLive, Use, WebPage

URL = "https://example.com/a"
TTL = TimeToLive(news=10, page=70, reference=300, filing=3650)
PAGE = WebPage(URL, "example.com", PageState.KEPT, 1.0, document_id="d1", indexed=True, kind="news", due=5.0)


def use(query: str = "What did they earn?", document_id: str = "d1", **more: object) -> Use:
    values = {"provider": "searxng", "score": 0.9, "now": 100.0, **more}
    return Use(query=query, document_id=document_id, **values)  # type: ignore[arg-type]  # fields of Use


def after(before: WebPage | None, one: Use, trusted: str = "") -> tuple[WebPage, bool]:
    return web_pages.record_use(before, one, url=URL, host="example.com", trusted=trusted)


def test_a_page_waits_for_a_second_question() -> None:
    page, wanted = after(None, use())
    assert (page.state, wanted, page.queries) == (PageState.PENDING, False, ("What did they earn?",))
    again, wanted = after(page, use("  what did THEY earn ?"))
    assert (again.state, wanted, again.queries, again.uses) == (PageState.PENDING, False, page.queries, 2)
    second, wanted = after(again, use("How much was the profit?"))
    assert (second.state, wanted, second.reason) == (PageState.KEPT, True, "second use")
    assert len(second.queries) == 2


def test_a_trusted_page_does_not_wait() -> None:
    page, wanted = after(None, use(), trusted="host on the allow-list")
    assert (page.state, wanted, page.reason) == (PageState.KEPT, True, "host on the allow-list")


def test_a_rejected_page_stays_rejected() -> None:
    rejected = dataclasses.replace(PAGE, state=PageState.REJECTED)
    assert after(rejected, use(), trusted="quarantine off") == (rejected, False)


def test_a_kept_page_with_the_same_bytes_only_counts() -> None:
    page, wanted = after(PAGE, use("another question"))
    assert not wanted
    assert (page.document_id, page.uses, page.queries) == ("d1", 1, ("another question",))


@pytest.mark.parametrize("state", [PageState.KEPT, PageState.VANISHED])
def test_a_kept_page_with_other_bytes_comes_in_anew(state: PageState) -> None:
    page, wanted = after(dataclasses.replace(PAGE, state=state), use(document_id="d2"))
    assert wanted
    assert page.document_id == "d2"


def test_a_kept_page_whose_job_failed_is_tried_again() -> None:
    assert after(dataclasses.replace(PAGE, indexed=False), use())[1]


@given(st.lists(st.text(min_size=1), max_size=40))
def test_questions_are_bounded_and_the_first_stays(queries: list[str]) -> None:
    page = None
    for query in queries:
        page, _ = after(page, use(query))
        assert len(page.queries) <= MAX_QUERIES
        assert page.queries[0] == queries[0]


@pytest.mark.parametrize(("one", "two", "same"), [("ＡＢＣ 收入?", "abc收入", False), ("ＡＢＣ？", "abc", True)])
def test_the_same_question(one: str, two: str, same: bool) -> None:
    assert (web_pages.normalise_query(one) == web_pages.normalise_query(two)) is same


def test_time_to_live_by_kind() -> None:
    facts = {"title": "t", "published": "", "published_source": "", "etag": "", "last_modified": ""}
    for kind, seconds in (("news", 10), ("filing", 3650), ("reference", 300), ("page", 70), ("other", 70)):
        content = web_pages.PageContent(kind=kind, fetched=90.0, **facts)
        page = web_pages.keep(None, content, url=URL, host="h", now=100, ttl=TTL, document_id="d")
        assert (page.expires, page.due, page.indexed) == (90 + seconds, 90 + seconds, True)
    assert page.reason == "submitted by a user"


def test_a_vanished_page_is_looked_for_with_growing_intervals_and_then_no_more() -> None:
    page, waits = PAGE, []
    for _ in range(MAX_LOOKS + 1):
        page = web_pages.mark_vanished(page, now=100, ttl=TTL, status="410", today="2026-11-22")
        waits.append(page.due - 100 if page.due else 0)
    assert waits == [20, 40, 80, 0]
    assert (page.state, page.reason, page.document_id) == (PageState.VANISHED, "410 since 2026-11-22", "d1")
    back = web_pages.renew(page, now=200, ttl=TTL)
    assert (back.state, back.due, back.looks) == (PageState.KEPT, 210, 0)


def test_a_failed_job_takes_nothing_away_that_is_in() -> None:
    assert web_pages.mark_failed(PAGE, job_id="j", reason="X") == PAGE
    waiting = dataclasses.replace(PAGE, indexed=False, job_id="j")
    assert web_pages.mark_failed(waiting, job_id="another", reason="X") == waiting
    assert web_pages.mark_failed(waiting, job_id="j", reason="X").state is PageState.PENDING


def test_filters() -> None:
    assert PageFilter().empty
    assert PageFilter(states=frozenset({PageState.KEPT}), added_from=1, added_to=1).matches(PAGE, None)
    assert not PageFilter(added_from=2).matches(PAGE, None)
    assert not PageFilter(urls=frozenset({"x"})).matches(PAGE, None)
    assert not PageFilter(hosts=("x",)).matches(PAGE, {"other.example"})


def test_records_come_back_as_they_were() -> None:
    page = dataclasses.replace(PAGE, queries=("一", "two"), title="é")
    assert web_pages.decode(records.encode(page)) == page
    source = PageSource(URL, URL, URL, "text/html", "utf-8", 1.5, etag='"x"')
    assert page_source.decode(records.encode(source)) == source
    fetched = source.with_bytes(b"data")
    assert page_source.source_of(fetched) == source


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://e.com/a/report%202026.pdf?x=1", "report 2026.pdf"),
        ("https://e.com/", "e.com"),
        ("https://e.com/%2e%2e%2f", "e.com"),
        ("https://e.com/a/%00", "e.com"),
    ],
)
def test_a_name_to_show(url: str, name: str) -> None:
    assert page_source.name_of(url) == name
