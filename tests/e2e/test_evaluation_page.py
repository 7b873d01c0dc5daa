"""The page "Evaluation": from the list to a matrix, a cell's items, and an item with what failed; by keyboard."""

from __future__ import annotations

import json
from typing import Any

import pytest
from quelea_gateway.testing import standing
from quelea_kit.files.storage import Storage
from support.accessibility import faults
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


ARENA = {
    "leaderboard": [
        {"model": name, "rank": rank, "rating": 1000.0, "low": None, "high": None, "games": 1, "wins": 0, "ties": 1,
         "losses": 0}
        for rank, name in enumerate(("quelea", "tiny"), 1)
    ],
    "pair_wins": {"quelea": {"tiny": 0}, "tiny": {"quelea": 0}}, "notices": [], "tasks": ["0_x"],
    "per_task": {"0_x": {"quelea": 1000.0, "tiny": 1000.0}},
}  # fmt: skip


def compared(n: int) -> dict[str, Any]:
    return {
        "id": f"{n}:quelea:tiny", "topic": "quelea · tiny", "task": "0_x", "title": "Sales?", "failed": False,
        "declined": False, "values": {"score": 0.5}, "evidence": [], "verdicts": [],
        "dialogues": [
            {"system": name, "error": None, "turns": [
                {"role": "user", "text": "Sales?"}, {"role": "assistant", "text": f"They were {at}."}]}
            for at, name in enumerate(("quelea", "tiny"))
        ],
    }  # fmt: skip


def publish(store: Storage, kind: str, result: dict[str, Any], items: list[dict[str, Any]]) -> None:
    def write(name: str, value: Any) -> None:
        store.write(f"{ID}/{name}.json", json.dumps(value).encode())

    request = {"id": ID, "kind": kind, "name": "Monday", "settings": {"system": "quelea"}}
    write("request", {**request, "created": "2026-11-25T06:00:00Z"})
    write("state", {"state": "succeeded"})
    write("result", result)
    write("index", {"format": 1, "chunk": 50, "items": [{name: one[name] for name in LINE} for one in items]})
    write("items/00000", {"items": items})


async def test_two_people_vote_blind_and_see_how_far_they_agree(chromium, tmp_path):
    publish(Storage(str(tmp_path), "The store"), "arena", ARENA, [compared(1), compared(2)])
    async with standing(evaluations_url=str(tmp_path)) as running, opened(chromium, running.url) as page:
        await page.goto(f"{running.url}/#/evaluation?run={ID}")
        await page.click("text=Read two answers blind, and vote")
        for rater in ("Ann", "Bo"):
            await page.fill("form.labels input", rater)
            await page.click("text=Begin")
            for voted in (0, 1):
                await page.locator("#evaluation-run", has_text=f"{rater} has voted on {voted}").wait_for()
                shown = await page.locator("#evaluation-run .pair").inner_text()
                assert "They were 0." in shown
                assert not {"quelea", "tiny"} & set(shown.split())
                await page.click("text=Equal")
            await page.locator("#evaluation-run", has_text="Krippendorff's alpha").wait_for()  # it was the last one
            await page.click("text=Read two answers blind, and vote")
            await page.click("text=Somebody else")
        await page.go_back()
        text = page.locator("#evaluation-run", has_text="Votes: 4 · raters: 2 · comparisons: 2")
        await text.wait_for()
        assert "same side better in 100 %" in await text.inner_text()
        async with page.expect_download() as download:
            await page.click("text=Votes as a file")
        path = tmp_path / "votes.jsonl"
        await (await download.value).save_as(path)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert [one["score"] for one in rows] == [0.5] * 4


async def test_a_cell_opens_its_items_and_an_item_shows_all(chromium, tmp_path):
    publish(Storage(str(tmp_path), "The store"), "omni", RESULT, [ITEM])
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
        assert await faults(page) == []
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
