"""Recorded market data over REST: brought in, listed, and said in the answer of a run that replays it."""

from __future__ import annotations

from quelea_gateway.testing import standing
from support.agent_runs import client, start, watched

DATA = b"one call\nanother call\n"


async def test_a_bundle_is_imported_listed_and_replayed(web, parts) -> None:
    reply = await web.post("/v1/agent/bundles", content=DATA)
    made = reply.json()
    assert (reply.status_code, made["calls"]) == (201, 2)
    assert parts.market.bundles == {made["id"]: DATA}
    other = (await web.post("/v1/agent/bundles", content=b"x\n")).json()
    first = (await web.get("/v1/agent/bundles", params={"page_size": 1})).json()
    rest = (await web.get("/v1/agent/bundles", params={"page_token": first["next_page_token"]})).json()
    assert {one["id"] for one in (*first["bundles"], *rest["bundles"])} == {made["id"], other["id"]}
    assert rest["next_page_token"] is None
    parts.market.notes = ("Made up.", "Made up.")
    run = await start(web, bundle_ids=[made["id"]])
    await watched(web, run["id"])
    done = (await web.get(f"/v1/agent/runs/{run['id']}")).json()
    assert done["answer"]["notices"] == ["The data was recorded: Made up."]


async def test_what_is_no_bundle_is_refused(web) -> None:
    form = await web.post("/v1/agent/bundles", files={"file": ("b.zip", DATA)})
    assert form.status_code == 400
    assert "application/octet-stream" in form.json()["error"]["message"]


async def test_without_a_door_it_is_said() -> None:
    async with standing() as stand, client(stand) as web:
        for reply in (await web.get("/v1/agent/bundles"), await web.post("/v1/agent/bundles", content=DATA)):
            assert (reply.status_code, "market-data door" in reply.text) == (409, True)
