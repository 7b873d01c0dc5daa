"""The chart under an answer, in a real headless Chromium: from figures to a picture, without eval or another host."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import standing
from support.browser import opened

pytestmark = pytest.mark.browser


def figure(year, value, *, label="Net sales", metric="", unit="USD", company="Kestrel & <b>Sons</b>"):
    operand = {"label": label, "concept": label.lower(), "printed": str(value)}
    return {
        "company": company, "metric": metric, "value": str(value), "unit": unit, "period_end": f"{year}-12-31",
        "operands": [operand], "formula": "{0}",
    }  # fmt: skip


SALES = [figure(2021 + at, value) for at, value in enumerate((1.2e9, 1.5e9, 2.5e9))]
MARGINS = [figure(2021 + at, value, metric="net_margin", unit="percent") for at, value in enumerate((-3, 4, 12.5))]
CHANGE = {**figure(2023, 1.3e9), "metric": "change"}


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium):
    async with standing(World.with_samples()) as running, opened(chromium, running.url) as one:
        one.said = []
        one.on("console", lambda message: one.said.append(message.text))
        yield one


async def drawn(page, figures):
    return await page.evaluate(
        """async (figures) => {
          const { chart } = await import("/page/chart.js");
          const made = chart(figures);
          if (!made) return null;
          document.body.append(made);
          const until = Date.now() + 30000;
          while (!made.querySelector("svg, p") && Date.now() < until) await new Promise((go) => setTimeout(go, 50));
          const texts = [...made.querySelectorAll("text")].map((one) => one.textContent);
          return { label: made.getAttribute("aria-label"), texts };
        }""",
        figures,
    )


async def test_a_line_over_years_is_drawn_and_saved(page) -> None:
    found = await drawn(page, [*SALES, CHANGE, *MARGINS])  # one unit a chart: that of the first line
    assert {"2021", "2022", "2023", "billion USD", "2.5", "Kestrel & <b>Sons</b> · Net sales"} <= set(found["texts"])
    assert "net margin" not in str(found)
    assert found["label"] == "Chart: Kestrel & <b>Sons</b> · Net sales"
    async with page.expect_download() as download:
        await page.click(".chart button")
    path = await (await download.value).path()
    assert (await asyncio.to_thread(path.read_bytes)).startswith(b"\x89PNG")
    assert [text for text in page.said if "Content Security Policy" in text or "eval" in text] == []


async def test_a_metric_is_drawn_in_percent(page) -> None:
    found = await drawn(page, MARGINS)
    assert {"%", "0", "Kestrel & <b>Sons</b> · net margin"} <= set(found["texts"])


async def test_two_years_are_no_development(page) -> None:
    assert await drawn(page, [*SALES[:2], CHANGE]) is None
    assert await drawn(page, []) is None
