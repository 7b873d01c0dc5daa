"""Thumbs on answers: given, listed under their owner's key, bounded, deleted."""

import asyncio

import httpx2
import pytest
from quelea_gateway.keys import create
from quelea_gateway.testing import standing

GIVEN = {"question": "What were net sales?", "answer": "81,797 [1]", "thumb": "up"}


@pytest.fixture
async def web():
    async with (
        standing(feedback_per_key=5) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        yield client


async def test_a_thumb_is_stored_with_what_it_is_on(web):
    more = {"why": "right figure", "answer_id": "chatcmpl-1", "as_of": "2026-11-25", "document_ids": ["d1", "d2"]}
    answer = await web.post("/v1/feedback", json={**GIVEN, **more})
    assert answer.status_code == 201
    stored = answer.json()
    assert {**GIVEN, **more}.items() <= stored.items()
    assert (await web.get("/v1/feedback")).json() == {"feedback": [stored], "next_page_token": None}


async def test_a_thumb_that_is_sent_twice_at_once_is_stored_once(web):
    answers = await asyncio.gather(*(web.post("/v1/feedback", json=GIVEN) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len((await web.get("/v1/feedback")).json()["feedback"]) == 1


async def test_reasons_are_of_the_thumb(web):
    down = {**GIVEN, "thumb": "down", "reasons": ["wrong_figure", "incomplete", "wrong_figure"]}
    stored = (await web.post("/v1/feedback", json=down)).json()
    assert stored["reasons"] == ["wrong_figure", "incomplete"]
    assert (await web.get("/v1/feedback")).json()["feedback"][0]["reasons"] == ["wrong_figure", "incomplete"]
    for thumb, reason in (("up", "wrong_figure"), ("down", "accurate"), ("down", "ugly")):
        refused = await web.post("/v1/feedback", json={**GIVEN, "thumb": thumb, "reasons": [reason]})
        assert (refused.status_code, "reason" in refused.json()["error"]["message"]) == (400, True)


async def test_the_list_is_newest_first_in_pages_and_filtered(web):
    for number, thumb in enumerate(("up", "down", "up", "down")):
        assert (await web.post("/v1/feedback", json={**GIVEN, "why": f"{number}", "thumb": thumb})).status_code == 201
    seen, token = [], ""
    while token is not None:
        page = (await web.get("/v1/feedback", params={"page_size": 3, "page_token": token})).json()
        seen += [one["why"] for one in page["feedback"]]
        token = page["next_page_token"]
    assert seen == ["3", "2", "1", "0"]
    down = (await web.get("/v1/feedback", params={"thumb": "down", "page_size": 1})).json()
    assert [one["why"] for one in down["feedback"]] == ["3"]
    rest = (await web.get("/v1/feedback", params={"thumb": "down", "page_token": down["next_page_token"]})).json()
    assert [one["why"] for one in rest["feedback"]] == ["1"]
    assert len((await web.get("/v1/feedback?thumb=down&thumb=up")).json()["feedback"]) == 4


async def test_no_more_are_kept_than_the_setting_says(web):
    for number in range(5):
        assert (await web.post("/v1/feedback", json={**GIVEN, "why": f"{number}"})).status_code == 201
    refused = await web.post("/v1/feedback", json=GIVEN)
    assert refused.status_code == 409
    assert "no more are kept: export them" in refused.json()["error"]["message"]
    first = (await web.get("/v1/feedback")).json()["feedback"][0]["id"]
    assert (await web.delete(f"/v1/feedback/{first}")).status_code == 204
    assert (await web.delete(f"/v1/feedback/{first}")).status_code == 404
    assert (await web.post("/v1/feedback", json=GIVEN)).status_code == 201


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"thumb": "sideways"}, 400, "thumb"),
        ({"question": ""}, 400, "question"),
        ({"answer": " \n"}, 400, "answer"),
        ({"answer": "x" * 20_001}, 413, "answer"),
        ({"why": "x" * 2001}, 413, "why"),
        ({"document_ids": ["d"] * 101}, 400, "document_ids"),
        ({"stars": 5}, 400, "stars"),
        ({"as_of": "yesterday"}, 400, "as_of"),
    ],
)
async def test_what_is_wrong_is_named(web, change, status, field):
    refused = await web.post("/v1/feedback", json={**GIVEN, **change})
    assert refused.status_code == status
    assert field in refused.json()["error"]["message"]
    assert (await web.get("/v1/feedback")).json()["feedback"] == []


async def test_lists_and_deletes_refuse_what_is_no_place_or_id(web):
    refused = await web.get("/v1/feedback", params={"page_token": "../../x"})
    assert refused.status_code == 400
    assert (await web.delete("/v1/feedback/..%2F..%2Fx")).status_code == 404


async def test_a_thumb_is_found_under_its_owners_key_alone(tmp_path):
    keys = tmp_path / "keys.json"
    ann, bo = create(keys, "ann"), create(keys, "bo")
    async with (
        standing(runs_url=str(tmp_path / "runs"), feedback_url="", auth="keys", keys_file=str(keys)) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        hers, his = ({"Authorization": f"Bearer {key}"} for key in (ann, bo))
        given = (await client.post("/v1/feedback", json=GIVEN, headers=hers)).json()
        assert (await client.post("/v1/feedback", json=GIVEN)).status_code == 401
        assert (await client.get("/v1/feedback", headers=his)).json()["feedback"] == []
        assert (await client.delete(f"/v1/feedback/{given['id']}", headers=his)).status_code == 404
        assert (await client.get("/v1/feedback", headers=hers)).json()["feedback"] == [given]
    assert len(list((tmp_path / "runs" / "feedback").glob("*/*.json"))) == 1


async def test_a_thumb_that_cannot_be_read_can_be_deleted_and_so_can_those_after_it(tmp_path):
    async with (
        standing(runs_url=str(tmp_path), feedback_url="") as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        ids = [(await client.post("/v1/feedback", json={**GIVEN, "why": why})).json()["id"] for why in ("", "so")]
        (broken,) = tmp_path.glob(f"feedback/*/{ids[0]}.json")
        broken.write_bytes(broken.read_bytes()[:-9])
        for one in reversed(ids):
            assert (await client.delete(f"/v1/feedback/{one}")).status_code == 204
        assert (await client.get("/v1/feedback")).json()["feedback"] == []
