"""What the MCP server's tools do: in a gateway, or by asking one."""

from __future__ import annotations

import base64
import uuid
from contextvars import ContextVar
from dataclasses import asdict
from typing import Any, Protocol

from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from quelea_kit.errors import InvalidInput, QueleaError

from quelea_gateway.analyst import OFF
from quelea_gateway.core.agent.ports import Execution
from quelea_gateway.core.agent.runs import run_requests
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.pipeline import ReaderFailed
from quelea_gateway.core.statements.statement_grid import Figure, StatementQuery
from quelea_gateway.core.tools import descriptions
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.agent.run_schemas import RunOut
from quelea_gateway.rest.answers.ask import whole
from quelea_gateway.rest.knowledge_base.documents import DocumentOut
from quelea_gateway.rest.openai.agent import finish
from quelea_gateway.rest.schemas import AnswerOut, FiltersIn

Json = dict[str, Any]

TENANT: ContextVar[str] = ContextVar("mcp_tenant", default="")
"""The name of the caller's key, set for each request."""

_MOST_COMPANIES = 1000
_DOCUMENTS = 50
"""A page of the list."""
_OF_A_PASSAGE = (
    "document_id", "title", "uri", "page", "start", "end", "published", "company", "period", "document_type", "text",
    "table_head", "score",
)  # fmt: skip
_MOST_CODE = 256 * 1024
_MOST_FILE = 256 * 1024
"""Bytes of a file that is sent back whole; of a larger one only its name and size."""
_MOST_OUTPUT = 64 * 1024


class Actions(Protocol):
    """One method for each tool. Each raises ToolError with a sentence for the caller."""

    async def search_tools(self, query: str, category: str, limit: int) -> Json:
        """The best tools for a need."""
        ...

    async def tool_details(self, name: str) -> Json:
        """A tool's document."""
        ...

    async def ask(self, question: str, as_of: str) -> Json:
        """A cited answer."""
        ...

    async def search_passages(self, query: str, filters: FiltersIn, limit: int, as_of: str) -> Json:
        """Passages, best first."""
        ...

    async def list_documents(self, filters: FiltersIn, page_token: str) -> Json:
        """Stored documents, one page of them."""
        ...

    async def analyse(self, question: str, as_of: str) -> Json:
        """What a run of the agent came to."""
        ...

    async def list_companies(self) -> Json:
        """The companies of the documents."""
        ...

    async def get_statement(self, query: StatementQuery) -> Json:
        """Lines by periods."""
        ...

    async def find_figures(self, company: str, names: list[str], period_from: str, as_of: str) -> Json:
        """Single figures."""
        ...

    async def execute_python(self, code: str, market_data: bool) -> Json:
        """What code printed and made."""
        ...


class GatewayActions:
    """In the gateway's own process, under the rules of REST.

    Args:
        gateway: Its clients and limits.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def search_tools(self, query: str, category: str, limit: int) -> Json:
        """As GET /v1/tools."""
        try:
            hits = await self._gateway.toolkit.catalogue.search(query, category=category, k=max(1, min(limit, 50)))
        except QueleaError as error:
            raise ToolError(error.message) from error
        return {
            "tools": [
                {
                    "name": hit.tool.name,
                    "category": hit.tool.category,
                    "provider": hit.tool.provider,
                    "description": descriptions.line(hit.tool).partition(": ")[2],
                    "score": round(hit.score, 4),
                }
                for hit in hits
            ]
        }

    async def tool_details(self, name: str) -> Json:
        """As GET /v1/tools/{name}."""
        try:
            return {"document": await self._gateway.toolkit.catalogue.details(name)}
        except QueleaError as error:
            raise ToolError(error.message) from error

    async def ask(self, question: str, as_of: str) -> Json:
        """As POST /v1/ask."""
        gateway = self._gateway
        try:
            asked = rules.build(
                question, gateway.limits, as_of=as_of, tenant=TENANT.get(), strict=gateway.settings.strict
            )
            answer = AnswerOut.of(await whole(gateway, asked))
        except ReaderFailed as failed:
            raise ToolError(failed.error.message) from failed
        except QueleaError as error:
            raise ToolError(error.message) from error
        said: Json = answer.model_dump(mode="json")
        return {key: said[key] for key in ("answer", "citations", "as_of", "route", "notices") if key in said}

    async def search_passages(self, query: str, filters: FiltersIn, limit: int, as_of: str) -> Json:
        """As POST /v1/search."""
        gateway = self._gateway
        try:
            found = await gateway.retriever.search(
                rules.check_text(query, gateway.limits, "query"),
                k=rules.check_k(limit, limit),
                as_of=rules.check_as_of(as_of),
                filters=filters.core(),
            )
        except QueleaError as error:
            raise ToolError(error.message) from error
        return {
            "reading": found.reading.text,
            "passages": [{name: getattr(one, name) for name in _OF_A_PASSAGE} for one in found.passages],
        }

    async def list_documents(self, filters: FiltersIn, page_token: str) -> Json:
        """As GET /v1/documents."""
        try:
            found = await self._gateway.retriever.documents(
                page_size=_DOCUMENTS, page_token=page_token, filters=filters.core()
            )
        except QueleaError as error:
            raise ToolError(error.message) from error
        return {
            "documents": [DocumentOut.of(document).model_dump(mode="json") for document in found.documents],
            "next_page_token": found.next_page_token or None,
            "total": found.total,
        }

    async def analyse(self, question: str, as_of: str) -> Json:
        """As POST /v1/agent/runs, waited for; a caller who leaves ends the run."""
        gateway = self._gateway
        try:
            manager = await gateway.analyst.ready()
            wanted = run_requests.build(
                question, gateway.limits, gateway.analyst.budgets, tenant=TENANT.get(), as_of=as_of
            )
            run = RunOut.of(await finish(manager, await manager.start(wanted)))
        except QueleaError as error:
            raise ToolError(error.message) from error
        if run.answer is None:
            raise ToolError(run.error or f"The run was {run.state}.")
        said: Json = run.answer.model_dump(mode="json")
        sources = [one for one in said["sources"] if one["used"]]
        return {"run": run.id, "answer": said["text"], "missing": said["missing"], "sources": sources}

    async def list_companies(self) -> Json:
        """As GET /v1/companies."""
        try:
            found = await self._gateway.statements.companies()
        except QueleaError as error:
            raise ToolError(error.message) from error
        return {"companies": [asdict(one) for one in found[:_MOST_COMPANIES]], "total": len(found)}

    async def get_statement(self, query: StatementQuery) -> Json:
        """As GET /v1/companies/{company}/statements."""
        try:
            found = await self._gateway.statements.statement(query)
        except QueleaError as error:
            raise ToolError(error.message) from error
        return {
            "company": found.company,
            "statement": found.name,
            "basis": found.basis,
            "periods": list(found.grid.periods),
            "lines": [
                {
                    "label": line.label,
                    "concept": line.concept,
                    "unit": line.unit,
                    "cells": [describe_figure(cell) if cell else None for cell in line.cells],
                }
                for line in found.grid.lines
            ],
        }

    async def find_figures(self, company: str, names: list[str], period_from: str, as_of: str) -> Json:
        """As GET /v1/facts."""
        try:
            found = await self._gateway.statements.figures(company, names, period_from=period_from, as_of=as_of)
        except QueleaError as error:
            raise ToolError(error.message) from error
        return {
            "figures": [
                {"label": one.label, "concept": one.concept, "statement": one.statement, "unit": one.unit}
                | describe_figure(one)
                for one in found
            ]
        }

    async def execute_python(self, code: str, market_data: bool) -> Json:
        """Once, in a container of its own."""
        analyst, settings = self._gateway.analyst, self._gateway.settings
        try:
            if analyst.sandbox is None:
                raise ToolError(OFF)
            if not code.strip() or len(code.encode()) > _MOST_CODE:
                raise InvalidInput(f"code must have 1 to {_MOST_CODE} bytes.")
            run, tenant = f"mcp-{uuid.uuid4().hex}", TENANT.get()
            session = None
            if market_data:
                if analyst.door is None:
                    raise ToolError(
                        "Market data is not available in this deployment; run the code with market_data=false."
                    )
                session = await analyst.door.open(
                    run_id=run,
                    tenant=tenant,
                    as_of="",
                    bundle_ids=(),
                    max_calls=settings.agent_calls,
                    seconds=settings.agent_code_seconds + 60,
                )
            try:
                done = await analyst.sandbox.execute(
                    code,
                    session_id="",
                    execution_id=run,
                    market_token=session.token if session else "",
                    seconds=settings.agent_code_seconds,
                    tenant=tenant,
                )
            finally:
                if session is not None and analyst.door is not None:
                    await analyst.door.close_session(session.id)
        except QueleaError as error:
            raise ToolError(error.message) from error
        return describe_execution(done)


def describe_figure(one: Figure) -> Json:
    """A value, what it is of, and where it stands: the page's text from `start` to `end` is the printed cell."""
    return {
        "value": one.value,
        "period_start": one.period_start,
        "period_end": one.period_end,
        "printed": one.printed,
        "checks_passed": list(one.passed),
        "document_id": one.document_id,
        "title": one.title,
        "page": one.page,
        "start": one.start,
        "end": one.end,
    }


def describe_execution(done: Execution) -> Json:
    """What a run came to; files up to a quarter of a MiB come whole, in base64."""
    return {
        "result": done.reason,
        "stdout": done.stdout[:_MOST_OUTPUT],
        "stderr": done.stderr[:_MOST_OUTPUT],
        "error": done.error,
        "wall_seconds": round(done.wall_seconds, 3),
        "files": [
            {
                "path": file.path,
                "media_type": file.media_type,
                "bytes": len(file.data),
                "base64": base64.b64encode(file.data).decode() if len(file.data) <= _MOST_FILE else None,
            }
            for file in done.files
        ],
    }


class RemoteActions:
    """At a gateway, through its own MCP route.

    Args:
        client: Connected to URL/mcp.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def search_tools(self, query: str, category: str, limit: int) -> Json:
        """Forwarded."""
        return await self._call("search_tools", {"query": query, "category": category, "limit": limit})

    async def tool_details(self, name: str) -> Json:
        """Forwarded."""
        return await self._call("tool_details", {"name": name})

    async def ask(self, question: str, as_of: str) -> Json:
        """Forwarded."""
        return await self._call("ask", {"question": question, "as_of": as_of})

    async def search_passages(self, query: str, filters: FiltersIn, limit: int, as_of: str) -> Json:
        """Forwarded."""
        asked = {"query": query, "filters": filters.model_dump(), "limit": limit, "as_of": as_of}
        return await self._call("search_passages", asked)

    async def list_documents(self, filters: FiltersIn, page_token: str) -> Json:
        """Forwarded."""
        return await self._call("list_documents", {"filters": filters.model_dump(), "page_token": page_token})

    async def analyse(self, question: str, as_of: str) -> Json:
        """Forwarded."""
        return await self._call("analyse", {"question": question, "as_of": as_of})

    async def list_companies(self) -> Json:
        """Forwarded."""
        return await self._call("list_companies", {})

    async def get_statement(self, query: StatementQuery) -> Json:
        """Forwarded."""
        asked = asdict(query)
        del asked["doubtful"]
        return await self._call("get_statement", asked)

    async def find_figures(self, company: str, names: list[str], period_from: str, as_of: str) -> Json:
        """Forwarded."""
        asked = {"company": company, "names": names, "period_from": period_from, "as_of": as_of}
        return await self._call("find_figures", asked)

    async def execute_python(self, code: str, market_data: bool) -> Json:
        """Forwarded."""
        return await self._call("execute_python", {"code": code, "market_data": market_data})

    async def _call(self, name: str, arguments: Json) -> Json:
        result = await self._client.call_tool(name, arguments)
        if result.is_error or not isinstance(result.structured_content, dict):
            texts = [text for part in result.content if isinstance(text := getattr(part, "text", None), str)]
            raise ToolError(" ".join(texts) or f"{name} failed at the gateway.")
        return result.structured_content
