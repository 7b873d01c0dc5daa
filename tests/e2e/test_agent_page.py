"""The agent's part of the page in a real headless Chromium, on a gateway with fake services behind it."""

import json
import os

import pytest
from playwright.async_api import expect
from quelea_gateway.testing import standing
from support.accessibility import faults
from support.agent_stand import agent_standing
from support.agent_world import good
from support.browser import opened

pytestmark = pytest.mark.browser


async def test_a_run_on_the_page(chromium):
    async with agent_standing() as parts, opened(chromium, parts.url) as tab:
        await tab.click("#tab-agent")
        await tab.wait_for_selector("#agent-none:visible")
        await tab.fill("#agent-question", "What is NVIDIA's price trend over the last two weeks?")
        await tab.click("#agent-start")
        await tab.wait_for_selector("#agent-run .checks.good")
        assert "190.17" in await tab.inner_text("#agent-run .answer")
        assert await tab.locator("#agent-run .agent-fold pre", has_text="savefig").count() == 1
        await expect(tab.locator(".agent-plot").first).to_have_js_property("naturalWidth", 10)
        assert "null" not in await tab.inner_text("#agent-run")
        titles = await tab.locator("#agent-run .source .source-title").all_inner_texts()
        assert titles == ["run of code · Step 2", "data call · Step 2"]
        await tab.evaluate("document.querySelectorAll('#agent-run details').forEach((one) => { one.open = true })")
        assert await faults(tab) == []
        async with tab.expect_download() as started:
            await tab.click("text=Notebook")
        assert (await started.value).suggested_filename.endswith(".ipynb")
        for button, ending in (("step2.py", "step2.py"), ("Everything (ZIP)", ".zip")):
            async with tab.expect_download() as started:
                await tab.click(f"#agent-run button:text-is('{button}')")
            assert (await started.value).suggested_filename.endswith(ending)
        async with tab.expect_download() as started:
            await tab.click(".agent-step .agent-files button >> text=.png")
        assert (await started.value).suggested_filename.endswith(".png")
        await tab.click("#lang-zh")
        await tab.wait_for_selector("#tab-agent:text('分析')")
        await tab.wait_for_selector("#agent-runs .meta:has-text('已完成')")
        if folder := os.environ.get("QUELEA_LOOK_AT"):
            await tab.click("#lang-en")
            await tab.set_viewport_size({"width": 1100, "height": 2100})
            await tab.screenshot(path=f"{folder}/agent.png")


async def test_a_table_of_the_answer_is_one_on_the_page(chromium):
    table = "| day | close |\n|---|---|\n| 2026-11-13 | 190.17 |"
    text = f"**NVIDIA** rose to 186.5 [1].\n\n{table}"
    says = good(answer=json.dumps({"answer": text, "missing": []}))
    async with agent_standing(says) as parts, opened(chromium, parts.url) as tab:
        await tab.click("#tab-agent")
        await tab.fill("#agent-question", "What is NVIDIA's price trend over the last two weeks?")
        await tab.click("#agent-start")
        await tab.wait_for_selector("#agent-run .answer table")
        assert await tab.locator("#agent-run .answer td").all_inner_texts() == ["2026-11-13", "190.17"]
        assert "|" not in await tab.inner_text("#agent-run .answer")
        assert await faults(tab) == []


async def test_a_follow_up_on_the_page(chromium):
    async with agent_standing() as parts, opened(chromium, parts.url) as tab:
        await tab.click("#tab-agent")
        await tab.fill("#agent-question", "What is NVIDIA's price trend over the last two weeks?")
        await tab.click("#agent-start")
        await tab.wait_for_selector("#agent-run .agent-follow")
        parts.model.says = good()
        await tab.fill("#agent-run .agent-follow textarea", "And as a chart with a log scale.")
        await tab.click("#agent-run .agent-follow button")
        await expect(tab.locator("#agent-run h2")).to_have_text("And as a chart with a log scale.")
        await tab.wait_for_selector("#agent-run .checks.good")
        assert "of an earlier run" in await tab.inner_text("#agent-run .sources")
        assert await faults(tab) == []
        if folder := os.environ.get("QUELEA_LOOK_AT"):
            await tab.set_viewport_size({"width": 1100, "height": 1500})
            await tab.screenshot(path=f"{folder}/agent_follow.png")
        await tab.click("#agent-run button:text-is('Follows an earlier run')")
        await expect(tab.locator("#agent-run h2")).to_have_text("What is NVIDIA's price trend over the last two weeks?")


async def test_a_run_is_cancelled_on_the_page(chromium):
    async with agent_standing() as parts, opened(chromium, parts.url) as tab:
        parts.sandbox.hangs = True
        await tab.click("#tab-agent")
        await tab.fill("#agent-question", "x")
        await tab.click("#agent-start")
        await tab.wait_for_selector("#agent-run .agent-fold")
        await tab.click("#agent-cancel")
        await tab.wait_for_selector("#agent-run[class] .reading:has-text('cancelled')")
        await tab.wait_for_selector("#agent-cancel", state="hidden")


async def test_without_an_agent_there_is_no_tab(chromium):
    async with standing() as stand, opened(chromium, stand.url) as tab:
        await tab.wait_for_selector("#reader-line:not(:empty)")
        assert await tab.locator("#tab-agent").is_hidden()
