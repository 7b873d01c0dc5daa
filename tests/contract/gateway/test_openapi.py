"""The OpenAPI document says what there is, and requests that ask for what there is not are told so."""

import json
import re


async def test_the_api_reference_names_no_other_host_and_all_its_files_are_served(web):
    html = (await web.get("/docs")).text
    names = re.findall(r'(?:src|href)="([^"]+)"', html)
    assert len(names) == 4
    assert "//" not in html.replace("<!doctype html>", "")
    for name in names:
        response = await web.get(name)
        assert (response.status_code, bool(response.content)) == (200, True), name


async def test_the_openapi_document_lists_the_routes_and_no_422(web):
    schema = (await web.get("/openapi.json")).json()
    assert set(schema["paths"]) == {
        "/v1/ask", "/v1/search", "/v1/chat/completions", "/v1/models", "/v1/models/{name}", "/v1/documents",
        "/v1/documents/{document_id}", "/v1/documents/{document_id}/pages/{page}", "/v1/jobs", "/v1/jobs/{job_id}",
        "/v1/jobs/{job_id}/events", "/v1/jobs/replay", "/v1/web/pages", "/v1/web/pages/approve",
        "/v1/web/pages/reject", "/v1/web/pages/roll-back", "/v1/check", "/v1/info", "/healthz", "/readyz", "/metrics",
        "/v1/agent/bundles", "/v1/agent/runs", "/v1/collections", "/v1/collections/{name}",
        "/v1/agent/runs/{run_id}",
        "/v1/agent/runs/{run_id}/artifacts/{name}",
        "/v1/agent/runs/{run_id}/bundle",
        "/v1/agent/runs/{run_id}/cancel",
        "/v1/agent/runs/{run_id}/events",
        "/v1/agent/runs/{run_id}/notebook",
        "/v1/agent/runs/{run_id}/report.pdf",
        "/v1/companies",
        "/v1/companies/{company}/statements",
        "/v1/comparison",
        "/v1/conversations",
        "/v1/conversations/{conversation_id}",
        "/v1/conversations/{conversation_id}/export",
        "/v1/evaluations",
        "/v1/evaluations/options",
        "/v1/evaluations/{evaluation_id}",
        "/v1/evaluations/{evaluation_id}/agreement",
        "/v1/evaluations/{evaluation_id}/cancel",
        "/v1/evaluations/{evaluation_id}/comparisons/{number}",
        "/v1/evaluations/{evaluation_id}/items",
        "/v1/evaluations/{evaluation_id}/items/{item_id}",
        "/v1/evaluations/{evaluation_id}/labels",
        "/v1/evaluations/{evaluation_id}/votes",
        "/v1/export",
        "/v1/facts",
        "/v1/feedback",
        "/v1/feedback/{feedback_id}",
        "/v1/fetch",
        "/v1/fetch/{run_id}/bundle",
        "/v1/prompts",
        "/v1/tools",
        "/v1/tools/categories",
        "/v1/tools/select",
        "/v1/tools/{name}",
        "/v1/watches",
        "/v1/watches/{watch_id}",
    }  # fmt: skip
    assert '"422"' not in json.dumps(schema)
    names = set(schema["components"]["schemas"])
    assert not [name for name in names if "__" in name or "-" in name]
    assert set(re.findall(r"#/components/schemas/(\w+)", json.dumps(schema))) <= names
    told = schema["paths"]["/v1/ask"]["post"]["responses"]["200"]["content"]["text/event-stream"]["itemSchema"]["oneOf"]
    events = [one["properties"]["event"]["const"] for one in told]
    assert events == ["started", "quotes", "delta", "verdicts", "answer", "error"]
