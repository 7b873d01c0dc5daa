"""Saved conversations: answers are kept as they were given, follow-ups go on, and nobody else's are ever seen."""

import io
import json

import docx
import httpx2
import openpyxl
import pypdfium2
import pytest
from quelea_gateway.keys import create
from quelea_gateway.testing import standing
from quelea_kit.errors import Unavailable

FIRST = "What were Apple's total net sales in the third quarter of fiscal 2023?"
FOLLOW_UP = "and the quarter before?"
PATH = "/v1/conversations"


@pytest.fixture
async def stand():
    async with standing(conversations_per_key=3, conversation_turns=4) as running:
        yield running


@pytest.fixture
async def web(stand):
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client:
        yield client


async def made(web, title="Apple"):
    reply = await web.post(PATH, json={"title": title})
    assert reply.status_code == 201
    return reply.json()["id"]


async def ask(web, conversation_id, question=FIRST, **more):
    reply = await web.post("/v1/ask", json={"question": question, "conversation_id": conversation_id, **more})
    assert reply.status_code == 200, reply.text
    return reply.json()


async def test_an_answer_is_kept_as_it_was_given(web):
    one = await made(web)
    answer = await ask(web, one, filters={"company": "Apple"})
    assert answer["citations"]
    found = (await web.get(f"{PATH}/{one}")).json()
    assert found["title"] == "Apple"
    (turn,) = found["saved"]
    assert (turn["question"], turn["answer"], turn["group"]) == (FIRST, answer, "")
    assert turn["filters"]["companies"] == ["Apple"]
    (listed,) = (await web.get(PATH)).json()["conversations"]
    assert (listed["id"], listed["title"], listed["turns"]) == (one, "Apple", 1)
    assert listed["updated"] >= listed["created"]


async def test_a_thumb_is_shown_where_its_answer_is_saved(web):
    one = await made(web)
    answer = await ask(web, one)
    await ask(web, one, FOLLOW_UP)
    given = {"question": FIRST, "answer": answer["answer"], "conversation_id": one}
    for thumb in (
        {"thumb": "down", "why": "", "reasons": ["wrong_figure"]},
        {"thumb": "up", "why": "as filed", "reasons": ["accurate", "complete"]},
    ):
        assert (await web.post("/v1/feedback", json={**given, **thumb})).status_code == 201
        first, second = (await web.get(f"{PATH}/{one}")).json()["saved"]
        assert (first["thumb"], second["thumb"]) == ({**thumb, "id": first["thumb"]["id"]}, None)
        assert first["answer"] == answer
    nowhere = await web.post("/v1/feedback", json={**given, "thumb": "up", "conversation_id": "1" * 20})
    assert nowhere.status_code == 404
    up, down = (await web.get("/v1/feedback")).json()["feedback"]
    assert first["thumb"]["id"] == up["id"]
    for deleted, shown in ((up["id"], "down"), (down["id"], None)):
        assert (await web.delete(f"/v1/feedback/{deleted}")).status_code == 204
        first, _ = (await web.get(f"{PATH}/{one}")).json()["saved"]
        assert (first["thumb"] or {}).get("thumb") == shown


async def test_thumbs_that_an_earlier_main_stored_are_shown_and_deleted(tmp_path):
    """Without reasons until 27 November, their marks without an id until the 28th."""
    async with (
        standing(runs_url=str(tmp_path), conversations_url="", feedback_url="") as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web,
    ):
        one = await made(web)
        answer = await ask(web, one)
        given = {"question": FIRST, "answer": answer["answer"], "conversation_id": one, "thumb": "up"}
        assert (await web.post("/v1/feedback", json=given)).status_code == 201
        (turn,), (thumb,) = tmp_path.glob(f"conversations/*/{one}/*.json"), tmp_path.glob("feedback/*/*.json")
        old_turn, old_thumb = json.loads(turn.read_bytes()), json.loads(thumb.read_bytes())
        del old_turn["thumb"]["id"], old_thumb["reasons"]
        turn.write_text(json.dumps(old_turn))
        thumb.write_text(json.dumps(old_thumb))

        (stored,) = (await web.get("/v1/feedback")).json()["feedback"]
        assert (stored["thumb"], stored["reasons"]) == ("up", [])
        (shown,) = (await web.get(f"{PATH}/{one}")).json()["saved"]
        assert shown["thumb"] == {"id": "", "thumb": "up", "why": "", "reasons": []}
        assert (await web.delete(f"/v1/feedback/{stored['id']}")).status_code == 204
        (shown,) = (await web.get(f"{PATH}/{one}")).json()["saved"]
        assert shown["thumb"] is None


async def test_a_thumb_that_is_sent_again_after_a_failure_is_one(stand, web, monkeypatch):
    one = await made(web)
    answer = await ask(web, one)
    given = {"question": FIRST, "answer": answer["answer"], "conversation_id": one, "thumb": "down"}

    async def fail(*_):
        raise Unavailable("The store is away.")

    with monkeypatch.context() as away:
        away.setattr(stand.gateway.conversations, "mark", fail)
        assert (await web.post("/v1/feedback", json=given)).status_code == 503
    assert (await web.post("/v1/feedback", json=given)).status_code == 201
    (stored,) = (await web.get("/v1/feedback")).json()["feedback"]
    (turn,) = (await web.get(f"{PATH}/{one}")).json()["saved"]
    assert turn["thumb"]["id"] == stored["id"]


async def test_what_cannot_be_read_stops_nobody_from_forgetting_the_rest(tmp_path):
    """Nor is a document that is gone already beyond it."""
    async with (
        standing(runs_url=str(tmp_path), conversations_url="", feedback_url="") as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as web,
    ):
        talks = [await made(web, name) for name in "abc"]
        answers = [await ask(web, one) for one in talks]
        gone = answers[0]["citations"][0]["document_id"]
        given = {"question": FIRST, "answer": answers[0]["answer"], "document_ids": [gone]}
        for thumb in ("up", "down"):
            assert (await web.post("/v1/feedback", json={**given, "thumb": thumb})).status_code == 201
        assert (await web.delete(f"/v1/documents/{gone}")).status_code == 200
        (turn,) = tmp_path.glob(f"conversations/*/{talks[1]}/*.json")
        thumb = min(tmp_path.glob("feedback/*/*.json"))
        whole = {file: file.read_bytes() for file in (turn, thumb)}
        for file, data in whole.items():
            file.write_bytes(data[:-9])
        deleted = await web.delete(f"/v1/documents/{gone}", params={"forget_quotes": "true"})
        assert deleted.json() == {"document_id": gone, "passages": 0, "answers_forgotten": 2, "unreadable": 2}
        for file, data in whole.items():
            file.write_bytes(data)
        again = await web.delete(f"/v1/documents/{gone}", params={"forget_quotes": "true"})
        assert (again.status_code, again.json()["unreadable"]) == (200, 0)
        for one in talks:
            (turn,) = (await web.get(f"{PATH}/{one}")).json()["saved"]
            assert "forgotten" in turn["answer"]["answer"]
        assert all("forgotten" in one["answer"] for one in (await web.get("/v1/feedback")).json()["feedback"])
        nobodys = await web.delete(f"/v1/documents/{'0' * 32}", params={"forget_quotes": "true"})
        assert nobodys.status_code == 404


async def test_what_is_no_id_of_a_document_makes_nobody_forget(web):
    """Though every saved answer has such a text in it somewhere."""
    one = await made(web)
    answer = await ask(web, one)
    given = {"question": FIRST, "answer": answer["answer"], "thumb": "up"}
    assert (await web.post("/v1/feedback", json=given)).status_code == 201
    for text in ("e", "citations", "en", answer["citations"][0]["document_id"][:31]):
        refused = await web.delete(f"/v1/documents/{text}", params={"forget_quotes": "true"})
        assert refused.status_code == 404
    (turn,) = (await web.get(f"{PATH}/{one}")).json()["saved"]
    assert turn["answer"] == answer
    (thumb,) = (await web.get("/v1/feedback")).json()["feedback"]
    assert thumb["answer"] == answer["answer"]


async def test_thumbs_alone_are_forgotten_of_a_document_that_is_gone(stand, web):
    gone = "a1" * 16
    given = {"question": FIRST, "answer": "Some words.", "thumb": "up", "document_ids": [gone]}
    assert (await web.post("/v1/feedback", json=given)).status_code == 201
    assert (await web.delete(f"/v1/documents/{gone}")).status_code == 200
    deleted = await web.delete(f"/v1/documents/{gone}", params={"forget_quotes": "true"})
    assert (deleted.status_code, deleted.json()["answers_forgotten"]) == (200, 0)
    (thumb,) = (await web.get("/v1/feedback")).json()["feedback"]
    assert "forgotten" in thumb["answer"]


async def test_a_source_that_is_gone_is_told_and_its_quotes_stay_until_forgotten(stand, web, monkeypatch):
    one, other = await made(web), await made(web, "other")
    answer = await ask(web, one)
    await ask(web, other)
    gone = answer["citations"][0]["document_id"]
    given = {"question": FIRST, "answer": answer["answer"], "thumb": "up", "document_ids": [gone]}
    assert (await web.post("/v1/feedback", json=given)).status_code == 201
    whole = (await web.get(f"{PATH}/{one}")).json()
    assert whole["removed"] == []
    kept = stand.world.documents[gone]
    assert (await web.delete(f"/v1/documents/{gone}")).json()["answers_forgotten"] == 0
    after = (await web.get(f"{PATH}/{one}")).json()
    assert after == {**whole, "removed": [gone]}
    with monkeypatch.context() as away:

        async def fail(**_):
            raise Unavailable("The retriever is away.")

        away.setattr(stand.gateway.retriever, "documents", fail)
        assert (await web.get(f"{PATH}/{one}")).json() == {**whole, "removed": None}
    stand.world.documents[gone] = kept
    figure = answer["citations"][0]["quote"]
    deleted = await web.delete(f"/v1/documents/{gone}", params={"forget_quotes": "true"})
    assert deleted.json()["answers_forgotten"] == 2
    for conversation in (one, other):
        (turn,) = (await web.get(f"{PATH}/{conversation}")).json()["saved"]
        assert figure not in json.dumps(turn)
        assert "forgotten" in turn["answer"]["answer"]
        assert {one["quote"] for one in turn["answer"]["citations"] if one["document_id"] == gone} == {""}
    assert (await web.get(PATH, params={"query": figure[:250]})).json()["conversations"] == []
    (thumb,) = (await web.get("/v1/feedback")).json()["feedback"]
    assert (thumb["thumb"], thumb["question"]) == ("up", FIRST)
    assert figure not in thumb["answer"]


async def test_who_may_not_manage_a_collection_makes_nobody_forget(tmp_path):
    file = tmp_path / "keys.json"
    writer = create(file, "writer", tenant="default", rights={"*": "write"})
    async with (
        standing(auth="keys", keys_file=str(file)) as stand,
        httpx2.AsyncClient(
            base_url=stand.url, trust_env=False, timeout=60, headers={"Authorization": f"Bearer {writer}"}
        ) as web,
    ):
        one = await made(web)
        document = (await ask(web, one))["citations"][0]["document_id"]
        before = (await web.get(f"{PATH}/{one}")).json()
        refused = await web.delete(f"/v1/documents/{document}", params={"forget_quotes": "true"})
        assert refused.status_code == 403
        assert refused.json()["error"]["details"]["right"] == "manage"
        assert (await web.get(f"{PATH}/{one}")).json() == before
        assert (await web.delete(f"/v1/documents/{document}")).status_code == 200
        refused = await web.delete(f"/v1/documents/{document}", params={"forget_quotes": "true"})
        assert refused.status_code == 404
        assert (await web.get(f"{PATH}/{one}")).json()["saved"] == before["saved"]


async def test_a_streamed_answer_is_saved_before_it_is_told(web):
    one = await made(web)
    async with web.stream("POST", "/v1/ask", json={"question": FIRST, "conversation_id": one, "stream": True}) as reply:
        async for line in reply.aiter_lines():
            if line == "event: answer":
                break
    (turn,) = (await web.get(f"{PATH}/{one}")).json()["saved"]
    assert turn["answer"]["citations"]


async def test_a_follow_up_goes_on_with_what_is_saved(stand, web):
    one = await made(web)
    answer = await ask(web, one)
    await ask(web, one, FOLLOW_UP)
    (request,) = stand.world.rewrite_requests
    assert [(turn.role, turn.text) for turn in request.history] == [("user", FIRST), ("assistant", answer["answer"])]


async def test_answers_side_by_side_are_one_exchange_and_no_history_of_each_other(stand, web):
    one = await made(web)
    for company in ("Apple", "Intel"):
        await ask(web, one, filters={"companies": [company]}, group="g1")
    assert not stand.world.rewrite_requests
    await ask(web, one, FOLLOW_UP)
    (request,) = stand.world.rewrite_requests
    assert [turn.role for turn in request.history] == ["user", "assistant"]
    assert request.history[1].text.startswith("Apple: ")
    assert "\n\nIntel: " in request.history[1].text
    assert [turn["group"] for turn in (await web.get(f"{PATH}/{one}")).json()["saved"]] == ["g1", "g1", ""]


async def test_the_last_one_talked_in_comes_first_and_words_find_it(web):
    ids = [await made(web, f"Title {name}") for name in ("alpha", "beta", "gamma")]
    answer = await ask(web, ids[0])
    pages, token = [], ""
    while token is not None:
        page = (await web.get(PATH, params={"page_size": 2, "page_token": token})).json()
        pages.append([one["id"] for one in page["conversations"]])
        token = page["next_page_token"]
    assert pages == [[ids[0], ids[2]], [ids[1]]]

    async def found(query):
        return [one["id"] for one in (await web.get(PATH, params={"query": query})).json()["conversations"]]

    assert await found("title ＧＡＭＭＡ") == [ids[2]]  # full width, capitals
    assert await found("NET sales fiscal") == [ids[0]]  # of the question
    assert await found(answer["answer"].split()[0]) == [ids[0]]  # of the answer
    assert await found("net nowhere") == []


async def test_it_is_renamed_and_deleted(web):
    one = await made(web)
    await ask(web, one)
    renamed = await web.patch(f"{PATH}/{one}", json={"title": " Net  sales "})
    assert renamed.json()["title"] == "Net sales"
    assert renamed.json()["turns"] == 1
    assert (await web.delete(f"{PATH}/{one}")).status_code == 204
    assert (await web.get(PATH)).json()["conversations"] == []
    for method, path, body in (
        ("GET", "", None), ("DELETE", "", None), ("PATCH", "", {"title": "x"}), ("GET", "/export", None)
    ):  # fmt: skip
        assert (await web.request(method, f"{PATH}/{one}{path}", json=body)).status_code == 404
    refused = await web.post("/v1/ask", json={"question": FIRST, "conversation_id": one})
    assert refused.status_code == 404
    assert "no conversation" in refused.json()["error"]["message"]


async def test_no_more_are_kept_than_the_settings_say(web):
    ids = [await made(web) for _ in range(3)]
    refused = await web.post(PATH, json={"title": "one more"})
    assert refused.status_code == 409
    assert "delete some" in refused.json()["error"]["message"]
    for _ in range(4):
        await ask(web, ids[0])
    full = await web.post("/v1/ask", json={"question": FIRST, "conversation_id": ids[0]})
    assert full.status_code == 409
    assert "start a new one" in full.json()["error"]["message"]


async def test_an_answer_that_cannot_be_saved_is_given_and_says_so(stand, web):
    one = await made(web)
    opened = stand.gateway.conversations.open

    async def gone(owner, conversation_id):
        turns = await opened(owner, conversation_id)
        await stand.gateway.conversations.delete(owner, conversation_id)  # in another window, meanwhile
        return turns

    stand.gateway.conversations.open = gone
    answer = await ask(web, one)
    assert answer["citations"]
    assert any("not saved in the conversation" in notice for notice in answer["notices"])


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [({"title": ""}, 400, "title"), ({"title": "x" * 201}, 413, "title"), ({"title": "x", "name": "x"}, 400, "name")],
)
async def test_what_is_wrong_is_named(web, body, status, field):
    refused = await web.post(PATH, json=body)
    assert (refused.status_code, field in refused.json()["error"]["message"]) == (status, True)


async def test_history_and_group_want_no_or_a_conversation(web):
    one = await made(web)
    both = {"conversation_id": one, "history": [{"role": "user", "content": "x"}]}
    for more, field in ((both, "history"), ({"group": "g"}, "group")):
        refused = await web.post("/v1/ask", json={"question": FIRST, **more})
        assert (refused.status_code, refused.json()["error"]["details"]["field"]) == (400, field)
    for odd in ("..%2F..%2Fx", "x"):
        assert (await web.get(f"{PATH}/{odd}")).status_code == 404
    assert (await web.get(PATH, params={"page_token": "x"})).status_code == 400


async def test_exports_have_every_answer(web):
    one = await made(web)
    empty = await web.get(f"{PATH}/{one}/export", params={"format": "docx"})
    assert empty.status_code == 400
    await ask(web, one)
    await ask(web, one, FOLLOW_UP)

    async def exported(wanted):
        reply = await web.get(f"{PATH}/{one}/export", params={"format": wanted} if wanted else {})
        assert reply.status_code == 200, reply.text
        assert "attachment" in reply.headers["content-disposition"]
        return reply.content

    whole = json.loads(await exported(""))
    assert [turn["question"] for turn in whole["saved"]] == [FIRST, FOLLOW_UP]
    text = (await exported("markdown")).decode()
    assert text.startswith("# Apple\n")
    assert text.index(f"# {FIRST}") < text.index(f"# {FOLLOW_UP}")
    written = "\n".join(part.text for part in docx.Document(io.BytesIO(await exported("docx"))).paragraphs)
    assert FIRST in written
    assert FOLLOW_UP in written
    book = openpyxl.load_workbook(io.BytesIO(await exported("xlsx")))
    assert {"answer", "sources", "answer 2", "sources 2"} <= set(book.sheetnames)
    pages = pypdfium2.PdfDocument(await exported("pdf"))
    texts = [page.get_textpage().get_text_range() for page in pages]
    assert any(FOLLOW_UP in one for one in texts[1:])
    assert FOLLOW_UP not in texts[0]


async def test_another_key_sees_and_changes_nothing(tmp_path):
    file = tmp_path / "keys.json"
    mine, other = create(file, "mine"), create(file, "other")
    async with (
        standing(auth="keys", keys_file=str(file)) as running,
        httpx2.AsyncClient(base_url=running.url, trust_env=False, timeout=60) as web,
    ):
        web.headers["Authorization"] = f"Bearer {mine}"
        one = await made(web)
        await ask(web, one)
        web.headers["Authorization"] = f"Bearer {other}"
        assert (await web.get(PATH)).json()["conversations"] == []
        assert (await web.get(PATH, params={"query": "Apple"})).json()["conversations"] == []
        answers = [
            await web.get(f"{PATH}/{one}"),
            await web.get(f"{PATH}/{one}/export"),
            await web.patch(f"{PATH}/{one}", json={"title": "mine now"}),
            await web.delete(f"{PATH}/{one}"),
            await web.post("/v1/ask", json={"question": FOLLOW_UP, "conversation_id": one}),
        ]
        assert [answer.status_code for answer in answers] == [404] * 5
        assert {answer.json()["error"]["message"] for answer in answers} == {f"There is no conversation '{one}'."}
        web.headers["Authorization"] = f"Bearer {mine}"
        assert len((await web.get(f"{PATH}/{one}")).json()["saved"]) == 1


async def test_a_folder_keeps_them_over_a_restart(tmp_path):
    async with (
        standing(conversations_url=str(tmp_path)) as running,
        httpx2.AsyncClient(base_url=running.url, trust_env=False, timeout=60) as web,
    ):
        one = await made(web)
        answer = await ask(web, one)
    async with (
        standing(conversations_url=str(tmp_path)) as running,
        httpx2.AsyncClient(base_url=running.url, trust_env=False, timeout=60) as web,
    ):
        assert (await web.get(f"{PATH}/{one}")).json()["saved"][0]["answer"] == answer
        # A head that lost a turn, as one that another gateway wrote at the same moment: it is found again.
        (head,) = tmp_path.glob("*/*.json")
        head.write_text(json.dumps({**json.loads(head.read_text()), "said": {}}))
        assert (await web.get(PATH, params={"query": "fiscal"})).json()["conversations"] == []
        await ask(web, one, FOLLOW_UP)
        (found,) = (await web.get(PATH, params={"query": "fiscal"})).json()["conversations"]
        assert found["turns"] == 2
        head.write_text("{}")
        broken = await web.get(f"{PATH}/{one}")
        assert (broken.status_code, "cannot be read" in broken.json()["error"]["message"]) == (503, True)
