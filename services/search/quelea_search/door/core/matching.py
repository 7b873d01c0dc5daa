"""When two calls are the same call: what changes on every call though the question does not is left out.

A key is made of the method, the address, the body and the two headers that choose a representation. Left out are a
JSONP callback's name, time stamps and random numbers against caches, and the tokens that libraries fetch or compute
anew for each session. The same rules serve the cache, a replay and a day in the past.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from quelea_search.core.web.urls import WebUrl
from quelea_search.door.core.model import Question

_ALWAYS = frozenset("_ cb callback jsonp jsonpcallback jsoncallback jsonp_callback crumb nocache".split())
"""Parameters whose value never chooses the answer."""
_IF_CLOCK = frozenset("t ts time timestamp r rn rnd rand random v _t _r _v dtmp sv st dt clock version".split())
"""Parameters that are left out when their value is a time of the clock; "period1" of Yahoo is none of them."""
_CLOCK = re.compile(r"1[4-9]\d{8}(?:\d{3})?(?:\.\d+)?|[2-4]\d{9}(?:\d{3})?")
_RANDOM = re.compile(r"0\.\d{8,}|jQuery\d{6,}(?:_\d+)?|[A-Za-z_]*(?:callback|jsonp)_?\d{6,}", re.I)
_PATH_CALLBACK = re.compile(r"(/jsonp(?:_v2)?\.php/)([^/]*)(/)", re.I)
"""Sina: /futures/api/jsonp.php/var%20_RB02024_11_22=/InnerFuturesNewService.getDailyKLine."""
_SECRET = re.compile(
    r"(?:api|access|auth|private|secret)[_-]?(?:key|token)|apikey|password|passwd|secret|registrationkey", re.I
)
_HIDDEN = "hidden"
_SECRET_HEADERS = re.compile(r"authorization|proxy-authorization|cookie|x-api-key|api-key|.*(?:token|secret).*", re.I)


@dataclass(frozen=True, slots=True)
class Match:
    """What two calls must share to be the same."""

    method: str
    url: str
    body: str = ""
    """SHA-256 of the body in its normal form, hexadecimal; empty without a body."""
    accept: str = ""
    """The media type when exactly one is asked for."""
    content_type: str = ""
    """Of the body."""

    @property
    def key(self) -> str:
        """SHA-256, hexadecimal."""
        parts = [self.method, self.url, self.body, self.accept, self.content_type]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def facts(self) -> dict[str, str]:
        """As a bundle keeps it."""
        return {"url": self.url, "body": self.body, "accept": self.accept, "content_type": self.content_type}


def match_of(question: Question) -> Match:
    """What a call is compared by."""
    kind = question.headers.get("content-type", "").split(";")[0].strip().lower()
    accept = question.headers.get("accept", "").strip().lower()
    single = accept if accept and "," not in accept and "*" not in accept else ""
    body = _body(question.body, kind)
    return Match(
        question.method,
        normal_url(question.url),
        hashlib.sha256(body).hexdigest() if body else "",
        single.split(";")[0],
        kind if body else "",
    )


def normal_url(url: WebUrl) -> str:
    """An address without what changes on every call, its parameters in order of their names.

    http and https are one: they bring the same data, and libraries change from one to the other.
    """
    host = url.netloc
    path = _PATH_CALLBACK.sub(r"\1-\3", url.path)
    query = _parameters(url.query)
    return f"//{host}{path}?{query}" if query else f"//{host}{path}"


def _parameters(query: str) -> str:
    kept = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if part and not is_volatile(name, unquote(value)):
            kept.append((name, f"{name}={_HIDDEN}" if _SECRET.fullmatch(unquote(name)) else part))
    return "&".join(part for _, part in sorted(kept, key=lambda pair: pair[0]))


def is_volatile(name: str, value: str) -> bool:
    """Whether a parameter changes on every call though the question does not."""
    plain = name.lower()
    if plain in _ALWAYS or _RANDOM.fullmatch(value) is not None:
        return True
    return plain in _IF_CLOCK and _CLOCK.fullmatch(value) is not None


def _body(body: bytes, kind: str) -> bytes:
    if not body:
        return b""
    if kind == "application/x-www-form-urlencoded":
        return _parameters(body.decode("latin-1")).encode("latin-1")
    if kind.endswith("json"):
        try:
            return json.dumps(json.loads(body), sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
        except (ValueError, RecursionError):
            return body
    return body


def redact(url: WebUrl | str) -> str:
    """An address as the log may show it, also one that is none: keys, passwords and users are hidden."""
    address, mark, query = str(url).partition("?")
    scheme, slashes, rest = address.partition("://")
    if "@" in rest:
        rest = f"{_HIDDEN}@{rest.rpartition('@')[2]}"
    parts = []
    for part in query.split("&"):
        name, sign, _ = part.partition("=")
        plain = unquote(name)
        hidden = sign and (_SECRET.fullmatch(plain) or plain.lower() == "crumb")  # a crumb goes with Yahoo's cookie
        parts.append(f"{name}{sign}{_HIDDEN}" if hidden else part)
    return f"{scheme}{slashes}{rest}{mark}{'&'.join(parts)}"


def is_private(question: Question) -> bool:
    """Whether the call carries something of its own (a key, a cookie), so that its answer is for its own run only."""
    if any(_SECRET_HEADERS.fullmatch(name) for name in question.headers):
        return True
    names = (part.partition("=")[0] for part in question.url.query.split("&"))
    return any(_SECRET.fullmatch(unquote(name)) for name in names)


def callback_of(url: str) -> str:
    """The name of the function that a JSONP answer calls, or the prefix that Sina puts before it; empty: none."""
    found = _PATH_CALLBACK.search(url)
    if found is not None:
        return unquote(found[2])
    query = url.partition("?")[2]
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name.lower() in _ALWAYS - {"_", "crumb", "nocache"}:
            return unquote(value)
    return ""


def with_callback(body: bytes, recorded_url: str, asked_url: str) -> bytes:
    """A recorded JSONP answer under the name that this call wants."""
    was, now = callback_of(recorded_url).encode(), callback_of(asked_url).encode()
    if not was or not now or was == now:
        return body
    start = body.find(was, 0, 512)
    if start < 0 or body[start + len(was) : start + len(was) + 1] not in (b"(", b"=", b"{", b"["):
        return body
    return body[:start] + now + body[start + len(was) :]


def differences(asked: Mapping[str, str], recorded: Mapping[str, str]) -> list[str]:
    """In which parameters two calls differ, for a message; the facts of two matches."""
    found = [name for name in ("body", "accept", "content_type") if asked.get(name, "") != recorded.get(name, "")]
    one, other = (_split(facts.get("url", "")) for facts in (asked, recorded))
    if one[0] != other[0]:
        found.append("path")
    names = sorted({*one[1], *other[1]})
    return found + [name for name in names if one[1].get(name) != other[1].get(name)]


def _split(url: str) -> tuple[str, dict[str, str]]:
    path, _, query = url.partition("?")
    parameters = {}
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        parameters[name] = value
    return path, parameters
