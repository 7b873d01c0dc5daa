"""Containers of a Docker engine, through the Engine SDK. Its calls block: they run in threads, with deadlines."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import socket
import struct
import threading
from collections.abc import Callable, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import docker
from docker.errors import APIError, DockerException, NotFound
from quelea_kit.processes.process_identity import has_ended, this_process

from quelea_sandbox.adapters.backend import EngineError, Inspection, Stats
from quelea_sandbox.adapters.cgroup import Cgroup, find_cgroup
from quelea_sandbox.adapters.docker_options import OWNER, create_options, engine_fault, seccomp_profile
from quelea_sandbox.core.model import Shape
from quelea_sandbox.settings import SandboxSettings

T = TypeVar("T")

_STREAM_HEADER = struct.Struct(">BxxxL")
_READ_BYTES = 1 << 16
_SAID_BYTES = 2000


class DockerContainer:
    """One container, attached over a socket of its own.

    Args:
        engine: Where it is.
        name: Its name.
        identity: The engine's id of it.
        reader: What the engine sends of stdout and stderr, in blocks with eight bytes before each.
        writer: Its stdin.
        cgroup: Where the kernel counts for it; None where that cannot be seen from here.
    """

    def __init__(
        self,
        engine: DockerBackend,
        name: str,
        identity: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        cgroup: Cgroup | None,
    ) -> None:
        self.name = name
        self._engine = engine
        self._id = identity
        self._reader = reader
        self._writer = writer
        self._cgroup = cgroup
        self._left = 0
        self._stderr = False
        self._said = b""

    async def read(self) -> bytes:
        """The next bytes of stdout; of stderr only the end is kept."""
        try:
            while True:
                if not self._left:
                    stream, self._left = _STREAM_HEADER.unpack(await self._reader.readexactly(_STREAM_HEADER.size))
                    self._stderr = stream == 2
                data = await self._reader.read(min(self._left, _READ_BYTES))
                if not data:
                    return b""
                self._left -= len(data)
                if not self._stderr:
                    return data
                self._said = (self._said + data)[-_SAID_BYTES:]
        except (OSError, asyncio.IncompleteReadError):
            return b""

    async def write(self, data: bytes) -> None:
        """Bytes for stdin."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise EngineError(f"the container's stdin is closed: {error}") from error

    async def stats(self) -> Stats | None:
        """CPU time and the highest memory that the kernel counted; None for a container that has ended.

        From the kernel's own files where this process sees them: the engine takes up to a second for an answer.
        """
        if self._cgroup is not None:
            return await asyncio.to_thread(self._cgroup.read)
        with contextlib.suppress(EngineError):
            raw = await self._engine.call("stats", self._id, stream=False, one_shot=True)
            cpu = raw.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage", 0)
            memory = raw.get("memory_stats", {})
            # On cgroup v2 the engine knows no maximum: what is used at this moment stands in.
            peak = memory.get("max_usage") or memory.get("usage") or 0
            if cpu or peak:
                return Stats(cpu / 1e9, int(peak))
        return None

    async def inspect(self) -> Inspection:
        """How it is."""
        state = (await self._engine.call("inspect_container", self._id))["State"]
        return Inspection(bool(state["Running"]), bool(state["OOMKilled"]), int(state["ExitCode"]))

    async def remove(self) -> None:
        """Kill and remove it; one that is gone already is fine."""
        self._writer.close()
        await self._engine.remove(self._id)

    def said(self) -> str:
        """The end of its stderr."""
        return self._said.decode("utf-8", "replace").strip() or "it said nothing"


class DockerBackend:
    """A Docker engine.

    Args:
        settings: Address, image, options.
    """

    name = "docker"

    def __init__(self, settings: SandboxSettings) -> None:
        self.image = ""
        self._settings = settings
        self._seccomp = seccomp_profile(settings)
        self._named = bool(settings.owner)
        self._owner = settings.owner or this_process()
        self._api: docker.APIClient | None = None
        self._making = threading.Lock()
        self._judged = False
        self._threads = ThreadPoolExecutor(32, "docker")

    async def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the SDK's client in a thread, with a deadline.

        Raises:
            EngineError: The engine does not answer, or answers with an error.
        """
        return await self.in_thread(lambda: getattr(self._client(), method)(*args, **kwargs))

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Any blocking work with the SDK; errors as of `call`."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._settings.engine_seconds + 1):
                return await loop.run_in_executor(self._threads, work)
        except TimeoutError:
            raise EngineError(f"the engine did not answer within {self._settings.engine_seconds:g} s") from None
        except NotFound as error:
            raise _Gone(str(error.explanation)) from error
        except APIError as error:
            raise EngineError(f"the engine refused: {error.explanation}") from error
        except (DockerException, OSError) as error:  # what the SDK lets through of requests is an OSError
            raise EngineError(f"the engine at {self._settings.docker_host} does not answer: {error}") from error

    def _client(self) -> docker.APIClient:
        """The SDK's client; its making asks the engine for its version."""
        with self._making:
            if self._api is None:
                self._api = docker.APIClient(
                    base_url=self._settings.docker_host,
                    version="auto",
                    timeout=math.ceil(self._settings.engine_seconds),
                    max_pool_size=32,
                )
            return self._api

    async def check(self) -> None:
        """Whether the engine answers, has the image, and can enforce every limit."""
        try:
            found = await self.call("inspect_image", self._settings.image)
            if not self._judged and (fault := engine_fault(await self.call("info"), self._settings.runtime)):
                raise EngineError(fault)
        except _Gone:
            raise EngineError(
                f"the engine has no image {self._settings.image}; build it with: make runner-image"
            ) from None
        except EngineError:
            self._judged = False  # when it is back it may be another one
            raise
        self._judged = True
        self.image = found["Id"]

    async def create(self, shape: Shape, name: str) -> DockerContainer:
        """Create, attach, start; in this order nothing that the guest says is lost."""
        made = await self.in_thread(lambda: self._make(shape, name))
        try:
            attached = await self.in_thread(lambda: self._attach(made["Id"]))
            reader, writer = await asyncio.open_connection(sock=attached, limit=4 * _READ_BYTES)
            await self.call("start", made["Id"])
            state = (await self.call("inspect_container", made["Id"]))["State"]
            cgroup = await asyncio.to_thread(find_cgroup, int(state["Pid"]), made["Id"])
        except BaseException:
            with contextlib.suppress(EngineError):
                await self.remove(made["Id"])
            raise
        return DockerContainer(self, name, made["Id"], reader, writer, cgroup)

    def _make(self, shape: Shape, name: str) -> dict[str, Any]:
        options = create_options(
            self._client(),
            self._settings,
            shape,
            image=self.image or self._settings.image,
            owner=self._owner,
            seccomp=self._seccomp,
        )
        made: dict[str, Any] = self._client().create_container(name=name, **options)
        return made

    def _attach(self, identity: str) -> socket.socket:
        raw = self._client().attach_socket(identity, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        # The SDK's object is a reader around the connection; a copy of the descriptor is all that is needed of it.
        try:
            attached = socket.socket(fileno=os.dup(raw.fileno()))
        finally:
            raw.close()
        attached.setblocking(False)
        return attached

    async def remove(self, identity: str) -> None:
        """Kill and remove a container with its anonymous volumes."""
        with contextlib.suppress(_Gone):
            try:
                await self.call("remove_container", identity, force=True, v=True)
            except EngineError as error:
                if "already in progress" not in str(error):
                    raise
                for _ in range(100):  # somebody else removes it: until it is gone
                    await self.call("inspect_container", identity)
                    await asyncio.sleep(0.05)
                raise

    async def sweep(self, known: Set[str]) -> int:
        """Remove what is left of this owner, or of processes of this machine that are gone."""
        number = 0
        for found in await self.call("containers", all=True, filters={"label": OWNER}):
            owner = found["Labels"][OWNER]
            mine = owner == self._owner
            if (mine and not known & {one.lstrip("/") for one in found["Names"]}) or (
                not mine and not self._named and has_ended(owner)
            ):
                await self.remove(found["Id"])
                number += 1
        return number

    async def close(self) -> None:
        """Close connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._api is not None:
            self._api.close()


class _Gone(EngineError):
    """The engine has no such thing."""
