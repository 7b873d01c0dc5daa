# ruff: noqa: E501  # tables of spellings, a line each
"""Every route and every rpc, with heads, queries and bodies that nobody's client writes: a clear answer, never a fault.

Most of it is refused before a route is chosen, or alike by all. Routes that read it differently get all of it, the others
an eighth each, in turn: together all of it too.
What a schema allows and just does not is test_schema.py; here are the bytes themselves, on sockets.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re

import grpc
import pytest
from google.protobuf import descriptor_pool
from quelea.gateway.v1 import agent_pb2, gateway_pb2
from quelea_gateway import keys
from quelea_gateway.testing import standing

AT_ONCE = 16
SHARES = 8
WHOLE = {
    "/", "/docs", "/healthz", "/mcp", "/metrics", "/v1/ask", "/v1/chat/completions", "/v1/documents", "/v1/evaluations",
    "/v1/jobs/{job_id}/events", "/v1/documents/{document_id}/original", "/v1/documents/{document_id}/pages/{page}",
    "/v1/nowhere",
}  # fmt: skip
"""One route of each kind: files, probes, MCP, streams, uploads, OpenAI's, ranges, pages for browsers, none at all."""
LONG = "x" * 60_000
ODD = "\u00e9\u202e\ufdfa"

HEADS = {
    "none": [],
    "empty": ["Accept:", "Content-Type:", "Origin:", "User-Agent:", "Authorization:", "traceparent:", "Cookie:"],
    "twice": ["Accept: text/html", "Accept: application/json", "Origin: http://a", "Origin: http://b"],
    "two keys": ["Authorization: Bearer a", "Authorization: Bearer b"],
    "long": [f"X-Anything: {LONG}"],
    "long key": [f"Authorization: Bearer {LONG}"],
    "key of other letters": [f"Authorization: Bearer {ODD}", f"X-Api-Key: {ODD}"],
    "other schemes": ["Authorization: Basic Og=="],
    "scheme alone": ["Authorization: Bearer"],
    "digest": ["Authorization: Digest username=\"\u00e9\", realm=\"\""],
    "accept": ["Accept: */*;q=nan, ;;;, text/\u00e9, application/json;q=-1;q=9999999999"],
    "many kinds": ["Accept: " + ",".join(["a/b;q=0.1"] * 5000)],
    "languages": ["Accept-Language: ;;q=,\u4e2d\u6587,*;q=1e400", "Accept-Charset: \u00ff", "Accept-Encoding: gzip;q=0,*;q=x"],
    "content types": ["Content-Type: multipart/form-data"],
    "a boundary of nothing": ["Content-Type: multipart/form-data; boundary="],
    "a boundary of other letters": [f"Content-Type: multipart/form-data; boundary={ODD}"],
    "a long boundary": [f"Content-Type: multipart/form-data; boundary={'b' * 5000}"],
    "a character set": ["Content-Type: application/json; charset=undefined"],
    "no kind": ["Content-Type: /;;;=;charset"],
    "origins": ["Origin: http://[", "Referer: http://[::1", "Sec-Fetch-Site: cross-site"],
    "origin null": ["Origin: null", "Access-Control-Request-Method: \u00e9", "Access-Control-Request-Headers: ,,,"],
    "origin of a port": ["Origin: http://localhost:99999999999999999999"],
    "forwarded": ["X-Forwarded-For: ,,,\u00e9,999.1.1.1", "X-Forwarded-Proto: \u00e9", "X-Forwarded-Host: [", "Forwarded: for=\"[\""],
    "many proxies": ["X-Forwarded-For: " + ", ".join(["1.2.3.4"] * 3000)],
    "traces": ["traceparent: 00-zz-\u00e9-01", "tracestate: =,=,=", "baggage: a=" + "b" * 9000],
    "trace of zeros": ["traceparent: 00-" + "0" * 32 + "-" + "0" * 16 + "-ff"],
    "ranges": ["Range: bytes=-1,-2,999999999999999999999-", "If-None-Match: \u00e9", "If-Modified-Since: 99 Foo 99999"],
    "cookies": ["Cookie: =;;=\u00e9;a", "Last-Event-ID: \u00e9-1"],
    "upgrade": ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: \u00e9"],
    "hop by hop": ["TE: trailers", "Trailer: Content-Length", "Via: \u00e9", "Max-Forwards: -1"],
    "another host": ["Host: evil.example:99999999999"],
    "a key of the idempotent": ["Idempotency-Key: \u00e9" + "k" * 5000],
}  # fmt: skip

FRAMING = {
    "no host": b"{method} {path} HTTP/1.1\r\nConnection: close\r\n\r\n",
    "two hosts": b"{method} {path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "an empty host": b"{method} {path} HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
    "a host of brackets": b"{method} {path} HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n",
    "a length of digits": b"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "a negative length": b"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "a length of words": b"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: ten\r\n\r\n",
    "two lengths": b"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "length and pieces": b"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "pieces of no size": b"{method} {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    "another encoding": b"{method} {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
    "an old version": b"{method} {path} HTTP/1.0\r\n\r\n",
    "a version of ours": b"{method} {path} HTTP/9.9\r\nHost: a\r\n\r\n",
    "a header without a name": b"{method} {path} HTTP/1.1\r\nHost: a\r\n: b\r\nConnection: close\r\n\r\n",
    "a folded header": b"{method} {path} HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\nConnection: close\r\n\r\n",
    "a NUL in a header": b"{method} {path} HTTP/1.1\r\nHost: a\r\nX-A: b\x00c\r\nConnection: close\r\n\r\n",
    "another method": b"B\xc3\xa9W {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
}  # fmt: skip

QUERIES = [
    "=", "&&&", "?", "%", "%zz", "%00", "%ff%fe", "%ed%a0%80", "%c0%af", "a=b;c=d", "page_size=", "page_size=-1",
    "page_size=99999999999999999999999", "page_size=1e400", "page_size=%E0%A5%A7", "page_size=1&page_size=2",
    "page_token=%00", "page_token=e30", "page_token=W10&page_size=1", "page_token=" + "A" * 5000,
    "company=%ED%A0%80&ticker=%00&period=%EF%B7%BA&language=xx", "document_type[]=a&published_from=9999-99-99",
    "published_from=%FF&published_to=0000-00-00", "start=-1&end=99999999999999999999", "start=2&end=1", "start=nan",
    "quote=" + "%EF%B7%BA" * 900, "quote=%00", "years=" + "9" * 4999, "concept=%00&statement=..%2F..%2F", "months=1.5",
    "basis=%ED%A0%80", "format=csv&format=json", "format=%00", "statement=balance&years=2023,,,NaN", "doubtful=maybe",
    "replayable=2", "name=..%2F&language=%00", "state=%00&host=%5B", "state=running&state=running", "x=" + "y" * 50_000,
]  # fmt: skip

PLACES = [
    "x",
    "%00",
    "..%2f..%2fetc",
    "%ED%A0%80",
    "%EF%B7%BA" * 300,
    "0" * 32,
    "a" * 3000,
    "-1",
    "1e9",
    "%5B%5D",
    "9" * 5000,
]
"""What stands for a part of a path."""


def parts_of(count: int) -> bytes:
    one = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nx\r\n'
    return one * count + b"--b--\r\n"


MULTIPART = "multipart/form-data; boundary=b"
JSON = "application/json"
BODIES = {
    "nothing": (JSON, b""), "space": (JSON, b"  \n"), "null": (JSON, b"null"), "a text": (JSON, b'"a"'),
    "a number": (JSON, b"1e999"), "a list": (JSON, b"[]"), "an object": (JSON, b"{}"), "not a number": (JSON, b"NaN"),
    "deep lists": (JSON, b"[" * 100_000), "deep objects": (JSON, b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "deep and whole": (JSON, b'{"question":' + b"[" * 5000 + b"]" * 5000 + b"}"),
    "deep metadata": (JSON, b'{"url":"http://a.example","metadata":' + b'{"a":' * 900 + b"1" + b"}" * 901),
    "keys twice": (JSON, b'{"question":"a","question":1,"query":"b","query":null,"url":"","url":[]}'),
    "huge numbers": (JSON, b'{"question":"a","query":"a","k":' + b"9" * 5000 + b',"j":1e400,"page_size":-0.0}'),
    "numbers that are none": (JSON, b'{"question":"a","query":"a","k":NaN,"j":Infinity,"temperature":-Infinity}'),
    "a lone surrogate": (JSON, b'{"question":"\\ud800","query":"\\udfff","url":"\\ud800","answer":"\\ud800","passages":["\\udc00"]}'),
    "surrogates in keys": (JSON, b'{"\\ud800":1,"question":"a","query":"a","filters":{"\\udfff":"\\ud800"}}'),
    "NULs": (JSON, b'{"question":"a\\u0000b","query":"\\u0000","url":"http://a\\u0000","answer":"\\u0000","passages":["\\u0000"]}'),
    "a raw NUL": (JSON, b'{"question":"a\x00b"}'), "overlong UTF-8": (JSON, b'{"question":"\xc0\xaf\xe0\x80\xaf"}'),
    "cut UTF-8": (JSON, b'{"question":"\xe4\xb8'), "UTF-16": (JSON, '{"question":"a","query":"a"}'.encode("utf-16")),
    "a mark before it": (JSON, b'\xef\xbb\xbf{"question":"a","query":"a"}'), "two values": (JSON, b"{}{}"),
    "words that grow": (JSON, json.dumps({"question": "\ufdfa" * 3000, "query": "\ufdfa" * 3000}).encode()),
    "odd days": (JSON, b'{"question":"a","query":"a","as_of":"9999-99-99","filters":{"published_from":"-1"}}'),
    "odd routes": (JSON, b'{"question":"a","query":"a","route":"\\u0000","model":[],"format":{},"history":"x","stream":"maybe"}'),
    "a long history": (JSON, json.dumps({"question": "a", "history": [{"role": "user", "content": ""}] * 3000}).encode()),
    "messages": (JSON, b'{"model":"","messages":[{"role":"\\ud800","content":[{"type":"text"},null,1]}]}'),
    "formats": (JSON, b'{"messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_schema","json_schema":{"name":"\\u0000","schema":{"$ref":"#"}}}}'),
    "addresses": (JSON, b'{"url":"http://[","urls":["http://[",null],"host":"[","ids":[1,{}],"until":"x"}'),
    "jobs": (JSON, b'{"job_ids":["\\u0000",null,1e9],"ids":"\\ud800","all":"x"}'),
    "an export": (JSON, b'{"question":"a","answer":{"answer":1,"citations":[null],"checks":"x"}}'),
    "a form": ("application/x-www-form-urlencoded", b"question=%ff&%00=%ed%a0%80&=" + b"&a" * 3000),
    "a text as text": ("text/plain", b"hello"), "XML": ("text/xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
    "no boundary": ("multipart/form-data", parts_of(1)), "another boundary": ("multipart/form-data; boundary=c", parts_of(1)),
    "no end": (MULTIPART, parts_of(1)[:-7]), "no parts": (MULTIPART, b"--b--\r\n"), "nothing in parts": (MULTIPART, b""),
    "ten thousand parts": (MULTIPART, parts_of(10_000)),
    "parts of parts": (MULTIPART, b'--b\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Disposition: form-data; name="files"\r\n\r\n' + parts_of(1)),
    "a part without a name": (MULTIPART, b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"),
    "a part without a head": (MULTIPART, b"--b\r\n\r\nx\r\n--b--\r\n"),
    "odd names": (MULTIPART, b'--b\r\nContent-Disposition: form-data; name="files"; filename="\x00../\xff\r\n\r\nx\r\n--b--\r\n'),
    "a name of another kind": (MULTIPART, b"--b\r\nContent-Disposition: form-data; name=files; filename*=undefined''%ff\r\n\r\nx\r\n--b--\r\n"),
    "a long head": (MULTIPART, b"--b\r\nX-A: " + b"a" * 100_000 + b"\r\n\r\nx\r\n--b--\r\n"),
    "odd metadata": (MULTIPART, b'--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n[{"published":"\\ud800"}, ' + b"[" * 3000 + b"\r\n" + parts_of(1)),
}  # fmt: skip


def in_turn(route: int, path: str, number: int) -> bool:
    """Whether the route gets this one of a table."""
    return path in WHOLE or (route + number) % SHARES == 0


def parameters(schema: dict, path: str) -> set[str]:
    """Names of what the GET of a path takes in its query."""
    told = schema["paths"].get(path, {}).get("get", {}).get("parameters", [])
    return {one["name"] for one in told if one["in"] == "query"}


def operations(schema: dict) -> list[tuple[str, str]]:
    """(method, path) of every route that the document has, and of those that it leaves out."""
    told = [(method.upper(), path) for path, item in schema["paths"].items() for method in item]
    return [*told, ("GET", "/"), ("GET", "/docs"), ("GET", "/openapi.json"), ("POST", "/mcp"), ("GET", "/v1/nowhere")]


_MCP_SAYS = (b"Invalid Content-Type header", b"Invalid Host header", b"Invalid Origin header")


class Caller:
    """Requests as they are written here, one a connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free = asyncio.Semaphore(AT_ONCE)
        self.asked = 0
        self.wrong: list[str] = []

    async def ask(self, told: str, raw: bytes) -> None:
        """Send one, and note what is wrong about its answer."""
        async with self._free:
            self.asked += 1
            said = await self._answer(raw)
        head, _, body = said.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head.startswith(b"HTTP/1.1 ") else 0
        clear = status < 400 or self._is_clear(head, body)
        if status in (0, 500) or not clear:
            self.wrong.append(f"{told}: {said[:300]!r}")

    def check(self, *, least: int) -> None:
        """Every answer was as it should be, of so many at least."""
        assert self.asked > least
        if self.wrong:
            pytest.fail(f"{len(self.wrong)} of {self.asked} answers:\n" + "\n".join(self.wrong[:40]), pytrace=False)

    async def _answer(self, raw: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        said = b""
        try:
            async with asyncio.timeout(60):
                with contextlib.suppress(ConnectionError):
                    writer.write(raw)
                    await writer.drain()
                with contextlib.suppress(ConnectionError):
                    while not self._is_whole(said) and (piece := await reader.read(65536)):
                        said += piece
        finally:
            writer.close()
        return said

    @staticmethod
    def _is_whole(said: bytes) -> bool:
        """Enough has come to judge by: a stream need not end."""
        head, end, body = said.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        return bool(end) and (len(body) >= int(length[1]) if length else b"text/event-stream" in head)

    @staticmethod
    def _is_clear(head: bytes, body: bytes) -> bool:
        """Whether an error says which one it is and what to do, in the shape of all errors."""
        first = head.split(b"\r\n", 1)[0]
        if (b" 405 " in first and b"allow:" in head) or (b" 416 " in first and b"content-range:" in head):
            return True
        try:
            said = json.loads(body)
        except ValueError:
            # A page for a browser; or the MCP library's own sentence about a request that is none of its protocol.
            return (b"text/html" in head and len(body) > 20) or (b" 500 " not in head and body.startswith(_MCP_SAYS))
        if b" 503 " in first and isinstance(said, dict) and "dependencies" in said:
            # /readyz on a loaded machine: a service did not answer in time, and it says which
            return any(not one["ready"] and one["reason"] for one in said["dependencies"].values())
        error = said.get("error") if isinstance(said, dict) else None
        if not isinstance(error, dict):
            return False
        return error.get("code") not in (None, "INTERNAL", -32603) and len(str(error.get("message", ""))) > 10


def request(method: str, path: str, *lines: str, body: bytes = b"", host: bool = True) -> bytes:
    """As bytes; letters of headers in UTF-8."""
    head = [f"{method} {path} HTTP/1.1", *(["Host: localhost"] if host else []), "Connection: close", *lines]
    if body or method in ("POST", "PUT", "PATCH"):
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*head, "", ""]).encode() + body


def filled(path: str, place: str = "x") -> str:
    return re.sub(r"\{[^}]*\}", lambda _: place, path)


@pytest.fixture
async def schema(web):
    return (await web.get("/openapi.json")).json()


@pytest.fixture
def routes(schema):
    found = operations(schema)
    assert {path for _, path in found} >= WHOLE
    return found


async def test_heads(stand, routes):
    caller = Caller(stand.running.http_port)
    async with asyncio.TaskGroup() as group:
        for route, (method, path) in enumerate(routes):
            for number, (name, lines) in enumerate(HEADS.items()):
                if not in_turn(route, path, number):
                    continue
                raw = request(
                    method, filled(path), *lines, body=b"{}" if method == "POST" else b"", host=name != "another host"
                )
                group.create_task(caller.ask(f"{method} {path}, {name}", raw))
            for number, (name, framing) in enumerate(FRAMING.items()):
                if not in_turn(route, path, number):
                    continue
                raw = framing.replace(b"{method}", method.encode()).replace(b"{path}", filled(path).encode())
                group.create_task(caller.ask(f"{method} {path}, {name}", raw))
    caller.check(least=1000)


@pytest.mark.slow(reason="1,600 requests, some to every operation")
async def test_queries_and_paths(stand, schema, routes):
    caller = Caller(stand.running.http_port)
    async with asyncio.TaskGroup() as group:
        for route, (method, path) in enumerate(routes):
            body = b"{}" if method == "POST" else b""
            if method == "GET":
                taken = parameters(schema, path)
                for number, query in enumerate(QUERIES):
                    if taken.isdisjoint(re.findall(r"\w+", query)) and not in_turn(route, path, number):
                        continue
                    group.create_task(
                        caller.ask(f"{method} {path}?{query[:60]}", request(method, f"{filled(path)}?{query}"))
                    )
            for place in PLACES if "{" in path else ():
                group.create_task(
                    caller.ask(f"{method} {path}, {place[:60]}", request(method, filled(path, place), body=body))
                )
    caller.check(least=500)


async def test_bodies(stand, routes):
    caller = Caller(stand.running.http_port)
    async with asyncio.TaskGroup() as group:
        for method, path in routes:
            if method == "GET":
                continue
            for name, (kind, body) in BODIES.items():
                raw = request(method, filled(path), f"Content-Type: {kind}", body=body)
                group.create_task(caller.ask(f"{method} {path}, {name}", raw))
    caller.check(least=500)


MESSAGES = [b"", b"\xff" * 9, b"\x0a\x02\xc3\x28", b"\x0a\xff\xff\xff\xff\x0f", b"\x08" + b"\xff" * 9 + b"\x01", b"\x0a\x01\x00", b"\x0a\x03\xef\xb7\xba" * 50, b"\x0b" * 300, b"\x12\x02\x0a\x00" * 2000, b"\x10\x80" * 40]  # fmt: skip
METADATA = [(), (("authorization", ""),), (("authorization", "Bearer"), ("authorization", "Bearer x")), (("traceparent", "00-zz"), ("x-request-id", "y" * 4000)), (("grpc-accept-encoding", "zz"), ("data-bin", b"\xff\x00"))]  # fmt: skip
FINE = {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.PERMISSION_DENIED}  # fmt: skip


async def test_rpcs(stand):
    wrong, asked = [], 0
    methods = [
        method
        for file in (gateway_pb2.DESCRIPTOR, agent_pb2.DESCRIPTOR)
        for service in file.services_by_name.values()
        for method in descriptor_pool.Default().FindServiceByName(service.full_name).methods
    ]
    async with grpc.aio.insecure_channel(stand.grpc) as line:
        for method in methods:
            path = f"/{method.containing_service.full_name}/{method.name}"
            for number, message in enumerate(MESSAGES):
                code, detail = await call(line, method, path, message, METADATA[number % len(METADATA)])
                asked += 1
                # A message that is no protobuf is gRPC's to refuse, with its own code.
                garbled = code is grpc.StatusCode.INTERNAL and "deserializing" in detail
                if not (code in FINE or garbled) or (code is not grpc.StatusCode.OK and len(detail) < 10):
                    wrong.append(f"{path} {message[:20]!r}: {code} {detail[:200]}")
    assert not wrong
    assert asked > 50


async def call(line, method, path, message, metadata):
    """The status of one call, and what it says."""

    async def messages():
        yield message

    options = {"request_serializer": None, "response_deserializer": None}
    many_in, many_out = method.client_streaming, method.server_streaming
    shape = ("stream" if many_in else "unary") + "_" + ("stream" if many_out else "unary")
    done = getattr(line, shape)(path, **options)(messages() if many_in else message, metadata=metadata, timeout=30)
    with contextlib.suppress(grpc.RpcError):
        if many_out:
            async for _ in done:
                pass
        else:
            await done
    return await done.code(), await done.details() or ""


async def test_keys(tmp_path):
    file = tmp_path / "keys.json"
    keys.create(file, "a")
    async with standing(auth="keys", keys_file=str(file)) as stand:
        caller = Caller(stand.running.http_port)
        async with asyncio.TaskGroup() as group:
            for path in ("/v1/ask", "/v1/documents", "/metrics", "/mcp"):
                for name, lines in HEADS.items():
                    raw = request("POST", path, *lines, body=b"{}", host=name != "another host")
                    group.create_task(caller.ask(f"{path}, {name}", raw))
        caller.check(least=100)
