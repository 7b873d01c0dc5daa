"""The few calls of the API server that the sandbox makes, through kubernetes_asyncio: pods of one namespace, no more.

Objects are plain dicts as they are on the wire; the library brings addresses, credentials (read again as they rotate)
and connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
from kubernetes_asyncio import client as sdk
from kubernetes_asyncio import config
from kubernetes_asyncio.config.incluster_config import InClusterConfigLoader

from quelea_sandbox.adapters.backend import EngineError

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod's token and the API server's certificate are."""

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")

_AGAIN = (429, 500, 502, 503, 504)
_TRIES = 4
_LONGEST_PAUSE = 5.0
_HEARTBEAT_SECONDS = 20.0
_WS_CLOSE_SECONDS = 1.0
_HELP = {
    401: "the API server does not know this service's token",
    403: "the API server refuses",
    404: "there is no such thing",
}

Object = dict[str, Any]


class ApiError(EngineError):
    """The API server answered with an error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class PodApi:
    """Pods of one namespace.

    Args:
        namespace: Which.
        kubeconfig: How to get to the API server; None: as a pod of its cluster.
        seconds: Longest wait for one answer.
        account: Where a pod's credentials are.
    """

    def __init__(
        self, namespace: str, *, kubeconfig: Path | None = None, seconds: float = 20.0, account: Path = ACCOUNT
    ) -> None:
        self._namespace = namespace
        self._kubeconfig = kubeconfig
        self._seconds = seconds
        self._account = account
        self._making = asyncio.Lock()
        self._sdk: Any = None  # the library has no types

    async def create(self, pod: Object) -> Object:
        """Make it; not tried again where it may have been made."""
        return await self._ask("POST", "", body=pod, again=(429,))

    async def get(self, name: str) -> Object:
        """One pod."""
        return await self._ask("GET", f"/{name}")

    async def list(self, labels: str, *, most: int | None = None) -> list[Object]:
        """Those with these labels, of one consistent moment; in pages unless `most` says how many are enough."""
        found: list[Object] = []
        mark = ""
        while True:
            query = {"labelSelector": labels, "limit": str(most or 200), **({"continue": mark} if mark else {})}
            page = await self._ask("GET", "", query=query)
            found += page.get("items") or []
            mark = page.get("metadata", {}).get("continue") or ""
            if not mark or most:
                return found

    async def delete(self, name: str, *, grace: int) -> None:
        """Ask for its end; one that is gone is fine."""
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": grace}
        with contextlib.suppress(_Gone):
            await self._ask("DELETE", f"/{name}", body=body)

    async def watch(self, name: str, version: str, seconds: float) -> AsyncIterator[Object]:
        """A pod as it changes after a version; ends with the time, the connection, the version's age, or the pod.

        Raises:
            EngineError: Not even the first answer came.
        """
        query = {
            "watch": "true",
            "fieldSelector": f"metadata.name={name}",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, int(seconds))),
        }
        timeout = aiohttp.ClientTimeout(total=seconds + 1, sock_connect=self._seconds)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._request("GET", "", query=query, timeout=timeout)
            try:
                if answer.status != 200:
                    raise await _error(answer)
                async for line in answer.content:
                    event = json.loads(line)
                    if event["type"] in ("ERROR", "DELETED"):
                        return
                    if event["type"] in ("ADDED", "MODIFIED"):
                        yield event["object"]
            finally:
                answer.close()
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise EngineError(f"the API server closed a watch: {error or type(error).__name__}") from error

    async def attach(self, name: str, container: str) -> aiohttp.ClientWebSocketResponse:
        """stdin, stdout and stderr of a running container: messages whose first byte is the channel.

        Raises:
            EngineError: It could not be attached.
        """
        api = await self._client()
        headers: dict[str, str] = {}
        await api.update_params_for_auth(headers, [], ["BearerToken"])
        query = {"container": container, "stdin": "true", "stdout": "true", "stderr": "true", "tty": "false"}
        rest = api.rest_client
        try:
            async with asyncio.timeout(self._seconds):
                socket: aiohttp.ClientWebSocketResponse = await rest.pool_manager.ws_connect(
                    f"{self._base(api)}/{name}/attach",
                    params=query,
                    headers=headers,
                    protocols=PROTOCOLS,
                    heartbeat=_HEARTBEAT_SECONDS,
                    timeout=aiohttp.ClientWSTimeout(ws_close=_WS_CLOSE_SECONDS),
                    proxy=rest.proxy,
                    proxy_headers=rest.proxy_headers,
                    server_hostname=rest.server_hostname,
                )
        except aiohttp.WSServerHandshakeError as error:
            raise ApiError(
                f"{_HELP.get(error.status, 'the API server refuses')} to attach: {error.message}", error.status
            ) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineError(f"cannot attach to pod {name}: {error or type(error).__name__}") from error
        if socket.protocol not in PROTOCOLS:
            await socket.close()
            raise EngineError(f"the API server supports none of {', '.join(PROTOCOLS)}")
        return socket

    async def close(self) -> None:
        """Let go of connections."""
        if self._sdk is not None:
            await self._sdk.close()

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Object | None = None,
        again: tuple[int, ...] = _AGAIN,
    ) -> Object:
        """One answer within the deadline, after a few tries where trying again does no harm."""
        until = time.monotonic() + self._seconds
        for number in range(1, _TRIES + 1):
            pause = 0.1 * 2**number
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + until - time.monotonic()):
                    timeout = aiohttp.ClientTimeout(total=self._seconds)
                    answer = await self._request(method, path, query=query, body=body, timeout=timeout)
                    async with answer:
                        if answer.status < 300:
                            done: Object = await answer.json(content_type=None)
                            return done
                        problem: EngineError = await _error(answer)
                        retry = answer.status in again
                        pause = max(pause, _seconds(answer.headers.get("Retry-After")))
            except TimeoutError:
                raise EngineError(f"the API server did not answer within {self._seconds:g} s") from None
            except (aiohttp.ClientError, OSError, ValueError) as error:
                problem, retry = EngineError(f"the API server does not answer: {error}"), method != "POST"
            if not retry or number == _TRIES or time.monotonic() + pause > until:
                raise problem
            await asyncio.sleep(pause)
        raise AssertionError("the last try raises or returns")

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Object | None = None,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # the client's own
    ) -> aiohttp.ClientResponse:
        api = await self._client()
        headers = {"Accept": "application/json"}
        await api.update_params_for_auth(headers, [], ["BearerToken"])
        answer: aiohttp.ClientResponse = await api.rest_client.request(
            method,
            f"{self._base(api)}{path}",
            query_params=list((query or {}).items()),
            headers=headers,
            body=body,
            _preload_content=False,
            _request_timeout=timeout,
        )
        return answer

    def _base(self, api: Any) -> str:
        return f"{api.configuration.host}/api/v1/namespaces/{self._namespace}/pods"

    async def _client(self) -> Any:
        """The library's client; made once, with credentials that it reads again as they rotate.

        Raises:
            EngineError: There are no credentials.
        """
        async with self._making:
            if self._sdk is None:
                configuration = sdk.Configuration()
                try:
                    if self._kubeconfig is None:
                        InClusterConfigLoader(
                            token_filename=str(self._account / "token"), cert_filename=str(self._account / "ca.crt")
                        ).load_and_set(configuration)
                    else:
                        await config.load_kube_config(
                            str(self._kubeconfig), client_configuration=configuration, persist_config=False
                        )
                except (config.ConfigException, OSError) as error:
                    raise EngineError(f"cannot reach the API server: {error}") from error
                configuration.connection_pool_maxsize = 0  # no bound: each container is a connection
                self._sdk = sdk.ApiClient(configuration)
            return self._sdk


class _Gone(ApiError):
    """There is no such pod."""


async def _error(answer: aiohttp.ClientResponse) -> ApiError:
    """What the API server said, in one sentence."""
    try:
        said = str((await answer.json(content_type=None))["message"])
    except (ValueError, KeyError, TypeError, aiohttp.ClientError):
        said = f"HTTP {answer.status}"
    words = f"{_HELP.get(answer.status, 'the API server answers')}: {said}"
    return (_Gone if answer.status == 404 else ApiError)(words, answer.status)


def _seconds(text: str | None) -> float:
    try:
        return min(_LONGEST_PAUSE, float(text or 0))
    except ValueError:
        return 0.0
