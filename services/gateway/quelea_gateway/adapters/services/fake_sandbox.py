"""A sandbox in memory that runs nothing: it reads off the code what honest code of that kind would bring."""

from __future__ import annotations

import ast
import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from typing import Any

from quelea.sandbox.v1 import sandbox_pb2, sandbox_pb2_grpc
from quelea_kit.errors import NotFound, QueleaError

from quelea_gateway.adapters.services.fake_door import FakeMarket
from quelea_gateway.core.agent.ports import CodeFile, Execution

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAGCAIAAAB1kpiRAAAAFUlEQVR42mM8YaPBgBswMeAFAykNAN1WATho08LsAAAAAElFTkSuQmCC"
)


class FakeSandbox:
    """Understands `print("...")` of constants, savefig and to_csv of a constant name, raise, and a few endings.

    A text that is printed may hold {market}: it becomes what the fake market answered to the first address that the
    code names. exit("timeout") ends like that. Sessions, tokens and cancelled runs are there for tests to see.
    """

    def __init__(self, market: FakeMarket | None = None) -> None:
        self.market = market
        self.ran: list[str] = []
        self.ran_in: list[str] = []
        """The session of each."""
        self.files: dict[str, bytes] = {}
        """What lay beside the last code."""
        self.sessions: dict[str, str] = {}
        self.spare: dict[str, float] = {}
        """Sessions that wait for another task, and how long they may."""
        self.closed: list[str] = []
        self.cancelled: list[str] = []
        self.error: QueleaError | None = None
        self.hangs = False
        self._opened = 0

    async def open(self, *, market_token: str, tenant: str) -> str:
        """A session."""
        if self.error:
            raise self.error
        self._opened += 1
        name = f"session-{self._opened}"
        self.sessions[name] = market_token
        return name

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
        """What the code would have brought."""
        if self.error:
            raise self.error
        if session_id and session_id not in self.sessions:
            raise NotFound("There is no such session.")
        self.ran.append(code)
        self.ran_in.append(session_id)
        self.files = {one.path: one.data for one in files}
        if self.hangs:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                self.cancelled.append(execution_id)
                raise
        return self._pretend(code, market_token)

    async def spare_session(self, session_id: str, *, tenant: str, spare: bool, idle_seconds: float) -> None:
        """Noted."""
        if session_id not in self.sessions:
            raise NotFound("There is no such session.")
        self.spare.pop(session_id, None)
        if spare:
            self.spare[session_id] = idle_seconds

    async def close_session(self, session_id: str) -> None:
        """End it."""
        self.sessions.pop(session_id, None)
        self.closed.append(session_id)

    def _pretend(self, code: str, token: str) -> Execution:
        try:
            tree = ast.parse(code)
        except SyntaxError as error:
            return Execution("error", error=f"SyntaxError: {error}")
        market, out, files = "", list[str](), list[CodeFile]()
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("https://"):
                market = self.market.fetch(node.value, token) if self.market else ""
        for line in tree.body:
            if isinstance(line, ast.Raise):
                trace = f'Traceback (most recent call last):\n  File "<code>"\n{ast.unparse(line)[6:]}'
                return Execution("error", "\n".join(out), error=trace, files=tuple(files))
            for call in (node for node in ast.walk(line) if isinstance(node, ast.Call)):
                name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
                given = [one.value for one in call.args if isinstance(one, ast.Constant)]
                if name in ("print", "untraced"):
                    text = " ".join(str(one) for one in given).replace("{market}", market)
                    out.append(text if name == "print" else f"\ue002{text}\ue003")
                elif name == "savefig" and given:
                    files.append(CodeFile(str(given[0]), PNG, "image/png"))
                elif name == "to_csv" and given:
                    files.append(CodeFile(str(given[0]), market.encode(), "text/csv"))
                elif name == "exit" and given:
                    return Execution(str(given[0]), "\n".join(out), session_alive=False)
        return Execution("ok", "\n".join(out), files=tuple(files), wall_seconds=0.01)


class FakeSandboxServicer(sandbox_pb2_grpc.SandboxServiceServicer):
    """The same over gRPC."""

    def __init__(self, sandbox: FakeSandbox) -> None:
        self._sandbox = sandbox

    async def CreateSession(  # noqa: N802  # the wire's name
        self, request: sandbox_pb2.CreateSessionRequest, context: Any
    ) -> sandbox_pb2.CreateSessionResponse:
        """A session."""
        name = await self._sandbox.open(market_token=request.market_token, tenant=request.tenant)
        return sandbox_pb2.CreateSessionResponse(session_id=name)

    async def SpareSession(  # noqa: N802  # the wire's name
        self, request: sandbox_pb2.SpareSessionRequest, context: Any
    ) -> sandbox_pb2.SpareSessionResponse:
        """Noted."""
        await self._sandbox.spare_session(
            request.session_id, tenant=request.tenant, spare=request.spare, idle_seconds=request.idle_seconds
        )
        return sandbox_pb2.SpareSessionResponse()

    async def CloseSession(  # noqa: N802  # the wire's name
        self, request: sandbox_pb2.CloseSessionRequest, context: Any
    ) -> sandbox_pb2.CloseSessionResponse:
        """End it."""
        await self._sandbox.close_session(request.session_id)
        return sandbox_pb2.CloseSessionResponse()

    async def Cancel(  # noqa: N802  # the wire's name
        self, request: sandbox_pb2.CancelRequest, context: Any
    ) -> sandbox_pb2.CancelResponse:
        """Noted."""
        self._sandbox.cancelled.append(request.execution_id)
        return sandbox_pb2.CancelResponse(found=True)

    async def GetCapacity(  # noqa: N802  # the wire's name
        self, request: sandbox_pb2.GetCapacityRequest, context: Any
    ) -> sandbox_pb2.GetCapacityResponse:
        """Some."""
        return sandbox_pb2.GetCapacityResponse(version="fake", backend="fake", ready=1, max_containers=4)

    async def Execute(  # noqa: N802  # the wire's name
        self, request: sandbox_pb2.ExecuteRequest, context: Any
    ) -> AsyncIterator[sandbox_pb2.ExecuteResponse]:
        """Started, output, files, finished."""
        yield sandbox_pb2.ExecuteResponse(
            started=sandbox_pb2.Started(
                execution_id=request.execution_id, session_id=request.session_id, backend="fake"
            )
        )
        done = await self._sandbox.execute(
            request.code,
            session_id=request.session_id,
            execution_id=request.execution_id,
            market_token=request.market_token,
            seconds=request.limits.wall_seconds,
            tenant=request.tenant,
            files=[CodeFile(one.path, one.data, one.media_type) for one in request.files],
        )
        for kind, text in (
            (sandbox_pb2.Output.STREAM_STDOUT, done.stdout),
            (sandbox_pb2.Output.STREAM_STDERR, done.stderr),
        ):
            if text:
                output = sandbox_pb2.Output(stream=kind, data=text.encode())
                yield sandbox_pb2.ExecuteResponse(output=output)
        for file in done.files:
            wire = sandbox_pb2.File(path=file.path, data=file.data, media_type=file.media_type)
            yield sandbox_pb2.ExecuteResponse(file=wire)
        reason = sandbox_pb2.ExitReason.Value(f"EXIT_REASON_{done.reason.upper()}")
        usage = sandbox_pb2.Usage(wall_seconds=done.wall_seconds)
        yield sandbox_pb2.ExecuteResponse(finished=sandbox_pb2.Finished(reason=reason, error=done.error, usage=usage))
