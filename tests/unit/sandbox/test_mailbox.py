import asyncio

from quelea_sandbox.core.model import Output, ReturnedFile
from quelea_sandbox.mailbox import Mailbox


async def test_small_outputs_are_merged_and_order_is_kept() -> None:
    mailbox = Mailbox()
    for event in (Output(False, b"a"), Output(False, b"b"), Output(True, b"c"), ReturnedFile("f", b"1", "text/plain")):
        mailbox.put(event)
    mailbox.put(Output(True, b"d"))
    mailbox.close()
    assert [one async for one in mailbox] == [
        Output(False, b"ab"),
        Output(True, b"c"),
        ReturnedFile("f", b"1", "text/plain"),
        Output(True, b"d"),
    ]


async def test_too_many_pieces_are_dropped_and_counted() -> None:
    mailbox = Mailbox()
    for number in range(10_000):
        mailbox.put(Output(bool(number % 2), b"x"))
    mailbox.close()
    kept = [one async for one in mailbox]
    assert len(kept) == 4096 and mailbox.dropped > 0
    assert sum(len(one.data) for one in kept if isinstance(one, Output)) + mailbox.dropped == 10_000


async def test_a_reader_waits_for_what_comes() -> None:
    mailbox = Mailbox()

    async def read() -> list[object]:
        return [one async for one in mailbox]

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    mailbox.put(Output(False, b"x"))
    await asyncio.sleep(0)
    mailbox.close()
    async with asyncio.timeout(60):
        assert await reading == [Output(False, b"x")]
