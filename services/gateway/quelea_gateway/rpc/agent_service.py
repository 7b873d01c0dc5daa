"""The agent over gRPC: wire <-> the same runs as REST."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Any

import grpc
from quelea.gateway.v1 import agent_pb2, agent_pb2_grpc
from quelea_kit.errors import NotFound
from quelea_kit.paging import check_page_size

from quelea_gateway.core.agent.files import stored_name_of
from quelea_gateway.core.agent.model import Budget, Run
from quelea_gateway.core.agent.runs import run_requests
from quelea_gateway.exports import export_run
from quelea_gateway.gateway import Gateway

SERVICE = "quelea.gateway.v1.AgentService"
_PIECE = 1024 * 1024
_STATES = {
    "queued": agent_pb2.RUN_STATE_QUEUED,
    "running": agent_pb2.RUN_STATE_RUNNING,
    "finished": agent_pb2.RUN_STATE_FINISHED,
    "failed": agent_pb2.RUN_STATE_FAILED,
    "cancelled": agent_pb2.RUN_STATE_CANCELLED,
    "interrupted": agent_pb2.RUN_STATE_INTERRUPTED,
}


def _fill(message: Any, values: dict[str, Any]) -> Any:
    """A message of those values that it has fields for."""
    names = {field.name for field in message.DESCRIPTOR.fields}
    return message(**{name: value for name, value in values.items() if name in names})


def run_to_wire(run: Run) -> agent_pb2.Run:
    """As the wire has it."""
    wire = agent_pb2.Run(
        id=run.id,
        question=run.question,
        as_of=run.as_of,
        state=_STATES[run.state],
        model=run.model,
        created=run.created,
        started=run.started,
        finished=run.ended,
        error=run.error,
        bundle_ids=run.bundle_ids,
        follows=run.follows,
        budget=agent_pb2.RunBudget(
            steps=run.budget.steps, tokens=run.budget.tokens, seconds=run.budget.seconds, calls=run.budget.calls
        ),
        usage=agent_pb2.RunUsage(
            steps=run.usage.steps,
            tokens=run.usage.tokens,
            seconds=run.usage.seconds,
            calls=run.usage.calls,
            model_calls=run.usage.model_calls,
            prompt_tokens=run.usage.prompt_tokens,
            completion_tokens=run.usage.completion_tokens,
        ),
        artifacts=[
            agent_pb2.RunArtifact(name=one.name, media_type=one.media_type, bytes=one.bytes, step=one.step)
            for one in run.artifacts
        ],
    )
    if run.answer:
        answer = run.answer
        wire.answer.CopyFrom(
            agent_pb2.RunAnswer(
                text=answer["text"],
                complete=answer["complete"],
                sources=[_fill(agent_pb2.RunSource, one) for one in answer["sources"]],
                figures=[_fill(agent_pb2.RunFigure, one) for one in answer["figures"]],
                missing=answer["missing"],
                withheld=answer["withheld"],
                grounded=answer["grounded"],
                ended_by=answer.get("ended_by", ""),
            )
        )
    return wire


class AgentServicer(agent_pb2_grpc.AgentServiceServicer):
    """The agent over gRPC."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def StartRun(  # noqa: N802  # the wire's name
        self,
        request: agent_pb2.StartRunRequest,
        context: grpc.aio.ServicerContext[agent_pb2.StartRunRequest, agent_pb2.StartRunResponse],
    ) -> agent_pb2.StartRunResponse:
        """Queue a run."""
        async with self._gateway.reading(context, request.collections) as caller:
            runs = self._gateway.analyst.runs
            follows = await runs().get(caller.name, request.follows) if request.follows else None
            asked = request.budget
            wanted = run_requests.build(
                request.question,
                self._gateway.limits,
                self._gateway.analyst.budgets,
                tenant=caller.name,
                as_of=request.as_of,
                model=request.model,
                budget=Budget(asked.steps, asked.tokens, asked.seconds, asked.calls),
                bundle_ids=list(request.bundle_ids),
                follows=follows,
            )
            if wanted.bundle_ids:
                caller.principal.require_administrator()
            manager = await self._gateway.analyst.ready()
            return agent_pb2.StartRunResponse(run=run_to_wire(await manager.start(wanted)))

    async def WatchRun(  # noqa: N802  # the wire's name
        self,
        request: agent_pb2.WatchRunRequest,
        context: grpc.aio.ServicerContext[agent_pb2.WatchRunRequest, agent_pb2.WatchRunResponse],
    ) -> AsyncGenerator[agent_pb2.WatchRunResponse, None]:
        """Its events until it has ended."""
        with self._gateway.admitted(context) as caller:
            manager = self._gateway.analyst.runs()
            watched = caller.watch(manager.watch(caller.name, request.id, request.after))
            async with contextlib.aclosing(watched) as events:
                async for one in events:
                    yield agent_pb2.WatchRunResponse(
                        number=one.number,
                        event=one.name,
                        at=one.at,
                        data_json=json.dumps(one.data, ensure_ascii=False),
                    )

    async def GetRun(  # noqa: N802  # the wire's name
        self,
        request: agent_pb2.GetRunRequest,
        context: grpc.aio.ServicerContext[agent_pb2.GetRunRequest, agent_pb2.GetRunResponse],
    ) -> agent_pb2.GetRunResponse:
        """One run."""
        with self._gateway.admitted(context) as caller:
            run = await self._gateway.analyst.runs().get(caller.name, request.id)
            return agent_pb2.GetRunResponse(run=run_to_wire(run))

    async def ListRuns(  # noqa: N802  # the wire's name
        self,
        request: agent_pb2.ListRunsRequest,
        context: grpc.aio.ServicerContext[agent_pb2.ListRunsRequest, agent_pb2.ListRunsResponse],
    ) -> agent_pb2.ListRunsResponse:
        """The caller's, newest first; without answers."""
        with self._gateway.admitted(context) as caller:
            page_size = check_page_size(request.page_size)
            found, next_page_token = await self._gateway.analyst.runs().page(caller.name, page_size, request.page_token)
            shown = [run_to_wire(one.changed(answer=None)) for one in found]
            return agent_pb2.ListRunsResponse(runs=shown, next_page_token=next_page_token)

    async def CancelRun(  # noqa: N802  # the wire's name
        self,
        request: agent_pb2.CancelRunRequest,
        context: grpc.aio.ServicerContext[agent_pb2.CancelRunRequest, agent_pb2.CancelRunResponse],
    ) -> agent_pb2.CancelRunResponse:
        """End a run."""
        with self._gateway.admitted(context) as caller:
            found = await self._gateway.analyst.runs().cancel(caller.name, request.id)
            return agent_pb2.CancelRunResponse(found=found)

    async def GetArtifact(  # noqa: N802  # the wire's name
        self,
        request: agent_pb2.GetArtifactRequest,
        context: grpc.aio.ServicerContext[agent_pb2.GetArtifactRequest, agent_pb2.GetArtifactResponse],
    ) -> AsyncGenerator[agent_pb2.GetArtifactResponse, None]:
        """A file of a run, in pieces."""
        with self._gateway.admitted(context) as caller:
            manager = self._gateway.analyst.runs()
            run = await manager.get(caller.name, request.id)
            if request.name in ("notebook.ipynb", "report.pdf"):
                data = await export_run(manager, run, request.name)
            elif stored_name_of(run, request.name):
                data = await manager.artifact(caller.name, run.id, stored_name_of(run, request.name))
            else:
                raise NotFound(f"The run has no file {request.name[:80]!r}.")
            for start in range(0, len(data), _PIECE):
                yield agent_pb2.GetArtifactResponse(chunk=data[start : start + _PIECE])
