"""SearchWeb when providers misbehave, run out or come back."""

from __future__ import annotations

import asyncio
import gzip
from datetime import date

import pytest
from quelea_kit.errors import Unavailable
from support.web_replies import body, problems, status

IPHONE = "iPhone net sales were 39,669 million dollars.\n\nThe weather was fine.\n\nMac net sales fell."


async def too_short(_target: str, writer) -> None:
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"results": []}')
    await writer.drain()
    writer.close()


async def too_long(_target: str, writer) -> None:
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{"results": []}')
    await writer.drain()
    writer.close()


async def declared_gigabyte(_target: str, writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n{")
    await writer.drain()
    await asyncio.sleep(3600)


BOMB = gzip.compress(b" " * (16 * 2**20))


async def bomb(_target: str, writer) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(BOMB)}"
    writer.write(head.encode() + b"\r\nContent-Encoding: gzip\r\n\r\n" + BOMB)
    await writer.drain()


async def slow_drip(_target: str, writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("hang", "TIMEOUT"),
        (slow_drip, "TIMEOUT"),
        (too_short, "CONNECTION"),
        (too_long, "NOT_JSON"),
        (declared_gigabyte, "TOO_LARGE"),
        ("gigabyte", "TOO_LARGE"),
        (bomb, "TOO_LARGE"),
        (body("<h1>Prove that you are a person</h1>"), "NOT_JSON"),
        (status(500), "STATUS"),
        (status(403), "KEY_REFUSED"),
        (status(302, Location="http://127.0.0.1:1/"), "STATUS"),
        (b"garbage that is no HTTP\r\n\r\n", "CONNECTION"),
        (b"", "CONNECTION"),
    ],
)
async def test_a_provider_that_misbehaves_is_passed_over_and_named(web_room, how, reason) -> None:
    web_room.page("/a", IPHONE)
    web_room.searxng.paths["/search"] = getattr(web_room.searxng, how) if isinstance(how, str) else how
    for seconds in (0.5, 5, 30) if reason == "TIMEOUT" else (60,):  # the other one needs its time on a slow machine
        web_room.build(provider_seconds=seconds)
        answer = await web_room.search()
        if answer.provider == "brave":
            break
    assert (answer.provider, len(answer.pages)) == ("brave", 1)
    assert problems(answer) == [("searxng", reason)]
    assert web_room.searxng.sent < 50 * 2**20, "what is too long is not read to its end"


async def test_nobody_listens(web_room) -> None:
    web_room.page("/a", IPHONE)
    web_room.searxng.port = 1
    web_room.build()
    answer = await web_room.search()
    assert (answer.provider, problems(answer)) == ("brave", [("searxng", "CONNECTION")])


async def test_a_rate_limit_is_waited_out_with_the_next_provider(web_room) -> None:
    web_room.page("/a", IPHONE)
    well, limited = web_room.searxng.paths["/search"], status(429, Retry_After="30")
    web_room.build(provider_cache_seconds=0)
    web_room.searxng.paths["/search"] = limited
    answer = await web_room.search()
    assert (answer.provider, problems(answer)) == ("brave", [("searxng", "RATE_LIMITED")])
    web_room.searxng.paths["/search"] = well
    answer = await web_room.search()
    assert (answer.provider, problems(answer)) == ("brave", [("searxng", "RESTING")])
    assert len(web_room.searxng.asked) == 1
    web_room.clock.ahead += 31
    answer = await web_room.search()
    assert (answer.provider, problems(answer)) == ("searxng", [])


async def test_the_breaker_opens_and_closes(web_room) -> None:
    web_room.page("/a", IPHONE)
    well = web_room.searxng.paths["/search"]
    web_room.build(provider_cache_seconds=0, provider_failures=2, provider_rest_seconds=60)
    web_room.searxng.paths["/search"] = body("<html>")
    reasons = [problems(await web_room.search())[0][1] for _ in range(4)]
    assert reasons == ["NOT_JSON", "NOT_JSON", "RESTING", "RESTING"]
    assert len(web_room.searxng.asked) == 2
    web_room.searxng.paths["/search"] = well
    web_room.clock.ahead += 61
    assert (await web_room.search()).provider == "searxng"
    assert (await web_room.search()).provider == "searxng"


async def test_a_used_up_budget_goes_to_the_next_provider(web_room) -> None:
    web_room.page("/a", IPHONE)
    web_room.build(provider_calls_per_minute=2)
    answers = [await web_room.search(f"iPhone question {n}") for n in range(4)]
    assert [a.provider for a in answers] == ["searxng", "searxng", "brave", "brave"]
    assert problems(answers[2]) == [("searxng", "BUDGET")]
    with pytest.raises(Unavailable) as caught:
        await web_room.search("iPhone question 5")
    assert {k: v.split(":")[0] for k, v in caught.value.details.items()} == {"searxng": "BUDGET", "brave": "BUDGET"}


async def test_when_every_provider_fails_each_is_named_and_no_key_is_told(web_room) -> None:
    web_room.searxng.paths["/search"] = body("<html>")
    web_room.brave.paths["/res/v1/web/search"] = status(401)
    with pytest.raises(Unavailable) as caught:
        await web_room.search()
    assert set(caught.value.details) == {"searxng", "brave"}
    assert caught.value.details["brave"].startswith("KEY_REFUSED")
    assert "searxng" in caught.value.message
    assert "sk-do-not-show" not in str(caught.value) + str(caught.value.details)


async def test_a_list_is_used_again_and_says_when_it_was_made(web_room) -> None:
    web_room.page("/a", IPHONE)
    first = await web_room.search("iPhone net sales")
    again = await web_room.search("  IPHONE   net sales ")
    assert (again.cached, again.provider, len(again.pages)) == (True, "searxng", 1)
    assert again.searched == first.searched
    assert len(web_room.searxng.asked) == 1
    assert not (await web_room.search("iPhone net sales", as_of="2023-10-01")).cached
    web_room.day[0] = date(2023, 11, 2)
    assert not (await web_room.search("iPhone net sales")).cached
    ttls = [web_room.redis.pttl(key) for key in web_room.redis.keys("test:results:*")]
    assert all(0 < ttl <= web_room.settings.provider_cache_seconds * 1000 for ttl in ttls)
    web_room.build(provider_cache_seconds=0)
    assert not (await web_room.search("iPhone net sales")).cached


async def test_a_broken_entry_of_the_cache_is_a_miss(web_room) -> None:
    web_room.page("/a", IPHONE)
    await web_room.search()
    (key,) = web_room.redis.keys("test:results:*")
    for broken in ("{", "[]", '{"provider": "x", "searched": 1, "items": [{"nonsense": 1}]}'):
        web_room.redis.set(key, broken)
        answer = await web_room.search()
        assert (answer.cached, len(answer.pages)) == (False, 1)
