"""Lists in pages: a page token names the last entry of a page, and the next page begins behind that entry."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from quelea_kit.errors import InvalidInput

T = TypeVar("T")
Position = tuple[float, str]
"""Where an entry stands in a list that is sorted by time: the time and the id, greatest first."""

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000


def check_page_size(page_size: int) -> int:
    """The page size that a request asks for; 0 means 100. Raises InvalidInput outside 1 to 1000."""
    if page_size > MAX_PAGE_SIZE or page_size < 0:
        raise InvalidInput(
            f"page_size must be from 1 to {MAX_PAGE_SIZE}, got {page_size}.", details={"field": "page_size"}
        )
    return page_size or DEFAULT_PAGE_SIZE


def encode_position(position: Position | None) -> str:
    """The token of a position; empty for None, the end of a list."""
    return "" if position is None else _encode(list(position))


def decode_position(token: str) -> Position | None:
    """The position that a token names; None for an empty token, the start of a list. Raises InvalidInput."""
    if not token:
        return None
    found = _decode(token)
    match found:
        case [int() | float() as time, str() as name]:
            return float(time), name
    raise unknown_token()


def page_of(items: Sequence[T], key: Callable[[T], str], page_size: int, page_token: str) -> tuple[list[T], str]:
    """One page of a list that is in memory, and the token of the next page (empty on the last).

    Args:
        items: The whole list, in its order.
        key: The unique name of an item.
        page_size: At most so many items.
        page_token: From the page before; empty for the first.

    Raises:
        InvalidInput: the token is not one of this list, or its item has gone.
    """
    start = 0
    if page_token:
        last = _decode(page_token)
        start = next((at + 1 for at, item in enumerate(items) if key(item) == last), 0)
        if not start:
            raise unknown_token()
    page = list(items[start : start + page_size])
    return page, _encode(key(page[-1])) if start + page_size < len(items) else ""


def _encode(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


def _decode(token: str) -> object:
    try:
        return json.loads(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError) as error:
        raise unknown_token() from error


def unknown_token() -> InvalidInput:
    """For a page token that is none of the list."""
    return InvalidInput(
        "page_token is not from this list; leave it out to start again.", details={"field": "page_token"}
    )
