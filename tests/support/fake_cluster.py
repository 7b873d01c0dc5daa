"""A small and strict API server: pods of one namespace, as real containers (fake_kubelet). It is no cluster."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import re
import secrets
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web
from quelea_kit.testing import free_port
from support.fake_admission import RUNTIME_CLASSES, Refused, kubeconfig_of, problems_of
from support.fake_kubelet import Kubelet, Object

SCOPED = {f"{verb} pods" for verb in ("create", "get", "list", "watch", "delete")} | {
    "create pods/attach",
    "get pods/attach",
}


class FakeCluster:
    """One namespace, one node.

    Args:
        namespace: The one in which anything is allowed.
        protocols: Subprotocols of attach that it speaks.
        tls: To serve HTTPS.
        options: For the kubelet.
    """

    def __init__(
        self,
        namespace: str = "runs",
        *,
        protocols: tuple[str, ...] = ("v5.channel.k8s.io", "v4.channel.k8s.io"),
        tls: ssl.SSLContext | None = None,
        **options: Any,
    ) -> None:
        self.namespace = namespace
        self.tokens = {"token-one"}
        self.rights = set(SCOPED)
        self.pod_quota = 50
        self.faults: list[tuple[str, int, dict[str, str]]] = []
        """The next requests whose "METHOD path" matches this get that status, with those headers; each once."""

        self.seen: list[str] = []
        self.errors: list[str] = []
        """What a real API server would have refused, or done in another way than the caller may think."""

        self.pods: dict[str, Object] = {}
        self.created: list[Object] = []
        self.port = free_port()
        self.name = f"fake-{secrets.token_hex(4)}"
        self.kubelet = Kubelet(self._report, self.name, **options)
        self._protocols = protocols
        self._tls = tls
        self._version = 1000
        self._oldest = 0
        self._log: list[tuple[int, str, Object]] = []
        self._news = asyncio.Event()
        self._open: set[asyncio.Transport] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def kubeconfig(self, folder: Path, token: str = "token-one") -> Path:  # noqa: S107  # not a secret
        """A file that leads here."""
        path = folder / "kubeconfig"
        path.write_text(json.dumps(kubeconfig_of(self.url, token)))
        return path

    async def start(self) -> None:
        """Listen, at the same port each time."""
        app = web.Application(client_max_size=2 << 20)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._tls, reuse_address=True).start()

    async def stop(self) -> None:
        """As when the API server dies: all connections break, the pods live on."""
        self.drop()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def close(self) -> None:
        """Stop, and remove what runs."""
        await self.stop()
        for task in list(self._ending):
            task.cancel()
        await self.kubelet.close()

    def drop(self) -> None:
        """Break watches and attached streams without a word."""
        for transport in list(self._open):
            transport.abort()

    def forget(self) -> None:
        """Compact: watches from before now are answered with 410."""
        self._oldest = self._version

    @contextlib.contextmanager
    def _long(self, request: web.Request) -> Iterator[None]:
        """A request that goes on, until `drop`."""
        transport = request.transport
        assert transport is not None
        self._open.add(transport)
        try:
            yield
        finally:
            self._open.discard(transport)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        what = f"{request.method} {request.path}"
        self.seen.append(what)
        try:
            for fault in self.faults:
                if re.search(fault[0], what):
                    self.faults.remove(fault)
                    raise Refused(fault[1], "AsTheTestSays", f"fault {fault[1]}", fault[2])
            return await self._route(request)
        except Refused as error:
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": str(error)}
            return web.json_response(
                {**status, "reason": error.reason, "code": error.code}, status=error.code, headers=error.headers
            )

    async def _route(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            raise Refused(401, "Unauthorized", "Unauthorized")
        found = re.fullmatch(r"/api/v1/namespaces/([^/]+)/pods(?:/([^/]+))?(/attach)?", request.path)
        if not found:
            self.errors.append(f"no such path: {request.path}")
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        namespace, name, attach = found.groups()
        watch = request.query.get("watch") == "true"
        verb = {"POST": "create", "DELETE": "delete", "GET": "get" if name else "watch" if watch else "list"}[
            request.method
        ]
        resource = "pods/attach" if attach else "pods"
        wanted = {f"{verb} {resource}"} | ({"create pods/attach"} if attach else set())
        if namespace != self.namespace or not wanted <= self.rights:
            who = f'User "sandbox" cannot {verb} resource "{resource}" in the namespace "{namespace}"'
            raise Refused(403, "Forbidden", f"{resource} is forbidden: {who}")
        if verb == "create" and not attach:
            return web.json_response(self._create(await request.json()), status=201)
        if not name:
            return await self._watch(request) if watch else self._list(request)
        if name not in self.pods:
            raise Refused(404, "NotFound", f'pods "{name}" not found')
        if attach:
            return await self._attach(request, name)
        if verb == "delete":
            return self._delete(name, await request.json())
        self._only(request, set())
        return web.json_response(self.pods[name])

    def _create(self, pod: Object) -> Object:
        if why := problems_of(pod, self.namespace):
            self.errors.append(f"invalid: {why}")
            raise Refused(422, "Invalid", f"Pod is invalid: {why}")
        name, runtime = pod["metadata"]["name"], pod["spec"].get("runtimeClassName")
        if runtime not in (None, *RUNTIME_CLASSES):
            raise Refused(403, "Forbidden", f'pod rejected: RuntimeClass "{runtime}" not found')
        if name in self.pods:
            raise Refused(409, "AlreadyExists", f'pods "{name}" already exists')
        if len(self.pods) >= self.pod_quota:
            raise Refused(403, "Forbidden", f"exceeded quota: runs, limited: pods={self.pod_quota}")
        made = copy.deepcopy(pod)
        made["metadata"] |= {"uid": secrets.token_hex(8), "creationTimestamp": _now()}
        made["status"] = {"phase": "Pending"}
        self.created.append(copy.deepcopy(pod))
        self._put("ADDED", made)
        self.kubelet.run(made)
        return made

    def _list(self, request: web.Request) -> web.Response:
        self._only(request, {"labelSelector", "limit", "continue"})
        key, _, value = request.query.get("labelSelector", "").partition("=")
        found = [one for one in self.pods.values() if not key or one["metadata"]["labels"].get(key) == value]
        start, most = int(request.query.get("continue", "0")), int(request.query.get("limit", "500"))
        metadata = {"resourceVersion": str(self._version)}
        if len(found) > start + most:
            metadata["continue"] = str(start + most)
        return web.json_response(
            {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": found[start : start + most]}
        )

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        self._only(request, {"watch", "fieldSelector", "resourceVersion", "timeoutSeconds"})
        name = request.query["fieldSelector"].removeprefix("metadata.name=")
        after, seconds = int(request.query["resourceVersion"]), float(request.query["timeoutSeconds"])
        if after < self._oldest:
            raise Refused(410, "Expired", "too old resource version")
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        await answer.prepare(request)
        with self._long(request), contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(seconds):
                while True:
                    news = self._news
                    for version, kind, pod in [
                        e for e in self._log if e[0] > after and e[2]["metadata"]["name"] == name
                    ]:
                        await answer.write(json.dumps({"type": kind, "object": pod}).encode() + b"\n")
                        after = version
                    await news.wait()
        return answer

    async def _attach(self, request: web.Request, name: str) -> web.StreamResponse:
        self._only(request, {"container", "stdin", "stdout", "stderr", "tty"})
        state = self.pods[name]["status"].get("containerStatuses", [{}])[0].get("state", {})
        if "running" not in state:
            raise Refused(500, "InternalError", f"container {request.query['container']} is not running")
        web_socket = web.WebSocketResponse(protocols=self._protocols)
        ready = web_socket.can_prepare(request)
        if not ready.ok or ready.protocol is None:
            raise Refused(403, "Forbidden", "no subprotocol in common")
        attached = await asyncio.to_thread(self.kubelet.attach, name)
        reader, writer = await asyncio.open_connection(sock=attached)
        await web_socket.prepare(request)
        for channel in (b"\1", b"\2", b"\3"):  # as a real one does
            await web_socket.send_bytes(channel)

        async def outwards() -> None:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    stream, data = await self.kubelet.block(reader)
                    for start in range(0, len(data), 32 << 10):
                        await web_socket.send_bytes(bytes([stream]) + data[start : start + (32 << 10)])
            await web_socket.send_bytes(b"\3" + json.dumps({"metadata": {}, "status": "Success"}).encode())
            await web_socket.close()

        async def hang_up() -> None:
            await self.kubelet.stderr_ended(name)
            with contextlib.suppress(OSError):
                writer.write_eof()

        sending, hanging_up = asyncio.create_task(outwards()), asyncio.create_task(hang_up())
        with self._long(request), contextlib.suppress(ConnectionError):
            async for message in web_socket:
                if message.type is not WSMsgType.BINARY or message.data[0] != 0:
                    self.errors.append(f"not stdin: {message.type} {message.data[:20]!r}")
                    break
                writer.write(message.data[1:])
                await writer.drain()
        sending.cancel()
        hanging_up.cancel()
        writer.close()
        return web_socket

    def _delete(self, name: str, options: Object) -> web.Response:
        if set(options) - {"apiVersion", "kind", "gracePeriodSeconds", "preconditions", "propagationPolicy"}:
            self.errors.append(f"DeleteOptions: {options}")
        pod, grace = self.pods[name], int(options["gracePeriodSeconds"])
        task = asyncio.create_task(self._end(name, grace))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        if grace == 0:  # the object is gone at once, and the node follows when it sees it
            self._gone(name)
        elif "deletionTimestamp" not in pod["metadata"]:
            pod["metadata"] |= {"deletionTimestamp": _now(), "deletionGracePeriodSeconds": grace}
            self._put("MODIFIED", pod)
        return web.json_response(pod)

    async def _end(self, name: str, grace: int) -> None:
        await self.kubelet.end(name, grace)
        self._gone(name)

    def _gone(self, name: str) -> None:
        if pod := self.pods.get(name):
            self._put("DELETED", pod)
            del self.pods[name]

    def _report(self, name: str, status: Object) -> None:
        if pod := self.pods.get(name):
            pod["status"] = status
            self._put("MODIFIED", pod)

    def _put(self, kind: str, pod: Object) -> None:
        self._version += 1
        pod["metadata"]["resourceVersion"] = str(self._version)
        self.pods[pod["metadata"]["name"]] = pod
        self._log.append((self._version, kind, copy.deepcopy(pod)))
        self._news.set()
        self._news = asyncio.Event()

    def _only(self, request: web.Request, known: set[str]) -> None:
        if set(request.query) - known:
            self.errors.append(f"unknown parameters {set(request.query) - known} of {request.path}")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
