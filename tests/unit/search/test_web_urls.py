"""One normal form for every way to write an address, and no way around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_search.core.web.errors import BadUrl
from quelea_search.core.web.urls import canonical, host_matches, host_of, join_url, parse_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://www.Example.COM:80", "http://www.example.com/"),
        ("https://example.com:443/a#b", "https://example.com/a"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://example.com./x", "https://example.com/x"),
        ("http://example.com/a/./b/../c/%2e%2e/d", "http://example.com/a/d"),
        ("http://example.com/../../x/..", "http://example.com/"),
        ("http://example.com/a//b/", "http://example.com/a//b/"),
        ("http://example.com/%7euser/%e4%b8%ad%2Fx", "http://example.com/~user/%E4%B8%AD%2Fx"),
        ("http://example.com/中 国?q=é&p=100%", "http://example.com/%E4%B8%AD%20%E5%9B%BD?q=%C3%A9&p=100%25"),
        ("https://bücher.de/", "https://xn--bcher-kva.de/"),
        ("https://BÜCHER.de/", "https://xn--bcher-kva.de/"),
        ("https://xn--bcher-kva.de/", "https://xn--bcher-kva.de/"),
        ("https://faß.de/", "https://xn--fa-hia.de/"),
        ("https://新浪。中国/", "https://xn--efvx5o.xn--fiqs8s/"),
        ("http://[2606:2800:0220:0001:0:0:0:1]:80/", "http://[2606:2800:220:1::1]/"),
        ("http://0x5db8d822/", "http://93.184.216.34/"),
        ("http://example.com/?utm_source=a&b=2&utm_campaign=c&a=1&gclid=x", "http://example.com/?b=2&a=1"),
        ("http://example.com/?fbclid=x", "http://example.com/"),
        ("http://example.com/?", "http://example.com/"),
        ("http://example.com/?UTM_Medium=x&spm=1.2&id=7&&", "http://example.com/?id=7"),
        ("http://example.com/fx?from=USD&to=CNY", "http://example.com/fx?from=USD&to=CNY"),
        ("http://example.com/a?from=singlemessage&isappinstalled=0", "http://example.com/a"),
        ("http://example.com/a;jsessionid=1A2B?x=1", "http://example.com/a?x=1"),
        ("  http://example.com/  ", "http://example.com/"),
    ],
)
def test_canonical(url: str, expected: str) -> None:
    assert canonical(url) == expected
    assert canonical(expected) == expected


@given(st.text(alphabet="abz019.:/?#&=%@[]\\ \t-_~é中０。①ß", max_size=40))
def test_canonical_is_settled_or_refused(tail: str) -> None:
    try:
        once = canonical("http://" + tail)
    except BadUrl:
        return
    assert canonical(once) == once
    assert once.isascii()
    assert not set(once) & set("\\ \t@") - {"@"}
    assert "@" not in once.split("/")[2]


@pytest.mark.parametrize(
    ("host", "patterns", "expected"),
    [
        ("a.sec.gov", ["sec.gov"], True), ("sec.gov", ["sec.gov"], True), ("notsec.gov", ["sec.gov"], False),
        ("sec.gov.evil.com", ["sec.gov"], False), ("WWW.SEC.GOV.", ["Sec.Gov"], True), ("a.b.c", ["*.c", ""], True),
        ("c", [".c"], True), ("a.com", [], False), ("a.com", ["", ".", "*"], False), ("10.0.0.1", ["0.0.1"], False),
        ("93.184.216.34", ["93.184.216.34"], True),
    ],
)  # fmt: skip
def test_host_matches(host: str, patterns: list[str], expected: bool) -> None:
    assert host_matches(host, patterns) is expected


def test_host_of() -> None:
    assert host_of("https://News.Example.com:8443/x") == "news.example.com"
    assert host_of("http://[2606:2800:220:1::1]/") == "2606:2800:220:1::1"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("next", "http://example.com/a/next"), ("/x y", "http://example.com/x%20y"), ("?q=1", "http://example.com/a/b?q=1"),
        ("//other.com/z", "http://other.com/z"), ("https://example.com", "https://example.com/"),
        ("../../..", "http://example.com/"), ("", "http://example.com/a/b?c=d"),
    ],
)  # fmt: skip
def test_join(location: str, expected: str) -> None:
    assert str(join_url(parse_url("http://example.com/a/b?c=d"), location)) == expected


@pytest.mark.parametrize(
    "location", ["mailto:a@b.c", "http://[::1", "\\\\evil.com", "/a\r\nb", "http://a@b.c/", "tel:1"]
)
def test_join_refuses(location: str) -> None:
    with pytest.raises(BadUrl):
        join_url(parse_url("http://example.com/"), location)
