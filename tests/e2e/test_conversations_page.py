"""Saved conversations at the side of the page: found again after a reload, gone on with, renamed, exported, deleted."""

from __future__ import annotations

import json

import pytest
import pytest_asyncio
from playwright.async_api import expect
from quelea_gateway import keys
from quelea_gateway.testing import standing
from support.accessibility import faults
from support.browser import opened

pytestmark = pytest.mark.browser

QUESTION = "What were Apple's total net sales?"
FOLLOW_UP = "and the quarter before?"


@pytest_asyncio.fixture(loop_scope="session")
async def stand():
    async with standing(conversations_per_key=2) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def tab(chromium, stand):
    async with opened(chromium, stand.url) as page:
        yield page


async def ask(page, question, count):
    await page.fill("#question", question)
    await page.press("#question", "Enter")
    await expect(page.locator(".turn .foot")).to_have_count(count)


async def ask_and_save(page, question):
    """Ask the first question; its entry in the list is drawn for the last time, so that it keeps the focus."""
    await ask(page, question, 1)
    await page.wait_for_selector(".talk-open:has-text('answers: 1')", state="attached")


async def test_a_conversation_is_there_again_after_a_reload_and_goes_on(tab, stand):
    await tab.wait_for_selector("#talks-state:has-text('No saved conversations')")
    await ask(tab, QUESTION, 1)
    await tab.wait_for_selector(f".talk-open[aria-current=true]:has-text({json.dumps(QUESTION)})")
    before = await tab.inner_text(".turn .answer")
    await tab.reload()
    await tab.wait_for_selector(".turn .foot")
    assert await tab.inner_text(".turn .answer") == before
    assert "reading: Apple" in await tab.inner_text(".turn .reading")
    await tab.click(".answer .cite >> nth=0")
    await tab.locator("#panel mark").wait_for()
    await tab.keyboard.press("Escape")
    await ask(tab, FOLLOW_UP, 2)
    (request,) = stand.world.rewrite_requests
    assert request.history[0].text == QUESTION
    await tab.wait_for_selector(".talk-open:has-text('answers: 2')")


async def test_words_find_it_and_another_opens(tab):
    await ask(tab, QUESTION, 1)
    await tab.click("#talks-new")
    assert await tab.locator(".turn").count() == 0
    await ask(tab, "Total unicorn bananas?", 1)
    await tab.locator(".talk-open").nth(1).wait_for()
    await tab.fill("#talks-search", "BANANAS")
    await expect(tab.locator(".talk-open")).to_have_count(1)
    await tab.fill("#talks-search", "nowhere")
    await tab.wait_for_selector("#talks-state:has-text('No conversation has all these words.')")
    await tab.fill("#talks-search", "net sales")
    await tab.wait_for_selector(f".talk-open:has-text({json.dumps(QUESTION)})")
    await tab.press("#talks-search", "ArrowDown")  # by keyboard alone
    await tab.keyboard.press("Enter")
    await tab.wait_for_selector(f".turn .asked:has-text({json.dumps(QUESTION)})")


async def test_it_is_renamed_by_keyboard_and_exported(tab):
    await ask_and_save(tab, QUESTION)
    await tab.focus(".talk-open")
    await tab.keyboard.press("F2")
    await tab.keyboard.type("Apple's sales")
    await tab.keyboard.press("Enter")
    await tab.wait_for_selector('.talk-open:has-text("Apple\'s sales"):focus')
    await tab.keyboard.press("F2")
    await tab.keyboard.type("not this")
    await tab.keyboard.press("Escape")
    await tab.wait_for_selector('.talk-open:has-text("Apple\'s sales")')
    for label, ending in (("Save as JSON", ".json"), ("Save as Markdown", ".md"), ("Save as Word", ".docx")):
        await tab.click(".talk-menu summary")
        async with tab.expect_download() as download:
            await tab.click(f".talk-actions button:has-text('{label}')")
        file = await download.value
        assert file.suggested_filename.endswith(ending)
    await tab.reload()
    await tab.wait_for_selector('.talk-open:has-text("Apple\'s sales")')


async def test_a_deleted_one_can_be_had_back_until_the_page_is_left(tab, stand):
    await ask_and_save(tab, QUESTION)
    await tab.focus(".talk-open")
    await tab.keyboard.press("Delete")
    await tab.wait_for_selector("#talks-undo-button:focus")
    assert await tab.locator(".talk-open").count() == 0
    assert await tab.locator(".turn").count() == 0
    await tab.keyboard.press("Enter")
    await tab.wait_for_selector(".talk-open")
    await tab.wait_for_selector(".turn .foot")
    await tab.focus(".talk-open")
    await tab.keyboard.press("Delete")
    await tab.wait_for_selector("#talks-undo-button")
    async with tab.expect_response(lambda reply: reply.request.method == "DELETE"):
        await tab.clock.install()
        await tab.evaluate("window.dispatchEvent(new Event('pagehide'))")
    assert await stand.gateway.conversations.find("local") == []


async def test_what_cannot_be_saved_is_answered_and_goes_on(tab, stand):
    for _ in range(2):
        await stand.gateway.conversations.create("local", "full")
    await ask(tab, QUESTION, 1)
    await tab.wait_for_selector(".turn .notice:has-text('Not saved: 2 conversations are saved')")
    await ask(tab, FOLLOW_UP, 2)
    assert stand.world.rewrite_requests[-1].history[0].text == QUESTION


async def test_another_key_sees_none_of_them(chromium, tmp_path):
    file = tmp_path / "keys.json"
    mine, other = keys.create(file, "mine"), keys.create(file, "other")
    async with standing(auth="keys", keys_file=str(file)) as running:
        address = running.url
        for key, expected in ((mine, 1), (other, 0)):
            async with opened(chromium, running.url) as page:
                await page.fill("#key", key)
                await page.click("#key-form button")
                if expected:
                    await ask(page, QUESTION, 1)
                    await page.wait_for_selector(".talk-open")
                    address = page.url
                else:
                    await page.wait_for_selector("#talks-state:has-text('No saved conversations')")
                    await page.goto(address)
                    await page.wait_for_selector("#thread .error-line:has-text('There is no conversation')")
                assert await page.locator(".talk-open").count() == expected


async def test_on_a_phone_the_list_is_a_drawer(tab):
    await tab.set_viewport_size({"width": 390, "height": 780})
    await tab.reload()
    await tab.wait_for_selector("#talks-toggle")
    assert await tab.locator("#talks").is_hidden()
    await ask_and_save(tab, QUESTION)
    await tab.click("#talks-toggle")
    await tab.wait_for_selector("#talks .talk-open")
    assert await tab.evaluate("document.getElementById('main').inert")
    await tab.click(".talk-menu summary")
    assert await faults(tab) == []
    await tab.keyboard.press("Escape")  # closes the menu, then the list
    await tab.keyboard.press("Escape")
    assert await tab.locator("#talks").is_hidden()
    assert await tab.evaluate("document.activeElement.id") == "talks-toggle"
    await tab.click("#talks-toggle")
    await tab.mouse.click(380, 400)  # beside it
    assert await tab.locator("#talks").is_hidden()
    wide = await tab.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
