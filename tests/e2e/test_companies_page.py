"""The page "Companies" in a real headless Chromium, on a gateway with fake services behind it."""

from __future__ import annotations

import io
import os
from pathlib import Path

import openpyxl
import pytest
import pytest_asyncio
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import standing
from support.accessibility import faults
from support.browser import opened

pytestmark = pytest.mark.browser

APPLE = next(iter(World.with_samples().documents.values()))


def stated(company, label, concept, value, year, *, statement="income", printed="81,797", **more):
    """A figure whose cell is on the first page of the first sample."""
    start = APPLE.pages[0].index(printed)
    fact = common_pb2.Fact(
        statement=statement, label=label, concept=concept, value=value, unit="USD", printed=printed, start=start,
        end=start + len(printed), period_start="" if statement == "balance" else f"{year}-01-01",
        period_end=f"{year}-12-31", basis="consolidated", source="table", **more,
    )  # fmt: skip
    about = common_pb2.DocumentMetadata(company=company, title=f"{company} 10-K")
    name = f"{company} {label} {value} {year}"
    return retriever_pb2.StatedFact(fact=fact, document_id=APPLE.id, metadata=about, passage_id=name, page=1)


def world():
    made = World.with_samples()
    old = stated("Apple", "Net sales", "revenue", "79000000000", 2031)
    old.restated = True
    made.facts = [
        stated("Apple", "Net sales", "revenue", "81797000000", 2031),
        stated("Apple", "Net sales", "revenue", "82959000000", 2030),
        stated("Apple", "Gross margin", "gross_profit", "36413000000", 2031),
        stated("Apple", "Gross margin", "gross_profit", "35885000000", 2030, failed=["gross profit = revenue - cost"]),
        stated("Apple", "<i>Total</i> assets", "total_assets", "5000000", 2031, statement="balance"),
        old,
        stated("织羽股份", "营业收入", "revenue", "1236000000", 2031),
        stated("织羽股份", "净利润", "net_income", "-205000000", 2031),
        stated("织羽股份", "净利润", "net_income", "105000000", 2030),
    ]
    return made


@pytest_asyncio.fixture(loop_scope="session")
async def companies_tab(chromium):
    async with standing(world()) as running, opened(chromium, running.url) as page:
        await page.click("#tab-companies")
        yield page


async def rows(page):
    lines = await page.locator("#statement-table tbody tr").all()
    return [[text.strip() for text in await line.locator("th, td.figure").all_inner_texts()] for line in lines]


async def choose(page, company):
    await page.fill("#company-name", company)
    await page.press("#company-name", "Enter")
    await page.wait_for_selector(f"#statement-table .company:has-text('{company}')")


async def test_a_figure_opens_the_place_that_prints_it_with_mouse_or_keys(companies_tab):
    await companies_tab.click("#company-choice button:text('Apple')")
    await companies_tab.wait_for_selector("#statement-table tbody a")
    assert await rows(companies_tab) == [["Net sales", "81,797", "82,959"], ["Gross margin", "36,413", ""]]
    assert "USD, in millions" in await companies_tab.inner_text("#statement-table .company")
    assert await faults(companies_tab) == []
    label = await companies_tab.get_attribute("#statement-table .sparkline", "aria-label")
    assert label == "Net sales, oldest first: 82,959, 81,797"
    await companies_tab.click("#statement-table a:text('81,797')")
    assert await companies_tab.inner_text("#panel mark") == "81,797"
    await companies_tab.keyboard.press("Escape")
    await companies_tab.keyboard.press("ArrowDown")
    assert await companies_tab.evaluate("document.activeElement.textContent") == "36,413"
    await companies_tab.keyboard.press("Enter")
    await companies_tab.wait_for_selector("#panel mark")
    if folder := os.environ.get("QUELEA_LOOK_AT"):
        await companies_tab.screenshot(path=f"{folder}/companies.png")


async def test_tabs_show_statements_and_the_address_keeps_the_view(companies_tab):
    await choose(companies_tab, "Apple")
    await companies_tab.focus("#statement-income")
    await companies_tab.keyboard.press("ArrowRight")
    await companies_tab.wait_for_selector("#statement-table tbody th:text('<i>Total</i> assets')")
    assert await companies_tab.locator("#statement-table i").count() == 0
    assert await companies_tab.get_attribute("#statement-balance", "aria-selected") == "true"
    await companies_tab.reload()
    await companies_tab.wait_for_selector("#statement-table tbody th:text('Total')")
    await companies_tab.click("#company-chips button")
    await companies_tab.wait_for_selector("#company-choice:visible")


async def test_companies_stand_side_by_side_line_by_line(companies_tab):
    await choose(companies_tab, "Apple")
    await choose(companies_tab, "织羽股份")
    assert await rows(companies_tab) == [
        ["Net sales", "81,797", "82,959", "1,236", ""],
        ["净利润", "", "", "−205", "105"],
        ["Gross margin", "36,413", "", "", ""],
    ]
    await companies_tab.click("#lang-zh")
    await companies_tab.wait_for_selector("#statement-table .company:has-text('单位：万')")
    assert (await rows(companies_tab))[1] == ["净利润", "", "", "−20,500", "10,500"]
    await companies_tab.fill("#company-name", "无此公司")
    await companies_tab.press("#company-name", "Enter")
    await companies_tab.wait_for_selector("#company-problem:text('无此公司：已入库的文档中没有相应的年度报表。')")


async def test_where_quarters_alone_are_stored_they_are_shown(chromium):
    quarterly = stated("Apple", "Net sales", "revenue", "81797000000", 2031)
    quarterly.fact.period_start = "2031-10-01"
    made = World.with_samples()
    made.facts = [quarterly]
    async with standing(made) as running, opened(chromium, running.url) as page:
        await page.click("#tab-companies")
        await choose(page, "Apple")
        assert await rows(page) == [["Net sales", "81,797"]]
        await page.wait_for_selector("#company-note:text('No years are stored; these are quarters.')")
        assert await page.input_value("#statement-period") == "quarterly"
        await page.select_option("#statement-period", "annual")  # who asks for years is told that there are none
        await page.wait_for_selector("#company-problem:text('Apple: no such yearly statement')")
        assert not await page.is_visible("#company-note")


async def test_doubtful_figures_are_marked_when_asked_for(companies_tab):
    await choose(companies_tab, "Apple")
    await companies_tab.check("#statement-doubtful")
    await companies_tab.wait_for_selector("#statement-table .mark-restated")
    marked = companies_tab.locator("#statement-table td:has(.mark-restated) a")
    assert "stated before as 81,797 (Apple 10-K)" in await marked.get_attribute("title")
    failed = companies_tab.locator("#statement-table td.failed a")
    assert "does not hold: gross profit = revenue - cost" in await failed.get_attribute("title")
    assert await companies_tab.locator("#statement-legend").is_visible()


async def test_a_workbook_is_saved(companies_tab):
    await choose(companies_tab, "Apple")
    async with companies_tab.expect_download() as started:
        await companies_tab.click("#statement-table .company button")
    saved = await started.value
    assert saved.suggested_filename == "Apple.xlsx"
    data = Path(await saved.path()).read_bytes()  # noqa: ASYNC240  # a file of some kilobytes
    assert openpyxl.load_workbook(io.BytesIO(data)).sheetnames == ["income", "balance", "figures"]
