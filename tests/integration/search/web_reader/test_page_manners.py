"""Redirects and robots.txt: each step is checked, and what a site asks for is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from quelea_search.adapters.web.fetch import Fetcher
from quelea_search.core.web.errors import (
    BadStatus,
    BadUrl,
    PageError,
    RefusedAddress,
    RefusedByRobots,
    TooManyRedirects,
)

if TYPE_CHECKING:
    from .conftest import Asked, Site

HOST = "site.localhost:8123"
OTHER = "other.localhost:8123"
PAGE = b"<html><body><article><p>Revenue rose 12% to 1.1 billion dollars.</p></article></body></html>"
URL = f"http://{HOST}/page"
SLOW = 60.0
"""Far beyond the deadlines of the tests: reached only when one does not hold."""
Open = Callable[..., Fetcher]


def _to(site: Site, location: str, status: str = "302 Found") -> bytes:
    return site.answer(b"", status=status, Location=location)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_redirects_are_followed(site: Site, open_fetcher: Open, status: str) -> None:
    site.answers |= {
        "/page": _to(site, "next?x=1", status),
        "/next?x=1": _to(site, f"http://{OTHER}/%E5%A4%AE行 a#part", status),
        "/%E5%A4%AE%E8%A1%8C%20a": site.answer(PAGE),
    }
    page = await open_fetcher().fetch(URL)
    assert page.url == URL
    assert page.final_url == f"http://{OTHER}/%E5%A4%AE%E8%A1%8C%20a"
    assert page.data == PAGE


async def test_circles_and_long_ways_end(site: Site, open_fetcher: Open) -> None:
    site.answers |= {"/page": _to(site, "/page"), "/a": _to(site, "/b"), "/b": _to(site, "/a")}
    site.answers |= {f"/{n}": _to(site, f"/{n + 1}") for n in range(100)}
    fetcher = open_fetcher(page_redirects=5)
    for path in ("/page", "/a", "/0"):
        with pytest.raises(TooManyRedirects):
            await fetcher.fetch(f"http://{HOST}{path}")
    assert site.asked["/5"] == 1
    assert site.asked["/6"] == 0


@pytest.mark.parametrize(
    ("location", "error"),
    [("http://127.0.0.1:{port}/secret", RefusedAddress), ("http://169.254.169.254/latest/meta-data/", RefusedAddress),
     ("//127.0.0.1:{port}/secret", RefusedAddress), ("http://[::ffff:127.0.0.1]:{port}/secret", RefusedAddress),
     ("http://2130706433:{port}/secret", RefusedAddress), ("http://inside.example.com/secret", RefusedAddress),
     ("http://site.localhost:{port}/secret", RefusedAddress), ("https://localhost/secret", RefusedAddress),
     ("file:///etc/passwd", BadUrl), ("gopher://127.0.0.1:{port}/_x", BadUrl), ("ftp://127.0.0.1/x", BadUrl),
     ("data:text/html,hello", BadUrl), ("javascript:alert(1)", BadUrl), ("http://a@127.0.0.1:{port}/secret", BadUrl),
     ("http:\\\\127.0.0.1:{port}\\secret", BadUrl), ("http://[::1", BadUrl), ("", BadStatus)],
)  # fmt: skip
async def test_redirects_to_forbidden_places_end(
    site: Site, open_fetcher: Open, location: str, error: type[PageError]
) -> None:
    site.answers |= {"/page": _to(site, location.format(port=site.port)), "/secret": site.answer(b"<p>secret</p>")}
    with pytest.raises(error):
        await open_fetcher(page_ports=(80, 443, site.port)).fetch(URL)
    assert site.asked["/secret"] == 0


async def test_robots_are_asked_once_and_obeyed(site: Site, open_fetcher: Open) -> None:
    site.answers |= {
        "/robots.txt": site.answer(
            b"User-agent: *\nDisallow: /\n\nUser-agent: queleabot\nDisallow: /private/*.html$\nAllow: /\n",
            media_type="text/plain",
        ),
        "/page": site.answer(PAGE),
    }
    fetcher = open_fetcher()
    await asyncio.gather(fetcher.fetch(URL), fetcher.fetch(URL), fetcher.fetch(URL))
    with pytest.raises(RefusedByRobots) as caught:
        await fetcher.fetch(f"http://{HOST}/private/a.html")
    assert caught.value.reason == "ROBOTS"
    assert site.asked["/robots.txt"] == 1
    assert site.asked["/private/a.html"] == 0


async def test_robots_hold_after_redirects_and_only_for_their_origin(site: Site, open_fetcher: Open) -> None:
    async def by_host(asked: Asked, writer: asyncio.StreamWriter) -> None:
        rules = b"User-agent: *\nDisallow: /closed" if asked.headers["host"] == OTHER else b""
        writer.write(site.answer(rules, media_type="text/plain"))
        await writer.drain()

    site.answers |= {
        "/robots.txt": by_host,
        "/page": _to(site, f"http://{OTHER}/closed"),
        "/closed": site.answer(PAGE),
    }
    fetcher = open_fetcher()
    with pytest.raises(RefusedByRobots):
        await fetcher.fetch(URL)
    assert (await fetcher.fetch(f"http://{HOST}/closed")).data == PAGE


async def test_robots_off(site: Site, open_fetcher: Open) -> None:
    site.answers |= {"/robots.txt": site.answer(b"User-agent: *\nDisallow: /"), "/page": site.answer(PAGE)}
    assert (await open_fetcher(robots=False).fetch(URL)).data == PAGE
    assert site.asked["/robots.txt"] == 0


@pytest.mark.parametrize("status", ["401 No", "403 No", "404 No", "410 No"])
async def test_no_robots_means_no_rules(site: Site, open_fetcher: Open, status: str) -> None:
    site.answers |= {"/robots.txt": site.answer(b"x", status=status), "/page": site.answer(PAGE)}
    assert (await open_fetcher().fetch(URL)).data == PAGE


@pytest.mark.parametrize("status", ["500 Oops", "503 Busy", "429 Slow down"])
async def test_robots_that_cannot_be_had_close_the_site_for_a_while(
    site: Site, open_fetcher: Open, status: str
) -> None:
    site.answers |= {"/robots.txt": site.answer(b"x", status=status), "/page": site.answer(PAGE)}
    fetcher = open_fetcher()
    for _ in range(2):
        with pytest.raises(RefusedByRobots) as caught:
            await fetcher.fetch(URL)
        assert caught.value.retry_after is not None
        assert 0 < caught.value.retry_after <= 60
    assert (site.asked["/robots.txt"], site.asked["/page"]) == (1, 0)


async def test_robots_that_hang_close_the_site(site: Site, open_fetcher: Open) -> None:
    site.answers |= {"/robots.txt": site.hang, "/page": site.answer(PAGE)}
    with pytest.raises(RefusedByRobots, match="did not arrive in time"):
        await open_fetcher(page_seconds=1.0).fetch(URL)
    assert site.asked["/page"] == 0


async def test_robots_are_followed_to_where_they_are_but_not_inside(site: Site, open_fetcher: Open) -> None:
    site.answers |= {
        "/robots.txt": _to(site, f"http://{OTHER}/rules"),
        "/rules": site.answer(b"User-agent: *\nDisallow: /page"),
        "/page": site.answer(PAGE),
    }
    with pytest.raises(RefusedByRobots):
        await open_fetcher().fetch(URL)
    site.answers["/robots.txt"] = _to(site, f"http://127.0.0.1:{site.port}/rules")
    with pytest.raises(RefusedByRobots, match="not allowed"):
        await open_fetcher(page_ports=(80, 443, site.port)).fetch(URL)
    site.answers["/robots.txt"] = _to(site, "/robots.txt")
    with pytest.raises(RefusedByRobots, match="redirects"):
        await open_fetcher().fetch(URL)


async def test_endless_robots_count_up_to_the_limit(site: Site, open_fetcher: Open) -> None:
    rules = b"User-agent: *\nDisallow: /closed\n" + b"# a comment\n" * 400_000
    site.answers |= {"/robots.txt": site.answer(rules + b"Disallow: /page\n"), "/page": site.answer(PAGE)}
    fetcher = open_fetcher(page_seconds=SLOW)
    assert (await fetcher.fetch(URL)).data == PAGE
    with pytest.raises(RefusedByRobots):
        await fetcher.fetch(f"http://{HOST}/closed")


async def test_a_long_crawl_delay_refuses_the_second_page_for_now(site: Site, open_fetcher: Open) -> None:
    site.answers |= {"/robots.txt": site.answer(b"User-agent: *\nCrawl-delay: 600"), "/page": site.answer(PAGE)}
    fetcher = open_fetcher()
    assert (await fetcher.fetch(URL)).data == PAGE
    with pytest.raises(RefusedByRobots, match="600 seconds") as caught:
        await fetcher.fetch(URL)
    assert caught.value.retry_after is not None
    assert 500 < caught.value.retry_after <= 600
    assert site.asked["/page"] == 1
