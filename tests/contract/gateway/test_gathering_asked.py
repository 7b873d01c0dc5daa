"""How finely a gateway asks for text: the more answers are being written, the larger the pieces."""

import asyncio
import contextlib

import pytest
from quelea.generator.v1 import generator_pb2 as pb
from quelea_gateway.adapters.services.generator import gather_ms
from quelea_gateway.core.model import Delta, Finished, Question, Quote
from quelea_kit.testing import wait_until_async


@pytest.mark.parametrize(("streams", "milliseconds"), [(1, 20), (8, 20), (9, 30), (12, 40), (15, 50), (400, 50)])
def test_pieces_grow_with_the_number_of_streams(streams, milliseconds):
    assert gather_ms(streams) == milliseconds


async def test_the_generator_is_asked_for_larger_pieces_while_many_answers_are_written(stand):
    stand.world.generator_hangs = True
    generator, question = stand.gateway.generator, Question("Net sales?", "2023-11-22", k=5, j=3)
    open_streams = [generator.generate(question, (), evidence_incomplete=False) for _ in range(12)]
    async with contextlib.AsyncExitStack() as stack:
        for stream in open_streams:
            await stack.enter_async_context(contextlib.aclosing(stream))
        await asyncio.gather(*(anext(stream) for stream in open_streams))
        assert sorted(request.gather_ms for request in stand.world.asked)[::11] == [20, 40]
    await wait_until_async(lambda: len(stand.world.cancelled) == len(open_streams), what="the calls were cancelled")
    async with contextlib.aclosing(generator.generate(question, (), evidence_incomplete=False)) as stream:
        await anext(stream)
    assert stand.world.asked[-1].gather_ms == 20


async def test_events_that_come_in_one_message_are_read_one_after_another(stand):
    first = pb.GenerateResponse(delta=pb.TextDelta(text="Net sales "))
    last = pb.GenerateResponse(delta=pb.TextDelta(text="rose [1]"))
    last.more.add(quote=pb.Quote(number=1, start=0, end=4, text="rose"))
    last.more.add(finished=pb.Finished(reason="stop", reader="extractive"))
    stand.world.events = [first, last]
    question = Question("Net sales?", "2023-11-22", k=5, j=3)
    async with contextlib.aclosing(stand.gateway.generator.generate(question, (), evidence_incomplete=False)) as events:
        found = [event async for event in events]
    assert stand.world.asked[-1].joined
    assert [type(event) for event in found] == [Delta, Delta, Quote, Finished]
