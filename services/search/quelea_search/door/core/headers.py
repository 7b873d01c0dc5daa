"""Which headers go out, and which come back in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    "upgrade http2-settings expect".split()
)
_OUT_NEVER = _HOP | frozenset(
    "host content-length accept-encoding if-none-match if-modified-since if-match if-unmodified-since if-range range "
    "forwarded via x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip".split()
)
"""The door asks conditionally by itself, unpacks by itself, and keeps whole bodies only."""
_IN_NEVER = _HOP | frozenset("content-length content-encoding set-cookie alt-svc strict-transport-security".split())
_OURS = "x-quelea-"
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,8192}")
_MOST = 100
CROSS_HOST_SECRETS = frozenset(("authorization", "cookie", "x-api-key"))
"""Not sent on to another host by a redirect."""


def outward(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What an upstream may see of a call's headers; lower-case names, of a repeated one the first counts.

    What the header Connection names goes no further either.
    """
    listed = [(name.lower(), value.strip()) for name, value in headers]
    named = {part.strip().lower() for name, value in listed if name == "connection" for part in value.split(",")}
    kept: dict[str, str] = {}
    for name, value in listed[:_MOST]:
        if name not in _OUT_NEVER and name not in named and not name.startswith(_OURS) and _is_plain(name, value):
            kept.setdefault(name, value)
    return kept


def inward(headers: Mapping[str, str]) -> dict[str, str]:
    """What the code may see of an answer's headers."""
    return {
        name: value
        for name, value in list(headers.items())[:_MOST]
        if name not in _IN_NEVER and not name.startswith(_OURS) and _is_plain(name, value)
    }


def _is_plain(name: str, value: str) -> bool:
    return _NAME.fullmatch(name) is not None and _VALUE.fullmatch(value) is not None
