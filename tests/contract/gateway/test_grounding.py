"""Checked answers on every door: verdicts, strict mode, refusals, Markdown."""

import json

import openai
import pytest
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway.testing import standing
from quelea_kit.client import channel, stream
from quelea_kit.errors import Overloaded
from support.written import written

QUESTION = "What were Apple's total net sales?"
CHINESE = "织羽股份前三季度的营业收入是多少？"
REFUSAL = "Unable to answer the question based on the information provided"
GOOD = "Total net sales were $81,797 million [1]."
WRONG = "Net income was $19,991 million [1]."
DERIVED = "Services rose by 1,609 compared to a year earlier [1]."
NONSENSE = "Asdf qwer zxcv uiop hjkl bnmz [1]."


async def ask(web, question=QUESTION, **more):
    response = await web.post("/v1/ask", json={"question": question, **more})
    assert response.status_code == 200, response.text
    return response.json()


async def events_of(web, **more):
    async with web.stream("POST", "/v1/ask", json={"question": QUESTION, "stream": True, **more}) as response:
        text = "".join([piece async for piece in response.aiter_text()])
    blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("event: ")]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks]


async def test_an_answer_carries_its_verdicts(stand, web):
    stand.world.events = written(f"{GOOD} {WRONG} {DERIVED} Products were 60,584 [44].")
    answer = await ask(web)
    grounding = answer["grounding"]
    assert answer["answer"] == grounding["text"]
    assert [s["verdict"] for s in grounding["sentences"]][:2] == ["supported", "contradicted"]
    for one in (*grounding["sentences"], *grounding["figures"]):
        assert grounding["text"][one["start"] : one["end"]] == one["text"]
    figures = {one["text"]: one for one in grounding["figures"]}
    assert figures["$19,991 million"]["verdict"] == "contradicted"
    assert figures["1,609"]["verdict"] == "derived"
    assert figures["1,609"]["formula"] == "= 21,213 − 19,604"  # the sign that the checker writes
    assert (grounding["removed_markers"], grounding["added_markers"]) == (["[1]", "[44]"], ["[1]"])
    checks = {check["name"]: check["passed"] for check in answer["checks"]}
    assert checks == {
        "citations_resolve": True, "quotes_verbatim": True, "figures_supported": False,
        "sentences_supported": False, "markers_right": False, "language": True,
    }  # fmt: skip
    assert any("19,991" in notice for notice in answer["notices"])
    assert answer["timings"]["gateway_check"] <= answer["timings"]["gateway"]


async def test_every_citation_supports_its_sentence_and_opens(stand, web):
    stand.world.events = written(f"{GOOD} {DERIVED}")
    answer = await ask(web)
    assert [c["quote"][:9] for c in answer["citations"]] == ["Total net", "Services "]
    for citation in answer["citations"]:
        page = (await web.get(f"/v1/documents/{citation['document_id']}/pages/{citation['page']}")).json()
        assert page["text"][citation["start"] : citation["end"]] == citation["quote"]


async def test_a_stream_has_its_text_at_once_and_the_verdicts_after_it(stand, web):
    stand.world.events = written(f"{GOOD} {WRONG} Products were 60,584 [44].")
    events = await events_of(web)
    names = [name for name, _ in events]
    assert (names[0], names[-2:]) == ("started", ["verdicts", "answer"])
    streamed = "".join(data["text"] for name, data in events if name == "delta")
    assert "[44]" in streamed
    verdicts, answer = events[-2][1], events[-1][1]
    assert "[44]" not in verdicts["text"]
    assert verdicts == answer["grounding"]
    assert answer["answer"] == verdicts["text"]


async def test_a_strict_stream_sends_only_what_was_checked(stand, web):
    stand.world.events = written(f"{GOOD} {WRONG}")
    events = await events_of(web, strict=True)
    assert [name for name, _ in events] == ["started", "delta", "verdicts", "answer"]
    assert events[1][1]["text"] == events[3][1]["answer"] == GOOD
    assert events[2][1]["withheld"] == [WRONG]
    assert "withheld" in events[3][1]["notices"][0]


async def test_strict_is_a_setting_that_a_caller_may_overrule(web, stand):
    stand.world.events = written(f"{GOOD} {WRONG}")
    assert (await ask(web))["answer"] == f"{GOOD} Net income was $19,991 million."
    assert (await ask(web, strict=True))["answer"] == GOOD
    stand.gateway.settings.__dict__["strict"] = True  # frozen for users
    assert (await ask(web))["answer"] == GOOD
    assert (await ask(web, strict=False))["grounding"]["withheld"] == []


async def test_strict_declines_when_nothing_is_left(stand, web):
    stand.world.events = written(WRONG)
    answer = await ask(web, strict=True)
    assert (answer["declined"]["reason"], answer["answer"]) == ("all_withheld", REFUSAL)
    assert answer["grounding"]["withheld"] == [WRONG]
    assert answer["citations"] == []
    assert answer["further_reading"]


@pytest.mark.parametrize(
    ("question", "refusal", "notice"),
    [(QUESTION, REFUSAL, "supported"), (CHINESE, "根据已知信息无法回答该问题", "资料支持")],
)
async def test_nonsense_is_declined_in_the_questions_language(stand, web, question, refusal, notice):
    stand.world.events = written(NONSENSE)
    answer = await ask(web, question)
    assert (answer["declined"]["reason"], answer["answer"]) == ("ungrounded", refusal)
    assert answer["declined"]["detail"] == answer["notices"][-1]
    assert notice in answer["notices"][-1]
    assert answer["further_reading"]
    assert answer["citations"] == []


async def test_the_gate_and_the_checks_decide_together(stand, web):
    partly = "Net sales and cost of products and services moved, pleasing patient observers everywhere [1]."
    stand.world.events = written(partly)
    passed = await ask(web)
    assert passed["gate"]["passed"]
    assert passed["grounding"]["sentences"][0]["verdict"] == "partly"
    async with standing(gate_threshold=1.0) as doubting:
        doubting.world.events = written(partly)
        async with openai.AsyncOpenAI(base_url=f"{doubting.url}/v1", api_key="x", max_retries=0) as client:
            done = await client.chat.completions.create(
                model="quelea", messages=[{"role": "user", "content": QUESTION}]
            )
    assert done.model_extra["quelea"]["declined"]
    assert done.choices[0].message.content == REFUSAL


async def test_an_answer_in_the_other_language_says_so(stand, web):
    stand.world.events = written(GOOD)
    stand.world.reading = None
    answer = await ask(web, CHINESE + " Apple total net sales")
    assert "回答所用的语言与问题不同。" in answer["notices"]


async def test_grpc_says_the_same(stand, web):
    stand.world.events = written(f"{GOOD} {WRONG} {DERIVED}")
    rest = (await ask(web, strict=True))["grounding"]
    async with channel(stand.grpc, "quelea.gateway.v1.GatewayService") as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        request = gateway_pb2.AskRequest(question=QUESTION, strict=True)
        events = [event async for event in stream(stub.Ask(request, timeout=60))]
        loose = [e async for e in stream(stub.Ask(gateway_pb2.AskRequest(question=QUESTION), timeout=60))]
    assert [event.WhichOneof("event") for event in events] == ["started", "delta", "grounding", "answer"]
    grounding = events[-1].answer.grounding
    assert events[-2].grounding == grounding
    assert (grounding.text, list(grounding.withheld)) == (rest["text"], rest["withheld"])
    assert [(f.text, f.verdict, f.passage, f.formula) for f in grounding.figures] == [
        (f["text"], f["verdict"], f["passage"], f["formula"]) for f in rest["figures"]
    ]
    assert [(s.start, s.end, list(s.passages)) for s in grounding.sentences] == [
        (s["start"], s["end"], s["passages"]) for s in rest["sentences"]
    ]
    assert loose[-2].WhichOneof("event") == "grounding"
    assert len([e for e in loose if e.WhichOneof("event") == "delta"]) > 1


@pytest.fixture
async def client(stand):
    async with openai.AsyncOpenAI(base_url=f"{stand.url}/v1", api_key="unused", max_retries=0) as made:
        yield made


async def test_the_openai_client_gets_grounding_where_citations_are(stand, client):
    stand.world.events = written(f"{GOOD} {WRONG}")
    messages = [{"role": "user", "content": QUESTION}]
    whole = await client.chat.completions.create(model="quelea", messages=messages, extra_body={"strict": True})
    assert whole.choices[0].message.content == GOOD
    assert whole.model_extra["quelea"]["grounding"]["withheld"] == [WRONG]
    chunks = [c async for c in await client.chat.completions.create(model="quelea", messages=messages, stream=True)]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == f"{GOOD} {WRONG}"
    end = next(chunk for chunk in chunks if chunk.choices[0].finish_reason)
    assert end.model_extra["quelea"]["grounding"]["text"] == f"{GOOD} Net income was $19,991 million."
    annotations = [a for c in chunks for a in (c.choices[0].delta.model_extra or {}).get("annotations", [])]
    for annotation in annotations:
        cited = annotation["url_citation"]
        assert text[cited["start_index"] : cited["end_index"]] == "[1]"


async def test_a_stream_of_nonsense_ends_with_the_refusal_as_it_cannot_be_taken_back(stand, client):
    stand.world.events = written(NONSENSE)
    messages = [{"role": "user", "content": QUESTION}]
    chunks = [c async for c in await client.chat.completions.create(model="quelea", messages=messages, stream=True)]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == f"{NONSENSE}\n\n{REFUSAL}"
    end = next(chunk for chunk in chunks if chunk.choices[0].finish_reason)
    assert end.model_extra["quelea"]["declined"]


@pytest.mark.parametrize(
    ("body", "headers"), [({"format": "markdown"}, {}), ({}, {"Accept": "text/markdown"})], ids=["field", "header"]
)
async def test_markdown(stand, web, body, headers):
    stand.world.events = written(f"{GOOD} {DERIVED} {WRONG} <script>alert(1)</script>")
    response = await web.post("/v1/ask", json={"question": QUESTION, "as_of": "2023-09-01", **body}, headers=headers)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    text = response.text
    assert text.startswith("# What were Apple's total net sales?\n\nTotal net sales were $81,797 million [1].")
    assert "_As of 2023-09-01 · route: local · reader: tiny_" in text
    assert "> Total net sales 81,797" in text
    assert "- 1,609 = 21,213 − 19,604" in text  # the sign that the checker writes
    assert "## The evidence says otherwise\n\n- $19,991 million" in text
    assert f"(<{stand.url}/v1/documents/{'a1' * 16}/pages/1?start=" in text
    assert "p. 1, published 2023-08-04" in text
    assert "figures\\_supported: failed" in text
    assert "\\<script>" in text
    assert f"- Shown to the reader, of document {'a1' * 16}: \\[1\\] p. 1" in text.split("## Record")[1]


async def test_every_passage_that_a_verdict_names_is_in_the_answer(stand, web):
    """Also one that no marker cites, so that a verdict can be looked up and an answer made again."""
    stand.world.events = written(GOOD)
    answer = await ask(web)
    shown = {one["number"]: one for one in answer["evidence"]}
    named = {one["passage"] for one in answer["grounding"]["figures"]} - {0}
    named |= {number for one in answer["grounding"]["sentences"] for number in one["passages"]}
    assert named
    assert named <= set(shown)
    assert {citation["number"] for citation in answer["citations"]} <= set(shown)
    for one in shown.values():
        page = (await web.get(f"/v1/documents/{one['document_id']}/pages/{one['page']}")).json()
        assert page["text"][one["start"] : one["end"]].strip()


async def test_an_answer_that_was_given_becomes_markdown(web):
    answer = await ask(web, CHINESE)
    response = await web.post("/v1/export", json={"question": CHINESE, "answer": answer})
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "## 来源" in response.text
    assert answer["citations"][0]["quote"].split("\n")[0] in response.text
    bad = await web.post("/v1/export", json={"question": CHINESE, "answer": {"answer": "x"}})
    assert bad.status_code == 400


@pytest.mark.parametrize(
    ("wanted", "kind", "magic"),
    [("xlsx", "spreadsheetml", b"PK"), ("docx", "wordprocessingml", b"PK"), ("pdf", "application/pdf", b"%PDF")],
)
async def test_an_answer_that_was_given_becomes_a_file(web, wanted, kind, magic):
    answer = await ask(web, CHINESE)
    response = await web.post("/v1/export", json={"question": CHINESE, "answer": answer, "format": wanted})
    assert (response.status_code, kind in response.headers["content-type"]) == (200, True)
    assert response.headers["content-disposition"] == f'attachment; filename="answer.{wanted}"'
    assert response.content.startswith(magic)
    bad = await web.post("/v1/export", json={"question": CHINESE, "answer": answer, "format": "odt"})
    assert bad.status_code == 400


async def test_markdown_is_not_streamed(web):
    response = await web.post("/v1/ask", json={"question": QUESTION, "format": "markdown", "stream": True})
    assert response.status_code == 400
    assert response.json()["error"]["details"]["field"] == "stream"


async def test_a_check_that_cannot_be_made(stand, web, monkeypatch):
    async def full(*_, **__):
        raise Overloaded("full", retry_after=2)

    stand.world.events = written(GOOD)
    monkeypatch.setattr(stand.gateway.check_pool, "check", full)
    answer = await ask(web)
    assert answer["grounding"] is None
    assert answer["citations"]
    assert "could not be checked" in answer["notices"][0]
    assert [name for name, _ in await events_of(web)][-2:] != ["verdicts", "answer"]
    strict = await web.post("/v1/ask", json={"question": QUESTION, "strict": True})
    assert strict.status_code == 429
    assert strict.json()["error"]["details"]["evidence"]


async def test_the_extractive_reader_never_waits_for_the_checker(stand, web, monkeypatch):
    monkeypatch.setattr(stand.gateway.check_pool, "check", None)
    for question in (QUESTION, CHINESE):
        answer = await ask(web, question, strict=True)
        assert answer["grounding"]["figures"]
        assert all(check["passed"] for check in answer["checks"])
