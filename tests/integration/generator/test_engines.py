"""The generator as it is served, over engines on real HTTP: failover, restarts, turns, deadlines, budgets, health."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import REGISTRY
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_generator.__main__ import build
from quelea_generator.service import NAME
from quelea_generator.settings import GeneratorSettings
from quelea_kit.client import channel, stream
from quelea_kit.errors import Overloaded, TooLarge, Unavailable
from quelea_kit.testing import running, wait_until_async
from support.deadlines import cut_short

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Served:
    """A generator and ways to ask it."""

    def __init__(self, stub: pb_grpc.GeneratorServiceStub, health: health_pb2_grpc.HealthStub) -> None:
        self.stub = stub
        self._health = health

    async def health(self) -> int:
        return int((await self._health.Check(health_pb2.HealthCheckRequest(service=NAME))).status)

    async def until(self, status: int) -> None:
        async with asyncio.timeout(60):
            while await self.health() != status:  # noqa: ASYNC110  # only asking tells
                await asyncio.sleep(0.05)

    def call(self, tenant: str = "", timeout: float = 60, **fields: Any) -> AsyncIterator[pb.GenerateResponse]:
        evidence = [pb.Evidence(number=1, text="Net sales rose by 5 percent.")]
        request = pb.GenerateRequest(**{"question": "Why?", "evidence": evidence, "tenant": tenant, **fields})
        return stream(self.stub.Generate(request, timeout=timeout))

    async def ask(self, tenant: str = "", **fields: Any) -> tuple[str, pb.Finished]:
        text, finished = "", pb.Finished()
        async for event in self.call(tenant, **fields):
            text += event.delta.text
            finished = event.finished if event.HasField("finished") else finished
        return text, finished


@contextlib.asynccontextmanager
async def served(*engines: Any, ready: bool = True, **settings: Any) -> AsyncIterator[Served]:
    told = {"circuit_seconds": 0.3, "max_tokens": 100, "drain_seconds": 0.5, **settings}
    made = GeneratorSettings(endpoint=",".join(engine.url for engine in engines), model="tiny", **told)
    service = build(made)
    try:
        async with (
            running(
                lambda server: pb_grpc.add_GeneratorServiceServicer_to_server(service, server),
                [NAME],
                settings=made,
                ready=service.ready,
            ) as target,
            channel(target, NAME) as opened,
            grpc.aio.insecure_channel(target) as plain,
        ):
            one = Served(pb_grpc.GeneratorServiceStub(opened), health_pb2_grpc.HealthStub(plain))
            if ready:
                await one.until(SERVING)
                up = partial(REGISTRY.get_sample_value, "quelea_generator_engine_up")
                names = [engine.url for engine in engines]  # one is enough to serve, a test counts on all of them
                await wait_until_async(lambda: all(up({"engine": name}) for name in names), what="all engines are up")
            yield one
    finally:
        await service.close()


def hold(*engines: Any, before_text: bool) -> None:
    for engine in engines:
        engine.gate.clear()
        if before_text:
            engine.pieces = ["", *[piece for piece in engine.pieces if piece]]


async def test_answers_without_text_move_to_the_engine_that_is_left(engines: list[Any]) -> None:
    hold(*engines, before_text=True)
    async with served(*engines) as one:
        tasks = [
            asyncio.create_task(
                one.ask(evidence=[pb.Evidence(number=1, text=f"Passage {n} says why sales rose. " * 60)])
            )
            for n in range(12)
        ]
        await wait_until_async(lambda: all(len(e.bodies) > 0 for e in engines))
        await wait_until_async(lambda: sum(len(e.bodies) for e in engines) == 12)
        moved = len(engines[0].bodies)
        engines[0].stop()
        engines[1].gate.set()
        answers = await asyncio.gather(*tasks)
        assert [text for text, _ in answers] == ["Sales rose [1]."] * 12
        assert len(engines[1].bodies) == 12
        assert moved > 0
        assert await one.health() == SERVING


async def test_a_machine_that_is_off_is_passed_over(engines: list[Any]) -> None:
    off, on = engines
    async with served(off, on, connect_seconds=0.3) as one:
        with off.unreachable():
            for question in ("First?", "Second?", "Third?", "Fourth?"):
                assert (await one.ask(question=question))[0] == "Sales rose [1]."
            up = partial(REGISTRY.get_sample_value, "quelea_generator_engine_up", {"engine": off.url})
            await wait_until_async(lambda: up() == 0, what="it is known to be away")
            assert await one.health() == SERVING


async def test_an_answer_without_text_waits_for_the_only_engine_to_come_back(engines: list[Any]) -> None:
    only = engines[0]
    hold(only, before_text=True)
    async with served(only) as one:
        asked = asyncio.create_task(one.ask())
        await wait_until_async(lambda: len(only.bodies) == 1)
        only.stop()
        await one.until(NOT_SERVING)
        only.gate.set()
        only.start()
        text, finished = await asked
        assert (text, finished.reason) == ("Sales rose [1].", "stop")
        await one.until(SERVING)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_failures_that_may_pass_are_tried_elsewhere(engines: list[Any], status: int) -> None:
    async with served(*engines) as one:
        for engine in engines:
            engine.statuses = [status]
        text, _ = await one.ask()
        assert text == "Sales rose [1]."
        assert sum(len(engine.bodies) for engine in engines) == 3
        assert min(len(engine.bodies) for engine in engines) == 1
        await one.until(SERVING)


async def test_engines_that_are_all_full_are_told_with_their_time_and_stay_serving(engines: list[Any]) -> None:
    async with served(*engines) as one:
        for engine in engines:
            engine.statuses = [429]
        with pytest.raises(Overloaded) as caught:
            await one.ask()
        assert caught.value.retry_after == 1.0
        assert [len(engine.bodies) for engine in engines] == [1, 1]
        assert (await one.ask())[0] == "Sales rose [1]."  # it waits until one may be asked again
        assert await one.health() == SERVING


async def test_an_answer_with_text_ends_with_a_clear_error(engines: list[Any]) -> None:
    hold(*engines, before_text=False)
    async with served(*engines) as one:
        events = one.call()
        first = await anext(events)
        assert first.delta.text.startswith("Sales")
        for engine in engines:
            engine.stop()
        with pytest.raises(Unavailable, match="broke off"):
            async for _ in events:
                pass
        assert sum(len(engine.bodies) for engine in engines) == 1


async def test_a_deadline_and_a_caller_that_leaves_reach_the_engine(engines: list[Any]) -> None:
    only = engines[0]
    hold(only, before_text=False)
    async with served(only) as one:
        await cut_short(lambda seconds: one.ask(timeout=seconds), lambda: only.sent > 0)  # held after its first piece
        await wait_until_async(lambda: only.left == only.sent, what="the engine stops")
        before = only.left
        call = one.stub.Generate(
            pb.GenerateRequest(question="Why?", evidence=[pb.Evidence(number=1, text="It rose.")]), timeout=600
        )
        await call.read()
        call.cancel()
        await wait_until_async(lambda: only.left == before + 1, what="the engine stops")


async def test_a_tenants_flood_is_refused_at_its_bound_and_starves_nobody(engines: list[Any]) -> None:
    only = engines[0]
    hold(only, before_text=True)
    limits = {"max_in_flight_per_engine": 1, "queue_length_per_tenant": 5, "queue_quantum": 300}
    async with served(only, **limits) as one:
        flood = [asyncio.create_task(one.ask("flood", question=f"Flood {n}?")) for n in range(10)]
        await wait_until_async(lambda: sum(task.done() for task in flood) == 4, what="four are refused")
        other = asyncio.create_task(one.ask("other", question="Other?"))
        for refused in (task for task in flood if task.done()):
            error = refused.exception()
            assert isinstance(error, Overloaded)
            assert error.retry_after
        assert await one.health() == SERVING
        await queued(6)
        only.gate.set()
        await other
        await asyncio.gather(*flood, return_exceptions=True)
        asked = [body["messages"][-1]["content"].splitlines()[-1] for body in only.bodies]
        assert len(asked) == 7
        assert next(at for at, text in enumerate(asked) if "Other" in text) <= 2


async def queued(count: int) -> None:
    def waiting() -> float:
        lanes = ("flood", "other")
        return sum(REGISTRY.get_sample_value("quelea_generator_queue_length", {"lane": lane}) or 0 for lane in lanes)

    await wait_until_async(lambda: waiting() == count, what=f"{count} wait")


async def test_not_serving_until_one_token_has_come_back(engines: list[Any]) -> None:
    only = engines[0]
    only.probes_work = False
    async with served(only, ready=False) as one:
        await wait_until_async(lambda: only.probes >= 3)
        assert await one.health() == NOT_SERVING
        only.probes_work = True
        await one.until(SERVING)


def long_evidence(passages: int = 30) -> list[pb.Evidence]:
    text = "Net sales of the segment were 81,797 million dollars in the quarter. " * 15
    return [pb.Evidence(number=n, text=f"Passage {n}. {text}") for n in range(1, passages + 1)]


@pytest.mark.parametrize("rate", [1.5, 4.0])
async def test_a_prompt_longer_than_the_context_is_cut_to_it(engines: list[Any], rate: float) -> None:
    only = engines[0]
    only.rate, only.context = rate, 2048
    history = [pb.Turn(role="user", text="Tell me more about it. " * 10)] * 4
    async with served(only, evidence_tokens=50_000, history_tokens=500) as one:
        text, _ = await one.ask(evidence=long_evidence(), history=history)
        assert text == "Sales rose [1]."
        assert only.tokens(only.bodies[0]["messages"]) <= 2048 - 100
        assert "Passage 1." in only.bodies[0]["messages"][-1]["content"]
        assert only.counts <= 3
        with pytest.raises(TooLarge, match="question is too long"):
            await one.ask(question="and " * 1900 + "why?", evidence=long_evidence())
        assert len(only.bodies) == 1


async def test_an_endpoint_without_a_tokenizer_gets_an_estimate_with_a_margin(engines: list[Any]) -> None:
    only = engines[0]
    only.rate, only.context = 0, 2048
    async with served(only, evidence_tokens=50_000) as one:
        for _ in range(2):
            text, _ = await one.ask(evidence=long_evidence())
            assert text == "Sales rose [1]."
        assert only.counts == 1  # and it is not asked again for what it does not have
        words = sum(len(message["content"].split()) for message in only.bodies[0]["messages"])
        assert 400 < words < 1948


async def test_both_engines_work_and_the_same_evidence_meets_at_one(engines: list[Any]) -> None:
    async with served(*engines) as one:
        for n in range(8):
            passage = pb.Evidence(number=1, text=f"Company {n} says why its sales rose. " * 60)
            for question in ("First?", "Second?", "Third?"):
                await one.ask(question=question, evidence=[passage])
    for engine in engines:
        prompts = [body["messages"][-1]["content"] for body in engine.bodies]
        per_company = [sum(f"Company {n} " in prompt for prompt in prompts) for n in range(8)]
        assert set(per_company) <= {0, 3}
        assert 3 in per_company


async def test_how_words_are_chosen_is_the_engines_to_know(engines: list[Any]) -> None:
    async with served(engines[0]) as one:
        await one.ask(stop=["END"], top_p=0.5, seed=0, temperature=1.0)
        await one.ask()
    told, plain = engines[0].bodies
    assert {name: told[name] for name in ("stop", "top_p", "seed", "temperature")} == {
        "stop": ["END"],
        "top_p": 0.5,
        "seed": 0,
        "temperature": 1.0,
    }
    assert not {"stop", "top_p", "seed", "response_format"} & set(plain)
