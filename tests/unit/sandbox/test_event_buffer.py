import asyncio

from quelea_sandbox.core.model import Output, ReturnedFile
from quelea_sandbox.event_buffer import EventBuffer


async def test_small_outputs_are_merged_and_order_is_kept() -> None:
    buffer = EventBuffer()
    for event in (Output(False, b"a"), Output(False, b"b"), Output(True, b"c"), ReturnedFile("f", b"1", "text/plain")):
        buffer.put(event)
    buffer.put(Output(True, b"d"))
    buffer.close()
    assert [one async for one in buffer] == [
        Output(False, b"ab"),
        Output(True, b"c"),
        ReturnedFile("f", b"1", "text/plain"),
        Output(True, b"d"),
    ]


async def test_too_many_pieces_are_dropped_and_counted() -> None:
    buffer = EventBuffer()
    for number in range(10_000):
        buffer.put(Output(bool(number % 2), b"x"))
    buffer.close()
    kept = [one async for one in buffer]
    assert len(kept) == 4096 and buffer.dropped > 0
    assert sum(len(one.data) for one in kept if isinstance(one, Output)) + buffer.dropped == 10_000


async def test_a_reader_waits_for_what_comes() -> None:
    buffer = EventBuffer()

    async def read() -> list[object]:
        return [one async for one in buffer]

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    buffer.put(Output(False, b"x"))
    await asyncio.sleep(0)
    buffer.close()
    async with asyncio.timeout(60):
        assert await reading == [Output(False, b"x")]
