"""A person takes the user's place on the page: talks, meets a system that fails, ends, goes on after a reload."""

import asyncio
import threading

import pytest
from playwright.async_api import expect
from quelea_evaluation.arena.arena_folder import Arena
from quelea_evaluation.arena.items import read_bench
from quelea_evaluation.arena.person import PersonTalks
from quelea_evaluation.arena.person_page import PersonServer
from quelea_evaluation.endpoints.chat import Reply
from quelea_evaluation.endpoints.client import EndpointError
from support.browser import opened

pytestmark = pytest.mark.browser

BENCH = read_bench()
ITEM = next(item for item in BENCH.items if not item.one_round)


class Scripted:
    """Fails once at the second message."""

    name = "s"

    def __init__(self):
        self.failed = False

    async def reply(self, messages, sampling):
        number = sum(one["role"] == "user" for one in messages)
        if number == 2 and not self.failed:
            self.failed = True
            raise EndpointError("no answer within 9 s", passing=True)
        return Reply(f"<b>reply {number}</b>", (5, 2), 1.0, model="s")

    async def close(self):
        pass


async def test_a_dialogue_on_the_page(chromium, tmp_path):
    arena, system = Arena(tmp_path), Scripted()
    settings = {"hidden-name": {"system": "s@http://h/v1", "max_tokens": 0}}
    with PersonTalks(arena, BENCH, [ITEM], settings, lambda _: system, seed=1) as talks, PersonServer(talks) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            async with opened(chromium, server.url) as page:
                await page.click("text=Begin")
                await page.locator("#count", has_text="Write your name first").wait_for()
                await page.fill("#rater", "Ann")
                await page.click("text=Begin")
                await page.locator("#needs", has_text=ITEM.needs[:20]).wait_for()
                await page.fill("#text", "one")
                await page.keyboard.press("Enter")
                await page.locator(".assistant", has_text="<b>reply 1</b>").wait_for()
                assert await page.is_disabled("#end")
                await page.fill("#text", "two")
                await page.click("text=Send")
                await page.locator("#said", has_text="did not answer: no answer within 9 s").wait_for()
                assert await page.is_disabled("#send")
                await page.reload()
                assert await page.input_value("#rater") == "Ann"
                await page.click("text=Begin")
                await expect(page.locator(".turn.user")).to_have_text(["one", "two"])
                await page.click("text=Ask again")
                await page.locator(".assistant", has_text="reply 2").wait_for()
                await page.fill("#text", "three")
                await page.keyboard.press("Enter")
                await page.locator(".assistant", has_text="reply 3").wait_for()
                assert "hidden-name" not in await page.content()
                await page.click("text=My needs are met")
                await page.locator("#count", has_text="1 ended").wait_for()
                await page.click("text=Next conversation")
                await page.locator("#how", has_text="All conversations are held").wait_for()
        finally:
            await asyncio.to_thread(server.shutdown)
            thread.join()
    (row,) = arena.dialogues("hidden-name").latest()
    assert (row["rater"], row["rounds"], row["ended_by"]) == ("Ann", 3, "user")
    assert [turn["content"] for turn in row["turns"] if turn["role"] == "user"][:3] == ["one", "two", "three"]
