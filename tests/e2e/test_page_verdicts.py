"""What the checks found, as the page shows it, in a real headless Chromium; and on the real stack over REST."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openai
import pytest
import pytest_asyncio
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import standing
from support.browser import opened
from support.written import written

pytestmark = pytest.mark.browser

QUESTION = "What were Apple's total net sales?"
TEXT = (
    "Total net sales were $81,797 million [9].\n- Services rose by 1,609 compared to a year earlier [1]\n"
    "- Net income was $19,991 million [1]\n\nPenguins sleep quietly beneath glittering auroras every winter."
)


@pytest_asyncio.fixture(loop_scope="session")
async def marked_stand():
    async with standing(World.with_web()) as running:
        running.world.events = written(TEXT)
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def marked_tab(chromium, marked_stand):
    async with opened(chromium, marked_stand.url) as page:
        await page.wait_for_selector("#route-choice:visible")
        yield page


async def ask(page, question=QUESTION):
    await page.fill("#question", question)
    await page.press("#question", "Enter")
    await page.wait_for_selector(".turn:first-child .foot")


async def test_unsupported_sentences_and_figures_are_marked(marked_tab):
    await ask(marked_tab)
    assert await marked_tab.locator(".answer .figure.bad").all_inner_texts() != []
    bad = await marked_tab.locator(".answer .figure.bad").first.text_content()
    assert bad == "$19,991 million (the evidence says otherwise)"
    marked = await marked_tab.locator(".answer .unsupported").all_inner_texts()
    assert [text.split(" ")[0] for text in marked] == ["Net", "Penguins"]
    flags = await marked_tab.locator(".answer .unsupported .flag").all_inner_texts()
    assert flags == ["contradicted", "not found"]
    assert await marked_tab.locator(".answer .cite").count() == 2
    await marked_tab.click(".verdicts summary")
    signs = await marked_tab.locator(".verdicts .sign").all_inner_texts()
    assert signs == ["✓", "✓", "✗", "?"]
    await marked_tab.click("#lang-zh")
    await marked_tab.wait_for_selector(".answer .flag:text('未见于资料')")


async def test_a_computed_figure_shows_its_formula(marked_tab):
    await ask(marked_tab)
    figure = marked_tab.locator(".answer .figure.derived")
    assert await figure.get_attribute("title") == "computed: = 21,213 − 19,604"
    await figure.click()
    assert (await marked_tab.inner_text(".answer .formula")).strip() == "= 21,213 − 19,604"
    assert await figure.get_attribute("aria-expanded") == "true"
    await figure.press("Enter")
    assert await marked_tab.locator(".answer .formula").count() == 0


async def test_the_strict_switch_withholds_and_says_what(marked_tab, marked_stand):
    await marked_tab.check("#strict")
    await ask(marked_tab)
    assert "19,991" not in await marked_tab.inner_text(".answer")
    await marked_tab.click(".withheld summary")
    assert "Net income was $19,991 million" in await marked_tab.inner_text(".withheld li")
    marked_stand.world.events = written("Net income was $19,991 million [1].")
    await ask(marked_tab)
    assert "Unable to answer" in await marked_tab.inner_text(".turn:first-child .answer.declined")


async def test_text_outside_the_basic_plane_shifts_no_mark(marked_tab, marked_stand):
    marked_stand.world.events = written(
        "📈📈 Total net sales 𝟜 were $81,797 million. Net income was $19,991 million [1]."
    )
    await ask(marked_tab)
    assert (await marked_tab.locator(".answer .figure.bad").last.text_content()).startswith("$19,991 million (")


async def test_an_answer_is_saved_as_markdown(marked_tab):
    await ask(marked_tab)
    async with marked_tab.expect_download() as started:
        await marked_tab.click(".export .saveMarkdown")
    saved = await started.value
    assert saved.suggested_filename == "answer.md"
    text = Path(await saved.path()).read_text(encoding="utf-8")  # noqa: ASYNC240  # a file of some hundred bytes
    assert text.startswith(f"# {QUESTION}")
    assert "> Total net sales 81,797" in text


async def test_an_answer_is_saved_as_a_research_note(marked_tab):
    await ask(marked_tab)
    async with marked_tab.expect_download() as started:
        await marked_tab.click(".export .save_docx")
    saved = await started.value
    assert saved.suggested_filename == "answer.docx"
    assert Path(await saved.path()).read_bytes().startswith(b"PK")  # noqa: ASYNC240  # a small file


async def test_an_answer_is_copied_as_markdown(marked_tab):
    await marked_tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ask(marked_tab)
    await marked_tab.click(".export .copyMarkdown")
    await marked_tab.wait_for_selector(".export [role=status]:text('Copied.')")
    assert (await marked_tab.evaluate("navigator.clipboard.readText()")).startswith(f"# {QUESTION}")


async def test_the_ask_button_stays_on_the_line_of_its_options(marked_tab):
    for _ in range(2):  # the second time with "New conversation" beside it
        button, choice = (
            await marked_tab.locator("#ask").bounding_box(),
            await marked_tab.locator("#route").bounding_box(),
        )
        assert button["y"] < choice["y"] + choice["height"]
        assert choice["y"] < button["y"] + button["height"]
        await ask(marked_tab)


async def test_a_follow_up_shows_how_it_was_understood(marked_tab):
    reading = {"text": "Apple"}
    told = {"question": "What were Apple's net sales <b>in Q2</b>?", "by": "rules"}
    started = {"reading": reading, "evidence": [], "further_reading": [], "standalone": told}
    body = f"event: started\ndata: {json.dumps(started)}\n\nevent: delta\ndata: {json.dumps({'text': 'It'})}\n\n"
    await marked_tab.route("**/v1/ask", lambda route: route.fulfill(body=body, content_type="text/event-stream"))
    await marked_tab.fill("#question", "And in Q2?")
    await marked_tab.press("#question", "Enter")
    await marked_tab.wait_for_selector(".standalone")
    assert await marked_tab.inner_text(".standalone") == f"understood as: {told['question']}"


ENGLISH = "What were Apple's total net sales in the third quarter of fiscal 2023?"
CHINESE = "2023年第三季度，三星的智能手机出货量是多少？"


@pytest.mark.parametrize(("question", "figure"), [(ENGLISH, "81,797"), (CHINESE, "5740")])
def test_the_real_stack_checks_its_answers(library: Any, question: str, figure: str) -> None:
    for strict in (False, True):
        answer = library.ask(question, strict=strict)
        grounding = answer["grounding"]
        assert not answer["declined"], answer
        assert answer["answer"] == grounding["text"]
        assert any(figure in one["text"] for one in grounding["figures"])
        assert {one["verdict"] for one in grounding["figures"]} == {"supported"}
        assert {one["verdict"] for one in grounding["sentences"]} <= {"supported", "no_claim"}
        for one in (*grounding["figures"], *grounding["sentences"]):
            assert grounding["text"][one["start"] : one["end"]] == one["text"]
        assert grounding["withheld"] == []


def test_the_real_stack_gives_markdown_and_streams_verdicts(library: Any) -> None:
    reply = library.http.post("/v1/ask", json={"question": ENGLISH, "format": "markdown"})
    assert reply.headers["content-type"].startswith("text/markdown")
    assert reply.text.startswith(f"# {ENGLISH}")
    assert "81,797" in reply.text
    assert "## Sources" in reply.text
    with openai.OpenAI(base_url=f"{library.url}/v1", api_key="none needed here") as client:
        messages: Any = [{"role": "user", "content": CHINESE}]
        chunks = list(client.chat.completions.create(model="quelea", messages=messages, stream=True))
    end: Any = next(one for one in chunks if one.choices and one.choices[0].finish_reason)
    assert end.model_extra["quelea"]["grounding"]["figures"]
