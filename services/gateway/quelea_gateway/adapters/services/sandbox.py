"""The sandbox service."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import grpc
from quelea.sandbox.v1 import sandbox_pb2, sandbox_pb2_grpc
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import Conflict, NotFound, QueleaError

from quelea_gateway.adapters.services.downstream import Health, naming
from quelea_gateway.core.agent.ports import CodeFile, Execution

SERVICE = "quelea.sandbox.v1.SandboxService"
_CANCEL_SECONDS = 3.0
_GRACE_SECONDS = 30.0
"""On top of the code's own limit: for its turn, a cold container and its files."""
_MOST_OUTPUT = 2 * 1024 * 1024
_SESSION_SECONDS = 15.0

_REASONS = {
    sandbox_pb2.EXIT_REASON_OK: "ok",
    sandbox_pb2.EXIT_REASON_ERROR: "error",
    sandbox_pb2.EXIT_REASON_TIMEOUT: "timeout",
    sandbox_pb2.EXIT_REASON_MEMORY: "memory",
    sandbox_pb2.EXIT_REASON_CANCELLED: "cancelled",
    sandbox_pb2.EXIT_REASON_DIED: "died",
    sandbox_pb2.EXIT_REASON_PROTOCOL: "protocol",
    sandbox_pb2.EXIT_REASON_ENGINE: "engine",
}
_SESSION_LIVES = ("ok", "error")


def _network(token: str) -> sandbox_pb2.NetworkPolicy.ValueType:
    return sandbox_pb2.NETWORK_POLICY_MARKET_DATA if token else sandbox_pb2.NETWORK_POLICY_NONE


class SandboxClient:
    """Client of the sandbox.

    Args:
        target: gRPC address.
        idle_seconds: A session without a step for so long ends by itself.
    """

    def __init__(self, target: str, *, idle_seconds: float = 300.0) -> None:
        self._channel: grpc.aio.Channel = channel(target, SERVICE, idempotent=["GetCapacity", "Cancel"])
        self._stub = sandbox_pb2_grpc.SandboxServiceStub(self._channel)
        self._idle = idle_seconds
        self.health = Health(self._channel, SERVICE, "sandbox")

    async def open(self, *, market_token: str, tenant: str) -> str:
        """A session; its id."""
        request = sandbox_pb2.CreateSessionRequest(
            network=_network(market_token), market_token=market_token, tenant=tenant, idle_seconds=self._idle
        )
        with naming("sandbox"):
            return (await unary(self._stub.CreateSession(request, timeout=_SESSION_SECONDS + self._idle))).session_id

    async def execute(
        self,
        code: str,
        *,
        session_id: str,
        execution_id: str,
        market_token: str,
        seconds: float,
        tenant: str,
        files: Sequence[CodeFile] = (),
    ) -> Execution:
        """Run code as the next step of a session; a session that is gone is reported as such, not raised."""
        request = sandbox_pb2.ExecuteRequest(
            execution_id=execution_id,
            session_id=session_id,
            code=code,
            files=[sandbox_pb2.File(path=one.path, data=one.data, media_type=one.media_type) for one in files],
            limits=sandbox_pb2.Limits(wall_seconds=seconds),
            network=_network(market_token),
            market_token=market_token,
            tenant=tenant,
        )
        try:
            with naming("sandbox"):
                return await self._execute(request, seconds)
        except (NotFound, Conflict):
            return Execution("engine", error="The session is gone.", session_alive=False)
        except asyncio.CancelledError:
            await self._cancel(execution_id)
            raise

    async def _execute(self, request: sandbox_pb2.ExecuteRequest, seconds: float) -> Execution:
        outputs: dict[int, bytearray] = {sandbox_pb2.Output.STREAM_STDOUT: bytearray(),
                                         sandbox_pb2.Output.STREAM_STDERR: bytearray()}  # fmt: skip
        files: list[CodeFile] = []
        finished: sandbox_pb2.Finished | None = None
        call = self._stub.Execute(request, timeout=seconds + _GRACE_SECONDS)
        async with contextlib.aclosing(stream(call)) as replies:
            async for reply in replies:
                kind = reply.WhichOneof("event")
                if kind == "output" and reply.output.stream in outputs:
                    kept = outputs[reply.output.stream]
                    kept += reply.output.data[: max(0, _MOST_OUTPUT - len(kept))]
                elif kind == "file":
                    files.append(CodeFile(reply.file.path, reply.file.data, reply.file.media_type))
                elif kind == "finished":
                    finished = reply.finished
        if finished is None:
            return Execution("engine", error="The run ended without saying how.", session_alive=False)
        reason = _REASONS.get(finished.reason, "engine")
        return Execution(
            reason=reason,
            stdout=outputs[sandbox_pb2.Output.STREAM_STDOUT].decode("utf-8", "replace"),
            stderr=outputs[sandbox_pb2.Output.STREAM_STDERR].decode("utf-8", "replace"),
            error=finished.error,
            files=tuple(files),
            wall_seconds=finished.usage.wall_seconds,
            dropped_bytes=finished.dropped_output_bytes,
            refused_files=tuple(finished.refused_files),
            session_alive=reason in _SESSION_LIVES,
        )

    async def _cancel(self, execution_id: str) -> None:
        """The stream's end kills the run already; this is for a run whose stream never began."""
        with contextlib.suppress(QueleaError, asyncio.CancelledError):
            await asyncio.shield(
                unary(self._stub.Cancel(sandbox_pb2.CancelRequest(execution_id=execution_id), timeout=_CANCEL_SECONDS))
            )

    async def spare_session(self, session_id: str, *, tenant: str, spare: bool, idle_seconds: float) -> None:
        """Say that a session waits for another task, or has one again. Raises NotFound when it has ended."""
        request = sandbox_pb2.SpareSessionRequest(
            session_id=session_id, tenant=tenant, spare=spare, idle_seconds=idle_seconds or self._idle
        )
        with naming("sandbox"):
            await unary(self._stub.SpareSession(request, timeout=_SESSION_SECONDS))

    async def close_session(self, session_id: str) -> None:
        """End a session; no error when it has ended."""
        request = sandbox_pb2.CloseSessionRequest(session_id=session_id)
        with contextlib.suppress(NotFound), naming("sandbox"):
            await unary(self._stub.CloseSession(request, timeout=_SESSION_SECONDS))

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()
