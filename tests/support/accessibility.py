"""axe-core (Deque, MPL-2.0, within axe-playwright-python) over what a page shows, in light and dark colours."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.async_playwright import Axe

_BAD = ("serious", "critical")
_MOST_TOLD = 3


async def faults(page: Any) -> list[str]:
    """Findings that axe-core calls serious or critical, one line each: mode, rule, and the first places."""
    found = []
    for mode in ("light", "dark"):
        await page.emulate_media(color_scheme=mode)
        for one in (await Axe().run(page)).response["violations"]:
            if one["impact"] in _BAD:
                places = [f"{node['target']} {node['any'][:1] and node['any'][0]['message']}" for node in one["nodes"]]
                found.append(f"{mode}: {one['id']}: {'; '.join(places[:_MOST_TOLD])}")
    await page.emulate_media(color_scheme="light")
    return found
