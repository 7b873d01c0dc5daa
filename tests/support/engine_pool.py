"""An engine pool over engines made here, and what the tests of its turns and of its failover look at."""

import contextlib
from collections.abc import AsyncIterator

from quelea_generator.adapters.engine_pool import EnginePool
from quelea_generator.adapters.engine_slots import PoolLimits
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.chat_model import ChatRequest
from quelea_generator.core.chat.prompt import Message
from quelea_kit.errors import Unavailable
from quelea_kit.testing import wait_until_async

AWAY = Unavailable("away")
LIMITS = {"queue_wait_seconds": 20.0, "circuit_seconds": 0.2}


def engine(name: str = "a", pieces: tuple[str, ...] = ("one ", "two"), **more: object) -> FakeEndpoint:
    return FakeEndpoint(pieces, name=name, **more)  # type: ignore[arg-type]  # handed on


@contextlib.asynccontextmanager
async def pooled(*engines: FakeEndpoint, up: bool = True, **limits: float) -> AsyncIterator[EnginePool]:
    pool = EnginePool(engines, PoolLimits(**{**LIMITS, **limits}))  # type: ignore[arg-type]  # numbers
    try:
        if up:
            await pool.check()
            await wait_until_async(lambda: all(one.up for one in pool._engines.values()))
        yield pool
    finally:
        await pool.close()


async def ask(pool: EnginePool, text: str = "q", tenant: str = "") -> str:
    pieces = pool.stream(ChatRequest((Message("user", text),), "m", 10, tenant=tenant))
    return "".join([piece.text async for piece in pieces])


def asked(one: FakeEndpoint) -> list[str]:
    return [messages[-1].content for messages in one.seen]


async def waiting(pool: EnginePool, count: int) -> None:
    await wait_until_async(lambda: len(pool._slots._queue) == count, what=f"{count} wait")


def idle(pool: EnginePool) -> bool:
    return all((one.in_flight, one.outstanding) == (0, 0) for one in pool._engines.values())
