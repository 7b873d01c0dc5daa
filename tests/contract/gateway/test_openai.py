"""The official openai client against a real server."""

import json

import openai
import pytest
from quelea_gateway import keys
from quelea_gateway.testing import standing
from quelea_kit.errors import Unavailable

QUESTION = "What were Apple's total net sales?"


@pytest.fixture
async def client(stand):
    async with openai.AsyncOpenAI(base_url=f"{stand.url}/v1", api_key="unused", max_retries=0) as made:
        yield made


def user(content):
    return {"role": "user", "content": content}


async def test_a_completion(stand, web, client):
    done = await client.chat.completions.create(model="quelea", messages=[user(QUESTION)])
    choice = done.choices[0]
    content = choice.message.content
    assert choice.finish_reason == "stop"
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens == 150
    assert choice.message.annotations
    for annotation in choice.message.annotations:
        cited = annotation.url_citation
        assert content[cited.start_index : cited.end_index].startswith("[")
        page = await web.get(cited.url.removeprefix(stand.url), headers={"Accept": "text/html"})
        assert '<mark id="quote">' in page.text
        assert cited.title in page.text
    own = done.model_extra["quelea"]
    assert own["citations"][0]["quote"]
    assert {"further_reading", "route", "as_of", "reader", "checks", "timings"} <= set(own)


async def test_a_stream_says_the_same(client):
    whole = await client.chat.completions.create(model="quelea", messages=[user(QUESTION)])
    chunks = [
        chunk
        async for chunk in await client.chat.completions.create(
            model="quelea", messages=[user(QUESTION)], stream=True, stream_options={"include_usage": True}
        )
    ]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == whole.choices[0].message.content
    annotations = [a for delta in deltas for a in (delta.model_extra or {}).get("annotations", [])]
    assert annotations == [a.model_dump() for a in whole.choices[0].message.annotations]
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == 150
    ends = [chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason]
    assert [chunk.choices[0].finish_reason for chunk in ends] == ["stop"]
    assert ends[0].model_extra["quelea"]["citations"]
    assert len({chunk.id for chunk in chunks}) == 1


async def test_what_front_ends_send(stand, client):
    messages = [
        {"role": "system", "content": "You are a pirate."},
        user("Hello"),
        {"role": "assistant", "content": "Yes?"},
        user([{"type": "text", "text": QUESTION}]),
    ]
    done = await client.chat.completions.create(
        model="extractive-1", messages=messages, temperature=0.2, top_p=0.9, max_completion_tokens=77, seed=3, user="u",
        presence_penalty=0.1, tools=[], response_format={"type": "text"}, extra_body={"chat_id": "x"},
    )  # fmt: skip
    asked = stand.world.asked[-1]
    assert done.choices[0].message.content
    assert asked.question == QUESTION
    assert [turn.text for turn in asked.history] == ["Hello", "Yes?"]
    assert (asked.max_tokens, asked.model) == (77, "extractive-1")
    assert asked.temperature == pytest.approx(0.2)


async def test_a_long_conversation_is_shortened(stand, client):
    messages = [user("x" * 3000)] * 60 + [user(QUESTION)]
    await client.chat.completions.create(model="quelea", messages=messages)
    assert 1 <= len(stand.world.asked[-1].history) <= 40


async def test_models(client):
    assert [model.id async for model in client.models.list()] == ["quelea", "extractive-1"]
    assert (await client.models.retrieve("quelea")).owned_by == "quelea"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-9")


async def test_a_declined_answer_is_a_message_like_any_other(client):
    done = await client.chat.completions.create(model="quelea", messages=[user("Unicorn bananas?")])
    assert "Unable to answer" in done.choices[0].message.content
    assert done.choices[0].message.annotations == []
    assert done.model_extra["quelea"]["declined"]


@pytest.mark.parametrize(
    ("change", "error", "param"),
    [
        ({"n": 2}, openai.BadRequestError, "n"),
        ({"model": "gpt-9"}, openai.NotFoundError, "model"),
        ({"messages": []}, openai.BadRequestError, "messages"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, openai.BadRequestError, "messages"),
        (
            {"messages": [user([{"type": "image_url", "image_url": {"url": "http://x"}}])]},
            openai.BadRequestError,
            "messages.0.content",
        ),
        ({"messages": [user("")]}, openai.BadRequestError, "question"),
        ({"temperature": 9}, openai.BadRequestError, "temperature"),
        ({"messages": [user("a" * 9000)]}, openai.APIStatusError, "question"),
    ],
    ids=["n", "model", "no messages", "not the user's", "image", "empty", "temperature", "too long"],
)
async def test_what_is_wrong_comes_in_both_shapes(client, change, error, param):
    with pytest.raises(error) as caught:
        await client.chat.completions.create(**{"model": "quelea", "messages": [user(QUESTION)], **change})
    body = caught.value.body
    assert set(body) == {"code", "message", "details", "type", "param"}
    assert body["type"] == "invalid_request_error"
    assert body["param"] == param


async def test_a_dead_reader_is_a_503(stand, client):
    await stand.services.stop("generator")
    with pytest.raises(openai.InternalServerError) as caught:
        await client.chat.completions.create(model="quelea", messages=[user(QUESTION)])
    assert caught.value.status_code == 503
    assert caught.value.body["details"]["evidence"]


async def test_a_reader_that_dies_in_the_stream_raises_at_the_client(stand, client):
    stand.world.generator_error, stand.world.error_after_deltas = Unavailable("gone"), 1
    with pytest.raises(openai.APIError, match="generator"):
        async for _ in await client.chat.completions.create(model="quelea", messages=[user(QUESTION)], stream=True):
            pass


async def test_a_wrong_key(tmp_path):
    file = tmp_path / "keys.json"
    key = keys.create(file, "desk")
    async with standing(auth="keys", keys_file=str(file)) as stand:
        good = openai.AsyncOpenAI(base_url=f"{stand.url}/v1", api_key=key, max_retries=0)
        bad = openai.AsyncOpenAI(base_url=f"{stand.url}/v1", api_key="wrong", max_retries=0)
        assert [model.id async for model in good.models.list()]
        with pytest.raises(openai.AuthenticationError):
            await bad.chat.completions.create(model="quelea", messages=[user(QUESTION)])
        await good.close()
        await bad.close()


def read_as_open_webui(sources):
    """The list in which Open WebUI (0.12.4, Citations.svelte) takes the n-th for [n], and the names that it links."""
    listed: dict[str, list[str]] = {}
    names = []
    for source in sources:
        for document, metadata in zip(source["document"], source["metadata"], strict=True):
            listed.setdefault(metadata["source"], []).append(document)
            names.append(metadata["name"])
    return list(listed.values()), list(dict.fromkeys(names))


async def stream_of(client, **more):
    made = client.chat.completions.create(model="quelea", messages=[user(QUESTION)], stream=True, **more)
    chunks = [chunk async for chunk in await made]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    sources = [chunk.model_extra["event"] for chunk in chunks if "event" in chunk.model_extra]
    annotated = any((chunk.choices[0].delta.model_extra or {}).get("annotations") for chunk in chunks)
    return text, sources, annotated, chunks[-1].model_extra["quelea"]


async def test_the_n_th_source_of_a_stream_is_what_n_cites(client):
    text, events, annotated, own = await stream_of(client)
    assert {event["type"] for event in events} == {"source"}
    quotes, names = read_as_open_webui([event["data"] for event in events])
    assert len(quotes) == len(names) == len({one["number"] for one in own["citations"]}) > 0
    for citation in own["citations"]:
        assert f"[{citation['number']}]" in text
        assert citation["quote"] in quotes[citation["number"] - 1]
    shown = {one["page"] + 1 for event in events for one in event["data"]["metadata"]}  # as its page counts
    assert shown <= {one["page"] for one in own["citations"]}
    assert annotated


async def test_open_webui_that_says_so_gets_each_source_once(client):
    _, events, annotated, _ = await stream_of(client, extra_headers={"X-OpenWebUI-User-Id": "7"})
    assert events
    assert not annotated


async def test_a_front_end_s_own_requests_are_answered_without_a_search(stand, client):
    prompt = (
        '### Task:\nGenerate 1-3 broad tags.\nJSON format: { "tags": ["tag1", "tag2"] }\n'
        f"<chat_history>\nUSER: {QUESTION}\nASSISTANT: 81,797 [1]\n</chat_history>"
    )
    done = await client.chat.completions.create(model="quelea", messages=[user(prompt)])
    tags = json.loads(done.choices[0].message.content)["tags"]
    assert tags[0] == "Finance"
    assert done.model_extra["quelea"] == {"task": "tags"}
    pieces = await client.chat.completions.create(model="quelea", messages=[user(prompt)], stream=True)
    assert "".join([chunk.choices[0].delta.content or "" async for chunk in pieces]) == done.choices[0].message.content
    assert stand.world.asked == []
    with pytest.raises(openai.NotFoundError):
        await client.chat.completions.create(model="gpt-9", messages=[user(prompt)])
