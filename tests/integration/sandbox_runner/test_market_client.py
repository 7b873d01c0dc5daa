"""quelea_market inside the real image, without a network, against a small door on a UNIX socket."""

from __future__ import annotations

import http.server
import json
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from quelea.sandbox.v1 import sandbox_pb2 as pb
from support.sandbox import SandboxClient, docker_sandbox, no_engine

pytestmark = pytest.mark.skipif(bool(no_engine()), reason=no_engine() or "an engine is there")

TABLE = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
KLINE = {
    "rc": 0,
    "data": {
        "code": "000001",
        "klines": [
            "2024-01-02,9.39,9.21,9.42,9.21,1158366,1075742252.45,2.24,-1.92,-0.18,0.60",
            "2024-01-03,9.19,9.20,9.22,9.15,733610,673673613.54,0.76,-0.11,-0.01,0.38",
        ],
    },
}


@dataclass
class Call:
    """What the door got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Door:
    """Answers by path; keeps what it was asked."""

    folder: Path
    calls: list[Call] = field(default_factory=list)


class _Handler(http.server.BaseHTTPRequestHandler):
    door: Door
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.door.calls.append(Call(self.command, self.path, headers, body))
        path = self.path.partition("?")[0]
        refusals = {"/refused": (403, "host"), "/slow-down": (429, "budget"), "/down": (502, "upstream")}
        if headers.get("x-quelea-token") != "right":
            self._send(403, {"error": {"code": "token", "message": "no such token"}}, {"X-Quelea-Refused": "token"})
        elif path in refusals:
            status, reason = refusals[path]
            extra = {"X-Quelea-Refused": reason, **({"Retry-After": "7"} if status == 429 else {})}
            self._send(status, {"error": {"code": reason, "message": f"because of {reason}"}}, extra)
        elif path == "/own-403":
            self._send(403, {"upstream": "says no"}, {})
        elif path == "/table":
            self._send(200, TABLE, {"Content-Type": "text/html"})
        elif path == "/cookie":
            self._send(200, {"cookie": headers.get("cookie", "")}, {"Set-Cookie": "a=1; Path=/; Secure"})
        elif path == "/api/qt/stock/kline/get":
            self._send(200, KLINE, {})
        else:
            self._send(200, {"path": self.path}, {"X-Quelea-Call": "c1"})

    do_GET = do_POST = do_PUT = do_HEAD = _answer  # noqa: N815 - the server's own names

    def _send(self, status: int, content: object, extra: dict[str, str]) -> None:
        data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **extra, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def address_string(self) -> str:
        return "unix"

    def log_message(self, *_: object) -> None:
        pass


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    """A door on a socket in a folder that a container may see."""
    made = Door(tmp_path)
    handler = type("Handler", (_Handler,), {"door": made})
    tmp_path.chmod(0o755)
    server = _Server(str(tmp_path / "door.sock"), handler)
    (tmp_path / "door.sock").chmod(0o666)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


async def asked(client: SandboxClient, code: str, *, token: str = "right") -> list[object]:  # noqa: S107 - a made-up one
    """Run code that prints JSON lines; with the door where there is a token."""
    network = pb.NETWORK_POLICY_MARKET_DATA if token else pb.NETWORK_POLICY_NONE
    ran = await client.run(code, network=network, market_token=token)
    assert ran.reason == "OK", ran.finished.error
    return [json.loads(line) for line in ran.text.splitlines()]


LIBRARIES = """
import asyncio, json, io
import urllib.request, http.client
import requests, httpx, urllib3, pandas, curl_cffi

def note(name, value): print(json.dumps([name, value]))

note("requests", requests.get("https://push2his.eastmoney.com/r?x=1", params={"y": "二"}).json())
note("requests post", requests.post("http://a.example:8080/rp", json={"k": 1}).headers["X-Quelea-Call"])
note("requests proxies", requests.get("https://a.example/rx", proxies={"https": "http://10.0.0.1:3128"}).status_code)
note("urllib", json.load(urllib.request.urlopen("https://a.example/u")))
note("pandas", pandas.read_html("https://a.example/table")[0].to_dict("records"))
note("urllib3", urllib3.request("GET", "https://a.example/u3").json())
connection = http.client.HTTPSConnection("a.example")
connection.request("GET", "/hc")
note("http.client", json.load(connection.getresponse()))
note("httpx", httpx.post("https://a.example/hx", data={"k": "v"}).json())
async def both():
    async with httpx.AsyncClient() as one, curl_cffi.AsyncSession() as two:
        first, second = await asyncio.gather(one.get("https://a.example/hxa"), two.get("https://a.example/ca"))
        return [first.json(), second.json()]
note("async", asyncio.run(both()))
session = curl_cffi.requests.Session(impersonate="chrome")
note("curl_cffi", session.get("https://query1.finance.yahoo.com/c", params={"q": 1}).json())
import subprocess, sys
child = "import urllib.request; print(urllib.request.urlopen('https://a.example/child').read().decode())"
note("child process", json.loads(subprocess.run([sys.executable, "-c", child], capture_output=True, check=True).stdout))
"""


async def test_every_library_goes_through_the_door(door: Door) -> None:
    async with docker_sandbox(market_socket_dir=door.folder, preload="") as client:
        got = dict(await asked(client, LIBRARIES))  # type: ignore[call-overload] # pairs, as the code prints them
    assert got == {
        "requests": {"path": "/r?x=1&y=%E4%BA%8C"},
        "requests post": "c1",
        "requests proxies": 200,
        "urllib": {"path": "/u"},
        "pandas": [{"a": 1, "b": 2}],
        "urllib3": {"path": "/u3"},
        "http.client": {"path": "/hc"},
        "httpx": {"path": "/hx"},
        "async": [{"path": "/hxa"}, {"path": "/ca"}],
        "curl_cffi": {"path": "/c?q=1"},
        "child process": {"path": "/child"},
    }
    calls = {call.path.partition("?")[0]: call for call in door.calls}
    assert {call.headers["x-quelea-token"] for call in door.calls} == {"right"}
    upstreams = {path: call.headers["x-quelea-upstream"] for path, call in calls.items()}
    assert upstreams["/r"] == "https://push2his.eastmoney.com"
    assert upstreams["/rp"] == "http://a.example:8080"
    assert upstreams["/c"] == "https://query1.finance.yahoo.com"
    assert {upstreams[path] for path in ("/u", "/table", "/u3", "/hc", "/hx", "/hxa", "/ca", "/child", "/rx")} == {
        "https://a.example"
    }
    assert calls["/rp"].method == "POST"
    assert json.loads(calls["/rp"].body) == {"k": 1}
    assert calls["/hx"].body == b"k=v"
    assert "Mozilla" in calls["/c"].headers["user-agent"]


REFUSALS = """
import json, time, urllib.error, urllib.request
import requests, httpx, curl_cffi, quelea_market

def refused(call, *kinds):
    began = time.monotonic()
    try:
        call()
    except kinds as error:
        print(json.dumps([str(error), time.monotonic() - began < 5]))
    else:
        print(json.dumps(["was answered", False]))

for path in ("refused", "slow-down", "down"):
    refused(lambda: requests.get(f"https://a.example/{path}"), requests.exceptions.ConnectionError)
refused(lambda: urllib.request.urlopen("https://a.example/refused"), urllib.error.URLError)
refused(lambda: httpx.get("https://a.example/refused"), quelea_market.MarketRefused)
refused(lambda: httpx.get("https://a.example/slow-down"), httpx.ConnectError)
refused(lambda: curl_cffi.get("https://a.example/refused"), curl_cffi.requests.exceptions.ConnectionError)
print(json.dumps([requests.get("https://a.example/own-403").json(), True]))
"""


async def test_what_the_door_refuses_is_each_librarys_own_error_with_the_doors_words(door: Door) -> None:
    async with docker_sandbox(market_socket_dir=door.folder, preload="") as client:
        got = await asked(client, REFUSALS)
        wrong = await asked(
            client,
            REFUSALS.partition("for path")[0] + 'refused(lambda: requests.get("https://a.example/"), Exception)',
            token="wrong",
        )
    words = [str(line[0]) for line in got]  # type: ignore[index] # pairs
    assert all(line[1] for line in got)  # type: ignore[index] # pairs
    assert "refused https://a.example: because of host (host)" in words[0]
    assert "because of budget (budget; try again in 7 s)" in words[1]
    assert "because of upstream (upstream)" in words[2]
    assert all("because of host" in words[n] for n in (3, 4, 6))
    assert "because of budget" in words[5]
    assert words[7] == "{'upstream': 'says no'}"
    assert "no such token" in str(wrong[0])


async def test_cookies_of_sessions_are_kept(door: Door) -> None:
    code = """
import json, requests, curl_cffi
for session in (requests.Session(), curl_cffi.requests.Session()):
    session.get("https://a.example/cookie")
    print(json.dumps([session.get("https://a.example/cookie").json()["cookie"], session.get("https://b.example/cookie").json()["cookie"]]))
"""
    async with docker_sandbox(market_socket_dir=door.folder, preload="") as client:
        assert await asked(client, code) == [["a=1", ""], ["a=1", ""]]


@pytest.mark.slow(reason="a container imports all of akshare")
async def test_a_real_akshare_function_gives_its_frame(door: Door) -> None:
    code = """
import akshare, json
frame = akshare.stock_zh_a_hist(symbol="000001", start_date="20240101", end_date="20240105")
print(json.dumps([list(frame.columns)[:4], frame.shape, float(frame["收盘"].iloc[-1])]))
"""
    async with docker_sandbox(market_socket_dir=door.folder) as client:
        ((columns, shape, close),) = await asked(client, code)  # type: ignore[misc] # one line of three
    assert (columns, shape, close) == (["日期", "股票代码", "开盘", "收盘"], [2, 12], 9.2)
    assert door.calls[0].headers["x-quelea-upstream"] == "https://push2his.eastmoney.com"


NOWHERE = """
import json, time, urllib.request, socket
import requests, httpx, curl_cffi, urllib3, websockets.sync.client

calls = {
    "requests": lambda: requests.get("https://a.example/"),
    "urllib": lambda: urllib.request.urlopen("https://a.example/"),
    "httpx": lambda: httpx.get("https://a.example/"),
    "curl_cffi": lambda: curl_cffi.get("https://a.example/"),
    "urllib3": lambda: urllib3.request("GET", "https://a.example/"),
    "websockets": lambda: websockets.sync.client.connect("wss://a.example/"),
    "curl_cffi ws": lambda: curl_cffi.requests.Session().ws_connect("wss://a.example/"),
    "ftp": lambda: urllib.request.urlopen("ftp://a.example/"),
    "socket": lambda: socket.socket(),
    "name": lambda: socket.getaddrinfo("a.example", 443),
}
for name, call in calls.items():
    began = time.monotonic()
    try:
        call()
    except Exception as error:
        print(json.dumps([name, "This run has no network" in str(error), time.monotonic() - began < 5]))
    else:
        print(json.dumps([name, "was answered", False]))
"""


async def test_without_a_token_every_call_fails_at_once_and_says_why(door: Door) -> None:
    async with docker_sandbox(market_socket_dir=door.folder, preload="") as client:
        got = await asked(client, NOWHERE, token="")
    assert len(got) == 10
    assert [line for line in got if line[1:] != [True, True]] == []  # type: ignore[index] # triples
    assert door.calls == []
