"""The whole product as it runs: `quelea up` on a home of its own, for all tests of the session."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import pytest_asyncio
from support.browser import ARGUMENTS, CHROMIUM
from support.stack import SAMPLES, Stack, pdf


@pytest.fixture(scope="session")
def new_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Stack]]:
    """Starts stacks; each is stopped at the end."""
    stacks: list[Stack] = []

    def start(*options: str, **more: Any) -> Stack:
        stacks.append(Stack(tmp_path_factory.mktemp("stack") / "home", *options, **more))
        return stacks[-1]

    yield start
    with ThreadPoolExecutor() as pool:
        list(pool.map(Stack.stop, stacks))


@pytest.fixture(scope="session")
def stack(new_stack: Callable[..., Stack]) -> Stack:
    """The stack that most tests share. Keys are off."""
    return new_stack()


@pytest.fixture(scope="session")
def library(stack: Stack) -> Stack:
    """The shared stack with a real 10-Q and a dated Chinese news item in it."""
    filing = SAMPLES / "filings" / "2023 Q3 AAPL.pdf"
    news = SAMPLES / "news" / "2023-10-27-149.json"
    for job in stack.ingest(*((file.name, file.read_bytes()) for file in (filing, news))):
        assert job["state"] == "succeeded", job
    return stack


@pytest.fixture(scope="session")
def make_pdf() -> Callable[..., bytes]:
    """pdf(pages, encrypt=False) -> bytes."""
    return pdf


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser is one for all of them, so they share its event loop."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium():
    """A browser; each test opens a context of its own, with nothing of another's in it."""
    if not CHROMIUM:
        text = "NO CHROMIUM: the page is NOT tested here; install Debian's chromium or set QUELEA_CHROMIUM"
        sys.stderr.write(f"\n{text}\n")
        pytest.skip(text)
    from playwright.async_api import async_playwright, expect

    expect.set_options(timeout=60_000)  # as long as `opened` gives all other waits
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()
