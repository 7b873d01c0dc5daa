"""Runs of the agent: start, watch, list, cancel, and everything that they made."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response
from quelea_kit.errors import InvalidInput, NotFound, QueleaError
from quelea_kit.paging import DEFAULT_PAGE_SIZE

from quelea_gateway.core.agent.files import BUNDLE
from quelea_gateway.core.agent.model import Budget, Event, Run, RunRequest
from quelea_gateway.core.agent.runs import run_requests
from quelea_gateway.core.agent.runs.manager import Manager
from quelea_gateway.exports import PICTURES, archive_run, export_run
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.agent.run_schemas import CancelOut, RunIn, RunOut, RunsOut
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import PageSize, PageToken
from quelea_gateway.rest.state import gateway_of, key_of, principal_of, read_in
from quelea_gateway.rest.transport.errors import body_of
from quelea_gateway.rest.transport.streams import EVENTS, event, respond, while_there, with_id

router = APIRouter(tags=["agent"])

RunId = Annotated[str, Path(max_length=64)]
_PATH = "/v1/agent/runs"
_TEXTS = {"text/csv": "text/csv; charset=utf-8", "text/plain": "text/plain; charset=utf-8"}


def run_request(body: RunIn, gateway: Gateway, tenant: str, follows: Run | None = None) -> RunRequest:
    """What was asked for, checked."""
    return run_requests.build(
        body.question,
        gateway.limits,
        gateway.analyst.budgets,
        tenant=tenant,
        as_of=body.as_of or "",
        model=body.model,
        budget=Budget(**body.limits.model_dump()),
        bundle_ids=body.bundle_ids,
        follows=follows,
    )


@router.post(
    _PATH,
    status_code=202,
    response_model=RunOut,
    responses={200: {"description": "The run's events, when asked for.", "content": EVENTS}, **ERRORS},
    summary="Start an agent run",
)
async def start(body: RunIn, request: Request) -> Response:
    """Queues a run: it plans, finds data APIs, writes and runs code, and concludes with a checked answer.

    With `follows` it goes on from a finished run: in its session, with its variables, files and sources, while that
    waits; else in an empty one with its tables, and a notice says so.

    202 with the run; with `stream: true` or `Accept: text/event-stream` its events instead. A run goes on when the
    caller leaves; `cancel` ends it.
    """
    gateway, tenant = gateway_of(request), key_of(request)
    follows = await gateway.analyst.runs().get(tenant, body.follows) if body.follows else None
    wanted = run_request(body, gateway, tenant, follows)
    if wanted.bundle_ids:
        principal_of(request).require_administrator()
    await read_in(request, body.collections)
    manager = await while_there(request, gateway.analyst.ready())
    run = await manager.start(wanted)
    if body.stream or "text/event-stream" in request.headers.get("accept", ""):
        return respond(_events(manager, tenant, run.id, 0), gateway.settings.keep_alive_seconds)
    return Response(
        RunOut.of(run).model_dump_json(), 202, {"Location": f"{_PATH}/{run.id}"}, media_type="application/json"
    )


@router.get(_PATH, response_model=RunsOut, responses=ERRORS, summary="List runs")
async def runs(request: Request, page_size: PageSize = DEFAULT_PAGE_SIZE, page_token: PageToken = "") -> RunsOut:
    """Newest first; answers and calls are left out."""
    found, next_page_token = await _manager(request).page(key_of(request), page_size, page_token)
    return RunsOut(
        runs=[RunOut.of(run.changed(answer=None, calls=())) for run in found], next_page_token=next_page_token or None
    )


@router.get(_PATH + "/{run_id}", response_model=RunOut, responses=ERRORS, summary="Get a run")
async def run_of(run_id: RunId, request: Request) -> RunOut:
    """State, answer with sources and verdicts, files, and every call that its code made."""
    return RunOut.of(await _manager(request).get(key_of(request), run_id))


async def _events(manager: Manager, tenant: str, run_id: str, after: int) -> AsyncGenerator[bytes, None]:
    try:
        async with contextlib.aclosing(manager.watch(tenant, run_id, after)) as found:
            async for one in found:
                yield wire(one, run_id)
    except QueleaError as error:
        yield event("error", json.dumps(body_of(error, _PATH), ensure_ascii=False))


def wire(one: Event, run_id: str) -> bytes:
    """An event on the wire, with its number as id."""
    data = {"run": run_id, "at": one.at, **one.data}
    return with_id(one.name, json.dumps(data, ensure_ascii=False), str(one.number))


@router.get(
    _PATH + "/{run_id}/events",
    response_class=Response,
    responses={200: {"content": EVENTS}, **ERRORS},
    summary="A run's events as server-sent events",
)
async def run_events(
    run_id: RunId,
    request: Request,
    last_event_id: Annotated[str, Header(max_length=20)] = "",
    after: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """state, plan, step, code, output, plot, reflection, answer, error: all of them, then what comes until the end.

    Ids count from 1; `Last-Event-ID` (or `after`) goes on behind one.
    """
    if last_event_id:
        if not last_event_id.isdecimal():
            raise InvalidInput(
                f"Last-Event-ID must be the number of an event, got {last_event_id!r}.",
                details={"field": "Last-Event-ID"},
            )
        after = int(last_event_id)
    manager, tenant = _manager(request), key_of(request)
    await manager.get(tenant, run_id)
    return respond(_events(manager, tenant, run_id, after), gateway_of(request).settings.keep_alive_seconds)


@router.post(_PATH + "/{run_id}/cancel", response_model=CancelOut, responses=ERRORS, summary="Cancel a run")
async def cancel(run_id: RunId, request: Request) -> CancelOut:
    """Kills its code and its calls of the model; its events and files stay."""
    return CancelOut(cancelled=await _manager(request).cancel(key_of(request), run_id))


@router.delete(_PATH + "/{run_id}", status_code=204, response_class=Response, responses=ERRORS, summary="Delete a run")
async def delete(run_id: RunId, request: Request) -> Response:
    """Ends it when it runs, and removes all that is stored of it."""
    await _manager(request).delete(key_of(request), run_id)
    return Response(status_code=204)


_FILE = {200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}, **ERRORS}


@router.get(
    _PATH + "/{run_id}/artifacts/{name}", response_class=Response, responses=_FILE, summary="Download a file of a run"
)
async def artifact(run_id: RunId, name: Annotated[str, Path(max_length=200)], request: Request) -> Response:
    """A plot, table or document that its code made. Code writes them: only pictures are shown, the rest is saved."""
    manager, tenant = _manager(request), key_of(request)
    run = await manager.get(tenant, run_id)
    known = next((one for one in run.artifacts if one.name == name), None)
    if known is None:
        raise NotFound(f"The run has no file {name[:80]!r}.")
    data = await manager.artifact(tenant, run_id, name)
    kind = known.media_type
    shown = "inline" if kind in PICTURES else "attachment"
    return _file(data, _TEXTS.get(kind, kind), name, shown)


@router.get(
    _PATH + "/{run_id}/notebook",
    response_class=Response,
    responses=_FILE,
    summary="Download a run as a Jupyter notebook",
)
async def as_notebook(run_id: RunId, request: Request) -> Response:
    """Its plan, code, outputs, plots and answer."""
    manager = _manager(request)
    run = await manager.get(key_of(request), run_id)
    made = await export_run(manager, run, "notebook.ipynb")
    return _file(made, "application/x-ipynb+json", f"{run.id}.ipynb", "attachment")


@router.get(
    _PATH + "/{run_id}/report.pdf", response_class=Response, responses=_FILE, summary="Download a run as a PDF report"
)
async def as_report(run_id: RunId, request: Request) -> Response:
    """Answer, plots, sources, steps; 409 while the run goes on."""
    manager = _manager(request)
    run = await manager.get(key_of(request), run_id)
    return _file(await export_run(manager, run, "report.pdf"), "application/pdf", f"{run.id}.pdf", "attachment")


@router.get(
    _PATH + "/{run_id}/archive",
    response_class=Response,
    responses=_FILE,
    summary="Download all that a run made, as a ZIP",
)
async def archive(run_id: RunId, request: Request) -> Response:
    """Code, files, events, notebook, report and the data that it fetched; 409 while the run goes on."""
    manager = _manager(request)
    run = await manager.get(key_of(request), run_id)
    return _file(await archive_run(manager, run), "application/zip", f"{run.id}.zip", "attachment")


@router.get(
    _PATH + "/{run_id}/bundle", response_class=Response, responses=_FILE, summary="Download the data that a run fetched"
)
async def bundle(run_id: RunId, request: Request) -> Response:
    """All its calls to data providers with what they brought, as a file that the market-data door can replay."""
    manager, tenant = _manager(request), key_of(request)
    run = await manager.get(tenant, run_id)
    if not run.has_bundle:
        raise NotFound("The run has no data bundle: it made no data calls, or it has not finished.")
    data = await manager.artifact(tenant, run_id, BUNDLE)
    return _file(data, "application/octet-stream", f"{run.id}.bundle", "attachment")


def _manager(request: Request) -> Manager:
    return gateway_of(request).analyst.runs()


def _file(data: bytes, media_type: str, name: str, shown: str) -> Response:
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in name)
    headers = {
        "Content-Disposition": f'{shown}; filename="{plain}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    return Response(data, media_type=media_type, headers=headers)
