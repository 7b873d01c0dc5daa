"""SearchWeb and the pages: read once, denied, rejected, doubled."""

from __future__ import annotations

from support.web_replies import problems, status

IPHONE = "iPhone net sales were 39,669 million dollars.\n\nThe weather was fine.\n\nMac net sales fell."


async def test_a_page_that_was_just_read_is_not_fetched_again(web_room) -> None:
    url = web_room.page("/a", f"DATE 2023-08-03\n{IPHONE}")
    first = await web_room.search()
    again = await web_room.search("Mac net sales")
    assert web_room.pages.asked == ["/a"]
    assert again.pages[0].fetched == first.pages[0].fetched
    assert again.pages[0].url == url
    assert again.pages[0].document_id == first.pages[0].document_id
    assert again.pages[0].metadata == first.pages[0].metadata
    web_room.build(page_fresh_seconds=0)
    await web_room.search("Mac net sales")
    assert web_room.pages.asked == ["/a", "/a"]


async def test_denied_and_rejected_pages_are_not_read_also_behind_a_redirect(web_room) -> None:
    web_room.page("/denied", IPHONE, host="bad.example.net")
    rejected = web_room.page("/rejected", IPHONE)
    web_room.rejections.urls = {rejected, "http://other.example.org/rejected-too"}
    web_room.page("/rejected-too", IPHONE, host="other.example.org")
    web_room.page("/to-denied", "", host="other.example.org")
    web_room.pages.paths["/to-denied"] = status(302, Location="http://bad.example.net/denied")
    web_room.page("/to-rejected", "", host="trusted.example.gov")
    web_room.pages.paths["/to-rejected"] = status(302, Location=rejected)
    web_room.page("/good", f"{IPHONE}\n\nGood.")
    answer = await web_room.search()
    assert [page.url.rsplit("/", 1)[-1] for page in answer.pages] == ["good"]
    assert not {"/rejected-too"} & set(web_room.pages.asked)


async def test_the_same_bytes_are_one_page(web_room) -> None:
    web_room.page("/a", IPHONE)
    web_room.page("/b", IPHONE, host="other.example.org")
    web_room.page("/c", "", host="trusted.example.gov")
    web_room.pages.paths["/c"] = status(301, Location="http://news.example.com/a")
    answer = await web_room.search()
    assert len(answer.pages) == 1
    assert problems(answer) == []


async def test_while_rejections_are_unknown_only_trusted_hosts_are_used(web_room) -> None:
    web_room.page("/a", IPHONE)
    trusted = web_room.page("/t", f"{IPHONE}\n\nOfficial.", host="trusted.example.gov")
    web_room.rejections.away = True
    answer = await web_room.search()
    assert [page.url for page in answer.pages] == [trusted]
    assert problems(answer) == [("rejected pages", "UNAVAILABLE")]


async def test_without_redis_there_is_an_answer_that_says_what_is_missing(web_room) -> None:
    trusted = web_room.page("/t", IPHONE, host="trusted.example.gov")
    web_room.build(provider_calls_per_minute=2)
    web_room.redis_server.connected = False
    for _ in range(2):
        answer = await web_room.search()
        assert [page.url for page in answer.pages] == [trusted]
        assert problems(answer) == [(trusted, "NOT_STORED")]
        assert not answer.cached
    third = await web_room.search()
    assert third.provider == "brave", "the budget is counted here while Redis is away"
    web_room.redis_server.connected = True
    assert problems(await web_room.search()) in ([], [("searxng", "BUDGET")])


async def test_passages_that_cannot_be_chosen_in_time_are_a_problem(web_room) -> None:
    web_room.page("/a", IPHONE)
    web_room.reader.select_works = False
    answer = await web_room.search()
    assert (len(answer.pages), list(answer.pages[0].passages)) == (1, [])
    assert problems(answer) == [("passages", "TIMEOUT")]
