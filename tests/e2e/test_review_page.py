"""Generated questions are read, corrected and dropped on a page; the same table is edited, and read back."""

import asyncio
import threading

import pytest
from quelea_evaluation.omni.matrix import read_matrix
from quelea_evaluation.omni.questions.model import Passage, Question, Turn, read_questions
from quelea_evaluation.omni.questions.review import read_table, write_review
from quelea_evaluation.omni.questions.review_page import Review, ReviewServer
from support.browser import opened

pytestmark = pytest.mark.browser


def made(number: int) -> Question:
    place = Passage("d", 3, 0, 17, "Net sales <b>were 7.</b>", "Report")
    turns = (Turn(f"What were net sales, {number}?", ("7", "seven")),)
    return Question(f"q{number}", "stocks", "extractive", "en", turns, (place,), {"inspection": number})


async def test_what_a_person_says_of_a_question_is_in_the_table_and_is_read_back(chromium, tmp_path):
    questions = [made(1), made(2)]
    table = tmp_path / "review.csv"
    write_review(table, questions)
    with ReviewServer(Review(tmp_path, table, questions, read_matrix(None))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            async with opened(chromium, server.url) as page:
                first = page.locator("article").first
                assert "Net sales <b>were 7.</b>" in await first.inner_text()  # as text, not as markup
                await first.locator("textarea").nth(1).fill("7\nseven million\n")
                await first.locator("textarea").first.focus()  # leaving the field is what saves
                await page.locator("#said", has_text="Saved.").wait_for()
                await page.click("[aria-label='Drop: What were net sales, 2?']")
                await page.locator("#count", has_text="1 kept, 1 dropped, 1 edited").wait_for()
                await page.select_option("#state", "corrected")
                assert await page.locator("article").count() == 1
                await page.click("#done")
                await page.locator("#said", has_text="1 questions in reviewed.jsonl, 1 of them edited").wait_for()
                await page.reload()
                assert (
                    await page.locator("article").first.locator("textarea").nth(1).input_value() == "7\nseven million"
                )
                await page.locator("article").first.locator("textarea").first.fill("")
                await page.locator("#topic").focus()
                await page.locator("#said.error", has_text="must not be empty").wait_for()
        finally:
            await asyncio.to_thread(server.shutdown)
            thread.join()
    rows = read_table(table)
    assert (rows["q1"]["1"]["answers"], rows["q2"]["1"]["keep"]) == ("7 || seven million", "no")
    assert rows["q1"]["1"]["passages"] == "Report, p. 3: Net sales <b>were 7.</b>"
    (kept,) = read_questions(tmp_path / "reviewed.jsonl")
    assert kept.turns == (Turn("What were net sales, 1?", ("7", "seven million")),)
    assert kept.source["edited"] is True
