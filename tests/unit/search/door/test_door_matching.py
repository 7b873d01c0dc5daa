"""Which calls are the same call."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_search.core.web.urls import parse_url
from quelea_search.door.core.matching import (
    callback_of,
    is_private,
    is_volatile,
    match_of,
    redact,
    with_callback,
)
from quelea_search.door.core.model import Question
from quelea_search.door.core.nearest import nearest

BASE = "https://push2his.eastmoney.com/api/qt/stock/kline/get"
FORM = {"content-type": "application/x-www-form-urlencoded"}


def key(url: str, method: str = "GET", headers: dict[str, str] | None = None, body: bytes = b"") -> str:
    return match_of(Question(method, parse_url(url), headers or {}, body)).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{BASE}?secid=0.000001&_=1732280000000", f"{BASE}?secid=0.000001&_=1732290000123"),
        (f"{BASE}?secid=0.000001&cb=jQuery1124_1", f"{BASE}?secid=0.000001"),
        (f"{BASE}?a=1&b=2", f"{BASE}?b=2&a=1"),
        (f"{BASE}?a=1&rnd=0.7234918237491", f"{BASE}?a=1"),
        (f"{BASE}?a=1", f"http://push2his.eastmoney.com{BASE[30:]}?a=1"),
        (f"{BASE}?name=%7Eab", f"{BASE}?name=~ab"),
        (
            "https://stock2.finance.sina.com.cn/futures/api/jsonp.php/var%20_RB02024_11_22=/X.getDailyKLine?symbol=RB0",
            "https://stock2.finance.sina.com.cn/futures/api/jsonp.php/var%20_RB02025_01_02=/X.getDailyKLine?symbol=RB0",
        ),
        ("https://query1.finance.yahoo.com/v8/c/N?crumb=a", "https://query1.finance.yahoo.com/v8/c/N?crumb=b"),
    ],
)
def test_the_same_call(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{BASE}?secid=0.000001", f"{BASE}?secid=0.000002"),
        (f"{BASE}?beg=20231001", f"{BASE}?beg=20231002"),
        (f"{BASE}?t=5", f"{BASE}?t=6"),
        (
            "https://query1.finance.yahoo.com/v8/c/N?period1=1732280000",
            "https://query1.finance.yahoo.com/v8/c/N?period1=1732290000",
        ),
        (f"{BASE}?a=1", f"{BASE}/?a=1"),
        (f"{BASE}?a=1", "https://push2.eastmoney.com/api/qt/stock/kline/get?a=1"),
        (f"{BASE}?a=1&a=2", f"{BASE}?a=2&a=1"),
    ],
)
def test_another_call(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_bodies_and_representations_count() -> None:
    assert key(BASE, "POST", FORM, b"t=1732280000000&pair=USD") == key(BASE, "POST", FORM, b"pair=USD&t=1732290000001")
    assert key(BASE, "POST", FORM, b"pair=USD") != key(BASE, "POST", FORM, b"pair=EUR")
    assert key(BASE, "POST") != key(BASE)
    told = {"content-type": "application/json"}
    assert key(BASE, "POST", told, b'{"a": 1, "b": 2}') == key(BASE, "POST", told, b'{"b":2,"a":1}')
    assert key(BASE, "POST", told, b'{"a": [1, 2]}') != key(BASE, "POST", told, b'{"a": [2, 1]}')
    assert key(BASE, headers={"accept": "text/csv"}) != key(BASE)
    assert key(BASE, headers={"accept": "*/*"}) == key(BASE)
    assert key(BASE, "POST", told, b"[" * 100_000)  # no recursion error


names = st.text("abcdefghij", min_size=2, max_size=5).filter(lambda name: not is_volatile(name, "x"))
values = st.text(min_size=1, max_size=8).filter(lambda text: text.isprintable() and not is_volatile("x", text))


@given(st.dictionaries(names, values, max_size=5), st.randoms(), st.integers(1_500_000_000_000, 1_900_000_000_000))
def test_order_and_clocks_never_count(parameters: dict[str, str], chance: object, clock: int) -> None:
    pairs = [f"{name}={quote(value)}" for name, value in parameters.items()]
    one = f"{BASE}?{'&'.join(pairs)}"
    pairs += [f"_={clock}", f"callback=jQuery{clock}_{clock + 1}"]
    chance.shuffle(pairs)  # type: ignore[attr-defined]  # hypothesis gives a Random
    assert key(one) == key(f"{BASE}?{'&'.join(pairs)}")


@given(st.dictionaries(names, values, min_size=1, max_size=5), st.data())
def test_another_value_is_another_call(parameters: dict[str, str], data: st.DataObject) -> None:
    changed = data.draw(st.sampled_from(sorted(parameters)))
    other = parameters | {changed: parameters[changed] + "z"}
    urls = ["&".join(f"{name}={quote(value)}" for name, value in each.items()) for each in (parameters, other)]
    assert key(f"{BASE}?{urls[0]}") != key(f"{BASE}?{urls[1]}")


def test_keys_of_callers_are_hidden_and_make_an_answer_private() -> None:
    url = parse_url("https://api.example.com/x?api_key=s3cret&series=GDP&password=p")
    assert "s3cret" not in redact(url)
    assert "series=GDP" in redact(url)
    assert is_private(Question("GET", url))
    assert "s3cret" not in match_of(Question("GET", url)).url
    assert redact("ftp://me:s3cret@example.com/?secret=s3cret&a=1") == "ftp://hidden@example.com/?secret=hidden&a=1"
    assert redact("https://query1.finance.yahoo.com/x?crumb=abc&range=1d").endswith("?crumb=hidden&range=1d")
    plain = parse_url("https://api.example.com/x?token=894050c7")  # a constant of Eastmoney's pages
    assert not is_private(Question("GET", plain, {"referer": "https://quote.eastmoney.com"}))
    for name in ("authorization", "cookie", "x-api-key", "x-xsrf-token"):
        assert is_private(Question("GET", plain, {name: "v"})), name


def test_a_replayed_callback_has_the_name_that_is_wanted() -> None:
    assert callback_of(f"{BASE}?cb=jQuery123&a=1") == "jQuery123"
    body = b'jQuery123({"a": "jQuery123"});'
    assert with_callback(body, f"{BASE}?cb=jQuery123", f"{BASE}?cb=jQuery999") == b'jQuery999({"a": "jQuery123"});'
    assert with_callback(body, f"{BASE}?cb=jQuery123", BASE) is body
    assert with_callback(b'{"a": 1}', f"{BASE}?cb=x", f"{BASE}?cb=y") == b'{"a": 1}'
    sina = "https://a.sina.com.cn/futures/api/jsonp.php/var%20_RB0{}=/X.get?symbol=RB0"
    given_ = with_callback(b"/*x*/\nvar _RB01=([1]);", sina.format(1), sina.format(22))
    assert given_ == b"/*x*/\nvar _RB022=([1]);"


def test_the_nearest_recorded_call_is_named_with_its_differences() -> None:
    recorded = [
        (url, match_of(Question("GET", parse_url(url))).facts())
        for url in (
            f"{BASE}?secid=0.000001&beg=20231001&end=20231031",
            f"{BASE}?secid=1.510300",
            "https://www.sse.com.cn/a",
        )
    ]
    asked = match_of(Question("GET", parse_url(f"{BASE}?secid=0.000001&beg=20231002&end=20231031")))
    told = nearest(asked, recorded)
    assert f"{BASE}?secid=0.000001&beg=20231001&end=20231031; it differs in beg." in told
    assert nearest(match_of(Question("GET", parse_url("https://www.szse.cn/a"))), recorded) == ""
