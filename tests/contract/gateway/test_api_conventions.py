"""docs/api-conventions.md, held against the OpenAPI document: the same thing is done the same way on every route."""

import re

import pytest

OPENAI = ("/v1/models", "/v1/chat/completions")  # OpenAI's contract
PROBES = ("/healthz", "/readyz", "/metrics")
TIMES = {"created", "updated", "started", "finished", "added", "fetched", "expires", "last_ok", "last_error"}
DAYS = {"published", "as_of", "period_end", "published_from", "published_to"}
SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@pytest.fixture
async def schema(web):
    return (await web.get("/openapi.json")).json()


def operations(schema):
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def resolved(schema, node):
    return schema["components"]["schemas"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node


def reply(schema, operation):
    content = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
    return resolved(schema, content.get("schema", {}))


def is_list(schema, path, method, operation):
    found = reply(schema, operation).get("properties", {}).values()
    holds_objects = any(one.get("type") == "array" and "$ref" in one["items"] for one in found)
    # A statement, a comparison and a quote's boxes are one thing, like what a path that ends with a name gives.
    return (
        method == "get"
        and not path.endswith(("}", "/statements", "/comparison", "/boxes", "/diff", "/deployment"))
        and not path.startswith((*OPENAI, *PROBES))
        and holds_objects
    )


def query(operation):
    return {one["name"]: one["schema"] for one in operation.get("parameters", ()) if one["in"] == "query"}


def kinds(node):
    """The types that a property may have."""
    return {one.get("type") for one in node.get("anyOf", [node])}


async def test_every_list_has_the_same_paging(schema):
    lists = {path: one for path, method, one in operations(schema) if is_list(schema, path, method, one)}
    assert set(lists) >= {"/v1/documents", "/v1/jobs", "/v1/web/pages", "/v1/agent/runs", "/v1/tools", "/v1/prompts"}
    for path, operation in lists.items():
        size, token = query(operation)["page_size"], query(operation)["page_token"]
        assert (size["minimum"], size["maximum"], size["default"]) == (1, 1000, 100), path
        assert (token["type"], token["default"]) == ("string", ""), path
        assert "next_page_token" in reply(schema, operation)["required"], path
    for path, _, operation in operations(schema):
        assert not set(query(operation)) & {"limit", "offset", "cursor", "size", "count", "k"}, path
        assert path in lists or not {"page_size", "page_token"} & set(query(operation)), path


async def test_every_error_has_the_one_schema(schema):
    for path, method, operation in operations(schema):
        for status, response in operation["responses"].items():
            assert status != "422", path
            if int(status) < 400 or (path, status) == ("/readyz", "503"):
                continue
            reference = response["content"]["application/json"]["schema"]["$ref"]
            assert reference.endswith("/ErrorOut"), (path, method, status)
        assert path in PROBES or {"400", "401", "429", "503"} <= set(operation["responses"]), (path, method)


async def test_names_are_snake_case_and_times_and_days_are_alike(schema):
    for name, model in schema["components"]["schemas"].items():
        openai = {"ModelCard", "ModelOut", "ChatOut", "ChunkOut"}
        for field, node in model.get("properties", {}).items():
            assert SNAKE.fullmatch(field), (name, field)
            if name in openai or "integer" in kinds(node):
                continue
            if field in TIMES:
                assert {one.get("format") for one in node.get("anyOf", [node])} <= {"date-time", None}, (name, field)
                assert kinds(node) in ({"string"}, {"string", "null"}), (name, field)
                assert field == "created" or "null" in kinds(node), (name, field)
            if field in DAYS:
                assert "string" in kinds(node), (name, field)
            if field == "error" and "string" in kinds(node):
                assert "null" in kinds(node), (name, field)
    for path, _, operation in operations(schema):
        for parameter in operation.get("parameters", ()):
            assert parameter["in"] == "header" or SNAKE.fullmatch(parameter["name"]), path


async def test_bodies_refuse_unknown_fields(schema):
    for path, _, operation in operations(schema):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        for one in body.get("anyOf", [body]):
            model = resolved(schema, one)
            if path.startswith(OPENAI) or model.get("type") != "object":
                continue
            assert model["additionalProperties"] is False, path


async def test_no_route_accepts_a_query_parameter_that_it_does_not_have(web, schema):
    for path, method, operation in operations(schema):
        if path.startswith((*OPENAI, *PROBES)):
            continue
        response = await web.request(method, re.sub(r"\{\w+\}", "1", path), params={"no_such": "1"})
        assert response.status_code == 400, path
        message = response.json()["error"]["message"]
        assert message.startswith("query.no_such: "), path
        assert all(name in message for name in query(operation)), path


@pytest.mark.parametrize(
    "path", [f"/v1/{one}" for one in ("jobs?limit=5", "web/pages?limit=5", "agent/runs?limit=5", "tools?k=5")]
)
async def test_an_old_name_is_answered_with_the_new_one(web, path):
    response = await web.get(path)
    old = path.partition("?")[2].partition("=")[0]
    assert response.status_code == 400
    assert response.json()["error"]["message"] == f"query.{old}: {old} is now page_size."


@pytest.mark.parametrize("path", ["/v1/documents", "/v1/jobs", "/v1/web/pages", "/v1/prompts"])
async def test_a_list_refuses_sizes_and_tokens_that_are_none_of_its_own(web, path):
    for params in ({"page_size": 0}, {"page_size": 1001}, {"page_token": "nonsense"}):
        response = await web.get(path, params=params)
        assert response.status_code == 400, params
        assert next(iter(params)) in response.json()["error"]["message"]
