"""The original beside the text, in a real headless Chromium: real files, read by the real parsers, and hostile ones."""

from __future__ import annotations

import asyncio
import hashlib
import io
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect
from quelea.common.v1 import common_pb2
from quelea_gateway.adapters.services.fake_documents import Stored
from quelea_gateway.adapters.services.fake_world import Original
from quelea_gateway.testing import standing
from quelea_kit.errors import DeadlineExceeded
from quelea_search.adapters.formats import parse
from quelea_search.adapters.formats.html_as_filed import render
from quelea_search.adapters.formats.pdf_spans import locate
from quelea_search.core.model import ParseLimits
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from support.browser import opened

pytestmark = pytest.mark.browser

TOO_SLOW = "Looking into the document took longer than 25 s. Try again in a minute, or download it instead."
SAMPLES = Path(__file__).resolve().parents[2] / "samples"
HOSTILE = b"""<!doctype html><html><head><title>10-K</title><base href="https://evil.test/">
<link rel=stylesheet href=/a.css>
<meta http-equiv="refresh" content="0; url=https://evil.test/refresh"><script>top.hacked = 1</script>
<style>@import "https://evil.test/b.css"; body { background: url(https://evil.test/c.png) }</style></head>
<body onload="top.hacked = 2" style="background: url('https://evil.test/d.png')">
<p style="background-image:ur\\6c(https://evil.test/e);color:red" onclick="top.hacked = 3">
Total revenue was 4,321 euros.</p>
<svg onload="top.hacked = 4"><image href="https://evil.test/f.png"/><use href="https://evil.test/g.svg#x"/></svg>
<img src="https://evil.test/h.png" srcset="https://evil.test/i.png 2x" onerror="top.hacked = 5">
<img src=x onerror="top.hacked=6">
<iframe src="javascript:top.hacked = 7"></iframe><iframe srcdoc="<script>top.hacked = 8</script>"></iframe>
<form action="https://evil.test/j"><button>Send</button></form><object data="https://evil.test/k"></object>
<a id="link" href="javascript:top.hacked = 9">more</a> <a id="out" href="https://evil.test/l" ping="https://evil.test/m">out</a>
<video src="https://evil.test/n" autoplay></video><table background="https://evil.test/o"><tr><td>1</td></tr></table>
<math><mtext><table><mglyph><style><img src=y onerror="top.hacked = 10"></style></mglyph></table></mtext></math>
<noscript><p title="</noscript><img src=z onerror='top.hacked = 11'>"></p></noscript>
<template><img src=w onerror="top.hacked = 12"></template>
<a href="#end">end</a><p id="end">The end.</p></body></html>"""


def keep(stand, data: bytes, name: str, needle: str, *, media_type: str) -> str:
    """Store a document as the services would; the address of the page with the needle marked."""
    document_id = hashlib.sha256(data).hexdigest()[:32]
    pages = tuple(
        page.text for page in parse(data, name, limits=ParseLimits(), on_progress=lambda _done, _all: None).pages
    )
    number = next(n for n, text in enumerate(pages, start=1) if needle in text)
    text = pages[number - 1]
    start, end = text.index(needle), text.index(needle) + len(needle)
    metadata = common_pb2.DocumentMetadata(title=name, uri=f"upload:{name}", language="en")
    stand.world.documents[document_id] = Stored(document_id, metadata, pages)
    if media_type == "application/pdf":
        found = locate(data, number, text, start, end)
        boxes = tuple((one.left, one.bottom, one.right, one.top) for one in found.boxes)
        original = Original(name, media_type, data, boxes, found=found.found)
    else:
        shown = render(data, text, start, end)
        original = Original(name, media_type, data, html=shown.html, found=shown.found)
    stand.world.originals[document_id] = original
    return f"{stand.url}/#/documents/{document_id}/pages/{number}?start={start}&end={end}"


@pytest_asyncio.fixture(loop_scope="session")
async def page_stand():
    async with standing() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def tab(chromium, page_stand):
    async with opened(chromium, page_stand.url) as page:
        yield page


def filing(stand) -> str:
    name = "2023 Q3 AAPL.pdf"
    data = (SAMPLES / "filings" / name).read_bytes()
    return keep(stand, data, name, "Total net sales\t81,797", media_type="application/pdf")


async def until(good: Callable[[Any], bool], look: Callable[[], Awaitable[Any]]) -> None:
    """Look until it is good. (The page's policy forbids what wait_for_function does.)"""
    async with asyncio.timeout(60):
        while not good(await look()):  # noqa: ASYNC110  # the page sends no event of its own
            await asyncio.sleep(0.05)


async def width(tab) -> float:
    """Of the drawn page; no number while it is drawn anew."""
    box = await tab.locator(".sheet").bounding_box()
    return float(box["width"]) if box else math.nan


async def darkness(tab, selector: str) -> float:
    """Share of the canvas's pixels below an element that are dark."""
    return await tab.evaluate(
        """(selector) => {
          const canvas = document.querySelector("#viewer canvas"), box = document.querySelector(selector);
          const k = canvas.width / canvas.clientWidth;
          const sides = [box.offsetLeft, box.offsetTop, box.offsetWidth, box.offsetHeight];
          const [x, y, w, h] = sides.map((n) => Math.round(n * k));
          const pixels = canvas.getContext("2d").getImageData(x, y, w, h).data;
          let dark = 0;
          for (let at = 0; at < pixels.length; at += 4) if (pixels[at] < 128) dark += 1;
          return dark / (pixels.length / 4);
        }""",
        selector,
    )


async def test_where_the_quote_could_not_be_looked_for_the_page_says_why(tab, page_stand, monkeypatch):
    async def slow(request):
        raise DeadlineExceeded(TOO_SLOW)

    monkeypatch.setattr(page_stand.gateway.search, "locate", slow)
    await tab.goto(filing(page_stand))
    await tab.wait_for_selector("#viewer canvas")
    await expect(tab.locator("#viewer-said")).to_have_text(f"The quote could not be marked: {TOO_SLOW}")


async def test_a_quote_is_marked_on_the_page_of_its_pdf(tab, page_stand):
    await tab.goto(filing(page_stand))
    await tab.wait_for_selector("#viewer .quote-box")
    await expect(tab.locator("#viewer-said")).to_have_text("The quote is marked.")  # it may be drawn once more
    assert await tab.locator(".quote-box").count() == 2
    for number in (1, 2):
        assert await darkness(tab, f".quote-box:nth-of-type({number})") > 0.03
    box, view = (
        await tab.locator(".quote-box >> nth=0").bounding_box(),
        await tab.locator("#viewer-page").bounding_box(),
    )
    assert view["y"] <= box["y"] <= view["y"] + view["height"]
    text = await tab.locator("#panel-text").bounding_box()
    assert text["x"] + text["width"] <= view["x"] + 2

    wide = await width(tab)
    await tab.focus("#viewer-page")
    await tab.keyboard.press("+")
    await until(lambda now: now > wide * 1.2, lambda: width(tab))
    await tab.keyboard.press("0")
    await until(lambda now: now < wide * 1.1, lambda: width(tab))
    before = await tab.inner_text("#panel-page")
    await tab.keyboard.press("ArrowRight")
    await until(lambda now: now != before, lambda: tab.inner_text("#panel-page"))
    await tab.wait_for_selector(".quote-box", state="detached")
    await tab.wait_for_selector("#viewer canvas")

    async with tab.expect_download() as coming:
        await tab.click("#viewer-download")
    assert (await coming.value).suggested_filename == "2023 Q3 AAPL.pdf"
    await tab.click("#viewer-toggle")
    assert await tab.locator("#viewer").is_hidden()
    await tab.evaluate("localStorage.clear()")
    await tab.keyboard.press("Escape")


async def test_fonts_that_the_file_does_not_bring_stand_under_the_quote(chromium, page_stand):
    """Chinese, and Times of pdf.js's own fonts; `opened` fails when the page's policy is broken for them."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(500, 300))
    for y, font, text in ((200, "Times-Bold", "Revenue 4,321"), (100, "STSong-Light", "营业收入为四千三百二十一")):
        canvas.setFont(font, 14)
        canvas.drawString(50, y, text)
    canvas.save()
    for needle in ("Revenue 4,321", "营业收入为四千"):
        async with opened(chromium, page_stand.url) as tab:
            await tab.goto(keep(page_stand, file.getvalue(), "h.pdf", needle, media_type="application/pdf"))
            await tab.wait_for_selector("#viewer .quote-box")
            assert await darkness(tab, ".quote-box") > 0.03


async def test_on_a_phone_one_stands_above_the_other(tab, page_stand):
    await tab.set_viewport_size({"width": 390, "height": 844})
    await tab.goto(filing(page_stand))
    await tab.wait_for_selector("#viewer .quote-box")
    text, view = await tab.locator("#panel-text").bounding_box(), await tab.locator("#viewer").bounding_box()
    assert text["y"] + text["height"] <= view["y"] + 2
    assert view["width"] >= 380
    assert await tab.evaluate("document.documentElement.scrollWidth") <= 390


async def test_a_filing_in_html_is_shown_as_filed(tab, page_stand):
    name = "2024 FY NFLX.html"
    data = (SAMPLES / "ixbrl" / name).read_bytes()
    await tab.goto(keep(page_stand, data, name, "Operating income", media_type="text/html"))
    frame = tab.frame_locator("#viewer iframe")
    await frame.locator("#quote").wait_for()
    await expect(tab.locator("#viewer-said")).to_have_text("The quote is marked.")  # it may be drawn once more
    assert await frame.locator("mark").first.inner_text() == "Operating income"
    assert await frame.locator("table").count() > 50
    quote = await frame.locator("#quote").bounding_box()
    view = await tab.locator("#viewer-page").bounding_box()
    assert view["y"] <= quote["y"] <= view["y"] + view["height"]


async def test_a_hostile_filing_runs_and_loads_nothing(chromium, page_stand):
    """`opened` fails when another address is asked for, a script fails or the policy is broken."""
    async with opened(chromium, page_stand.url) as tab:
        address = keep(page_stand, HOSTILE, "evil.htm", "revenue was 4,321", media_type="text/html")
        await tab.goto(address)
        frame = tab.frame_locator("#viewer iframe")
        await frame.locator("#quote").wait_for()
        for name in ("more", "out", "end"):
            await frame.locator(f"a:text('{name}')").click()
        await frame.locator("p:text('Total')").click()
        await tab.wait_for_timeout(500)
        assert await tab.evaluate("window.hacked") is None
        assert (
            await frame.locator("script, iframe, form, svg, link, meta[http-equiv=refresh], base, style").count() == 0
        )
        assert "/documents/" in tab.url
        assert await frame.locator("#end").count() == 1  # the link within the document led there, and nowhere else


async def test_even_what_passed_the_server_runs_and_loads_nothing(chromium, page_stand):
    """The frame and its policies alone: the server is taken to have let everything through."""
    async with opened(chromium, page_stand.url) as tab:
        address = keep(page_stand, HOSTILE, "evil.htm", "revenue was 4,321", media_type="text/html")
        document_id = hashlib.sha256(HOSTILE).hexdigest()[:32]
        page_stand.world.originals[document_id] = Original("evil.htm", "text/html", HOSTILE, html=HOSTILE.decode())
        asked = []
        await tab.context.route("https://evil.test/**", lambda route: (asked.append(route.request.url), route.abort()))
        # What the policy stops is told on the console, which `opened` takes for a fault of ours.
        stopped = await tab.context.new_page()
        await stopped.goto(address)
        await stopped.frame_locator("#viewer iframe").locator("p:text('Total')").click()
        await stopped.wait_for_timeout(500)
        assert await stopped.evaluate("window.hacked") is None
        assert asked == []
        await stopped.close()
