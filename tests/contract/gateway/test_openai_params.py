"""What the official client may ask for beside the question: honoured, refused by name, or passed over."""

import openai
import pytest
from support.written import written

QUESTION = "What were Apple's total net sales?"
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture
async def client(stand):
    async with openai.AsyncOpenAI(base_url=f"{stand.url}/v1", api_key="unused", max_retries=0) as made:
        yield made


def asked(client, **more):
    messages = [{"role": "user", "content": QUESTION}]
    return client.chat.completions.create(**{"model": "quelea", "messages": messages, **more})


@pytest.mark.parametrize("stop", ["END", ["END", "\n\n"]])
async def test_what_goes_to_the_reader(stand, client, stop):
    await asked(client, stop=stop, top_p=0.5, seed=0, temperature=1.5, max_tokens=9)
    wanted = stand.world.asked[-1]
    assert list(wanted.stop) == ([stop] if isinstance(stop, str) else stop)
    assert (wanted.top_p, wanted.seed, wanted.temperature, wanted.max_tokens) == (0.5, 0, 1.5, 9)
    await asked(client, max_completion_tokens=7, max_tokens=9)
    plain = stand.world.asked[-1]
    assert plain.max_tokens == 7
    assert not any(plain.HasField(name) for name in ("top_p", "seed", "temperature"))


async def test_a_cut_answer_says_so(stand, client):
    stand.world.events = written("Total net sales were $81,797 million [1].", reason="length")
    assert (await asked(client)).choices[0].finish_reason == "length"
    chunks = [chunk async for chunk in await asked(client, stream=True)]
    assert [c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason] == ["length"]
    assert not any(chunk.usage for chunk in chunks)  # nobody asked for it


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"logprobs": True, "top_logprobs": 3}, "logprobs"),
        ({"tools": [TOOL], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "look_up"}}}, "tool_choice"),
        ({"functions": [TOOL["function"]], "function_call": {"name": "look_up"}}, "function_call"),
        ({"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}, "modalities"),
        ({"stop": list("abcde")}, "stop"),
        ({"stop": 7}, "stop"),
        ({"stop": "END", "response_format": {"type": "json_object"}}, "stop"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
        ({"seed": 2**63}, "seed"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_would_mislead_is_refused_by_name(stand, client, change, param):
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as caught:
            await asked(client, stream=stream, **change)
        assert caught.value.body["param"].split(".")[0] == param
    assert not stand.world.asked


async def test_what_changes_nothing_is_passed_over(stand, client):
    plain = await asked(client)
    told = await asked(
        client, user="u", metadata={"a": "b"}, store=False, presence_penalty=1.0, frequency_penalty=-1.0,
        logit_bias={"50256": -100}, tools=[TOOL], tool_choice="auto", parallel_tool_calls=False, logprobs=False,
        n=1, stop=[], reasoning_effort="low", service_tier="auto", modalities=["text"], safety_identifier="x",
    )  # fmt: skip
    assert told.choices[0].message.content == plain.choices[0].message.content
    assert told.choices[0].message.tool_calls is None
    assert not stand.world.asked[-1].stop
