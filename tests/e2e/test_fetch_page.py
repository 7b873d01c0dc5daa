"""The offer of a declined answer on the page, in a real headless Chromium on a gateway with fake services."""

import pytest
import pytest_asyncio
from quelea.retriever.v1 import retriever_pb2
from quelea_gateway.adapters.services.fake_world import World
from quelea_gateway.testing import standing
from quelea_kit.errors import Conflict
from support.browser import opened

pytestmark = pytest.mark.browser


@pytest_asyncio.fixture(loop_scope="session")
async def fetch_stand():
    world = World.with_samples()
    world.filing_sources = ["edgar"]
    world.reading = retriever_pb2.Reading(
        text="Tesla · FY2024", companies=["Tesla"], periods=["FY2024"], company_missing=True, fallback="no Tesla"
    )
    async with standing(world) as running:
        yield running


async def test_a_button_fetches_what_the_answer_lacked_and_asks_again(chromium, fetch_stand):
    async with opened(chromium, fetch_stand.url) as page:
        await page.fill("#question", "How many vehicles did Tesla deliver in 2024?")
        await page.press("#question", "Enter")
        offer = page.locator(".turn:first-child .offer")
        assert (await offer.inner_text()).startswith("Tesla's 10-K for FY2024 is not here. Fetch it?")
        fetch_stand.world.fetch_error = Conflict("No contact is set.")
        await offer.get_by_role("button", name="Fetch").click()
        assert await offer.get_by_role("alert").inner_text() == "No contact is set."
        fetch_stand.world.fetch_error = None
        await offer.get_by_role("button", name="Fetch").click()
        await offer.get_by_text("10-K · 2025-01-30 · In the knowledge base").wait_for()
        request = fetch_stand.world.fetches[-1]
        assert (request.company, list(request.forms)) == ("TSLA", ["10-K"])
        await offer.get_by_role("button", name="Ask again").click()
        await page.locator(".turn .foot").nth(1).wait_for()
