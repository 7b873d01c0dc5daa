"""The page in light and dark, by keyboard alone, wide and on a phone; axe-core has nothing serious to say."""

from __future__ import annotations

import pytest
import pytest_asyncio
from playwright.async_api import expect
from quelea_gateway.testing import standing
from support.accessibility import faults
from support.browser import opened

pytestmark = pytest.mark.browser

QUESTION = "What were Apple's total net sales?"
GROUND = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(246, 244, 240)", "rgb(22, 23, 26)"


@pytest_asyncio.fixture(loop_scope="session")
async def stand():
    async with standing() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def tab(chromium, stand):
    async with opened(chromium, stand.url) as page:
        await page.wait_for_selector("#reader-line:not(:empty)")
        yield page


async def test_colours_are_the_systems_until_the_switch_says_otherwise_and_it_is_remembered(tab):
    for scheme, colour in (("light", LIGHT), ("dark", DARK)):
        await tab.emulate_media(color_scheme=scheme)
        assert await tab.evaluate(GROUND) == colour
        await expect(tab.locator("#theme")).to_have_attribute("aria-pressed", str(scheme == "dark").lower())
    await tab.click("#theme")
    assert await tab.evaluate(GROUND) == LIGHT
    await tab.reload()
    assert await tab.evaluate(GROUND) == LIGHT
    await tab.click("#theme")
    await tab.emulate_media(color_scheme="light")
    assert await tab.evaluate(GROUND) == DARK


@pytest.mark.parametrize("size", [(1280, 800), (390, 780)])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_no_view_has_a_serious_finding(tab, size, language):
    await tab.set_viewport_size({"width": size[0], "height": size[1]})
    await tab.click(f"#lang-{language}")
    found = await faults(tab)
    await tab.fill("#question", QUESTION)
    await tab.press("#question", "Enter")
    await tab.wait_for_selector(".turn .foot")
    await tab.click("[data-thumb=down]")
    await tab.wait_for_selector(".why:visible")
    await tab.evaluate("document.querySelectorAll('.turn details').forEach((one) => { one.open = true })")
    found += await faults(tab)
    await tab.click(".answer .cite >> nth=0")
    await tab.locator("#panel mark").wait_for()
    found += await faults(tab)
    await tab.keyboard.press("Escape")
    for view, there in (
        ("companies", "#company-choice button"), ("documents", ".document"), ("evaluation", "#evaluation-none:visible")
    ):  # fmt: skip
        await tab.click(f"#tab-{view}")
        await tab.locator(there).first.wait_for()
        found += await faults(tab)
        assert await tab.evaluate("document.documentElement.scrollWidth") <= size[0], view
    assert found == []


async def test_a_question_its_citation_and_the_way_back_by_keyboard_alone(tab):
    async def tab_to(selector, most=60):
        for _ in range(most):
            if await tab.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            await tab.keyboard.press("Tab")
        raise AssertionError(f"{selector} is not reached")

    await tab_to("#question")
    await tab.keyboard.type(QUESTION)
    await tab.keyboard.press("Enter")
    await tab.wait_for_selector(".turn .foot")
    await tab_to(".answer .cite")
    await tab.keyboard.press("Enter")
    await tab.locator("#panel mark").wait_for()
    assert await tab.evaluate("document.activeElement.id") == "panel-title"
    await tab.keyboard.press("Escape")
    assert await tab.locator("#panel").is_hidden()
    assert await tab.evaluate("document.activeElement.matches('.answer .cite')")
    await tab_to("[data-thumb=up]")
    await tab.keyboard.press("Space")
    await tab.wait_for_selector("[data-thumb=up][aria-pressed=true]")
    assert await tab.evaluate("document.scrollingElement.scrollTop") == 0  # only the content scrolls
