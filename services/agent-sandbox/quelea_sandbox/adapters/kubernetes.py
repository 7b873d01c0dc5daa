"""Pods of a Kubernetes cluster: one pod is one container, attached through the API server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Set
from datetime import UTC, datetime
from typing import TypeVar

import aiohttp

from quelea_sandbox.adapters.backend import EngineError, Inspection, Stats
from quelea_sandbox.adapters.kubernetes_api import ApiError, PodApi
from quelea_sandbox.adapters.kubernetes_options import (
    CONTAINER,
    NOT_FOUND,
    OWNER,
    Pod,
    inspection_of,
    is_running,
    pod_of,
    waits_for,
)
from quelea_sandbox.core.model import Shape
from quelea_sandbox.settings import SandboxSettings

T = TypeVar("T")

_STDIN, _STDOUT, _STDERR, _STATUS = 0, 1, 2, 3
_WRITE_BYTES = 32 << 10
_SAID_BYTES = 2000
_LAST_SECONDS = 2.0
_STATUS_SECONDS = 10.0
_GRACE_SECONDS = 1
_FORCE_SECONDS = 60.0
_ATTACH_TRIES = 5


class KubernetesContainer:
    """One pod, attached over a WebSocket of its own.

    Args:
        backend: Where it is.
        name: Its name.
        socket: Messages with the channel in their first byte.
    """

    def __init__(self, backend: KubernetesBackend, name: str, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.name = name
        self._backend = backend
        self._socket = socket
        self._said = b""
        self._finished = False
        self._ended = False

    async def read(self) -> bytes:
        """The next bytes of stdout; of stderr only the end is kept."""
        while not self._ended:
            try:
                message = await self._socket.receive(_LAST_SECONDS if self._finished else None)
            except (TimeoutError, aiohttp.ClientError, OSError):
                break
            if message.type is not aiohttp.WSMsgType.BINARY:
                break
            channel, data = message.data[:1], message.data[1:]
            if channel == bytes([_STDOUT]) and data:
                return bytes(data)
            if channel == bytes([_STDERR]):
                self._said = (self._said + data)[-_SAID_BYTES:]
            elif channel == bytes([_STATUS]) and data:
                # The kubelet's word that the container's streams have ended; a connection that breaks has none.
                self._finished = _is_success(data)
        self._ended = True
        return b""

    async def write(self, data: bytes) -> None:
        """Bytes for stdin."""
        view = memoryview(data)
        try:
            for start in range(0, len(view), _WRITE_BYTES):
                await self._socket.send_bytes(bytes([_STDIN]) + view[start : start + _WRITE_BYTES])
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            raise EngineError(f"the pod's stdin is closed: {error}") from error

    async def stats(self) -> Stats | None:
        """None: a cluster's metrics are of the last quarter of a minute, and of no use for a run."""
        return None

    async def inspect(self) -> Inspection:
        """How it is; after its streams have ended, with the patience that a kubelet needs to report."""
        until = time.monotonic() + (_STATUS_SECONDS if self._ended else 0.0)
        found = await self._backend.inspection(self.name, until)
        if found is None:
            return Inspection(True, False, 0)
        if self._ended and not self._finished and found.exit_code == 0:
            # The guest ends by itself when nobody is attached any more.
            raise EngineError("the API server closed the connection to the pod")
        return found

    async def remove(self) -> None:
        """Kill it and wait until it is gone."""
        # At the same time: a stream that nobody reads any more may hold up the end of a container that floods it.
        hanging_up = asyncio.create_task(self._hang_up())
        try:
            await self._backend.remove(self.name)
        finally:
            await hanging_up

    async def _hang_up(self) -> None:
        with contextlib.suppress(aiohttp.ClientError, OSError, RuntimeError):
            await self._socket.close()

    def said(self) -> str:
        """The end of its stderr."""
        return self._said.decode("utf-8", "replace").strip() or "it said nothing"


class KubernetesBackend:
    """Pods in one namespace.

    Args:
        settings: Where, and what they are made of.
        api: The API server; None: the one that the settings name.
    """

    name = "kubernetes"

    def __init__(self, settings: SandboxSettings, api: PodApi | None = None) -> None:
        self.image = ""
        self._settings = settings
        self._api = api or PodApi(settings.namespace, kubeconfig=settings.kubeconfig, seconds=settings.engine_seconds)

    async def check(self) -> None:
        """Whether the API server answers and lets us at the namespace's pods. Whether pods start, the pool sees."""
        await self._api.list(f"{OWNER}={self._settings.owner}", most=1)
        self.image = self._settings.image

    async def create(self, shape: Shape, name: str) -> KubernetesContainer:
        """Make the pod, wait until it runs, attach, and only then let its guest begin: nothing it says is lost."""
        until = time.monotonic() + self._settings.start_seconds
        await self._api.create(pod_of(self._settings, shape, name))
        try:
            await self._until(name, until, is_running)
            socket = await self._attach(name)
            container = KubernetesContainer(self, name, socket)
            await container.write(b"\n")
        except BaseException:
            with contextlib.suppress(EngineError):
                await self._api.delete(name, grace=_GRACE_SECONDS)
            raise
        return container

    async def inspection(self, name: str, until: float) -> Inspection | None:
        """How a pod ended; None when the cluster does not say so until then.

        Raises:
            EngineError: The API server does not answer, or the cluster ended the pod.
        """
        try:
            return await self._until(name, until, inspection_of)
        except _Late:
            return None
        except ApiError as error:
            if error.status == NOT_FOUND:
                raise EngineError("the pod disappeared: it was deleted, or its node was lost") from error
            raise

    async def remove(self, name: str) -> None:
        """Delete a pod and wait until its node says that it has ended.

        Not with a grace of 0: that removes the object at once, while the code may run on.
        """
        await self._api.delete(name, grace=_GRACE_SECONDS)
        try:
            await self._until(name, time.monotonic() + self._settings.engine_seconds, lambda _: None)
        except _Late:
            raise EngineError(f"pod {name} does not terminate; its node may be lost") from None
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise

    async def sweep(self, known: Set[str]) -> int:
        """Remove pods of this owner that nobody here knows; of a node that is gone by force."""
        number = 0
        for pod in await self._api.list(f"{OWNER}={self._settings.owner}"):
            name, leaving = pod["metadata"]["name"], pod["metadata"].get("deletionTimestamp")
            if name not in known and not leaving:
                await self._api.delete(name, grace=_GRACE_SECONDS)
                number += 1
            elif leaving and _seconds_since(leaving) > _FORCE_SECONDS:
                await self._api.delete(name, grace=0)
        return number

    async def close(self) -> None:
        """Wait for what was told to go, and close connections."""
        until = time.monotonic() + self._settings.engine_seconds / 2
        with contextlib.suppress(EngineError):
            while time.monotonic() < until and await self._api.list(f"{OWNER}={self._settings.owner}", most=1):  # noqa: ASYNC110  # the API server is asked
                await asyncio.sleep(0.2)
        await self._api.close()

    async def _attach(self, name: str) -> aiohttp.ClientWebSocketResponse:
        for number in range(1, _ATTACH_TRIES + 1):
            try:
                return await self._api.attach(name, CONTAINER)
            except ApiError as error:
                # The kubelet may learn a moment after the API server that it runs.
                if number == _ATTACH_TRIES or error.status in (401, 403):
                    raise
            await asyncio.sleep(0.1 * 2**number)
        raise AssertionError("the last try raises or returns")

    async def _until(self, name: str, until: float, seen: Callable[[Pod], T | None]) -> T:
        """What is made of a pod as soon as it is something: asked once, then watched.

        Raises:
            _Late: Not until then.
            ApiError: 404 when the pod is gone.
            EngineError: The API server does not answer.
        """
        while True:
            pod = await self._api.get(name)
            if result := seen(pod):
                return result
            left = until - time.monotonic()
            if left <= 0:
                raise _Late(f"the pod did not become ready in time; {waits_for(pod)}")
            with contextlib.suppress(EngineError):  # a watch that ends is begun again, after asking
                events = self._api.watch(name, pod["metadata"]["resourceVersion"], left)
                async with contextlib.aclosing(events):  # type: ignore[type-var]  # an async generator, typed by what it yields
                    async for pod in events:
                        if result := seen(pod):
                            return result
            await asyncio.sleep(min(0.1, max(0.0, until - time.monotonic())))


class _Late(EngineError):
    """It took too long."""


def _is_success(data: bytes) -> bool:
    try:
        return bool(json.loads(data)["status"] == "Success")
    except (ValueError, KeyError, TypeError):
        return False


def _seconds_since(timestamp: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(timestamp)).total_seconds()
