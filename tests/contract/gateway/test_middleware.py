"""Keys, sizes, origins, headers, health, metrics: what holds for every route."""

import asyncio

import httpx2
import pytest
from prometheus_client import REGISTRY
from quelea_gateway import keys
from quelea_gateway.testing import standing
from quelea_kit.testing import wait_until_async

ASK = {"question": "What were Apple's total net sales?"}


@pytest.fixture
async def locked(tmp_path):
    file = tmp_path / "keys.json"
    key = keys.create(file, "desk")
    async with (
        standing(auth="keys", keys_file=str(file), max_calls_per_key=2) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        yield stand, client, key, file


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


CLOSED = [
    ("POST", "/v1/ask"),
    ("POST", "/v1/search"),
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/models"),
    ("GET", "/v1/documents"),
    ("POST", "/v1/documents"),
    ("DELETE", "/v1/documents/x"),
    ("GET", "/v1/documents/x/pages/1"),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/x/events"),
    ("POST", "/v1/jobs/replay"),
    ("GET", "/v1/web/pages"),
    ("POST", "/v1/web/pages/approve"),
    ("POST", "/v1/web/pages/reject"),
    ("POST", "/v1/web/pages/roll-back"),
    ("POST", "/v1/check"),
    ("GET", "/v1/info"),
    ("GET", "/v1/nothing"),
    ("GET", "/metrics"),
]


@pytest.mark.parametrize(("method", "path"), CLOSED)
async def test_closed_without_a_key(locked, method, path):
    _, client, _, _ = locked
    wrong = {**bearer("quelea_wrong")}
    for headers in ({}, wrong, {"Authorization": "Basic abc"}):
        response = await client.request(method, path, headers=headers)
        assert response.status_code == 401, headers
        assert response.json()["error"]["code"] == "UNAUTHENTICATED"
        assert response.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/", "/page/app.js"])
async def test_open_without_a_key(locked, path):
    assert (await locked[1].get(path)).status_code == 200


async def test_the_right_key_opens_and_a_revoked_one_no_longer(locked):
    _, client, key, file = locked
    assert (await client.post("/v1/ask", json=ASK, headers=bearer(key))).status_code == 200
    keys.revoke(file, "desk")
    assert (await client.post("/v1/ask", json=ASK, headers=bearer(key))).status_code == 401


async def test_the_reader_is_told_whose_question_it_is(locked):
    stand, client, key, _ = locked
    chat = {"model": "quelea", "messages": [{"role": "user", "content": ASK["question"]}]}
    for path, body in (("/v1/ask", ASK), ("/v1/chat/completions", chat)):
        assert (await client.post(path, json=body, headers=bearer(key))).status_code == 200
    assert [request.tenant for request in stand.world.asked] == ["desk", "desk"]


async def test_a_browser_without_a_key_is_led_to_the_page_that_asks_for_one(locked):
    response = await locked[1].get("/v1/documents/abc/pages/2?start=1&end=2", headers={"Accept": "text/html"})
    assert response.status_code == 303
    assert response.headers["location"] == "/#/documents/abc/pages/2?start=1&end=2"


async def test_too_many_calls_of_one_key(locked):
    stand, client, key, file = locked
    other = keys.create(file, "other")
    stand.world.retriever_hangs = True
    waiting = [asyncio.create_task(client.post("/v1/ask", json=ASK, headers=bearer(key))) for _ in range(2)]
    await wait_until_async(lambda: len(stand.world.searches) == 2, what="both calls are under way")
    refused = await client.get("/v1/jobs", headers=bearer(key))
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert (await client.get("/v1/jobs", headers=bearer(other))).status_code == 200
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


async def five_megabytes():
    piece = b"a" * 65536
    yield b'{"question": "'
    for _ in range(80):
        yield piece
    yield b'"}'


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "chunked"])
async def test_a_question_of_five_megabytes_is_refused_cleanly(web, chunked):
    content = five_megabytes() if chunked else b"".join([piece async for piece in five_megabytes()])
    response = await web.post("/v1/ask", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "TOO_LARGE"
    assert "1,048,576" in response.json()["error"]["message"]


async def test_a_long_question_names_its_limit(web):
    for path, body in (("/v1/ask", {"question": "a" * 4001}), ("/v1/search", {"query": "a" * 4001})):
        response = await web.post(path, json=body)
        assert response.status_code == 413
        assert response.json()["error"]["details"]["limit"] == "4000"


async def test_a_long_history_names_its_limit(web):
    history = [{"role": "user", "content": "a"}] * 41
    assert (await web.post("/v1/ask", json={**ASK, "history": history})).status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "NOT_FOUND"),
        ("PUT", "/v1/ask", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/page/x", 404, "NOT_FOUND"),
    ],
)
async def test_errors_of_the_framework_have_our_shape(web, method, path, status, code):
    response = await web.request(method, path)
    assert response.status_code == status
    assert response.json()["error"]["code"] == code
    assert set(response.json()["error"]) == {"code", "message", "details"}


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (b'{"question": ', "application/json", "body: is not valid JSON (Expecting value at character 13)"),
        (b"{bad", "application/json", "is not valid JSON"),
        (b'{"question": "x"}', "text/plain", "content-type: application/json"),
        (b'["x"]', "application/json", "send a JSON object"),
        (b"", "application/json", "send a JSON object"),
        (b'{"question": "\xff"}', "application/json", "JSON in UTF-8"),
        (b'{"question": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "application/json", "JSON in UTF-8"),
        (b'{"question": "x", "colour": 1}', "application/json", "body.colour: unknown field"),
        (b'{"question": ""}', "application/json", "body.question: is empty"),
        (b'{"question": "x", "k": -1}', "application/json", "body.k: should be greater than or equal to 1"),
        (b'{"question": "x", "filters": "Apple"}', "application/json", "body.filters: should be an object"),
        (b'{"question": "x", "as_of": "yesterday"}', "application/json", "body.as_of: should be a date, YYYY-MM-DD"),
    ],
)
async def test_a_body_that_is_wrong_is_told_what_to_send(web, content, kind, said):
    response = await web.post("/v1/ask", content=content, headers={"content-type": kind})
    assert response.status_code == 400
    assert said in response.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/jobs/none", "/page/style.css"])
async def test_security_headers_are_everywhere(web, path):
    headers = (await web.get(path)).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in headers


async def test_foreign_pages_and_foreign_names_are_kept_out(stand, web):
    foreign = await web.post("/v1/ask", json=ASK, headers={"Origin": "https://evil.example"})
    rebound = await web.post("/v1/ask", json=ASK, headers={"Host": "evil.example"})
    own = await web.post("/v1/ask", json=ASK, headers={"Origin": stand.url})
    assert (foreign.status_code, rebound.status_code, own.status_code) == (403, 403, 200)


@pytest.mark.parametrize("origin", ["http://[", "http://]", "http://[::1", "//[x]", "null", "http://a:b:c"])
async def test_an_origin_that_is_no_address_is_a_foreign_one(web, origin):
    assert (await web.post("/v1/ask", json=ASK, headers={"Origin": origin})).status_code == 403


async def test_cross_origin_calls_when_allowed(tmp_path):
    file = tmp_path / "keys.json"
    key = keys.create(file, "desk")
    origin = "https://desk.example.com"
    async with (
        standing(auth="keys", keys_file=str(file), cors_origins=(origin,)) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        preflight = await client.options("/v1/ask", headers=asked)
        assert preflight.headers["access-control-allow-origin"] == origin
        answer = await client.post("/v1/ask", json=ASK, headers={"Origin": origin, **bearer(key)})
        refused = await client.post("/v1/ask", json=ASK, headers={"Origin": origin})
        assert (answer.status_code, refused.status_code) == (200, 401)
        assert refused.headers["access-control-allow-origin"] == origin


async def test_ready_names_what_is_down(stand, web):
    assert (await web.get("/readyz")).json()["ready"] is True
    await stand.services.stop("search")
    stand.gateway._ready = None
    response = await web.get("/readyz")
    states = response.json()["dependencies"]
    assert response.status_code == 503
    assert [name for name in states if not states[name]["ready"]] == ["search"]
    assert "search" in states["search"]["reason"]
    assert (await web.get("/healthz")).status_code == 200


async def test_a_service_that_came_back_is_found(stand, web):
    await stand.services.stop("retriever")
    assert (await web.post("/v1/ask", json=ASK)).status_code == 503
    await stand.services.start()
    async with asyncio.timeout(120):
        while (await web.post("/v1/ask", json=ASK)).status_code != 200:  # noqa: ASYNC110  # only asking tells
            await asyncio.sleep(0.1)


async def test_a_request_without_memory_may_be_sent_again(stand, web):
    async def none(*_: object, **__: object) -> None:
        raise MemoryError

    stand.gateway.retriever.search = none
    response = await web.post("/v1/ask", json=ASK)
    assert response.status_code == 429
    assert response.json()["error"]["code"] == "OVERLOADED"
    assert "memory" in response.json()["error"]["message"]
    assert response.headers["retry-after"]


async def test_metrics_count_requests_and_stages(web):
    await web.post("/v1/ask", json=ASK)
    text = (await web.get("/metrics")).text
    assert 'quelea_http_seconds_count{method="POST",route="/v1/ask",status="200"}' in text
    assert 'quelea_ask_seconds_count{stage="gateway"}' in text


async def test_a_stream_is_in_flight_until_its_end(stand, web):
    before = REGISTRY.get_sample_value("quelea_http_in_flight")  # of this process: 0, or what an earlier test left
    stand.world.generator_hangs = True
    async with web.stream("POST", "/v1/ask", json={**ASK, "stream": True}) as response:
        async for line in response.aiter_lines():
            if line == "event: delta":
                break
        assert REGISTRY.get_sample_value("quelea_http_in_flight") == before + 1
    await wait_until_async(lambda: REGISTRY.get_sample_value("quelea_http_in_flight") == before)


async def test_a_key_never_reaches_the_log(locked, caplog):
    _, client, key, _ = locked
    with caplog.at_level(0):
        await client.post("/v1/ask", json=ASK, headers=bearer(key))
        await client.post("/v1/ask", json=ASK, headers=bearer(key + "x"))
    assert key not in caplog.text
