"""The OpenAPI document: FastAPI's, with what it cannot know put in and what is never answered taken out."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from quelea_gateway.rest.answers.answer_schemas import DeltaOut, QuotesOut, StartedOut
from quelea_gateway.rest.error_schemas import ErrorOut
from quelea_gateway.rest.knowledge_base import uploads

_REF = "#/components/schemas/{model}"
_CLOSED = ("/v1/", "/metrics")


def build(app: FastAPI) -> dict[str, Any]:
    """The document, made once: 422 is never answered (what is malformed gets 400), closed routes take a bearer key."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            # One name for what is given and taken (an answer that is exported): FastAPI would make two of it.
            separate_input_output_schemas=False,
        )
        components = schema.setdefault("components", {})
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        schemas = components.setdefault("schemas", {})
        schemas.update(uploads.schemas())
        schemas.update(_of_events())
        for path, methods in schema["paths"].items():
            for operation in methods.values():
                operation["responses"].pop("422", None)
                if path.startswith(_CLOSED):
                    operation["security"] = [{"key": []}]
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema


def _of_events() -> dict[str, Any]:
    """What no body but only events carry."""
    _, found = models_json_schema(
        [(one, "validation") for one in (StartedOut, QuotesOut, DeltaOut, ErrorOut)], ref_template=_REF
    )
    return dict(found["$defs"])


def events(**data: str | dict[str, Any]) -> dict[str, Any]:
    """The content of a stream whose events are named: of each the schema of its data, or that schema's name."""
    return {"text/event-stream": {"itemSchema": {"oneOf": [_event(name, one) for name, one in data.items()]}}}


def _event(name: str, data: str | dict[str, Any]) -> dict[str, Any]:
    schema = {"$ref": _REF.format(model=data)} if isinstance(data, str) else data
    carried = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
    return {
        "type": "object",
        "required": ["event", "data"],
        "properties": {"event": {"const": name}, "data": carried},
    }
