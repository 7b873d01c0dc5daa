"""Keys over REST: made, listed, rotated and revoked by administrators; a secret is told once."""

import json

import httpx2
import pytest
from quelea_gateway import keys
from quelea_gateway.testing import standing


def client(stand, key):
    return httpx2.AsyncClient(
        base_url=stand.url, trust_env=False, timeout=60, headers={"Authorization": f"Bearer {key}"}
    )


@pytest.fixture
async def stand(tmp_path):
    file = tmp_path / "keys.json"
    tmp_path.joinpath("chief").write_text(keys.create(file, "chief"))
    async with standing(auth="keys", keys_file=str(file)) as running:
        yield running


@pytest.fixture
async def web(stand, tmp_path):
    async with client(stand, tmp_path.joinpath("chief").read_text()) as made:
        yield made


async def opens(stand, key):
    async with client(stand, key) as other:
        return (await other.get("/v1/info")).status_code


async def test_a_key_is_made_used_rotated_and_revoked(stand, web, tmp_path):
    made = (await web.post("/v1/keys", json={"name": "desk", "rights": {"*": "read"}, "days": 30})).json()
    secret = made.pop("secret")
    assert (made["name"], made["rights"], made["administrator"]) == ("desk", {"*": "read"}, False)
    assert made["expires"] > made["created"]
    assert await opens(stand, secret) == 200
    listed = (await web.get("/v1/keys")).json()
    assert [(one["name"], one["own"]) for one in listed["keys"]] == [("chief", True), ("desk", False)]
    assert listed["required"] is True
    assert secret not in json.dumps(listed)
    assert secret not in tmp_path.joinpath("keys.json").read_text()

    turned = (await web.post(f"/v1/keys/{made['id']}/rotate", json={"overlap_hours": 0})).json()
    assert turned["id"] == made["id"]
    assert await opens(stand, secret) == 401
    assert await opens(stand, turned["secret"]) == 200
    again = (await web.post(f"/v1/keys/{made['id']}/rotate", json={"overlap_hours": 1})).json()
    assert again["rotating_until"] is not None
    assert await opens(stand, turned["secret"]) == 200, "within the overlap"

    assert (await web.delete(f"/v1/keys/{made['id']}")).status_code == 204
    assert await opens(stand, again["secret"]) == 401
    assert (await web.delete(f"/v1/keys/{made['id']}")).status_code == 404


async def test_a_key_that_cannot_be_made_says_why(web):
    assert (await web.post("/v1/keys", json={"name": "chief"})).status_code == 409
    assert (await web.post("/v1/keys", json={"name": "a", "rights": {"*": "own"}})).status_code == 400
    assert (await web.post("/v1/keys", json={"name": "a", "tenant": "../x"})).status_code == 400
    assert (await web.post("/v1/keys", json={"name": "tab\t"})).status_code == 400
    assert (await web.post("/v1/keys/000000000000/rotate", json={})).status_code == 404


async def test_the_key_of_the_call_is_not_revoked(web):
    (own,) = (await web.get("/v1/keys")).json()["keys"]
    refused = await web.delete(f"/v1/keys/{own['id']}")
    assert refused.status_code == 409
    assert "another one" in refused.json()["error"]["message"]


async def test_others_see_and_change_none(stand, web):
    desk = (await web.post("/v1/keys", json={"name": "desk"})).json()
    async with client(stand, desk["secret"]) as other:
        assert (await other.get("/v1/keys")).status_code == 403
        assert (await other.post("/v1/keys", json={"name": "more", "administrator": True})).status_code == 403
        assert (await other.post(f"/v1/keys/{desk['id']}/rotate", json={})).status_code == 403
        assert (await other.delete(f"/v1/keys/{desk['id']}")).status_code == 403


async def test_a_gateway_of_a_test_makes_keys_in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with standing() as running, client(running, "any") as web:
        assert (await web.post("/v1/keys", json={"name": "desk"})).status_code == 201
    assert list(tmp_path.iterdir()) == []
