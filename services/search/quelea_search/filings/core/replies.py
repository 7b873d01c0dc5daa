"""Replies of sources as checked objects: what is missing or of another type raises, and is never guessed."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from quelea_search.filings.core.model import UnexpectedReply

M = TypeVar("M", bound=BaseModel)


def read_reply(model: type[M], data: bytes, url: str) -> M:
    """A JSON reply as a model. Raises UnexpectedReply."""
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "the whole"
        raise UnexpectedReply(
            f"{url} answered in an unexpected shape ({where}: {fault['msg']}); the source may have changed, or a proxy "
            "answered in its place.",
            details={"behind": url},
        ) from error
