"""The page "Admin" in a real browser: keys, usage, jobs, web pages, models and prompts, without a shell."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from quelea_gateway import keys
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import Stand, standing
from support.browser import opened

pytestmark = pytest.mark.browser

QUESTION = "What were Apple's total net sales?"
SHOTS = os.environ.get("QUELEA_SCREENSHOTS", "")
"""A folder that exists; then every view is drawn there, in both languages and on a phone."""


@contextlib.asynccontextmanager
async def desk(chromium: Any, tmp_path: Path, *, administrator: bool = True) -> AsyncIterator[tuple[Stand, Any]]:
    """A gateway with keys, and the page with one of them."""
    file = tmp_path / "keys.json"
    secret = keys.create(file, "chief", administrator=administrator)
    async with standing(World.with_web(), auth="keys", keys_file=str(file)) as running:
        running.world.completions = [["a language model"]]
        async with opened(chromium, running.url) as page:
            await page.fill("#key", secret)
            await page.click("#key-form button")
            await page.wait_for_selector("#reader-line:not(:empty)")
            yield running, page


async def go(page: Any, part: str) -> None:
    await page.click("#tab-admin")
    await page.click(f"#admin-parts a[href='#/admin?part={part}']")
    # The link before the part: until the page has turned, the part that was there is not busy.
    await page.wait_for_selector(f"#admin-parts a[href='#/admin?part={part}'][aria-current=page]")
    await page.wait_for_selector(".admin-part:not([aria-busy])")


async def draw(page: Any, name: str) -> None:
    if not SHOTS:
        return
    folder = Path(SHOTS)
    for language in ("zh", "en"):
        await page.click(f"#lang-{language}")
        await page.wait_for_selector(".admin-part:not([aria-busy])")
        await page.screenshot(path=folder / f"{name}-{language}.png", full_page=True)
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.screenshot(path=folder / f"{name}-phone.png")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no sideways scrolling"
    await page.set_viewport_size({"width": 1280, "height": 800})


async def test_others_have_no_link_and_are_told(chromium: Any, tmp_path: Path) -> None:
    async with desk(chromium, tmp_path, administrator=False) as (running, page):
        assert not await page.is_visible("#tab-admin")
        await page.goto(f"{running.url}/#/admin?part=usage")
        await page.locator("#admin-problem", has_text="for administrators").wait_for()
        assert await page.locator("#admin-body table").count() == 0


async def test_keys_are_made_rotated_and_revoked(chromium: Any, tmp_path: Path) -> None:
    async with desk(chromium, tmp_path) as (running, page):
        await go(page, "keys")
        await page.click("#key-new summary")
        await page.fill("#key-new input[name=name]", "desk")
        await draw(page, "keys-form")
        if SHOTS:  # it was drawn anew
            await page.click("#key-new summary")
            await page.fill("#key-new input[name=name]", "desk")
        await page.press("#key-new input[name=name]", "Enter")
        secret = await page.input_value("#secret-dialog .secret")
        if SHOTS:
            await page.screenshot(path=Path(SHOTS) / "keys-secret-en.png")
        assert running.gateway.access.ring.principal_of(secret).subject == "desk"
        assert not running.gateway.access.ring.principal_of(secret).administrator
        await page.press("#secret-dialog button.primary", "Enter")
        await page.wait_for_selector("#secret-dialog", state="detached")
        assert secret not in await page.content(), "shown once"
        await page.click("button[aria-label='Rotate: desk']")
        await page.fill("dialog[open] input[type=number]", "0")
        await page.click("dialog[open] button[value=yes]")
        turned = await page.input_value("#secret-dialog .secret")
        assert running.gateway.access.ring.principal_of(secret) is None
        assert running.gateway.access.ring.principal_of(turned).subject == "desk"
        await page.keyboard.press("Escape")
        assert await page.locator("button[aria-label='Revoke: chief']").count() == 0, "the key of the page itself"
        await page.click("button[aria-label='Revoke: desk']")
        await page.click("dialog[open] button[value=no]")
        assert running.gateway.access.ring.principal_of(turned), "not without a yes"
        await page.click("button[aria-label='Revoke: desk']")
        await page.click("dialog[open] button[value=yes]")
        await page.wait_for_selector("button[aria-label='Revoke: desk']", state="detached")
        await page.locator("[role=status]:focus", has_text="is revoked").wait_for()
        assert running.gateway.access.ring.principal_of(turned) is None
        await page.fill("#key-new input[name=name]", "chief")
        await page.click("#key-new button[type=submit]")
        await page.locator(".error-line", has_text="already exists").wait_for()


async def test_usage_is_a_table_a_chart_and_a_file(chromium: Any, tmp_path: Path) -> None:
    async with desk(chromium, tmp_path) as (_, page):
        await page.fill("#question", QUESTION)
        await page.press("#question", "Enter")
        await page.wait_for_selector(".turn .thumbs")
        await go(page, "usage")
        row = page.locator(".admin-table tbody tr", has_text="chief")
        assert (await row.locator("td").all_inner_texts())[:4] == ["default", "1", "120", "30"]
        assert await page.locator(".usage-bars rect").count() == 30
        assert await page.locator(".usage-bars rect:not([height='0.00'])").count() == 1
        await page.select_option("#usage-by", "day")
        await page.locator("th", has_text="Day (UTC)").wait_for()
        await draw(page, "usage")
        async with page.expect_download() as saved:
            await page.click("#usage-csv")
        text = (await (await saved.value).path()).read_text("utf-8-sig")
        assert text.splitlines()[0].startswith("day,tenant,key,questions")
        await page.fill("#usage-from", "2030-01-01")
        await page.locator(".error-line", has_text="is after").wait_for()


async def test_jobs_web_pages_and_models_are_here_too(chromium: Any, tmp_path: Path) -> None:
    async with desk(chromium, tmp_path) as (_, page):
        await go(page, "models")
        assert "8 dimensions" in await page.inner_text(".admin-facts")
        assert await page.locator(".admin-table tbody tr").count() == 4
        await draw(page, "models")
        await page.focus("#admin-parts a[href$=jobs]")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#admin-parts a[href$=jobs][aria-current=page]:focus")  # not sent back to the head
        await page.wait_for_selector("#jobs-replay:visible")
        await draw(page, "jobs")
        await go(page, "web")
        await page.wait_for_selector("#admin-body #web-pages:visible")
        assert await page.input_value("#web-state") == "pending"
        await draw(page, "web")
        await page.click("#tab-documents")
        await page.wait_for_selector("#view-documents #web-pages:visible")


async def test_a_prompt_is_edited_tried_put_in_force_compared_and_rolled_back(chromium: Any, tmp_path: Path) -> None:
    async with desk(chromium, tmp_path) as (running, page):
        await go(page, "prompts")
        await page.select_option("#prompt-choice", "answer en")
        await page.click("button[aria-label='Edit as a new version: en-1.0a']")
        assert await page.evaluate("document.activeElement.id") == "prompt-text"
        text = await page.input_value("#prompt-text")
        assert text.startswith("---system---\nAnswer.")
        await page.fill("#prompt-text", text.replace("$context", ""))
        await page.click("#prompt-save")
        await page.locator("#prompt-editor .error-line", has_text="lacks $context").wait_for()
        await page.fill("#prompt-text", text.replace("Answer.", "Answer in one sentence."))
        await page.fill("#prompt-note", "shorter")
        await page.fill("#prompt-question", QUESTION)
        await page.press("#prompt-question", "Enter")
        await page.locator("#prompt-trial h4", has_text="en-draft.").wait_for()
        assert "81,797" in await page.inner_text("#prompt-trial .answer")
        if SHOTS:
            await page.screenshot(path=Path(SHOTS) / "prompts-editor-en.png", full_page=True)
            await page.locator("#prompt-editor").screenshot(path=Path(SHOTS) / "prompts-editor-only.png")
        await page.click("#prompt-save")
        await page.locator(".notice[role=status]", has_text="is saved").wait_for()
        version = (await running.gateway.prompts.versions("answer", "en"))[0].version
        await page.click(f"button[aria-label='Compare with the one in force: {version}']")
        await page.locator(".diff-line.added", has_text="one sentence").wait_for()
        if SHOTS:
            await page.screenshot(path=Path(SHOTS) / "prompts-diff-en.png", full_page=True)
        await page.click(f"button[aria-label='Put in force: {version}']")
        await page.click("dialog[open] button[value=yes]")
        await page.locator("[role=status]", has_text="is in force").wait_for()
        assert (await running.gateway.prompts.version("answer", "en", "active")).version == version
        await draw(page, "prompts")
        await page.click(f"button[aria-label='Roll back: {version}']")
        await page.click("dialog[open] button[value=yes]")
        await page.locator("[role=status]:focus", has_text="en-1.0a is in force").wait_for()  # its button is gone
        await page.select_option("#prompt-choice", "schema en")
        await page.locator(".notice", has_text="part of the software").wait_for()
