"""The page in a real headless Chromium: on a gateway with fake services, and once on the whole running stack."""

from pathlib import Path

import pytest
import pytest_asyncio
from quelea_gateway import keys
from quelea_gateway.testing import standing
from support.browser import opened

pytestmark = pytest.mark.browser

QUESTION = "What were Apple's total net sales?"


@pytest_asyncio.fixture(loop_scope="session")
async def page_stand():
    async with standing() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def tab(chromium, page_stand):
    async with opened(chromium, page_stand.url) as page:
        yield page


async def test_the_api_reference_works_without_another_host(chromium, page_stand):
    async with opened(chromium, page_stand.url) as page:
        await page.goto(page_stand.url + "/docs")
        await page.wait_for_selector("#operations-ask-ask_v1_ask_post")
        assert await page.locator(".opblock").count() >= 30
        await page.click("#operations-operation-healthz_healthz_get .opblock-summary-control")
        await page.click(".try-out__btn")
        await page.click(".execute")
        await page.wait_for_selector(".live-responses-table .response-col_status:text('200')")


async def ask(page, question):
    await page.fill("#question", question)
    await page.press("#question", "Enter")
    await page.wait_for_selector(".turn:first-child .foot")


async def test_a_citation_opens_its_page_with_the_quote_marked_and_in_view(tab):
    await tab.wait_for_selector("#reader-line:text('Extractive reader: exact quotes, no language model.')")
    await ask(tab, QUESTION)
    assert "reading: Apple" in await tab.inner_text(".turn .reading")
    quote = await tab.inner_text(".turn .source .quote >> nth=0")
    await tab.click(".answer .cite >> nth=0")
    mark = tab.locator("#panel mark")
    await mark.wait_for()
    assert (await mark.inner_text()).strip() == quote.strip()
    box, panel = await mark.bounding_box(), await tab.locator("#panel-text").bounding_box()
    assert panel["y"] <= box["y"] <= panel["y"] + panel["height"]
    assert await tab.inner_text("#panel-page") == "Page 1 of 2"
    await tab.click("#panel-next")
    await tab.wait_for_selector("#panel-page:text('Page 2 of 2')")
    await tab.keyboard.press("Escape")
    assert await tab.locator("#panel").is_hidden()


async def test_the_answer_is_streamed(tab, page_stand):
    page_stand.world.generator_hangs = True  # after its first words
    await tab.fill("#question", QUESTION)
    await tab.press("#question", "Enter")
    await tab.wait_for_selector(".answer p:not(.wait)")
    assert await tab.locator(".turn .foot").count() == 0
    assert await tab.locator(".turn").get_attribute("aria-busy") == "true"
    await tab.click("#stop")
    await tab.wait_for_selector("#ask:visible")
    assert await tab.locator(".turn").get_attribute("aria-busy") == "false"


async def test_a_declined_answer_shows_what_was_looked_at(tab):
    await ask(tab, "Total unicorn bananas?")
    assert "Unable to answer" in await tab.inner_text(".answer")
    assert "Passages considered" in await tab.inner_text(".further summary")
    assert await tab.locator(".cite").count() == 0


async def test_a_dead_reader_shows_the_evidence(tab, page_stand):
    await page_stand.services.stop("generator")
    await tab.fill("#question", QUESTION)
    await tab.press("#question", "Enter")
    await tab.wait_for_selector(".turn .error-line")
    assert "generator" in await tab.inner_text(".turn .error-line")
    assert await tab.locator(".turn .source").count() > 0


async def test_upload_progress_list_and_delete(tab, page_stand):
    page_stand.world.page_seconds = 2.0
    await tab.click("#tab-documents")
    await tab.wait_for_selector("#documents-count:text('4 in the knowledge base')")
    files = [
        {"name": "note.txt", "mimeType": "text/plain", "buffer": b"Net sales of Foo were 12 units."},
        {"name": "empty.pdf", "mimeType": "application/pdf", "buffer": b""},
    ]
    await tab.set_input_files("#files", files)
    await tab.wait_for_selector(".job .meta:text('of 5 pages')")
    page_stand.world.page_seconds = 0.0  # the rest at once
    await tab.wait_for_selector(".job.succeeded:has-text('note.txt')")
    await tab.wait_for_selector(".job.failed:has-text('The file is empty.')")
    await tab.wait_for_selector("#documents-count:text('5 in the knowledge base')")
    row = tab.locator(".document", has_text="note.txt")
    await row.locator("button", has_text="Delete").click()
    await tab.click("#confirm-dialog button[value=no]")
    assert await row.count() == 1
    await row.locator("button", has_text="Delete").click()
    await tab.click("#confirm-dialog button[value=yes]")
    await tab.wait_for_selector("#documents-count:text('4 in the knowledge base')")
    assert await row.count() == 0


async def test_nothing_of_a_document_becomes_html(tab):
    await ask(tab, "Hostile net assets units rising")
    await tab.click(".answer .cite >> nth=0")
    await tab.wait_for_selector("#panel mark")
    await tab.click("#tab-documents")
    await tab.wait_for_selector(".document:has-text('Hostile')")
    assert await tab.title() == "Quelea"
    assert await tab.locator("#panel-text script, #panel-text img, .document i, .turn i").count() == 0


async def test_chinese(chromium, page_stand):
    context = await chromium.new_context(locale="zh-CN", color_scheme="dark", viewport={"width": 390, "height": 800})
    page = await context.new_page()
    page.set_default_timeout(60_000)
    await page.goto(page_stand.url)
    await page.wait_for_selector("#reader-line:text('摘录式阅读器：仅逐字引用原文，不使用语言模型。')")
    assert await page.get_attribute("html", "lang") == "zh-CN"
    await ask(page, "织羽股份第三季度营业收入是多少？")
    assert "4.42亿元" in await page.inner_text(".answer")
    await page.click(".answer .cite")
    assert "4.42亿元" in await page.inner_text("#panel mark")
    wide = await page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    await page.click("#panel-close")
    await page.click("#lang-en")
    assert await page.inner_text("#ask-title") == "Ask your documents"
    assert "reading: 织羽股份" in await page.inner_text(".reading")
    await context.close()


async def test_every_control_has_a_name_and_the_keyboard_reaches_the_answer(tab):
    await ask(tab, QUESTION)
    nameless = await tab.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea, a, progress")]
            .filter((n) => !n.closest("[hidden]") && !n.closest("dialog"))
            .filter((n) => !(n.getAttribute("aria-label") || n.textContent.trim() || n.labels?.length))
            .map((n) => n.outerHTML)"""
    )
    assert nameless == []
    await tab.locator(".answer .cite >> nth=0").focus()
    await tab.keyboard.press("Enter")
    await tab.wait_for_selector("#panel mark")
    await tab.keyboard.press("Escape")
    assert "cite" in await tab.evaluate("document.activeElement.className")


async def test_a_key_is_asked_for_and_a_citation_link_opens_after_it(chromium, tmp_path):
    file = Path(tmp_path) / "keys.json"
    key = keys.create(file, "desk")
    async with standing(auth="keys", keys_file=str(file)) as stand:
        context = await chromium.new_context(locale="en-US")
        page = await context.new_page()
        page.set_default_timeout(60_000)
        await page.goto(f"{stand.url}/v1/documents/{'a1' * 16}/pages/1?start=411&end=456#quote")
        await page.fill("#key", "wrong")
        await page.press("#key", "Enter")
        await page.wait_for_selector("#key-error:visible")
        await page.fill("#key", key)
        await page.press("#key", "Enter")
        await page.wait_for_selector("#panel mark:text('Total net sales 81,797')")
        await context.close()


async def test_the_real_stack(chromium, stack):
    """On the running product, not on fakes."""
    context = await chromium.new_context(locale="en-US")
    page = await context.new_page()
    page.set_default_timeout(60_000)
    await page.goto(stack.url)
    note = b"Zephyrweave Industries note\n\nZephyrweave Industries reported net sales of 4,711 million dollars.\n"
    await page.click("#tab-documents")
    await page.set_input_files("#files", [{"name": "zephyrweave.txt", "mimeType": "text/plain", "buffer": note}])
    await page.wait_for_selector(".job.succeeded:has-text('zephyrweave.txt')")
    await page.click("#tab-ask")
    await ask(page, "What net sales did Zephyrweave Industries report?")
    assert "4,711" in await page.inner_text(".answer")
    await page.click(".answer .cite >> nth=0")
    await page.wait_for_selector("#panel mark")
    assert "4,711" in await page.inner_text("#panel mark")
    await context.close()
