"""Errors as JSON, and which of them a route documents."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class ErrorInner(BaseModel):
    """What went wrong."""

    code: str = Field(examples=["INVALID_INPUT"])
    message: str
    details: dict[str, Any]


class ErrorOut(BaseModel):
    """The one shape of errors."""

    error: ErrorInner


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorOut, "description": text}
    for status, text in (
        (400, "The request is not valid."),
        (401, "The API key is missing or unknown."),
        (403, "Not allowed from this web page or host."),
        (404, "It does not exist."),
        (409, "Not possible in the current state."),
        (413, "Too large; the message names the limit."),
        (429, "Too many requests; Retry-After says how long to wait."),
        (431, "The request line and headers are longer than 64 KiB."),
        (500, "Internal error; see the gateway's log."),
        (503, "A service is unavailable."),
        (504, "A service did not answer in time."),
        (507, "A disk takes nothing new; the message says how much is free. Reading goes on."),
    )
}
