"""A thumb on an answer of the page: stored with what it is on, and why."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest
from quelea_evaluation.feedback.export import export, fetch
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import standing
from support.browser import opened
from support.written import written

pytestmark = pytest.mark.browser

QUESTION = "What were Apple's total net sales?"


async def test_a_thumb_and_why(chromium, tmp_path):
    async with standing(World.with_web(), feedback_per_key=2) as running:
        running.world.events = written("Total net sales were $81,797 million [1].")
        async with (
            opened(chromium, running.url) as page,
            httpx2.AsyncClient(base_url=running.url, trust_env=False, timeout=60) as client,
        ):
            await page.fill("#question", QUESTION)
            await page.press("#question", "Enter")
            await page.wait_for_selector(".turn .thumbs")
            assert not await page.is_visible(".thumbs .why")
            await page.click("[data-thumb=down]")
            await page.wait_for_selector(".thumbs .why:visible")
            await page.check(".reasons input[value=wrong_company_or_period]")
            await page.fill(".thumbs .why-line input", "of another year")
            await page.click(".thumbs .why button")
            await page.wait_for_selector("[data-thumb=down][aria-pressed=true]")
            stored = []
            async with asyncio.timeout(120):
                while len(stored) < 2:
                    stored = (await client.get("/v1/feedback")).json()["feedback"]
            assert [(one["thumb"], one["why"]) for one in stored] == [("down", "of another year"), ("down", "")]
            assert [one["reasons"] for one in stored] == [["wrong_company_or_period"], []]
            thumbs = await fetch(running.url)
            done = await asyncio.to_thread(export, thumbs, tmp_path)
            assert (done.questions, done.to_review) == (0, 1)
            (row,) = (tmp_path / "to_review.jsonl").read_text().splitlines()
            assert json.loads(row)["reasons"] == ["wrong_company_or_period"]
            assert json.loads(row)["why"] == "of another year"
            assert stored[0]["question"] == QUESTION
            assert stored[0]["answer"].startswith("Total net sales were $81,797 million")
            assert stored[0]["document_ids"]
            await page.click("#lang-zh")  # drawn anew
            assert await page.get_attribute("[data-thumb=down]", "aria-pressed") == "true"
            assert await page.is_checked(".reasons input[value=wrong_company_or_period]")
            assert await page.input_value(".thumbs .why-line input") == "of another year"
            await page.click("[data-thumb=up]")  # one more than is kept
            await page.locator(".thumbs .meta", has_text="export them").wait_for()
            assert await page.get_attribute("[data-thumb=up]", "aria-pressed") == "false"
