"""People vote on the arena's page: served, and as one file that is sent around."""

import asyncio
import json
import threading

import pytest
from quelea_evaluation.arena.arena_folder import Arena, open_run
from quelea_evaluation.arena.items import read_bench
from quelea_evaluation.arena.vote_page import VoteServer, write_page
from quelea_evaluation.arena.votes import VoteBox, make_ballot, read_all_votes, shown_questions
from support.browser import opened

pytestmark = pytest.mark.browser

BENCH = read_bench()


@pytest.fixture
def arena(tmp_path):
    place = Arena(tmp_path / "arena")
    for name in ("alpha", "beta"):
        with open_run(place.system_folder(name), "arena-dialogues", {}, {"bench": BENCH.sha256}, resume=False) as run:
            rows = run.rows("dialogues")
            for item in BENCH.items[:3]:
                turns = [{"role": "user", "content": "Hm?"}, {"role": "assistant", "content": f"<i>{name[0] * 3}</i>"}]
                rows.append({"id": str(item.id), "item": item.id, "status": "complete", "turns": turns})
    return place


async def test_votes_go_to_the_server(chromium, arena):
    ballot = make_ballot(arena, BENCH, most=0, seed=1)
    html = write_page(ballot, shown_questions(arena, BENCH, ballot), send=True)
    with VoteBox(arena) as box, VoteServer(html, box) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            async with opened(chromium, server.url) as page:
                await page.click("text=A is better")
                await page.locator("#said", has_text="Write your name first").wait_for()
                assert read_all_votes(arena) == []
                await page.fill("#rater", "Ann")
                left = await page.text_content("#left .assistant")
                assert left in ("<i>aaa</i>", "<i>bbb</i>")  # as text, not as markup
                await page.click("text=A is better")
                await page.locator("#count", has_text="2 of 3, 1 voted").wait_for()
                await page.locator("#next").focus()
                await page.keyboard.press("e")
                await page.locator("#count", has_text="3 of 3, 2 voted").wait_for()
                await page.reload()
                assert await page.input_value("#rater") == "Ann"
                assert await page.text_content("#count") == "1 of 3, 2 voted"
                assert await page.get_attribute("[data-choice=left]", "aria-pressed") == "true"
        finally:
            await asyncio.to_thread(server.shutdown)
            thread.join()
    votes = read_all_votes(arena)
    assert [(vote.rater, vote.score) for vote in votes] == [("Ann", 1.0 if "a" in left else 0.0), ("Ann", 0.5)]


async def test_votes_of_a_file_are_downloaded_and_added(chromium, arena, tmp_path):
    ballot = make_ballot(arena, BENCH, most=0, seed=1)
    file = tmp_path / "page.html"
    file.write_text(write_page(ballot, shown_questions(arena, BENCH, ballot), send=False), encoding="utf-8")
    async with opened(chromium, file.as_uri()) as page:
        await page.fill("#rater", "Bo")
        await page.click("text=B is better")
        await page.click("text=Equal")
        async with page.expect_download() as started:
            await page.click("text=Download votes")
        votes = tmp_path / "votes.jsonl"
        await (await started.value).save_as(votes)
    assert [json.loads(line)["choice"] for line in votes.read_text().splitlines()] == ["right", "equal"]
    with VoteBox(arena) as box:
        assert box.add_file(votes) == 2
    assert {vote.rater for vote in read_all_votes(arena)} == {"Bo"}
