"""One error shape everywhere: {"error": {"code", "message", "details"}}; the OpenAI route adds "type" and "param"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from quelea_kit.errors import InvalidInput, QueleaError
from quelea_kit.processes.memory import is_out_of_memory, out_of_memory
from starlette.exceptions import HTTPException

from quelea_gateway.core.pipeline import ReaderFailed
from quelea_gateway.rest.answers.answer_schemas import CitationOut, ReadingOut

OPENAI_PATHS = ("/v1/chat/completions", "/v1/models")
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_MOST_FIELDS = 20
_DATE = r"\d{4}-\d{2}-\d{2}"
"""What the patterns of dates have in them."""
_SEND_JSON = "send a JSON object with content-type: application/json"
_OBJECT = "should be an object"
_PLAIN = {
    "extra_forbidden": "unknown field",
    "missing": "is missing",
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
}
"""Faults by pydantic's name, in words that need no knowledge of Python."""


def error_body(
    code: str, message: str, details: dict[str, Any], *, status: int, path: str, param: str | None = None
) -> dict[str, Any]:
    """The body of an error."""
    error: dict[str, Any] = {"code": code, "message": message, "details": details}
    if path.startswith(OPENAI_PATHS):
        error["type"] = _OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        error["param"] = param or details.get("field")
    return {"error": error}


def error_headers(error: QueleaError) -> dict[str, str]:
    """Retry-After and WWW-Authenticate, where they belong."""
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    if error.http_status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="quelea"'
    return headers


def body_of(error: QueleaError, path: str) -> dict[str, Any]:
    """The body of one of our errors."""
    return error_body(error.reason, error.message, dict(error.details), status=error.http_status, path=path)


def body_with_evidence(failed: ReaderFailed, path: str) -> dict[str, Any]:
    """The reader's error, with the evidence that had been found in its details."""
    body = body_of(failed.error, path)
    started = failed.started
    found = (*started.evidence, *started.further_reading)
    body["error"]["message"] += " The evidence found for the question is in error.details.evidence."
    body["error"]["details"] |= {
        "reading": ReadingOut.of(started.reading).model_dump(),
        "evidence": [CitationOut.of(citation).model_dump() for citation in found],
    }
    return body


def response_of(error: QueleaError, path: str, challenge: str = "") -> JSONResponse:
    """The response of one of our errors.

    Args:
        error: What went wrong.
        path: Of the request.
        challenge: What WWW-Authenticate says beside the realm, where somebody must say who he is.
    """
    headers = error_headers(error)
    if challenge and "WWW-Authenticate" in headers:
        headers["WWW-Authenticate"] += f", {challenge}"
    return JSONResponse(body_of(error, path), error.http_status, headers=headers)


async def _on_quelea(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, QueleaError)  # noqa: S101  # registered for it alone
    return response_of(error, request.url.path)


async def _on_reader(request: Request, failed: Exception) -> JSONResponse:
    assert isinstance(failed, ReaderFailed)  # noqa: S101  # registered for it alone
    body = body_with_evidence(failed, request.url.path)
    return JSONResponse(body, failed.error.http_status, headers=error_headers(failed.error))


def _field(fault: Mapping[str, Any]) -> dict[str, str]:
    """Where a request is wrong and how; of a body that is no object at all, what to send instead."""
    path, message = ".".join(str(part) for part in fault["loc"]), str(fault["msg"])
    more = fault.get("ctx", {})
    message = _PLAIN.get(fault["type"], message.replace("Input should be", "should be"))
    if fault["type"] == "json_invalid":
        at = path.removeprefix("body.")
        return {"path": "body", "message": f"is not valid JSON ({more.get('error', '')} at character {at})"}
    if _DATE in str(more.get("pattern", "")):
        message = "should be a date, YYYY-MM-DD"
    elif fault["type"] == "string_too_short" and more.get("min_length") == 1:
        message = "is empty"
    elif path == "body":
        message = f"{message}; {_SEND_JSON}"
    return {"path": path, "message": message}


async def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # registered for it alone
    fields = [_field(fault) for fault in error.errors()[:_MOST_FIELDS]]
    first = fields[0] if fields else {"path": "body", "message": "is not valid"}
    body = error_body(
        "INVALID_INPUT",
        f"{first['path']}: {first['message']}",
        {"field": first["path"].partition(".")[2] or first["path"], "fields": fields},
        status=400,
        path=request.url.path,
        param=first["path"].removeprefix("body."),
    )
    return JSONResponse(body, 400)


async def _on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  # registered for it alone
    status, path = error.status_code, request.url.path
    message = str(error.detail)
    if message == "There was an error parsing the body":  # FastAPI's, of what is not UTF-8 or nested too deeply
        message = f"The body is not JSON in UTF-8; {_SEND_JSON}."
    elif status == HTTPStatus.NOT_FOUND:
        message = "No such address; see /docs for the routes."
    elif status == HTTPStatus.METHOD_NOT_ALLOWED:
        message = f"{request.method} is not allowed here; see /docs for the routes."
    code = "INVALID_INPUT" if status == HTTPStatus.BAD_REQUEST else HTTPStatus(status).name
    headers = dict(error.headers or {})
    return JSONResponse(error_body(code, message, {}, status=status, path=path), status, headers=headers)


async def _on_crash(request: Request, error: Exception) -> JSONResponse:
    if is_out_of_memory(error):
        return response_of(out_of_memory(), request.url.path)
    message = "Internal error; see the gateway's log."
    return JSONResponse(error_body("INTERNAL", message, {}, status=500, path=request.url.path), 500)


async def _on_no_unicode(request: Request, _error: Exception) -> JSONResponse:
    """A text with half of a surrogate pair, which JSON can spell, on its way to a wire that cannot carry it."""
    message = "A text of the request has half of a surrogate pair, which is no character; send Unicode text."
    return response_of(InvalidInput(message), request.url.path)


def register(app: FastAPI) -> None:
    """Every way to fail, in the one shape."""
    app.add_exception_handler(QueleaError, _on_quelea)
    app.add_exception_handler(ReaderFailed, _on_reader)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(UnicodeEncodeError, _on_no_unicode)
    app.add_exception_handler(Exception, _on_crash)
