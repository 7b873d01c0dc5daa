"""curl_cffi, which yfinance and parts of akshare use: its sessions keep their shape, libcurl is not asked."""

from __future__ import annotations

import asyncio
import email.message
import urllib.parse
from datetime import timedelta
from time import monotonic
from types import ModuleType
from typing import Any

import requests
from curl_cffi.requests import exceptions
from curl_cffi.requests.cookies import Cookies
from curl_cffi.requests.headers import Headers
from curl_cffi.requests.models import Request
from requests.cookies import MockRequest, MockResponse

from quelea_market import door
from quelea_market.errors import ONLY_HTTP, MarketError

# Sent where the code asks curl_cffi to look like a browser: which one matters to nobody behind the door.
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"


def _prepare(session: Any, method: str, url: str, options: dict[str, Any]) -> Any:
    # requests knows how params, data, json, files, auth and cookies become a call.
    if session.base_url:
        url = urllib.parse.urljoin(str(session.base_url), url)
    if session.params:
        options["params"] = {**dict(session.params), **dict(options.get("params") or {})}
    headers = {name: value for name, value in dict(session.headers or {}).items() if value is not None}
    headers.update({name: value for name, value in dict(options.get("headers") or {}).items() if value is not None})
    if not any(name.lower() == "user-agent" for name in headers):
        headers["User-Agent"] = BROWSER
    if options.get("referer"):
        headers["Referer"] = options["referer"]
    request = requests.Request(
        method,
        url,
        params=options.get("params"),
        data=options.get("content") or options.get("data"),
        json=options.get("json"),
        headers=headers,
        files=options.get("files"),
        auth=options.get("auth") or session.auth,
    )
    prepared = request.prepare()
    jar = requests.cookies.RequestsCookieJar()
    jar.update(session.cookies.jar)
    extra = options.get("cookies")
    if extra:
        jar.update(dict(extra))
    cookie = requests.cookies.get_cookie_header(jar, prepared)
    if cookie and "Cookie" not in prepared.headers:
        prepared.headers["Cookie"] = cookie
    return prepared


def patch_curl(module: ModuleType) -> None:
    """Sessions, synchronous and not, hand the whole call to the door; WebSockets lead nowhere."""
    names, async_names = _names(module.Session._request_once), _names(module.AsyncSession._request_once)

    def request_once(self: Any, *args: Any, **options: Any) -> Any:
        options.update(zip(names, args, strict=False))
        if options.get("stream"):
            return _streaming(_call(self, options.pop("method"), options.pop("url"), options))
        return _call(self, options.pop("method"), options.pop("url"), options)

    async def async_request_once(self: Any, *args: Any, **options: Any) -> Any:
        options.update(zip(async_names, args, strict=False))
        response = await asyncio.to_thread(_call, self, options.pop("method"), options.pop("url"), options)
        return _streaming(response) if options.get("stream") else response

    def ws_connect(self: Any, *args: Any, **options: Any) -> Any:
        raise exceptions.ConnectionError(ONLY_HTTP)

    module.Session._request_once = request_once
    module.AsyncSession._request_once = async_request_once
    module.Session.ws_connect = ws_connect
    module.AsyncSession.ws_connect = ws_connect


def _fill(session: Any, prepared: Any, answer: Any, seconds: float, discard: bool) -> Any:
    status, reason, headers, body = answer
    response = session.response_class(None, Request(prepared.url, Headers(dict(prepared.headers)), prepared.method))
    response.url, response.status_code, response.reason = prepared.url, status, reason
    response.ok, response.content, response.headers = 200 <= status < 400, body, Headers(headers)
    response.elapsed, response.download_size = timedelta(seconds=seconds), len(body)
    response.cookies = Cookies()
    _take_cookies(response.cookies.jar, prepared, headers)
    if not (discard or session.discard_cookies):
        _take_cookies(session.cookies.jar, prepared, headers)
    if session.raise_for_status:
        response.raise_for_status()
    return response


def _call(session: Any, method: str, url: str, options: dict[str, Any]) -> Any:
    session._check_session_closed()
    prepared = _prepare(session, method, url, options)
    body = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
    limit = options.get("timeout")
    limit = limit if isinstance(limit, (int, float, tuple)) else session.timeout
    limit = limit[-1] if isinstance(limit, tuple) else limit
    began = monotonic()
    try:
        answer = door.exchange(prepared.method, prepared.url, list(prepared.headers.items()), body, limit)
    except MarketError as error:
        raise exceptions.ConnectionError(str(error)) from error
    except TimeoutError as error:
        raise exceptions.Timeout(str(error)) from error
    except OSError as error:
        raise exceptions.ConnectionError(str(error)) from error
    response = _fill(session, prepared, answer, monotonic() - began, bool(options.get("discard_cookies")))
    callback = options.get("content_callback")
    if callback:
        callback(response.content)
    return response


def _names(function: Any) -> tuple[str, ...]:
    count = function.__code__.co_argcount
    return tuple(function.__code__.co_varnames[1:count])


def _streaming(response: Any) -> Any:
    # Everything is here already: the stream is one piece.
    content = response.content

    async def pieces(*_: Any, **__: Any) -> Any:
        yield content

    response.iter_content = lambda *_, **__: iter([content])
    response.aiter_content = pieces
    response.close = lambda: None
    return response


def _take_cookies(jar: Any, prepared: Any, headers: list[tuple[str, str]]) -> None:
    message = email.message.Message()
    for name, value in headers:
        if name.lower() == "set-cookie":
            message["Set-Cookie"] = value
    jar.extract_cookies(MockResponse(message), MockRequest(prepared))
