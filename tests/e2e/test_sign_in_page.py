"""Signing in to the page at a provider, in a real browser: in, asking, out; and who may not."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from playwright.async_api import expect
from quelea_gateway import keys
from quelea_gateway.testing import standing
from support.openid_provider import Provider

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("QUELEA_SHOTS", "")
SETTINGS = """
issuer = "{issuer}"
[login]
client_id = "quelea-page"
[[members]]
group = "desk"
tenant = "default"
rights = {{ "*" = "write" }}
"""


@pytest.fixture
def provider():
    made = Provider()
    made.claims = {
        "ann": {"groups": ["desk"], "preferred_username": "Ann Lee"},
        "bob": {"groups": ["desk"]},
        "eve": {"groups": []},
    }
    yield made
    made.close()


@contextlib.asynccontextmanager
async def page_of(chromium, provider, tmp_path):
    file = tmp_path / "openid.toml"
    file.write_text(SETTINGS.format(issuer=provider.issuer))
    async with standing(auth="keys", openid_file=str(file), keys_file=str(tmp_path / "keys.json")) as stand:
        provider.client.redirect_uris = [f"{stand.url}/auth/callback"]
        context = await chromium.new_context(locale="en-US", viewport={"width": 1280, "height": 800})
        opened = await context.new_page()
        opened.set_default_timeout(60_000)
        faults = []
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on("console", lambda line: faults.append(line.text) if "Content Security Policy" in line.text else None)
        opened.url_of_gateway = stand.url
        yield opened
        await context.close()
        assert faults == []


async def shoot(page, name):
    if SHOTS:
        await page.screenshot(path=Path(SHOTS) / f"{name}.png")


async def sign_in(page, who):
    await page.wait_for_selector("#sign-in:visible")
    await page.click("#sign-in")
    await page.wait_for_selector("input[name=sub]")
    await page.fill("input[name=sub]", who)
    await page.click("button[name=yes]")


async def test_in_asking_and_out(chromium, provider, tmp_path):
    async with page_of(chromium, provider, tmp_path) as page:
        await go_in_ask_and_go_out(page)


async def go_in_ask_and_go_out(page):
    await page.goto(page.url_of_gateway + "/#/documents")
    await page.wait_for_selector("#sign-in:visible")
    await shoot(page, "sign-in")
    await sign_in(page, "ann")
    await page.wait_for_selector("#person:visible")
    assert await page.inner_text("#person-name") == "Ann Lee"
    assert page.url.endswith("/#/documents")  # where he wanted to go
    await shoot(page, "signed-in")
    await page.click("#tab-ask")
    await page.fill("#question", "What were Apple's total net sales?")
    await page.press("#question", "Enter")
    await page.wait_for_selector(".turn .thumbs")  # an answer: a POST with the session's token
    assert await page.evaluate("document.cookie") == ""
    assert await page.evaluate("sessionStorage.length") == 0
    await page.reload()
    await page.wait_for_selector("#person:visible")
    await page.click("#sign-out")
    await page.wait_for_selector("#sign-in:visible")  # by the provider's logout, and asked again
    assert not await page.is_visible("#person")


async def test_a_question_asked_after_the_session_is_over_is_still_there_when_its_writer_is_back(
    chromium, provider, tmp_path
):
    async with page_of(chromium, provider, tmp_path) as page:
        await page.goto(page.url_of_gateway)
        await sign_in(page, "ann")
        await page.wait_for_selector("#person:visible")
        for who, kept in (("ann", "What were Apple's total net sales?"), ("bob", "")):
            await page.context.clear_cookies()  # as when the session ran out
            await page.fill("#question", "What were Apple's total net sales?")
            await page.press("#question", "Enter")
            await sign_in(page, who)
            await page.wait_for_selector("#person:visible")
            await expect(page.locator("#question")).to_have_value(kept)
            assert await page.evaluate("sessionStorage.length") == 0


async def test_a_key_that_was_refused_is_not_in_the_way_of_signing_in(chromium, provider, tmp_path):
    async with page_of(chromium, provider, tmp_path) as page:
        await page.goto(page.url_of_gateway + "/#/documents")
        await page.wait_for_selector("#sign-in:visible")
        await page.fill("#key", "quelea_wrong")
        await page.press("#key", "Enter")
        await page.wait_for_selector("#key-error:visible")
        await sign_in(page, "ann")
        await page.wait_for_selector("#view-documents table tbody tr, #view-documents li")
        assert not await page.is_visible("#key-dialog")


async def test_who_may_not_is_told_so_and_a_key_opens_all_the_same(chromium, provider, tmp_path):
    async with page_of(chromium, provider, tmp_path) as page:
        await be_refused_and_use_a_key(page, keys.create(tmp_path / "keys.json", "desk"))


async def be_refused_and_use_a_key(page, key):
    await page.goto(page.url_of_gateway)
    await sign_in(page, "eve")
    await page.wait_for_selector("#sign-in-error:visible")
    assert "none of your groups" in await page.inner_text("#sign-in-error")
    await shoot(page, "not-let-in")
    await page.fill("#key", key)
    await page.press("#key", "Enter")
    await page.wait_for_selector("#key-dialog", state="hidden")
    await page.click("#tab-documents")
    await page.wait_for_selector("#view-documents table tbody tr, #view-documents li")
