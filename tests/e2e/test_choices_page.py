"""Before asking: documents and model are chosen; a question asked of several companies has its answers side by side."""

from __future__ import annotations

import pytest
import pytest_asyncio
from playwright.async_api import expect
from quelea_gateway.testing import standing
from support.accessibility import faults
from support.browser import opened

pytestmark = pytest.mark.browser

QUESTION = "What were total net sales?"


@pytest_asyncio.fixture(loop_scope="session")
async def stand():
    async with standing() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def tab(chromium, stand):
    async with opened(chromium, stand.url) as page:
        yield page


async def choose(page, field, value):
    if not await page.evaluate("document.getElementById('scope').open"):
        await page.click("#scope-summary")
    await page.locator(f"#scope-{field}-list option").first.wait_for(state="attached")
    await page.fill(f"#scope-{field}", value)
    await page.press(f"#scope-{field}", "Enter")


async def test_a_question_is_asked_of_what_was_chosen(tab, stand):
    await choose(tab, "companies", "apple")
    await choose(tab, "document_types", "10-Q")
    await choose(tab, "companies", "Nobody Ltd")
    assert "“Nobody Ltd”" in await tab.inner_text("#scope-problem")
    assert await tab.inner_text("#scope-summary") == "Asked of: Apple · 10-Q"
    assert await faults(tab) == []
    await tab.fill("#question", QUESTION)
    await tab.press("#question", "Enter")
    await tab.wait_for_selector(".turn .foot")
    assert await tab.inner_text(".turn .reading >> nth=0") == "asked of: Apple · 10-Q"
    (search,) = stand.world.searches
    assert (list(search.filters.companies), list(search.filters.document_types)) == (["Apple"], ["10-Q"])
    await tab.reload()  # what a saved question was asked of is chosen again
    await tab.wait_for_selector("#scope-summary:text('Asked of: Apple · 10-Q')")
    await tab.click("#scope-summary")
    await tab.click("#scope-clear")
    assert await tab.inner_text("#scope-summary") == "Asked of: all documents"


async def test_answers_stand_side_by_side_and_one_that_fails_spoils_no_other(tab):
    await choose(tab, "companies", "Apple")
    assert await tab.locator("#side-by-side-choice").is_hidden()
    await choose(tab, "companies", "织羽股份")
    await tab.check("#side-by-side")

    async def fail_one(route):
        if route.request.post_data_json["filters"]["companies"] == ["织羽股份"]:
            error = {"code": "UNAVAILABLE", "message": "not now", "details": {}}
            await route.fulfill(status=503, json={"error": error})
        else:
            await route.continue_()

    await tab.route("**/v1/ask", fail_one)
    await tab.fill("#question", QUESTION)
    await tab.press("#question", "Enter")
    await tab.wait_for_selector(".column:nth-child(1) .foot")
    assert "not now" in await tab.inner_text(".column:nth-child(2) .error-line")
    assert await tab.locator(".column:nth-child(1) .source").count() > 0
    await tab.unroute("**/v1/ask")
    await tab.fill("#question", QUESTION)
    await tab.press("#question", "Enter")
    await expect(tab.locator(".turn:first-child .column .foot")).to_have_count(2)  # they end in any order
    heads = await tab.locator(".turn:first-child .column-head").all_inner_texts()
    assert heads == ["Apple", "织羽股份"]
    assert await faults(tab) == []
    await tab.reload()
    await tab.wait_for_selector(".turn:first-child .column:nth-child(2) .foot")
    assert sorted(await tab.locator(".turn:first-child .column-head").all_inner_texts()) == sorted(heads)
    assert await tab.locator(".turn").count() == 2
    await tab.click(".column .cite >> nth=0")
    await tab.locator("#panel mark").wait_for()


async def test_the_model_is_chosen_where_several_are_served(tab):
    async def several(route):
        names = ("quelea", "quelea-agent", "base", "tuned")
        await route.fulfill(json={"object": "list", "data": [{"id": name} for name in names]})

    await tab.route("**/v1/models", several)
    await tab.reload()
    await tab.wait_for_selector("#model-choice:visible")
    assert await tab.locator("#model option").all_inner_texts() == ["Default", "base", "tuned"]
    await tab.select_option("#model", "tuned")
    async with tab.expect_request("**/v1/ask") as asked:
        await tab.fill("#question", QUESTION)
        await tab.press("#question", "Enter")
    assert (await asked.value).post_data_json["model"] == "tuned"


async def test_with_one_model_there_is_nothing_to_choose(tab):
    await tab.wait_for_selector("#reader-line:not(:empty)")
    assert await tab.locator("#model-choice").is_hidden()
