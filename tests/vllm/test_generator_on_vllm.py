"""The generator's own parts on a real vLLM: budgets by its tokenizer, turns of tenants."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import pytest
from prometheus_client import REGISTRY
from quelea_generator.__main__ import build
from quelea_generator.core.model import Delta, Evidence, Finished, Task, Turn
from quelea_generator.core.reader import Reader
from quelea_generator.settings import GeneratorSettings
from quelea_kit.errors import Overloaded, QueleaError, TooLarge
from quelea_kit.testing import wait_until_async
from support.engine import ADAPTER, MODEL

pytestmark = pytest.mark.slow(reason="a language model writes, on the CPU")

CONTEXT, ANSWER = 2048, 16
PATIENCE = {"stall_seconds": 400.0, "queue_wait_seconds": 400.0}
"""Two thousand tokens may take a CPU a minute, when others use it too."""
FLOOD = 12
"""Questions of the tenant that asks too many."""
DAY = date(2024, 6, 1)
ROW = "Net sales of segment {n}: 81,797 | 82,959 | 90,146 | 1,234.56 | (3.2)% million dollars\n"


@contextlib.asynccontextmanager
async def reading(engine: Any, **settings: Any) -> AsyncIterator[Reader]:
    told = {**PATIENCE, "evidence_tokens": 50_000, "history_tokens": 2000, "max_tokens": ANSWER, **settings}
    reader = build(GeneratorSettings(endpoint=f"{engine.url}/v1", model=MODEL, **told)).reader
    try:
        async with asyncio.timeout(300):
            while True:
                with contextlib.suppress(QueleaError):
                    await reader.ready()
                    break
        yield reader
    finally:
        await reader.close()


def task(question: str = "What were net sales?", passages: int = 30, **more: Any) -> Task:
    evidence = tuple(Evidence(n, ROW.format(n=n) * 10) for n in range(1, passages + 1))
    return Task(question, evidence, DAY, **more)


async def answered(reader: Reader, asked: Task) -> tuple[str, Finished]:
    text, finished = "", None
    async for event in reader.read(asked):
        if isinstance(event, Delta):
            text += event.text
        elif isinstance(event, Finished):
            finished = event
    assert finished is not None
    return text, finished


@pytest.mark.parametrize(
    ("model", "question", "rounds"), [(MODEL, "What were net sales?", 2), (ADAPTER, "各分部的净销售额是多少？", 1)]
)
async def test_a_prompt_longer_than_the_context_is_cut_and_answered(
    engine: Any, model: str, question: str, rounds: int
) -> None:
    history = (Turn("user", "Tell me more about the segments. " * 15), Turn("assistant", "They sell. " * 15)) * 3
    async with reading(engine) as reader:
        for _ in range(rounds):
            text, finished = await answered(reader, task(question, history=history, model=model))
            assert text
            assert finished.model == model
            assert 0 < finished.prompt_tokens <= CONTEXT - ANSWER
        if rounds > 1:  # by the second time the tokenizer's rate is known: little is wasted
            assert finished.prompt_tokens > 0.7 * (CONTEXT - ANSWER)


async def test_a_question_longer_than_the_context_is_too_large(engine: Any) -> None:
    async with reading(engine) as reader:
        with pytest.raises(TooLarge, match="question is too long"):
            await answered(reader, task("and 81,797 " * 700 + "?"))


async def test_a_flood_of_one_tenant_does_not_starve_another(engine: Any) -> None:
    order: list[str] = []

    async def ask(reader: Reader, tenant: str, number: int) -> None:
        await answered(reader, task(f"What were net sales, {number}?", 1, tenant=tenant, max_tokens=8))
        order.append(tenant)

    def waits(tenant: str) -> bool:
        return bool(REGISTRY.get_sample_value("quelea_generator_queue_length", {"lane": tenant}))

    limits = {"max_in_flight_per_engine": 1, "queue_length_per_tenant": 6, "queue_quantum": 300}
    async with reading(engine, **limits) as reader:
        flood = [asyncio.create_task(ask(reader, "flood", number)) for number in range(FLOOD)]
        await wait_until_async(lambda: sum(one.done() for one in flood) >= 5, seconds=300, what="the rest is refused")
        other = asyncio.create_task(ask(reader, "other", 0))
        await wait_until_async(lambda: waits("other") or other.done(), seconds=300, what="the other one waits")
        before = len(order)
        ends = await asyncio.gather(*flood, return_exceptions=True)
        await other
    refused = [end for end in ends if end is not None]
    assert refused
    assert all(isinstance(end, Overloaded) and end.retry_after for end in refused)
    assert order.count("flood") == FLOOD - len(refused)
    assert order.index("other") <= before + 3  # one in the making, and at most two turns of the flood
    assert order[-1] == "flood"
