"""What a user of Open WebUI sees of an answer: [n], its source with quote and page, title, tags, follow-ups."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import sync_playwright
from support.browser import ARGUMENTS, CHROMIUM
from support.open_webui import OpenWebUI
from support.stack import Stack

ENGLISH = "What were Apple's total net sales in the third quarter of fiscal 2023?"
CHINESE = "2023年第三季度，三星的智能手机出货量是多少？"


def answers(product: Stack) -> float:
    """How many questions were searched for and answered so far."""
    lines = product.http.get("/metrics", headers={"Accept": "text/plain"}).raise_for_status().text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("quelea_answers_total"))


def listed(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The n-th is what [n] opens: its page tells sources apart by `metadata.source` (0.12.4, Citations.svelte)."""
    found: dict[str, dict[str, Any]] = {}
    for source in sources:
        for text, metadata in zip(source["document"], source["metadata"], strict=True):
            one = found.setdefault(metadata["source"], {"texts": [], **metadata, "url": source["source"].get("url")})
            one["texts"].append(text)
    return list(found.values())


def test_the_models_are_there(front_end: OpenWebUI) -> None:
    assert "quelea" in front_end.models()


@pytest.mark.parametrize(("question", "figure"), [(ENGLISH, "81,797"), (CHINESE, "5740")])
def test_an_answer_its_sources_and_what_is_asked_besides(
    product: Stack, front_end: OpenWebUI, question: str, figure: str
) -> None:
    before = answers(product)
    told = front_end.ask(question)
    assert figure in told["content"]
    numbers = {int(number) for number in re.findall(r"\[(\d+)\]", told["content"])}
    sources = listed(told["sources"])
    assert numbers == set(range(1, len(sources) + 1))
    assert any(figure in text for one in sources for text in one["texts"])
    for one in sources:
        page = product.http.get(one["source"], headers={"Accept": "text/html"})
        assert '<mark id="quote">' in page.raise_for_status().text
    assert told["title"]
    assert told["tags"]
    assert isinstance(told["followUps"], list)
    assert answers(product) == before + 1, "title, tags and follow-ups cost no search"


def test_its_page_opens_the_source_behind_a_number(front_end: OpenWebUI) -> None:
    if not CHROMIUM:
        pytest.skip("NO CHROMIUM: Open WebUI's page is NOT tested here; install Debian's chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(locale="en-US")
        page.set_default_timeout(60_000)
        page.goto(front_end.url)
        page.get_by_role("button", name="Okay, Let's Go!").click()  # what is new, at the first visit
        page.locator("#chat-input").click()
        page.keyboard.insert_text(CHINESE)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="View source: ").first.click()
        page.get_by_role("dialog").get_by_text("5740").wait_for()
        shown = page.get_by_role("dialog").inner_text()
        assert "(page 1)" in shown
        assert "(page 2)" not in shown
        page.goto(page.get_by_role("dialog").get_by_role("link").first.get_attribute("href") or "")
        assert "5740" in page.locator("mark#quote").inner_text()
        browser.close()
