"""The Markdown of a language model's answer on the page: shown as what it means, its verdicts in the right place."""

from __future__ import annotations

import datetime
import json

import pytest
import pytest_asyncio
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import standing
from support.browser import opened
from support.written import written

pytestmark = pytest.mark.browser

QUESTION = "What were Apple's total net sales?"
TEXT = """## Net **sales** 📈

| Item | Q3 |
|---|---:|
| Total net sales | 81,797 [1] |
| Net income | 19,991 |

1. **Net income was $19,991 million** [1].
2. See [the filing](https://example.com/x), `a*b*c`.
   - nested, *Services* rose by 1,609 compared to a year earlier [1]

```
x = 1 < 2
```

The row says “a **verbatim** [quote]” <b>no tag</b> x * y * z."""


@pytest_asyncio.fixture(loop_scope="session")
async def written_tab(chromium):
    async with standing(World.with_web()) as running:
        running.world.events = written(TEXT)
        async with opened(chromium, running.url) as page:
            yield page


async def ask(page):
    await page.fill("#question", QUESTION)
    await page.press("#question", "Enter")
    await page.wait_for_selector(".turn:first-child .foot")


async def test_markdown_is_shown_as_what_it_means(written_tab):
    await ask(written_tab)
    text = written_tab.locator
    assert (await text(".answer .part").inner_text()).startswith("Net sales 📈")
    assert await text(".answer .part strong").inner_text() == "sales"
    assert await text(".answer th").count() == 2
    assert await text(".answer tbody td.figure").count() == 2
    assert await text(".answer ol > li").count() == 2
    assert "rose by" in await text(".answer ol > li:nth-child(2) > ul > li").inner_text()
    assert await text(".answer code").inner_text() == "a*b*c"
    assert await text(".answer pre").inner_text() == "x = 1 < 2"
    assert await text(".answer em").all_inner_texts() == ["Services"]
    last = await text(".answer > p:last-child").inner_text()
    assert "“a **verbatim** [quote]” <b>no tag</b> x * y * z" in last
    assert await text(".answer a, .answer b").count() == 0


async def test_verdicts_find_their_words_among_the_marks(written_tab):
    await ask(written_tab)
    bad = await written_tab.locator(".answer li .figure.bad").all_text_contents()
    assert bad == ["$19,991 million (the evidence says otherwise)"]
    assert await written_tab.locator(".answer li .figure.bad strong").inner_text() == "$19,991 million"
    assert await written_tab.locator(".answer td .figure.bad").count() == 1
    assert await written_tab.locator(".answer li .figure.derived").count() == 1


async def test_a_source_that_several_markers_cite_has_one_card(written_tab):
    await ask(written_tab)
    cards = await written_tab.locator(".turn > .sources > li").all_inner_texts()
    assert len(cards) == len(set(cards))
    assert await written_tab.locator(".answer .cite").count() >= 2


async def test_the_day_of_a_question_is_not_in_the_future(written_tab):
    most = datetime.date.fromisoformat(str(await written_tab.get_attribute("#as-of", "max")))
    assert abs((most - datetime.datetime.now(datetime.UTC).date()).days) <= 1


async def test_a_reader_that_fails_is_told_of_in_the_language_of_the_page(written_tab):
    error = {
        "code": "UNAVAILABLE",
        "message": "Gone. The evidence found for the question is in error.details.evidence.",
    }
    reading = {"text": "Apple · FY2023 Q3 (quarter ended July 1, 2023); Tesla · all documents; AMD · all documents"}
    gate = {"kind": "calibrated", "probability": 0.9, "threshold": 0.6, "passed": True, "reasons": []}
    started = {"reading": reading, "evidence": [], "further_reading": [], "route": "local", "gate": gate}
    events = [("started", started), ("error", {"error": error})]
    body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    await written_tab.route("**/v1/ask", lambda route: route.fulfill(body=body, content_type="text/event-stream"))
    await written_tab.click("#lang-zh")
    await written_tab.fill("#question", QUESTION)
    await written_tab.press("#question", "Enter")
    await written_tab.wait_for_selector(".turn .error-line")
    said = await written_tab.inner_text(".turn .error-line")
    assert said == "未能生成回答，检索到的内容见下。 服务暂不可用：Gone."
    read = "检索：Apple · FY2023 Q3 (截至2023年7月1日的季度); Tesla · 全部文档; AMD · 全部文档"
    assert read in await written_tab.inner_text(".turn .reading")
    assert await written_tab.inner_text(".turn .route summary") == "已检索文档"
