"""The web half on the page, in a real headless Chromium on a gateway with a fake web."""

import json

import pytest
import pytest_asyncio
from quelea.search.v1 import search_pb2
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import standing
from support.browser import opened

pytestmark = pytest.mark.browser

QUESTION = "How many vehicles did Rivian Automotive deliver in the fourth quarter of 2023?"
ADDRESS = "https://news.test/rivian-2023"
TABLE = "Net sales\t$ 81,797\t$ 82,959\nCost of sales\t45,384\t47,074\nGross margin\t36,413\t35,885\n"
REPORT = "Quarterly figures of Foo\n\n" + TABLE + "\nAll amounts <b>in millions</b> \U0001f4b0 of dollars.\n"


@pytest_asyncio.fixture(loop_scope="session")
async def web_stand():
    async with standing(World.with_web()) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def web_tab(chromium, web_stand):
    async with opened(chromium, web_stand.url) as page:
        yield page


async def ask(page, question=QUESTION):
    await page.fill("#question", question)
    await page.press("#question", "Enter")
    await page.wait_for_selector(".turn:first-child .foot")


async def test_an_answer_from_the_web_says_so_and_why(web_tab):
    await ask(web_tab)
    summary = web_tab.locator(".turn .route summary")
    assert await summary.inner_text() == "Answered from the documents and the web · the documents alone are not enough"
    details = web_tab.locator(".turn .route ul")
    assert not await details.is_visible()
    await summary.click()
    lines = await details.locator("li").all_inner_texts()
    assert lines[0].startswith("probability that the documents answer: 0.")
    assert " < 0." in lines[0]
    assert any("web pages read, found by searxng" in line for line in lines)
    assert len(lines) > 2
    card = web_tab.locator(".source", has_text="Rivian production 2023").first
    assert await card.locator(".badge").inner_text() == "web"
    assert "fetched 20" in await card.locator(".meta").inner_text()


async def test_a_local_answer_has_no_web_about_it(web_tab):
    await ask(web_tab, "What were Apple's total net sales in the third quarter of fiscal 2023?")
    assert "Answered from the documents · their evidence is enough" in await web_tab.inner_text(".turn .route summary")
    assert await web_tab.locator(".badge:visible, .source-web:visible").count() == 0


async def test_the_original_opens_elsewhere_and_tells_nobody_where_from(web_tab):
    await ask(web_tab)
    link = web_tab.locator(".source-web a").first
    assert await link.get_attribute("href") == ADDRESS
    assert await link.get_attribute("target") == "_blank"
    assert set((await link.get_attribute("rel")).split()) == {"noopener", "noreferrer", "nofollow"}
    await web_tab.click(".answer .cite >> nth=0")
    await web_tab.wait_for_selector("#panel mark")
    assert await web_tab.get_attribute("#panel-original", "href") == ADDRESS


async def test_an_address_that_is_no_web_address_is_never_a_link(web_tab, web_stand):
    evil = "javascript:document.title='owned'"
    citation = {
        "number": 1, "document_id": "a1" * 16, "title": "A", "uri": evil, "page": 1, "published": "2024-01-02",
        "quote": "q", "score": 1, "start": 0, "end": 1, "company": "", "period": "", "source": "web", "fetched": "",
    }  # fmt: skip
    gate = {"kind": "calibrated", "probability": 0.1, "threshold": 0.5, "passed": False, "reasons": ["<i>why</i>"]}
    reading = {"text": ""}
    answer = {
        "answer": "It is so [1].", "citations": [citation], "further_reading": [], "checks": [], "notices": [],
        "reader": "extractive", "as_of": "2024-01-02", "timings": {"total": 1}, "declined": None,
        "route": "local+web", "gate": gate, "reading": reading,
        "web": {"provider": "x", "pages_read": 1, "kept": [], "problems": ["<img src=x>"], "cached": False},
    }  # fmt: skip
    started = {"reading": reading, "evidence": [], "further_reading": []}
    body = "".join(f"event: {n}\ndata: {json.dumps(d)}\n\n" for n, d in (("started", started), ("answer", answer)))
    await web_tab.route("**/v1/ask", lambda route: route.fulfill(body=body, content_type="text/event-stream"))
    await ask(web_tab)
    assert await web_tab.locator(".turn a, .turn i, .turn img").count() == 0
    assert "<i>why</i>" in await web_tab.locator(".route ul").text_content()


async def test_a_page_that_was_kept_needs_no_button(web_tab):
    await ask(web_tab)
    place = web_tab.locator(".source-web").first
    assert "being added to the knowledge base" in await place.inner_text()
    assert await place.locator("button").count() == 0


async def test_a_web_source_is_added_with_a_button_that_becomes_its_progress(web_tab, web_stand):
    web_stand.world.trusted_hosts = set()
    await ask(web_tab)
    place = web_tab.locator(".source-web").first
    assert "awaiting approval" in await place.inner_text()
    await place.locator("button", has_text="Add to the knowledge base").click()
    await place.locator(".adding.succeeded", has_text="In the knowledge base").wait_for()
    assert await place.locator("button").count() == 0
    assert "f1" * 16 in web_stand.world.documents
    await web_tab.click("#lang-zh")
    await web_tab.wait_for_selector(".adding.succeeded:has-text('已加入知识库')")
    assert await web_tab.locator(".source .badge").first.inner_text() == "网络"


async def test_adding_that_is_refused_says_why_and_can_be_tried_again(web_tab, web_stand):
    web_stand.world.trusted_hosts = set()
    await ask(web_tab)
    web_stand.world.web_providers = []
    place = web_tab.locator(".source-web").first
    await place.locator("button").click()
    await place.locator(".bad", has_text="This deployment has no web.").wait_for()
    web_stand.world.web_providers = ["searxng"]
    await place.locator("button").click()
    await place.locator(".adding.succeeded").wait_for()


async def test_the_route_can_be_chosen(web_tab, web_stand):
    await web_tab.wait_for_selector("#route-choice:visible")
    await web_tab.select_option("#route", "local")
    await ask(web_tab)
    assert web_stand.world.web_searches == []
    await web_tab.select_option("#route", "web")
    await ask(web_tab, "What were Apple's total net sales in the third quarter of fiscal 2023?")
    assert len(web_stand.world.web_searches) == 1


async def test_pages_that_wait_are_listed_approved_and_rejected(web_tab, web_stand):
    await web_tab.click("#tab-documents")
    await web_tab.wait_for_selector("#web-pages:visible")
    assert await web_tab.inner_text("#web-none") == "No web pages yet."
    for number, (page, state) in enumerate(zip(web_stand.world.web_pages, ("PENDING", "PENDING", "KEPT"), strict=True)):
        web_stand.world.records[page.metadata.uri] = search_pb2.WebPageRecord(
            canonical_url=page.metadata.uri, host="news.test", title=f"Page {number}", document_id=page.id,
            state=search_pb2.WebPageState.Value(f"WEB_PAGE_STATE_{state}"), queries=["What is it?"],
            reason="<b>not on the allow-list</b>", published="2024-01-02",
        )  # fmt: skip
    await web_tab.click("#tab-ask")
    await web_tab.click("#tab-documents")
    await web_tab.wait_for_selector("#web-count:text('3 web pages')")
    row = web_tab.locator(".web-page", has_text="Page 0")
    assert "awaiting approval" in await row.inner_text()
    assert "<b>not on the allow-list</b> · useful for: What is it?" in await row.inner_text()
    await row.locator("button", has_text="Approve").click()
    await web_tab.wait_for_selector(".job.succeeded:has-text('rivian-2023')")
    await row.locator(".badge.kept").wait_for()
    assert web_stand.world.web_pages[0].id in web_stand.world.documents
    await web_tab.locator(".web-page", has_text="Page 1").locator("button", has_text="Reject").click()
    await web_tab.locator(".web-page", has_text="Page 1").locator(".badge.rejected").wait_for()
    await web_tab.select_option("#web-state", "rejected")
    await web_tab.wait_for_selector("#web-count:text('1 web pages')")
    assert await web_tab.locator(".web-page").count() == 1


async def test_a_page_is_added_by_its_address_with_what_the_user_knows_of_it(web_tab, web_stand):
    await web_tab.click("#tab-documents")
    await web_tab.click("#view-documents .about summary")
    await web_tab.fill("#about [name=company]", "Rivian")
    await web_tab.fill("#page-url", ADDRESS)
    await web_tab.press("#page-url", "Enter")
    await web_tab.wait_for_selector(".job.succeeded:has-text('rivian-2023')")
    await web_tab.wait_for_selector(".document:has-text('web · news')")
    await web_tab.fill("#page-url", "https://news.test/nothing-there")
    await web_tab.press("#page-url", "Enter")
    await web_tab.wait_for_selector(".job.failed:has-text('The page is not there.')")


async def test_uploads_take_the_forms_fields(web_tab, web_stand):
    await web_tab.click("#tab-documents")
    await web_tab.click("#view-documents .about summary")
    given = {
        "company": "Foo",
        "ticker": "FOO",
        "document_type": "10-Q",
        "period": "FY2023 Q3",
        "published": "2023-08-04",
    }
    for name, value in given.items():
        await web_tab.fill(f"#about [name={name}]", value)
    await web_tab.set_input_files("#files", [{"name": "a.txt", "mimeType": "text/plain", "buffer": b"Net sales: 7."}])
    await web_tab.wait_for_selector(".job.succeeded:has-text('a.txt')")
    said = web_stand.world.uploads[-1][0].metadata
    assert (said.company, said.ticker, said.document_type, said.published) == ("Foo", "FOO", "10-Q", "2023-08-04")
    assert (said.period.fiscal_year, said.period.fiscal_quarter) == (2023, 3)
    assert await web_tab.input_value("#about [name=company]") == ""
    await web_tab.set_input_files("#files", [{"name": "b.txt", "mimeType": "text/plain", "buffer": b"Net sales: 8."}])
    await web_tab.wait_for_selector(".job.succeeded:has-text('b.txt')")
    assert web_stand.world.uploads[-1][0].metadata.company == ""


async def report(web_tab, web_stand):
    await web_tab.click("#tab-documents")
    files = [{"name": "report.txt", "mimeType": "text/plain", "buffer": REPORT.encode()}]
    await web_tab.set_input_files("#files", files)
    await web_tab.wait_for_selector(".job.succeeded:has-text('report.txt')")
    return next(one for one, stored in web_stand.world.documents.items() if stored.metadata.title == "report.txt")


def points(text):
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


@pytest.mark.parametrize("where", ["panel", "page"])
async def test_cells_line_up_and_the_span_stays_where_it_is(web_tab, web_stand, where):
    document = await report(web_tab, web_stand)
    quote = "45,384\t47,074\nGross margin\t36,413"
    start = REPORT.index(quote)
    place = f"documents/{document}/pages/1?start={start}&end={start + len(quote)}"
    await web_tab.goto(f"{web_stand.url}/v1/{place}#quote" if where == "page" else f"{web_stand.url}/#/{place}")
    text = web_tab.locator(".page-text" if where == "page" else "#panel-text")
    await text.locator("mark").first.wait_for()
    assert points(await text.evaluate("(node) => node.textContent")) == REPORT
    assert "".join(await text.locator("mark").evaluate_all("(all) => all.map((one) => one.textContent)")) == quote
    assert await text.locator("mark#quote").count() == 1
    assert await text.locator("tr").count() == 3
    for column in range(3):
        cells = text.locator(f"td:nth-child({column + 1})")
        boxes = [await cells.nth(row).bounding_box() for row in range(3)]
        assert len({round(box["x"]) for box in boxes}) == 1
    assert await text.locator("td.figure").count() == 6
    assert await text.locator("b").count() == 0


async def test_the_web_parts_fit_a_phone_and_every_control_has_a_name(chromium, web_stand):
    context = await chromium.new_context(locale="zh-CN", viewport={"width": 390, "height": 800})
    page = await context.new_page()
    page.set_default_timeout(60_000)
    await page.goto(web_stand.url)
    await ask(page)
    await page.click(".turn .route summary")
    assert "回答依据：文档与网络" in await page.inner_text(".turn .route summary")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await page.click("#tab-documents")
    await page.click("#view-documents .about summary")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    nameless = await page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, a, progress")]
            .filter((n) => !n.closest("[hidden]") && !n.closest("dialog"))
            .filter((n) => !(n.getAttribute("aria-label") || n.textContent.trim() || n.labels?.length))
            .map((n) => n.outerHTML)"""
    )
    assert nameless == []
    await context.close()
