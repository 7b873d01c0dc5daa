"""A request on its way into the audit log."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping, MutableMapping
from typing import Any

from quelea_kit.errors import Cancelled, QueleaError

from quelea_gateway.access import Caller
from quelea_gateway.core.callers import audit
from quelea_gateway.gateway import Gateway
from quelea_gateway.mcp.asgi import PATH as MCP_PATH

_VIAS: tuple[tuple[str, audit.Via], ...] = (
    ("/v1/chat/", "openai"),
    ("/v1/models", "openai"),
    ("/openbb/", "openbb"),
    ("/auth/", "login"),
    (MCP_PATH, "mcp"),
)
_MOST_PATH = 80


class Recorder:
    """One request and its entries: one before its answer begins, and of a stream one when it has ended.

    Args:
        gateway: Its log and rules.
        scope: The request; the app adds its route.
    """

    def __init__(self, gateway: Gateway, scope: MutableMapping[str, Any]) -> None:
        path = scope["path"]
        via: audit.Via = next((via for start, via in _VIAS if path.startswith(start)), "rest")
        self.record = audit.Record(secrets.token_hex(8), via, f"{scope['method']} {path[:_MOST_PATH]}")
        self.record.address = gateway.audited_address((scope.get("client") or ("", 0))[0])
        self._gateway = gateway
        self._scope = scope
        self._body = b""
        self._begun = False
        self._streamed = False

    def admit(self, caller: Caller) -> None:
        """Note who calls. Raises Unavailable where calls are refused for want of a record."""
        self.record.subject, self.record.tenant = caller.subject, caller.principal.tenant
        self.record.key = caller.proof
        self._gateway.audit_admits()

    def read(self, body: bytes) -> None:
        """Keep a request's body until it is known whether its tool or question is wanted."""
        if self._gateway.audit_log is not None:
            self._body = body

    async def begin(self, status: int, *, streamed: bool) -> None:
        """Record what is answered, before it is. Raises Unavailable where it must be recorded and cannot be."""
        self._begun, self._streamed = True, streamed
        self._look()
        await self._gateway.audit(self.record, audit.outcome_of(status), int(status))

    async def end(self, status: int, *, whole: bool) -> None:
        """Record how a stream ended, or that the caller left before anything was answered."""
        with contextlib.suppress(QueleaError):  # nobody is there to be told; what went out is recorded
            if self._streamed:
                await self._gateway.audit(self.record, "ended" if whole else "cut", status)
            elif not self._begun:
                self._look()
                await self._gateway.audit(self.record, "cut", status or Cancelled.http_status)

    def _look(self) -> None:
        """Take route, ids, tool and question."""
        is_mcp = self._scope["path"] == MCP_PATH
        route = MCP_PATH if is_mcp else getattr(self._scope.get("route"), "path", "")
        if not route or self._gateway.audit_log is None:
            return
        self.record.route = f"{self._scope['method']} {route}"
        self.record.action = audit.ROUTES.get(self.record.route)
        self.record.objects |= audit.of_path(self._scope.get("path_params", {}))
        body, self._body = self._body, b""
        given: Any = None
        if is_mcp:
            given = self._read_tool(audit.json_of(body))
        elif self.record.action and self.record.action.text and self._gateway.settings.audit_questions:
            given = audit.json_of(body)
        if self.record.action and self._gateway.settings.audit_questions:
            self.record.text = audit.text_of(given, self.record.action.text)

    def _read_tool(self, said: Any) -> Any:
        """The arguments of a call of a tool."""
        params = said.get("params") if isinstance(said, Mapping) and said.get("method") == "tools/call" else None
        if not isinstance(params, Mapping):
            return None
        name = str(params.get("name", ""))[:_MOST_PATH]
        self.record.route, self.record.action = f"tool {name}", audit.TOOLS.get(name)
        return params.get("arguments")
