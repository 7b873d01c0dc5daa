"""Pages of the web over REST: added by their address, approved, rejected, rolled back; jobs tried once more."""

from __future__ import annotations

import httpx2
import pytest
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2
from quelea_gateway.adapters.services import fake_services
from quelea_gateway.adapters.services.fake_search import FakeSearch
from quelea_gateway.testing import standing
from quelea_kit.errors import Conflict, InvalidInput

ADDRESS = "https://news.example.com/2023/10/27/a.html?x=1"


def record(url, state=search_pb2.WEB_PAGE_STATE_PENDING, **more):
    found = search_pb2.WebPageRecord(
        canonical_url=url, host=url.split("/")[2], title="A page", state=state, document_id="d" * 32,
        queries=["What was it?"], provider="searxng", score=0.87, published="2023-10-27", published_source="page",
        reason="waits for approval", kind="news", **more,
    )  # fmt: skip
    found.fetched.FromJsonString("2026-11-22T01:02:03Z")
    found.added.FromJsonString("2026-11-22T01:02:04Z")
    return found


class WebHalf(FakeSearch):
    """Records what it was asked; answers from a list."""

    asked: list
    records: list
    refuse = None

    def _note(self, request):
        self.asked.append(request)
        if self.refuse:
            raise self.refuse

    async def SubmitUrl(self, request, context):  # noqa: N802  # the wire's name
        self._note(request)
        job = search_pb2.Job(id="j1", state=search_pb2.JOB_STATE_QUEUED, lane=search_pb2.LANE_UPLOAD, url=request.url)
        self._world.jobs["j1"] = job
        return search_pb2.SubmitUrlResponse(job=job)

    async def ListWebPages(self, request, context):  # noqa: N802  # the wire's name
        self._note(request)
        first = int(request.page_token or 0)
        end = first + request.page_size
        token = str(end) if end < len(self.records) else ""
        return search_pb2.ListWebPagesResponse(
            pages=self.records[first:end], total=len(self.records), next_page_token=token
        )

    async def DecideWebPages(self, request, context):  # noqa: N802  # the wire's name
        self._note(request)
        return search_pb2.DecideWebPagesResponse(pages=self.records, job_ids=["j7", "j8"])

    async def ListJobs(self, request, context):  # noqa: N802  # the wire's name
        self._note(request)
        jobs = [job for job in self._world.jobs.values() if job.replayable or not request.replayable]
        return search_pb2.ListJobsResponse(jobs=jobs)

    async def ReplayJobs(self, request, context):  # noqa: N802  # the wire's name
        self._note(request)
        return search_pb2.ReplayJobsResponse(jobs=[self._world.jobs[one] for one in request.ids or self._world.jobs])


@pytest.fixture
async def half(monkeypatch):
    class Mine(WebHalf):
        pass

    Mine.asked = []
    Mine.records = [
        record("https://a.example/1"),
        record("https://b.example/2", search_pb2.WEB_PAGE_STATE_KEPT),
        record("https://c.example/3", search_pb2.WEB_PAGE_STATE_VANISHED),
    ]
    monkeypatch.setattr(fake_services, "FakeSearch", Mine)
    async with standing() as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client:
        Mine.client, Mine.world = client, stand.world
        yield Mine


async def test_an_address_becomes_a_job(half):
    said = {"company": "Foo", "published": "2023-10-27", "period": "FY2023 Q3"}
    response = await half.client.post("/v1/documents", json={"url": ADDRESS, "metadata": said})
    assert response.status_code == 202
    assert response.json() == {"jobs": [{"id": "j1", "filename": ADDRESS}], "errors": []}
    (asked,) = half.asked
    assert (asked.url, asked.metadata.company, asked.metadata.period.fiscal_quarter) == (ADDRESS, "Foo", 3)
    assert asked.metadata.provenance == common_pb2.PROVENANCE_WEB
    job = (await half.client.get("/v1/jobs/j1")).json()
    assert (job["lane"], job["url"], job["replayable"]) == ("upload", ADDRESS, False)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{", b"{}", b'{"url": 3}', b'{"url": ""}', b'{"url": "/etc/passwd"}', b'{"url": "file:///etc/x"}',
        b'{"url": "gopher://a/"}',
        b'{"url": "https://"}', b'{"url": "https://a b/"}', b'{"url": "https://a/\\r\\nX: 1"}',
        b'{"url": "https://[::1/"}', b'{"url": "https://a/", "more": 1}', b'{"url": "https://a/\\ud800"}',
        b'{"url": "https://a/", "metadata": {"uri": "https://b/"}}',
        b'{"url": "https://a/", "metadata": {"published": "soon"}}',
    ],
)  # fmt: skip
async def test_what_is_no_address_is_refused_before_anyone_is_asked(half, body):
    response = await half.client.post("/v1/documents", content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_INPUT")
    assert half.asked == []


async def test_a_body_that_is_no_json_at_all_says_what_to_send(half):
    response = await half.client.post("/v1/documents", content=b"x", headers={"Content-Type": "text/plain"})
    assert response.status_code == 400
    assert '{"url":' in response.json()["error"]["message"]


async def test_a_long_body_is_not_read_to_its_end(half):
    body = b'{"url": "https://a/", "metadata": {"title": "' + b"x" * 3_000_000 + b'"}}'
    response = await half.client.post("/v1/documents", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert half.asked == []


async def test_what_search_refuses_is_told_in_the_one_shape(half):
    half.refuse = Conflict("This deployment has no web.")
    response = await half.client.post("/v1/documents", json={"url": ADDRESS})
    assert (response.status_code, response.json()["error"]["message"]) == (409, "This deployment has no web.")
    half.refuse = InvalidInput("10.0.0.1 is an address of a private network.", details={"reason": "REFUSED_ADDRESS"})
    response = await half.client.post("/v1/documents", json={"url": "http://10.0.0.1/"})
    assert (response.status_code, response.json()["error"]["details"]["reason"]) == (400, "REFUSED_ADDRESS")


async def test_the_list_says_state_host_dates_and_why(half):
    found = (await half.client.get("/v1/web/pages", params={"page_size": 2})).json()
    assert (found["total"], len(found["pages"])) == (3, 2)
    params = {"page_size": 2, "page_token": found["next_page_token"]}
    rest = (await half.client.get("/v1/web/pages", params=params)).json()
    assert ([page["url"] for page in rest["pages"]], rest["next_page_token"]) == (["https://c.example/3"], None)
    first = found["pages"][0]
    assert first == {
        "url": "https://a.example/1", "host": "a.example", "title": "A page", "state": "pending",
        "document_id": "d" * 32, "queries": ["What was it?"], "provider": "searxng", "score": 0.87,
        "published": "2023-10-27", "published_source": "page", "fetched": "2026-11-22T01:02:03Z", "expires": None,
        "added": "2026-11-22T01:02:04Z", "reason": "waits for approval", "kind": "news",
    }  # fmt: skip


async def test_filters_reach_search(half):
    params = {
        "state": ["pending", "kept"], "host": "a.example", "url": "https://a.example/1",
        "added_from": "2026-11-01", "added_to": "2026-11-22",
    }  # fmt: skip
    assert (await half.client.get("/v1/web/pages", params=params)).status_code == 200
    wanted = half.asked[0].filter
    assert list(wanted.states) == [search_pb2.WEB_PAGE_STATE_PENDING, search_pb2.WEB_PAGE_STATE_KEPT]
    assert (list(wanted.hosts), list(wanted.urls)) == (["a.example"], ["https://a.example/1"])
    assert wanted.added_from.ToJsonString() == "2026-11-01T00:00:00Z"
    assert wanted.added_to.ToJsonString() == "2026-11-22T23:59:59.999999Z"
    await half.client.get("/v1/web/pages", params={"added_from": "2026-11-01T10:00:00+08:00"})
    assert half.asked[1].filter.added_from.ToJsonString() == "2026-11-01T02:00:00Z"


@pytest.mark.parametrize(
    "params",
    [{"state": "maybe"}, {"added_from": "2026-13-40"}, {"added_to": "yesterday"}, {"page_size": 0},
     {"added_from": "2026-01-01T25:00:00Z"}, {"added_from": "9999-12-31T23:59:59-23:00"}],
)  # fmt: skip
async def test_wrong_filters_are_refused(half, params):
    assert (await half.client.get("/v1/web/pages", params=params)).status_code == 400
    assert half.asked == []


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("approve", search_pb2.WEB_DECISION_APPROVE),
        ("reject", search_pb2.WEB_DECISION_REJECT),
        ("roll-back", search_pb2.WEB_DECISION_ROLL_BACK),
    ],
)
async def test_decisions(half, path, decision):
    body = {"urls": ["https://a.example/1"], "hosts": ["a.example"], "states": ["pending"], "added_to": "2026-11-22"}
    done = (await half.client.post(f"/v1/web/pages/{path}", json=body)).json()
    assert [job["id"] for job in done["jobs"]] == ["j7", "j8"]
    assert [page["state"] for page in done["pages"]] == ["pending", "kept", "vanished"]
    assert half.asked[0].decision == decision
    assert list(half.asked[0].filter.hosts) == ["a.example"]


@pytest.mark.parametrize("path", ["approve", "reject", "roll-back"])
async def test_a_decision_about_nothing_in_particular_is_refused(half, path):
    for body in ({}, {"urls": [], "hosts": []}, {"added_from": ""}, {"host": "a"}, {"states": ["all"]}):
        assert (await half.client.post(f"/v1/web/pages/{path}", json=body)).status_code == 400
    assert half.asked == []


async def test_the_dead_letter_list_is_read_and_replayed(half):
    for number, replayable in (("1", True), ("2", False)):
        half.world.jobs[number] = search_pb2.Job(
            id=number, filename="f", state=search_pb2.JOB_STATE_FAILED, replayable=replayable,
            lane=search_pb2.LANE_REREAD, url="https://a.example/1",
        )  # fmt: skip
    found = (await half.client.get("/v1/jobs", params={"replayable": True})).json()["jobs"]
    assert [(job["id"], job["lane"], job["replayable"]) for job in found] == [("1", "reread", True)]
    assert [job["id"] for job in (await half.client.post("/v1/jobs/replay", json={"ids": ["1"]})).json()["jobs"]] == [
        "1"
    ]
    assert list(half.asked[-1].ids) == ["1"]
    everything = await half.client.post("/v1/jobs/replay")
    assert (everything.status_code, list(half.asked[-1].ids)) == (200, [])
    assert (await half.client.post("/v1/jobs/replay", json={"ids": [""]})).status_code == 400


async def test_the_schema_tells_both_bodies(half):
    schema = (await half.client.get("/openapi.json")).json()
    content = schema["paths"]["/v1/documents"]["post"]["requestBody"]["content"]
    assert set(content) == {"multipart/form-data", "application/json"}
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/UrlIn"}
    assert "url" in schema["components"]["schemas"]["UrlIn"]["required"]
    assert "MetadataIn" in schema["components"]["schemas"]
    assert schema["paths"]["/v1/web/pages/approve"]["post"]["security"] == [{"key": []}]
