"""SandboxService: wire <-> core."""

from __future__ import annotations

import contextlib
import re
import secrets
import time
from collections.abc import AsyncGenerator
from importlib.metadata import version

import grpc
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea.sandbox.v1 import sandbox_pb2_grpc as pb_grpc
from quelea_kit.errors import InvalidInput, TooLarge, Unsupported

from quelea_sandbox.adapters.backend import Backend
from quelea_sandbox.adapters.door import door_of
from quelea_sandbox.core.conversation import announcement
from quelea_sandbox.core.files import check_inputs
from quelea_sandbox.core.frames import MAX_FRAME
from quelea_sandbox.core.model import InputFile, Limits, Output, ReturnedFile, Task
from quelea_sandbox.pool import Pool
from quelea_sandbox.runs import Began, Request, RunEvent, Runs
from quelea_sandbox.sessions import Sessions
from quelea_sandbox.settings import SandboxSettings

NAME = pb.DESCRIPTOR.services_by_name["SandboxService"].full_name

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_TENANT = 200
_LONGEST_TOKEN = 4096
_ROOM_IN_FRAME = 2 * _LONGEST_TOKEN  # environment and ids, beside code and file names


class SandboxService(pb_grpc.SandboxServiceServicer):
    """The rpcs, over a backend.

    Args:
        backend: Makes containers.
        settings: Limits and bounds.
    """

    def __init__(self, backend: Backend, settings: SandboxSettings) -> None:
        self._backend = backend
        self._settings = settings
        self._pool = Pool(backend, settings.warm_shapes, settings.pool_limits)
        self._sessions = Sessions(
            self._pool, most=settings.session_places, most_per_tenant=settings.max_sessions_per_tenant
        )
        self._runs = Runs(self._pool, self._sessions, settings.rules, door_of(settings))

    @property
    def pool(self) -> Pool:
        """The containers."""
        return self._pool

    def start(self) -> None:
        """Begin to make containers, in the background."""
        self._pool.start()
        self._sessions.start()

    async def stop(self) -> None:
        """End everything and remove every container of this service."""
        await self._sessions.stop()
        await self._pool.close()

    async def Execute(  # noqa: N802  # the name of the rpc
        self,
        request: pb.ExecuteRequest,
        context: grpc.aio.ServicerContext[pb.ExecuteRequest, pb.ExecuteResponse],
    ) -> AsyncGenerator[pb.ExecuteResponse, None]:
        """Started, then output and files as they come, then finished. A caller that leaves kills the run."""
        began = time.perf_counter()
        wanted = self._to_request(request)
        async with contextlib.aclosing(self._runs.execute(wanted)) as events:
            async for event in events:
                yield self._to_response(event, wanted, began)

    async def CreateSession(  # noqa: N802  # the name of the rpc
        self,
        request: pb.CreateSessionRequest,
        context: grpc.aio.ServicerContext[pb.CreateSessionRequest, pb.CreateSessionResponse],
    ) -> pb.CreateSessionResponse:
        """Take a container and keep it."""
        tenant, token = _tenant(request.tenant), _token(request.market_token)
        market = bool(self._market(request.network, token, required=True))
        limits, shape = self._runs.container_of(_requested_limits(request.limits), market=market)
        idle = self._idle_seconds(request.idle_seconds) or self._settings.session_idle_seconds
        with self._sessions.place(tenant):
            keeper, _ = await self._pool.take(shape, tenant)
            session = self._sessions.open(keeper, tenant, limits, token, idle)
        return pb.CreateSessionResponse(session_id=session.id)

    async def SpareSession(  # noqa: N802  # the name of the rpc
        self,
        request: pb.SpareSessionRequest,
        context: grpc.aio.ServicerContext[pb.SpareSessionRequest, pb.SpareSessionResponse],
    ) -> pb.SpareSessionResponse:
        """Say whether a session waits for another task; one that does makes room where its place is needed."""
        idle = self._idle_seconds(request.idle_seconds)
        self._sessions.spare(request.session_id, _tenant(request.tenant), spare=request.spare, idle_seconds=idle)
        return pb.SpareSessionResponse()

    def _idle_seconds(self, asked: float) -> float:
        most = self._settings.max_session_idle_seconds
        if not 0 <= asked <= most:
            raise InvalidInput(f"idle_seconds must be from 0 (the default) to {most:g}.")
        return asked

    async def CloseSession(  # noqa: N802  # the name of the rpc
        self,
        request: pb.CloseSessionRequest,
        context: grpc.aio.ServicerContext[pb.CloseSessionRequest, pb.CloseSessionResponse],
    ) -> pb.CloseSessionResponse:
        """End a session; a step under way ends with it."""
        self._sessions.close(request.session_id)
        return pb.CloseSessionResponse()

    async def Cancel(  # noqa: N802  # the name of the rpc
        self,
        request: pb.CancelRequest,
        context: grpc.aio.ServicerContext[pb.CancelRequest, pb.CancelResponse],
    ) -> pb.CancelResponse:
        """Kill a run by its id."""
        if not _ID.fullmatch(request.execution_id):
            raise InvalidInput("execution_id must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -.")
        return pb.CancelResponse(found=self._runs.cancel(request.execution_id))

    async def GetCapacity(  # noqa: N802  # the name of the rpc
        self,
        request: pb.GetCapacityRequest,
        context: grpc.aio.ServicerContext[pb.GetCapacityRequest, pb.GetCapacityResponse],
    ) -> pb.GetCapacityResponse:
        """How full it is, and what a run may have."""
        counts, rules = self._pool.counts, self._settings.rules
        return pb.GetCapacityResponse(
            version=version("quelea-sandbox"),
            backend=self._backend.name,
            image=self._backend.image,
            ready=counts.ready,
            running=counts.running,
            starting=counts.starting,
            sessions=len(self._sessions),
            waiting=counts.waiting,
            max_containers=self._settings.max_containers,
            defaults=_to_limits(rules.defaults),
            maximum=_to_limits(rules.maximum),
        )

    def _to_request(self, request: pb.ExecuteRequest) -> Request:
        """The request as the core has it.

        Raises:
            InvalidInput: No code, an id or path that is not taken, no token for the door.
            TooLarge: Code or files over their limits.
            Unsupported: The door is asked for and this deployment has none.
        """
        identity = request.execution_id or secrets.token_hex(16)
        if not _ID.fullmatch(identity):
            raise InvalidInput("execution_id must be empty, or at most 64 characters of A-Z, a-z, 0-9, _ and -.")
        if not request.code.strip():
            raise InvalidInput("code is empty; send the Python to run.")
        if len(request.code.encode()) > self._settings.max_code_bytes:
            raise TooLarge(f"The code is longer than {self._settings.max_code_bytes} bytes; send data as files.")
        files = tuple(InputFile(file.path, file.data) for file in request.files)
        check_inputs(files, max_files=self._settings.max_files, max_bytes=self._settings.max_input_bytes)
        if len(announcement(Task(identity, request.code, files))) > MAX_FRAME - _ROOM_IN_FRAME:
            raise TooLarge("The encoded code is longer than 1 MiB; send data as files.")
        token = _token(request.market_token)
        return Request(
            id=identity,
            code=request.code,
            tenant=_tenant(request.tenant),
            session_id=request.session_id,
            files=files,
            asked=_requested_limits(request.limits),
            market=self._market(request.network, token, required=not request.session_id),
            market_token=token,
        )

    def _market(self, network: int, token: str, *, required: bool) -> bool | None:
        if network == pb.NETWORK_POLICY_UNSPECIFIED:
            return None
        if network == pb.NETWORK_POLICY_NONE:
            return False
        if network != pb.NETWORK_POLICY_MARKET_DATA:
            raise InvalidInput("network must be NETWORK_POLICY_NONE or NETWORK_POLICY_MARKET_DATA.")
        if not self._settings.door:
            name = "MARKET_URL" if self._settings.backend == "kubernetes" else "MARKET_SOCKET_DIR"
            raise Unsupported(f"This sandbox has no market-data door; set QUELEA_SANDBOX_{name}.")
        if required and not token:
            raise InvalidInput(
                "NETWORK_POLICY_MARKET_DATA requires market_token, the session token of the market-data door."
            )
        return True

    def _to_response(self, event: RunEvent, request: Request, began: float) -> pb.ExecuteResponse:
        if isinstance(event, Began):
            return pb.ExecuteResponse(
                started=pb.Started(
                    execution_id=request.id,
                    session_id=event.session_id,
                    backend=self._backend.name,
                    warm=event.warm,
                    queue_ms=1000 * event.queue_seconds,
                )
            )
        if isinstance(event, Output):
            stream = pb.Output.STREAM_STDERR if event.stderr else pb.Output.STREAM_STDOUT
            return pb.ExecuteResponse(output=pb.Output(stream=stream, data=event.data))
        if isinstance(event, ReturnedFile):
            return pb.ExecuteResponse(file=pb.File(path=event.path, data=event.data, media_type=event.media_type))
        return pb.ExecuteResponse(
            finished=pb.Finished(
                reason=pb.ExitReason.Value(f"EXIT_REASON_{event.reason.name}"),
                error=event.error,
                usage=pb.Usage(
                    wall_seconds=event.usage.wall_seconds,
                    cpu_seconds=event.usage.cpu_seconds,
                    memory_peak_bytes=event.usage.memory_peak_bytes,
                ),
                dropped_output_bytes=event.dropped_output_bytes,
                refused_files=event.refused_files,
                total_ms=1000 * (time.perf_counter() - began),
            )
        )


def _requested_limits(limits: pb.Limits) -> tuple[tuple[str, float], ...]:
    named = ((field.name, getattr(limits, field.name)) for field in pb.Limits.DESCRIPTOR.fields)
    return tuple((name, value) for name, value in named if value)


def _to_limits(limits: Limits) -> pb.Limits:
    return pb.Limits(**{field.name: getattr(limits, field.name) for field in pb.Limits.DESCRIPTOR.fields})


def _tenant(tenant: str) -> str:
    if len(tenant) > _LONGEST_TENANT:
        raise InvalidInput(f"The tenant's name is longer than {_LONGEST_TENANT} characters.")
    return tenant


def _token(token: str) -> str:
    if len(token) > _LONGEST_TOKEN or not token.isprintable():
        raise InvalidInput(f"market_token must be at most {_LONGEST_TOKEN} printable characters.")
    return token
