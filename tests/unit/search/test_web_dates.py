"""The date of a page and where it came from: what the page says, its address, its first lines, the provider."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from quelea_search.core.web.dates import plausible, stated_date, text_date, url_date
from support.web_articles import ARTICLE, TODAY, URL, english, read

DATED = "https://www.example.com/2023/10/20/acme.html"


@pytest.mark.parametrize(
    ("url", "head", "date", "provider", "expected"),
    [
        (DATED, ARTICLE % "2023-10-21T08:00:00+08:00", "<p>Oct. 22, 2023</p>", "2023-10-23", ("2023-10-21", "page")),
        (DATED, '<meta property="article:published_time" content="2023-10-21T08:00Z">', "", "", ("2023-10-21", "page")),
        (DATED, '<meta name="pubdate" content="20231021080000">', "", "", ("2023-10-21", "page")),
        (DATED, "", '<article><time datetime="2023-10-21">Saturday</time></article>', "", ("2023-10-21", "page")),
        (DATED, "", "<p>Oct. 22, 2023</p>", "2023-10-23", ("2023-10-20", "url")),
        (URL, "", "<p>Oct. 22, 2023</p>", "2023-10-23", ("2023-10-22", "text")),
        (URL, "", "", "2023-10-23", ("2023-10-23", "provider")),
        (URL, "", "", "", ("", "")),
        (URL, "", "", "soon", ("", "")),
        # Nothing from the future, nor from before the web; the next source counts.
        (DATED, ARTICLE % "2033-10-21", "", "", ("2023-10-20", "url")),
        (URL, ARTICLE % "0001-01-01", "", "2023-10-23", ("2023-10-23", "provider")),
        (URL, ARTICLE % "2023-11-02T00:10:00+08:00", "", "", ("2023-11-01", "page")),
        (URL, "", "<p>December 5, 2023</p>", "2024-01-01", ("", "")),
        (URL, '<script type="application/ld+json">{"datePublished": "2023-10-21"</script>', "", "", ("", "")),
    ],
)
def test_published(url: str, head: str, date: str, provider: str, expected: tuple[str, str]) -> None:
    document = read(english(head, date), url, published=provider)
    assert (document.facts.published, document.published_source) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.com/2023/10/27/x.html", "2023-10-27"),
        ("https://a.com/x-2023-10-27.html", "2023-10-27"),
        ("https://a.com/20231027/x", "2023-10-27"),
        ("https://a.com/t20231027_4312.html", "2023-10-27"),
        ("https://a.com/2023-10/27/x", ""),
        ("https://a.com/202310/27/x", "2023-10-27"),
        ("https://a.com/2023/1027/c1.html", "2023-10-27"),
        ("https://a.com/2023/13/27/", ""),
        ("https://a.com/doc-120231027999.html", ""),
        ("https://a.com/x?d=2023-10-27", ""),
        ("https://a.com/2023/02/30/", ""),
    ],
)
def test_url_date(url: str, expected: str) -> None:
    assert url_date(url) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Title", "October 27, 2023"], "2023-10-27"),
        (["发布时间：2023年10月27日 08:00　来源：样例"], "2023-10-27"),
        (["CUPERTINO, California, October 27, 2023 — " + "Acme said a great deal today. " * 9], "2023-10-27"),
        (["The bank decided on " + "x" * 120 + " that from September 15, 2023 rates fall."], ""),
        (["word"] * 8 + ["2023-10-27"], ""),
        ([], ""),
    ],
)
def test_text_date(lines: Sequence[str], expected: str) -> None:
    assert text_date(lines) == expected


def test_dates() -> None:
    assert stated_date("27 Oct 2023 10:00") == "2023-10-27"
    assert stated_date("20231027") == "2023-10-27"
    assert stated_date("yesterday") == ""
    assert plausible("2023-11-03", TODAY) == ""
    assert plausible("", TODAY) == ""
