"""The allow-list, budgets, headers, cookies, sessions."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from quelea_kit.errors import NotFound, Overloaded
from quelea_search.core.web.urls import parse_url
from quelea_search.door.core.budget import CallSlots, OneAtATime, TokenBucket
from quelea_search.door.core.cookies import CookieJar
from quelea_search.door.core.headers import COOKIE_NAMES, cookie_names, cookie_stand_ins, inward, keep_recorded, outward
from quelea_search.door.core.hosts import HostRule, HostTable, default_rules
from quelea_search.door.core.model import Refused
from quelea_search.door.core.sessions import Session, Sessions
from quelea_search.door.settings import DoorSettings

LISTED = [
    "https://push2his.eastmoney.com/a",
    "https://82.push2.eastmoney.com/a",
    "https://datacenter-web.eastmoney.com/a",
    "https://datacenter-api.jin10.com/a",
    "https://finance.sina.com.cn/a",
    "https://stock2.finance.sina.com.cn/a",
    "https://webapi.cninfo.com.cn/a",
    "http://www.chinamoney.com.cn/a",
    "https://query2.finance.yahoo.com/a",
    "https://data.sec.gov/a",
    "https://www.sec.gov/a",
    "http://yunhq.sse.com.cn:32041/a",
    "https://d.10jqka.com.cn/a",
]
UNLISTED = [
    "https://example.com/a",
    "https://github.com/a",
    "https://eastmoney.com.evil.io/a",
    "https://noteastmoney.com/a",
    "https://push2his.eastmoney.com:8443/a",
    "http://127.0.0.1/a",
    "http://169.254.169.254/latest",
    "http://redis/a",
    "https://mail.yahoo.com/a",
    "https://mail.sina.com.cn/a",
]


@pytest.mark.parametrize("url", LISTED)
def test_the_upstreams_of_the_functions_are_listed(url: str) -> None:
    assert HostTable(default_rules()).find(parse_url(url)) is not None


@pytest.mark.parametrize("url", UNLISTED)
def test_others_are_not(url: str) -> None:
    assert HostTable(default_rules()).find(parse_url(url)) is None


def test_the_most_special_rule_holds() -> None:
    table = HostTable(default_rules())
    assert table.find(parse_url("https://82.push2.eastmoney.com/")).pattern == "push2.eastmoney.com"  # type: ignore[union-attr]
    assert table.find(parse_url("https://fund.eastmoney.com/")).pattern == "eastmoney.com"  # type: ignore[union-attr]


def test_what_the_operator_says_of_hosts() -> None:
    rules = {
        rule.pattern: rule for rule in DoorSettings(hosts=("*.Example.com",), extra_hosts=("sec.gov",)).table().rules
    }
    assert set(rules) == {"example.com", "sec.gov"}
    told = DoorSettings(
        calls_per_minute={"data.sec.gov": 6, "evil.io": 9},
        user_agents={"sec.gov": "Example me@example.com"},
        fresh_seconds={"jin10.com": 0},
    ).table()
    found = told.find(parse_url("https://data.sec.gov/"))
    assert found is not None
    assert found.per_minute == 6
    assert told.find(parse_url("https://www.sec.gov/")).user_agent == "Example me@example.com"  # type: ignore[union-attr]
    assert told.find(parse_url("https://x.jin10.com/")).fresh_seconds == 0  # type: ignore[union-attr]
    assert told.find(parse_url("https://evil.io/")) is None


@pytest.mark.parametrize(
    "told",
    [
        {"test_hosts": {"a.com": "127.0.0.1:1"}},
        {"test_hosts": {"a.com": "10.0.0.1:1"}, "environment": "test", "listen": "127.0.0.1:0"},
        {"test_hosts": {"a.com": "127.0.0.1:1"}, "environment": "test", "listen": "0.0.0.0:0"},
        {"test_hosts": {"a.com": "127.0.0.1:1"}, "environment": "test", "http_listen": "0.0.0.0:0"},
        {"socket": ""},
        {"calls_per_minute": {"a.com": 0}},
    ],
)
def test_settings_that_would_open_a_hole_are_refused(told: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        DoorSettings.model_validate(told)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(st.integers(1, 600), st.lists(st.floats(0, 30), max_size=80))
def test_a_bucket_never_gives_more_than_its_rate(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    bucket = TokenBucket(per_minute, clock=clock)
    given_, started = [], clock.now
    for pause in pauses:
        clock.now += pause
        wait = bucket.take(5.0)
        assert wait <= 5.0
        if wait >= 0:
            given_.append(clock.now + wait - started)
    for count, moment in enumerate(sorted(given_), start=1):
        assert count <= max(1.0, per_minute / 6) + moment * per_minute / 60 + 1e-6


def test_a_bucket_says_when_to_come_back() -> None:
    clock = Clock()
    bucket = TokenBucket(6, clock=clock)
    assert bucket.take(0) == 0
    assert bucket.take(0) == pytest.approx(-10)
    assert bucket.take(10) == pytest.approx(10)
    clock.now += 20
    assert bucket.left == 1
    assert bucket.take(0) == 0


async def test_places_are_bounded() -> None:
    slots = CallSlots(1, 1, "here")
    inside, go = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with slots.take():
            inside.set()
            await go.wait()

    tasks = [asyncio.create_task(hold()), asyncio.create_task(hold())]
    await inside.wait()
    with pytest.raises(Refused) as refused:
        async with slots.take():
            pass
    assert (refused.value.status, refused.value.retry_after) == (429, 1.0)
    go.set()
    await asyncio.gather(*tasks)
    assert slots.inside == 0


async def test_the_same_key_waits_others_do_not() -> None:
    turns, order = OneAtATime(), []
    async with turns.of("a"):
        waiting = asyncio.create_task(_note(turns, "a", order))
        await asyncio.wait_for(_note(turns, "b", order), 60)
        assert order == ["b"]
    await asyncio.wait_for(waiting, 60)
    assert order == ["b", "a"]
    assert not turns._locks


async def _note(turns: OneAtATime, key: str, order: list[str]) -> None:
    async with turns.of(key):
        order.append(key)


def test_headers_that_go_out() -> None:
    sent = outward(
        [
            ("User-Agent", "x"),
            ("X-Quelea-Token", "s"),
            ("Host", "door"),
            ("Connection", "keep-alive, X-Mine"),
            ("X-Mine", "1"),
            ("Content-Length", "5"),
            ("Accept-Encoding", "br"),
            ("Range", "bytes=0-1"),
            ("If-None-Match", "x"),
            ("Via", "y"),
            ("Referer", "r"),
            ("referer", "again"),
            ("Bad\nName", "z"),
            ("Odd", "a\r\nb"),
            ("Transfer-Encoding", "chunked"),
        ]
    )
    assert sent == {"user-agent": "x", "referer": "r"}


def test_headers_that_come_back() -> None:
    back = inward(
        {
            "content-type": "a/b",
            "set-cookie": "a=b",
            "content-encoding": "gzip",
            "x-quelea-call": "forged",
            "etag": '"1"',
            "transfer-encoding": "chunked",
            "odd": "a\x00b",
        }
    )
    assert back == {"content-type": "a/b", "etag": '"1"'}


def test_headers_of_a_bundle_are_those_that_an_upstream_could_send() -> None:
    hostile = {
        "content-type": "a/b",
        "content-length": "5",
        "x-quelea-call": "x",
        "set-cookie": "a=b",
        "odd\r\nx": "y",
        "x-quelea-url": "https://a.com/",
        "x-quelea-cookies": "A3 B\r\nx",
    }
    assert keep_recorded(hostile) == {"content-type": "a/b", "x-quelea-url": "https://a.com/"}
    names = cookie_names(["A3=secret; Path=/", "B=1", "A3=again"])
    assert names == "A3 B"
    assert cookie_stand_ins(keep_recorded({COOKIE_NAMES: names})) == (
        "A3=recorded; Path=/; Max-Age=86400",
        "B=recorded; Path=/; Max-Age=86400",
    )
    assert cookie_names(["bad name=1"]) == ""
    assert cookie_stand_ins({}) == ()


def test_cookies_stay_where_they_belong() -> None:
    jar = CookieJar(HostTable(default_rules()).covers)
    here = parse_url("https://stock.xueqiu.com/a")
    shown = jar.store(
        here,
        [
            "xq=1; Domain=.xueqiu.com; Path=/; Secure",
            "wide=2; Domain=com.cn",
            "other=3; Domain=sina.com.cn",
            "own=4; HttpOnly",
            "gone=5; Max-Age=0",
            "old=6; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "bad name=7",
            "x" * 5000 + "=8",
        ],
    )
    assert shown[0] == "xq=1; Path=/; Secure"
    assert jar.header(here, "") == "xq=1; wide=2; other=3; own=4"
    assert jar.header(parse_url("https://xueqiu.com/"), "") == "xq=1"
    assert jar.header(parse_url("http://xueqiu.com/"), "") == ""  # Secure
    assert jar.header(parse_url("https://finance.sina.com.cn/"), "") == ""
    assert jar.header(here, "own=mine") == "own=mine; xq=1; wide=2; other=3"
    jar.store(here, [f"n{number}=v" for number in range(500)])
    assert len(jar.header(here, "").split("; ")) <= 200


def session(clock: Clock, **more: object) -> Session:
    made = Session(
        "id", "run", "", False, None, (), 2, 10, clock.now + 60, CookieJar(lambda _: False), CallSlots(1, 1, "")
    )
    return replace(made, **more)  # type: ignore[arg-type]


def test_a_token_is_secret_bounded_and_ends() -> None:
    clock = Clock()
    sessions = Sessions(2, clock)
    one = session(clock)
    token = sessions.add(one)
    assert len(token) >= 43
    assert token not in repr(vars(sessions))
    assert sessions.find(token) is one
    for wrong in ("", token[:-1], token + "x", "\udc80"):
        with pytest.raises(Refused, match="token"):
            sessions.find(wrong)
    sessions.admit(one)
    sessions.admit(one)
    with pytest.raises(Refused) as refused:
        sessions.admit(one)
    assert refused.value.reason == "CALLS"
    other = session(clock, id="b", bytes=10)
    sessions.add(other)
    with pytest.raises(Refused, match="bytes"):
        sessions.admit(other)
    with pytest.raises(Overloaded):
        sessions.add(session(clock))
    sessions.close("b")
    with pytest.raises(NotFound):
        sessions.close("b")
    clock.now += 61
    with pytest.raises(Refused, match="ended"):
        sessions.find(token)
    assert len(sessions) == 0


def test_a_rule_without_numbers_has_some() -> None:
    assert HostRule("x.com").per_minute > 0
