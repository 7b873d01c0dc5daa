"""response_format where the engine's JSON breaks off, never ends, or is none: an error, or what was cut and says so."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from quelea_gateway.testing import Stand
from support.hostile_model import QUESTION, chunk, delta

SCHEMA = {"type": "object", "properties": {"net_sales": {"type": "number"}}, "required": ["net_sales"]}
WANTED = {"type": "json_schema", "json_schema": {"name": "sales", "schema": SCHEMA}}
SAYS = "Total net sales were $81,797 million in the quarter."
FAILS: dict[str, list[bytes]] = {
    "nothing": [b""],
    "prose": [chunk("Sales were good."), chunk(finish="stop")],
    "ends in the middle, and says that it is whole": [chunk('{"net_sales": 81'), chunk(finish="stop")],
    "the connection ends in the middle": [chunk('{"net_sales": 81')],
    "an error in the middle": [chunk('{"net_sales": 81'), b'data: {"error": {"message": "out of memory"}}\n\n'],
    "another shape": [chunk('{"sales": 81797}'), chunk(finish="stop")],
    "text for a number": [chunk('{"net_sales": "many"}'), chunk(finish="stop")],
    "no number": [chunk('{"net_sales": NaN}'), chunk(finish="stop")],
    "more behind it": [chunk('{"net_sales": 81797}{"net_sales": 81797}'), chunk(finish="stop")],
    "tool calls": [delta({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}, "tool_calls")],
}
CUT: dict[str, list[bytes]] = {
    "nested without end": [chunk('{"net_sales":'), chunk("[" * 100_000), chunk(finish="stop")],
    "the length is used up": [chunk('{"net_sales": 81'), chunk(finish="length")],
    "white space without end": [chunk('{"net_sales":'), *[chunk("\n" * 50)] * 50, chunk(finish="stop")],
    "a number without end": [chunk('{"net_sales": 0.'), *[chunk("3333333333")] * 200, chunk(finish="stop")],
}


async def asked(desk: Stand, *, stream: bool) -> tuple[str, str]:
    """(content, finish_reason) by the official client, which raises what is an error."""
    async with (
        asyncio.timeout(120),
        openai.AsyncOpenAI(base_url=f"{desk.url}/v1", api_key="unused", max_retries=0) as client,
    ):
        body: Any = {"model": "quelea", "messages": [{"role": "user", "content": QUESTION}], "response_format": WANTED}
        if not stream:
            done = await client.chat.completions.create(**body)
            return done.choices[0].message.content or "", done.choices[0].finish_reason
        content, finish = "", ""
        async for one in await client.chat.completions.create(**body, stream=True):
            if one.choices:
                content += one.choices[0].delta.content or ""
                finish = one.choices[0].finish_reason or finish
        return content, finish


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("parts", FAILS.values(), ids=FAILS)
async def test_what_is_no_such_json_is_an_error(desk: Stand, model: Any, parts: list[bytes], stream: bool) -> None:
    model.says, model.json_parts = SAYS, parts
    with pytest.raises(openai.APIError) as caught:
        await asked(desk, stream=stream)
    error: Any = caught.value.body
    assert error["code"] in {"UNAVAILABLE", "OVERLOADED", "DEADLINE_EXCEEDED"}
    assert error["message"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("parts", CUT.values(), ids=CUT)
async def test_what_was_cut_says_so(desk: Stand, model: Any, parts: list[bytes], stream: bool) -> None:
    model.says, model.json_parts = SAYS, parts
    content, finish = await asked(desk, stream=stream)
    assert finish == "length"
    assert content.startswith('{"net_sales":')


async def test_json_as_deep_as_it_can_be_read_is_no_fault_of_ours(desk: Stand, model: Any) -> None:
    for depth in (200, 800, 900, 950, 1000, 5000):
        deep = "".join("[0," if n % 2 else "[1," for n in range(depth)) + "2" + "]" * depth
        deep = f'{{"net_sales": 81797, "more": {deep}}}'
        model.says, model.json_parts = SAYS, [chunk(deep), chunk(finish="stop")]
        try:
            content, finish = await asked(desk, stream=False)
        except openai.APIStatusError as error:
            assert error.status_code == 503
        else:
            assert finish in ("stop", "length")
            assert content.startswith('{"net_sales": 81797')


async def test_json_that_fits_is_given(desk: Stand, model: Any) -> None:
    model.says, model.json_parts = SAYS, [chunk('{"net_sales": '), chunk("81797}"), chunk(finish="stop")]
    for stream in (False, True):
        content, finish = await asked(desk, stream=stream)
        assert (json.loads(content), finish) == ({"net_sales": 81797}, "stop")
