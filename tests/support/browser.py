"""A real headless Chromium, and a page of ours in it that may do nothing behind our back."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from typing import Any

CHROMIUM = os.environ.get("QUELEA_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

_LOADS = 5
"""Chromium breaks off what it loads when a network of this machine comes or goes, as containers' do."""


def _refuse(*_: Any, **__: Any) -> None:
    """Its text is evaluated, which the page's policy forbids: it passes only where it holds at the first look."""
    raise AssertionError("wait for a selector or with playwright's expect, not with wait_for_function")


@contextlib.asynccontextmanager
async def opened(chromium: Any, url: str) -> AsyncIterator[Any]:
    """The page at `url`. Fails at the end when a script failed, the policy was broken or another address was asked."""
    context = await chromium.new_context(locale="en-US", viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    page.set_default_timeout(60_000)
    page.wait_for_function = _refuse
    faults: list[str] = []
    failures: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text) if "Content Security Policy" in line.text else None)
    page.on("requestfailed", lambda asked: failures.append(asked.failure))
    page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith((url, "data:")) else None)
    for _ in range(_LOADS):
        failures.clear()
        await page.goto(url)
        if "net::ERR_NETWORK_CHANGED" not in failures:
            break
    yield page
    await context.close()
    assert faults == []
