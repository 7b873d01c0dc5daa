"""Which headers go out, and which come back in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

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
_MOST_COOKIES = 50
FINAL_URL = "x-quelea-url"
"""Of an answer that came after redirects: from where."""
COOKIE_NAMES = "x-quelea-cookies"
"""Of a recorded answer: the names of the cookies that it set; their values are not kept."""
_COOKIES = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}(?: [A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}){0,49}")
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


def keep_recorded(headers: Mapping[str, str]) -> dict[str, str]:
    """What is believed of the headers in a bundle: what an upstream could have sent, and the door's own two notes."""
    kept = inward(headers)
    for name, form in ((FINAL_URL, _VALUE), (COOKIE_NAMES, _COOKIES)):
        if form.fullmatch(value := headers.get(name, "")) and value:
            kept[name] = value
    return kept


def cookie_names(cookies: Sequence[str]) -> str:
    """The names in Set-Cookie headers, for COOKIE_NAMES; empty: none."""
    names = (cookie.partition("=")[0].strip() for cookie in cookies)
    return " ".join(list(dict.fromkeys(name for name in names if _NAME.fullmatch(name)))[:_MOST_COOKIES])


def cookie_stand_ins(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Set-Cookie headers for a replay: the recorded names with a value of no worth; libraries only ask whether one is
    there, and a replay is asked without cookies."""
    return tuple(f"{name}=recorded; Path=/; Max-Age=86400" for name in headers.get(COOKIE_NAMES, "").split())


def _is_plain(name: str, value: str) -> bool:
    return _NAME.fullmatch(name) is not None and _VALUE.fullmatch(value) is not None
