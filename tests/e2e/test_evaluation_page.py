"""The page "Evaluation": from the list to a matrix, a cell's items, and an item with what failed; by keyboard."""

from __future__ import annotations

import json
from typing import Any

import pytest
from quelea_gateway.testing import standing
from quelea_kit.storage import Storage
from support.browser import opened

pytestmark = pytest.mark.browser

ID = "20261125000000000000-0123456789abcdef"
LINE = {
    "id": "q1", "topic": "stocks", "task": "extractive", "title": "Net sales?", "failed": False, "declined": False,
    "values": {"accuracy": None, "f1_token": 0.25},
}  # fmt: skip
ITEM = {
    **LINE,
    "dialogues": [{
        "system": "quelea", "error": "too slow",
        "turns": [{"role": "question", "text": "Net sales?"}, {"role": "answer", "text": "<b>7</b>"}],
    }],
    "evidence": [{
        "role": "relevant", "document_id": "d", "title": "Report", "page": 3, "start": 0, "end": 4,
        "text": "Net sales were 7.",
    }],
    "verdicts": [{"judge": "tiny", "about": "accuracy", "verdict": "", "text": "Rather good.", "failed": True}],
}  # fmt: skip


def cell(mean: float | None, failed: int = 0) -> dict[str, Any]:
    metric = {"n": 1, "mean": mean, "low": 0.1, "high": 0.4, "failed": failed, "mean_failed_as_worst": 0.0}
    return {"n": 1, "failures": 1, "declined": 0, "metrics": {"f1_token": metric}}


RESULT = {
    "questions": 1, "unanswered": 0, "overall": cell(0.25, 1), "by_topic": {"stocks": cell(0.25)},
    "by_task": {"extractive": cell(0.25)}, "cells": [{"topic": "stocks", "task": "extractive", **cell(0.25, 1)}],
    "topics": [{"id": "stocks", "en": "Stock market", "zh": "股票"}], "metrics": ["f1_token"], "lower_is_better": [],
    "scales": {"accuracy": [0, 1, 2]},
    "tasks": [{"id": "extractive", "en": "Extractive", "zh": "抽取"}],
}  # fmt: skip


async def test_a_cell_opens_its_items_and_an_item_shows_all(chromium, tmp_path):
    store = Storage(str(tmp_path), "The store")

    def write(name: str, value: Any) -> None:
        store.write(f"{ID}/{name}.json", json.dumps(value).encode())

    request = {"id": ID, "kind": "omni", "name": "Monday", "settings": {"system": "quelea"}}
    write("request", {**request, "created": "2026-11-25T06:00:00Z"})
    write("state", {"state": "succeeded"})
    write("result", RESULT)
    write("index", {"format": 1, "chunk": 50, "items": [LINE]})
    write("items/00000", {"items": [ITEM]})
    async with standing(evaluations_url=str(tmp_path)) as running, opened(chromium, running.url) as page:
        await page.click("#tab-evaluation")
        await page.wait_for_selector("#evaluation-no-worker:visible")  # nothing can be started, and the page says so
        await page.click("text=Monday")
        link = page.locator("td.cell a").first
        name = await link.get_attribute("aria-label")
        assert name == "Stock market, Extractive: 0.25. n 1, 1 failed, 1 without verdict. Show its items"
        await link.focus()
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#evaluation-run .documents a")
        await page.wait_for_function("document.activeElement.id === 'evaluation-focus'")
        await page.click("#evaluation-run .documents a")
        text = await page.locator(".evaluation-item").inner_text()
        for said in ("<b>7</b>", "too slow", "Net sales were 7.", "Rather good.", "could not be read", "0.250"):
            assert said in text
        await page.click("#lang-zh")
        await page.locator(".evaluation-item", has_text="无法解析").wait_for()
        await page.go_back()
        await page.locator("#evaluation-focus", has_text="股票 · 抽取").wait_for()
        await page.click("#lang-en")
        await page.click("text=Judge these items by hand")
        await page.wait_for_selector("form.labels")
        assert "Rather good." not in await page.locator("#evaluation-run").inner_text()  # the judge's word would sway
        await page.fill("form.labels input[maxlength]", "Ann")
        await page.click("text=partly right")
        await page.click("text=Save, next item")
        await page.wait_for_selector("#evaluation-run .documents a")  # it was the last one
        async with page.expect_download() as download:
            await page.click("text=Labels as a file")
        path = tmp_path / "labels.jsonl"
        await (await download.value).save_as(path)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        label = {"question": "q1", "turn": 1, "aspect": "accuracy", "label": 1, "rater": "Ann", "judge": None}
        assert rows == [label]
