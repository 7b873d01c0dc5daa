"""The rpcs of quelea.sandbox.v1.ToolService."""

from __future__ import annotations

import base64
import binascii
import difflib
from typing import Any

import grpc
from prometheus_client import Counter, Gauge
from quelea.sandbox.v1 import tools_pb2, tools_pb2_grpc
from quelea_kit.errors import Conflict, InvalidInput, NotFound
from quelea_kit.logging import get_logger
from quelea_kit.paging import unknown_token

from quelea_sandbox.registry.catalogue import Catalogue
from quelea_sandbox.registry.health import Health, HealthStore
from quelea_sandbox.registry.model import ApiSpec
from quelea_sandbox.registry.settings import ToolSettings

log = get_logger(__name__)

SERVICE = "quelea.sandbox.v1.ToolService"
_PAGE = 200
_NAME_CHARS = 200
_ERROR_CHARS = 20_000
_NEAREST = 5

TOOLS = Gauge("quelea_tools", "Tools in the catalogue.")
OUTCOMES = Counter("quelea_tool_outcomes", "Reported outcomes of tools.", ["result"])

Context = grpc.aio.ServicerContext[Any, Any]


class ToolServicer(tools_pb2_grpc.ToolServiceServicer):
    """Wire to catalogue.

    Args:
        catalogue: The tools.
        health: How they did.
        max_page: Most tools of one answer.
    """

    def __init__(self, catalogue: Catalogue, health: HealthStore, *, max_page: int = 500) -> None:
        self._catalogue = catalogue
        self._version = catalogue.version
        self._by_name = {spec.name: spec for spec in catalogue.tools}
        self._max_page = max_page
        self.health = health
        TOOLS.set(len(catalogue.tools))

    async def ListTools(  # noqa: N802  # the name in the .proto
        self, request: tools_pb2.ListToolsRequest, context: Context
    ) -> tools_pb2.ListToolsResponse:
        """One page of the catalogue, by name."""
        if request.page_size > self._max_page:
            raise InvalidInput(f"page_size must be between 1 and {self._max_page}, got {request.page_size}.")
        start, size = self._start(request.page_token), request.page_size or min(_PAGE, self._max_page)
        page = self._catalogue.tools[start : start + size]
        end = start + len(page)
        return tools_pb2.ListToolsResponse(
            tools=[self._tool(spec) for spec in page],
            next_page_token=self._token(end) if end < len(self._catalogue.tools) else "",
            version=self._version,
            total=len(self._catalogue.tools),
            categories=self._catalogue.categories,
        )

    async def GetTool(  # noqa: N802  # the name in the .proto
        self, request: tools_pb2.GetToolRequest, context: Context
    ) -> tools_pb2.GetToolResponse:
        """One tool."""
        return tools_pb2.GetToolResponse(tool=self._tool(self._require_spec(request.name)))

    async def ReportOutcome(  # noqa: N802  # the name in the .proto
        self, request: tools_pb2.ReportOutcomeRequest, context: Context
    ) -> tools_pb2.ReportOutcomeResponse:
        """Remember whether a tool worked."""
        if len(request.error) > _ERROR_CHARS:
            raise InvalidInput(f"error is longer than {_ERROR_CHARS} characters; the last line of a traceback will do.")
        spec = self._require_spec(request.name)
        OUTCOMES.labels("ok" if request.ok else "error").inc()
        health = self.health.report(spec.name, ok=request.ok, error=request.error)
        return tools_pb2.ReportOutcomeResponse(health=self._health(health))

    async def ListToolHealth(  # noqa: N802  # the name in the .proto
        self, request: tools_pb2.ListToolHealthRequest, context: Context
    ) -> tools_pb2.ListToolHealthResponse:
        """Health of every tool that was reported on."""
        return tools_pb2.ListToolHealthResponse(health=[self._health(one) for one in self.health.all()])

    def _require_spec(self, name: str) -> ApiSpec:
        spec = self._by_name.get(name)
        if spec is None:
            near = difflib.get_close_matches(name[:_NAME_CHARS], self._by_name, n=_NEAREST)
            hint = f" Near it: {', '.join(near)}." if near else ""
            raise NotFound(
                f"There is no tool named {name[:_NAME_CHARS]!r}.{hint}", details={"nearest": ", ".join(near)}
            )
        return spec

    def _token(self, start: int) -> str:
        return base64.urlsafe_b64encode(f"{self._version} {start}".encode()).decode()

    def _start(self, token: str) -> int:
        if not token:
            return 0
        try:
            version, _, start = base64.urlsafe_b64decode(token.encode()).decode().partition(" ")
            place = int(start)
        except (binascii.Error, ValueError) as error:
            raise unknown_token() from error
        if version != self._version:
            raise Conflict("The catalogue has changed since that page; start again without page_token.")
        if not 0 <= place <= len(self._catalogue.tools):
            raise unknown_token()
        return place

    def _tool(self, spec: ApiSpec) -> tools_pb2.Tool:
        return tools_pb2.Tool(
            name=spec.name,
            provider=spec.provider,
            category=spec.category,
            description=spec.description,
            limits=spec.limits,
            path=spec.path,
            parameters=[
                tools_pb2.Parameter(
                    name=one.name,
                    type=one.type,
                    description=one.description,
                    required=one.required,
                    default=one.default,
                )
                for one in spec.parameters
            ],
            outputs=[
                tools_pb2.Column(name=one.name, type=one.type, description=one.description) for one in spec.outputs
            ],
            example=spec.example,
            sample=spec.sample,
            hosts=spec.hosts,
            docs_url=spec.docs_url,
            health=self._health(self.health.get(spec.name)),
        )

    def _health(self, health: Health) -> tools_pb2.ToolHealth:
        wire = tools_pb2.ToolHealth(
            name=health.name,
            error=health.error,
            failures_in_row=health.failures_in_row,
            calls=health.calls,
            failures=health.failures,
            score=health.score(self.health.now()),
        )
        if health.last_ok:
            wire.last_ok.FromMilliseconds(int(health.last_ok * 1000))
        if health.last_error:
            wire.last_error.FromMilliseconds(int(health.last_error * 1000))
        return wire


def build(settings: ToolSettings) -> ToolServicer:
    """The servicer on the settings' files. A catalogue that is not there is served empty, and the log says so."""
    try:
        catalogue = Catalogue.read(settings.tools_file)
    except InvalidInput as error:
        log.warning("no_tools", why=error.message)
        catalogue = Catalogue()
    names = [spec.name for spec in catalogue.tools]
    return ToolServicer(catalogue, HealthStore(settings.tool_health_file, names), max_page=settings.max_tool_page)


def register(server: grpc.aio.Server, settings: ToolSettings) -> ToolServicer:
    """Add ToolService to a server; the servicer's health.flush() is to be called when the server stops."""
    servicer = build(settings)
    tools_pb2_grpc.add_ToolServiceServicer_to_server(servicer, server)
    return servicer
