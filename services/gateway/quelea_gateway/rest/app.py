"""The HTTP app: routes behind the middleware."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import fastapi_swagger
from fastapi import APIRouter, Depends, FastAPI
from fastapi.telemetry import TelemetryConfig
from quelea_kit.processes.memory import Shortages
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from quelea_gateway.gateway import Gateway
from quelea_gateway.mcp.asgi import PATH as MCP_PATH
from quelea_gateway.mcp.asgi import McpApp
from quelea_gateway.rest import deployment, evaluation_votes, evaluations, health, openapi, prompts
from quelea_gateway.rest.agent import bundles, runs, tools
from quelea_gateway.rest.answers import ask, check, conversations, feedback
from quelea_gateway.rest.callers import auth, keys, resource_metadata, usage
from quelea_gateway.rest.fields import check_query
from quelea_gateway.rest.knowledge_base import collections, documents, fetch, jobs, originals, uploads, watches, web
from quelea_gateway.rest.openai import routes as openai_compat
from quelea_gateway.rest.statements import companies, facts
from quelea_gateway.rest.transport import errors
from quelea_gateway.rest.transport.middleware import AccessMiddleware, App
from quelea_gateway.version import VERSION

PAGE = Path(__file__).parent.parent / "page"
SWAGGER_UI = Path(fastapi_swagger.__file__).parent / "resources"

ROUTES = (
    ask,
    check,
    uploads,
    documents,
    collections,
    originals,
    facts,
    companies,
    fetch,
    watches,
    web,
    runs,
    bundles,
    tools,
    jobs,
    prompts,
    usage,
    keys,
    deployment,
    feedback,
    conversations,
    evaluations,
    evaluation_votes,
)
"""Modules whose routes refuse query parameters that they do not have."""

_NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}
_ABOUT = """Cited answers from a knowledge base of finance documents.

Send your API key as `Authorization: Bearer KEY`. Pages count from 1. Days are `YYYY-MM-DD`, points in time RFC 3339,
`timings` milliseconds. Every error is `{"error": {"code", "message", "details"}}`."""


class _Page(StaticFiles):
    """The page's files; a browser asks each time whether they changed, so a new version is seen at once."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_header(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"cache-control", b"no-cache")]
            await send(message)

        await super().__call__(scope, receive, with_header)


def _page_router() -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def index() -> FileResponse:
        return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})

    @router.get("/docs")
    async def docs() -> FileResponse:
        return FileResponse(PAGE / "docs.html", headers={"Cache-Control": "no-cache"})

    return router


@cache
def _api() -> APIRouter:
    """All documented routes.

    They find the gateway in the app's state, so one tree, its schemas made once, serves every gateway of a process;
    each test has one of its own.
    """
    router = APIRouter()
    for module in ROUTES:
        router.include_router(module.router, dependencies=[Depends(check_query)])
    for module in (openai_compat, health):  # OpenAI clients and probes may add query parameters of their own
        router.include_router(module.router)
    return router


def build_app(gateway: Gateway, shortages: Shortages) -> App:
    """The whole HTTP side on a gateway."""
    # The middleware makes the request's span; FastAPI's own, and those of its parts, would be four more a request.
    app = FastAPI(
        title="Quelea", version=VERSION, description=_ABOUT, docs_url=None, redoc_url=None, telemetry=_NO_TELEMETRY
    )
    app.state.gateway = gateway
    app.router.routes.extend(_api().routes)
    if gateway.settings.openbb_origins:
        from quelea_gateway.rest import openbb  # noqa: PLC0415  # its library is loaded only where it is wanted

        app.include_router(openbb.router)
    app.include_router(auth.router)
    app.include_router(resource_metadata.router)
    app.include_router(_page_router())
    app.mount("/page", _Page(directory=PAGE))
    app.mount("/docs", _Page(directory=SWAGGER_UI))
    mcp = McpApp(gateway)
    gateway.closing.append(mcp.close)
    app.router.routes.append(Route(MCP_PATH, mcp))
    errors.register(app)
    app.openapi = lambda: openapi.build(app)  # type: ignore[method-assign]  # FastAPI's documented way to change its schema
    guarded = AccessMiddleware(app, gateway, shortages)
    openbb_origins = gateway.settings.openbb_origins
    origins = {*gateway.settings.cors_origins, *openbb_origins}
    if not origins:
        return guarded
    # Outside of it, so that a page elsewhere can read a refusal too.
    return CORSMiddleware(
        guarded,
        allow_origins=sorted(origins),
        allow_methods=["GET", "POST", "PATCH", "DELETE"],
        allow_headers=["Authorization", "Content-Type"],
        expose_headers=["Retry-After"],
        # Workspace's pages send credentials along, of which there are none here: a key is a header of its own.
        allow_credentials=bool(openbb_origins),
        allow_private_network=bool(openbb_origins),  # a public page, a gateway on the desk's own network
    )
