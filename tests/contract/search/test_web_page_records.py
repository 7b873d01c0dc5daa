"""WebPages: records, their indexes and their bounds."""

from __future__ import annotations

import dataclasses

import fakeredis
import pytest
from quelea_search.adapters.web_pages_redis import WebPages
from quelea_search.core.web.pages import PageFilter, PageState, WebPage
from quelea_search.core.web.urls import host_matches


@pytest.fixture
def pages(search_redis: fakeredis.FakeRedis, search_clock) -> WebPages:
    return WebPages(search_redis, prefix="test", max_pending=3, clock=search_clock)


def put(pages: WebPages, number: int, state: PageState = PageState.KEPT, host: str = "a.example", **more) -> WebPage:
    url = f"https://{host}/{number}"
    page = WebPage(url, host, state, float(number), document_id=f"d{number}", indexed=True, **more)
    pages.update(url, lambda _: page)
    return page


def select(pages: WebPages, limit: int = 10, **wanted) -> tuple[list[float], int]:
    one = PageFilter(**wanted)
    found, total, _ = pages.select(one, lambda host: host_matches(host, one.hosts), limit)
    return [page.added for page in found], total


@pytest.mark.parametrize(
    "wanted",
    [{}, {"hosts": ("a.example", "b.example")}, {"added_from": 1, "added_to": 6}, {"states": frozenset(PageState)}],
)
def test_pages_of_the_list_give_each_record_once(pages: WebPages, wanted) -> None:
    for number in range(7):
        put(pages, number, host="ab"[number % 2] + ".example")
    for number in (3, 4):  # two more of the same moment
        put(pages, number, host="a.example" if number % 2 else "b.example")
    one = PageFilter(**wanted)
    urls, after = [], None
    while True:
        found, _, after = pages.select(one, lambda host: host_matches(host, one.hosts), 2, after)
        urls += [page.canonical_url for page in found]
        if after is None:
            break
        put(pages, 100 + len(urls), host="c.example")  # a newer one does not shift the pages that follow
    whole, _, _ = pages.select(one, lambda host: host_matches(host, one.hosts), 100)
    assert urls == [page.canonical_url for page in whole if page.added < 100]
    assert len(urls) == len(set(urls)) >= 8


def test_records_are_found_by_everything_that_a_filter_has(pages: WebPages) -> None:
    for number in (1, 2, 3):
        put(pages, number)
    put(pages, 4, PageState.VANISHED, "www.b.example")
    rejected = put(pages, 5, PageState.REJECTED, "b.example")
    assert select(pages) == ([5, 4, 3, 2, 1], 5)
    assert select(pages, limit=2) == ([5, 4], 5)
    assert select(pages, hosts=("b.example",)) == ([5, 4], 2)
    assert select(pages, hosts=("nothing.example",)) == ([], 0)
    assert select(pages, hosts=("a.example",)) == ([3, 2, 1], 3)
    assert select(pages, states=frozenset({PageState.KEPT})) == ([3, 2, 1], 3)
    assert select(pages, states=frozenset({PageState.KEPT, PageState.VANISHED}), limit=1) == ([4], 4)
    assert select(pages, hosts=("b.example",), states=frozenset({PageState.REJECTED})) == ([5], 1)
    assert select(pages, added_from=2, added_to=4) == ([4, 3, 2], 3)
    assert select(pages, added_from=2, hosts=("a.example",)) == ([3, 2], 2)
    assert select(pages, urls=frozenset({rejected.canonical_url, "https://x.example/"})) == ([5], 1)
    assert pages.rejected([rejected.canonical_url, "https://a.example/1", "https://x.example/"]) == {
        rejected.canonical_url
    }


def test_a_change_of_state_changes_the_indexes(pages: WebPages) -> None:
    page = put(pages, 1)
    pages.update(page.canonical_url, lambda p: dataclasses.replace(p, state=PageState.REJECTED))
    assert pages.count(PageState.KEPT) == 0
    assert pages.count(PageState.REJECTED) == 1


def test_the_oldest_pages_in_quarantine_leave(pages: WebPages) -> None:
    put(pages, 0, PageState.KEPT)
    for number in range(1, 6):
        put(pages, number, PageState.PENDING)
    assert select(pages) == ([5, 4, 3, 0], 4)
    assert pages.find("https://a.example/1") is None


def test_what_is_due_the_longest_overdue_first(pages: WebPages, search_clock) -> None:
    now = search_clock()
    put(pages, 1, due=now - 5)
    put(pages, 2, due=now - 9)
    put(pages, 3, due=now + 9)
    put(pages, 4)
    assert [page.added for page in pages.due(10)] == [2, 1]
    assert [page.added for page in pages.due(1)] == [2]


def test_a_page_that_is_taken_out_is_noted_until_it_is_gone(pages: WebPages, search_redis) -> None:
    for number in (1, 2):
        put(pages, number, host="c.example", due=1.0)
    rejected, rolled_back = "https://c.example/1", "https://c.example/2"
    assert pages.take_out(rejected, reject=True, reason="rejected").state is PageState.REJECTED
    assert pages.take_out(rolled_back, reject=False, reason="") is not None
    assert pages.take_out("https://c.example/3", reject=False, reason="") is None
    assert {removal.document_id for removal in pages.removals()} == {"d1", "d2"}
    assert pages.is_leaving(rejected)
    assert pages.is_leaving(rolled_back)
    assert pages.due(10) == []
    noted = pages.removals()
    for removal in noted:
        pages.taken_out(removal)
    assert pages.removals() == []
    assert not any(pages.is_noted(removal) for removal in noted)
    assert pages.find(rolled_back) is None
    assert not pages.is_leaving(rolled_back)
    assert pages.find(rejected).state is PageState.REJECTED
    put(pages, 2, host="c.example")  # it came back
    for removal in noted:
        pages.taken_out(removal)  # as a second process would, late
    assert pages.find(rolled_back) is not None
    pages.forget(rolled_back, "d2")
    # forgotten whole
    pages.take_out(rejected, reject=False, reason="")
    pages.trim()
    assert search_redis.keys("*") == []
