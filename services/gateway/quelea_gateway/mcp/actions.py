"""What the MCP server's tools do: in a gateway, or by asking one."""

from __future__ import annotations

import base64
import functools
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from typing import Any, ParamSpec, Protocol

from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from quelea_kit.errors import Conflict, InvalidInput, QueleaError
from quelea_kit.reach import enter

from quelea_gateway.access import let_in
from quelea_gateway.analyst import OFF
from quelea_gateway.core.agent.ports import Execution
from quelea_gateway.core.agent.runs import run_requests
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.callers import audit
from quelea_gateway.core.pipeline import ReaderFailed
from quelea_gateway.core.statements.statement_grid import Figure, StatementQuery
from quelea_gateway.core.tools import descriptions
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.agent.run_schemas import RunOut
from quelea_gateway.rest.answers.answer_schemas import AnswerOut
from quelea_gateway.rest.answers.ask import whole
from quelea_gateway.rest.answers.question_schemas import FiltersIn
from quelea_gateway.rest.knowledge_base.collections import CollectionOut
from quelea_gateway.rest.knowledge_base.documents import DocumentOut
from quelea_gateway.rest.openai.agent import finish
from quelea_gateway.rights import may_fetch, readable

Json = dict[str, Any]

P = ParamSpec("P")

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

    async def ask(self, question: str, as_of: str, collections: Sequence[str]) -> Json:
        """A cited answer."""
        ...

    async def search_passages(
        self, query: str, filters: FiltersIn, limit: int, as_of: str, collections: Sequence[str]
    ) -> Json:
        """Passages, best first."""
        ...

    async def list_collections(self) -> Json:
        """The collections of the caller."""
        ...

    async def list_documents(self, filters: FiltersIn, page_token: str, collections: Sequence[str]) -> Json:
        """Stored documents, one page of them."""
        ...

    async def analyse(self, question: str, as_of: str, follows: str, collections: Sequence[str]) -> Json:
        """What a run of the agent came to."""
        ...

    async def list_companies(self, collections: Sequence[str]) -> Json:
        """The companies of the documents."""
        ...

    async def get_statement(self, query: StatementQuery, collections: Sequence[str]) -> Json:
        """Lines by periods."""
        ...

    async def find_figures(
        self, company: str, names: list[str], period_from: str, as_of: str, statement: str, collections: Sequence[str]
    ) -> Json:
        """Single figures."""
        ...

    async def execute_python(self, code: str, market_data: bool) -> Json:
        """What code printed and made."""
        ...


def _tells(work: Callable[P, Coroutine[Any, Any, Json]]) -> Callable[P, Coroutine[Any, Any, Json]]:
    """An action whose failure is told to the caller as a tool's error, and to the audit log as what it is."""

    @functools.wraps(work)
    async def told(*given: P.args, **named: P.kwargs) -> Json:
        try:
            return await work(*given, **named)
        except ReaderFailed as failed:
            audit.note_failure(failed.error.http_status)
            raise ToolError(failed.error.message) from failed
        except QueleaError as error:
            audit.note_failure(error.http_status)
            raise ToolError(error.message) from error
        except Exception:
            audit.note_failure(QueleaError.http_status)
            raise

    return told


class GatewayActions:
    """In the gateway's own process, under the rules of REST.

    Args:
        gateway: Its clients and limits.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    @_tells
    async def search_tools(self, query: str, category: str, limit: int) -> Json:
        """As GET /v1/tools."""
        hits = await self._gateway.toolkit.catalogue.search(query, category=category, k=max(1, min(limit, 50)))
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

    @_tells
    async def tool_details(self, name: str) -> Json:
        """As GET /v1/tools/{name}."""
        return {"document": await self._gateway.toolkit.catalogue.details(name)}

    @_tells
    async def ask(self, question: str, as_of: str, collections: Sequence[str]) -> Json:
        """As POST /v1/ask."""
        await self._read_in(collections)
        gateway = self._gateway
        asked = rules.build(
            question,
            gateway.limits,
            as_of=as_of,
            tenant=let_in().name,
            strict=gateway.settings.strict,
            may_fetch=may_fetch(let_in().principal, collections),
        )
        answer = AnswerOut.of(await whole(gateway, asked))
        said: Json = answer.model_dump(mode="json")
        return {key: said[key] for key in ("answer", "citations", "as_of", "route", "notices") if key in said}

    @_tells
    async def search_passages(
        self, query: str, filters: FiltersIn, limit: int, as_of: str, collections: Sequence[str]
    ) -> Json:
        """As POST /v1/search."""
        await self._read_in(collections)
        gateway = self._gateway
        found = await gateway.retriever.search(
            rules.check_text(query, gateway.limits, "query"),
            k=rules.check_k(limit, limit),
            as_of=rules.check_as_of(as_of),
            filters=filters.core(),
        )
        return {
            "reading": found.reading.text,
            "passages": [{name: getattr(one, name) for name in _OF_A_PASSAGE} for one in found.passages],
        }

    @_tells
    async def list_collections(self) -> Json:
        """As GET /v1/collections."""
        principal = let_in().principal
        found = [CollectionOut.of(one, principal) for one in await self._gateway.search.collections()]
        return {"collections": [one.model_dump(mode="json") for one in found]}

    @_tells
    async def list_documents(self, filters: FiltersIn, page_token: str, collections: Sequence[str]) -> Json:
        """As GET /v1/documents."""
        await self._read_in(collections)
        found = await self._gateway.retriever.documents(
            page_size=_DOCUMENTS, page_token=page_token, filters=filters.core()
        )
        return {
            "documents": [DocumentOut.of(document).model_dump(mode="json") for document in found.documents],
            "next_page_token": found.next_page_token or None,
            "total": found.total,
        }

    @_tells
    async def analyse(self, question: str, as_of: str, follows: str, collections: Sequence[str]) -> Json:
        """As POST /v1/agent/runs, waited for; a caller who leaves ends the run."""
        await self._read_in(collections)
        gateway = self._gateway
        manager = await gateway.analyst.ready()
        tenant = let_in().name
        wanted = run_requests.build(
            question,
            gateway.limits,
            gateway.analyst.budgets,
            tenant=tenant,
            as_of=as_of,
            follows=await manager.get(tenant, follows) if follows else None,
        )
        run = RunOut.of(await finish(manager, await manager.start(wanted)))
        if run.answer is None:
            raise QueleaError(run.error or f"The run was {run.state}.")
        said: Json = run.answer.model_dump(mode="json")
        sources = [one for one in said["sources"] if one["used"]]
        return {
            "run": run.id,
            "answer": said["text"],
            "missing": said["missing"],
            "notices": said["notices"],
            "sources": sources,
        }

    @_tells
    async def list_companies(self, collections: Sequence[str]) -> Json:
        """As GET /v1/companies."""
        await self._read_in(collections)
        found = await self._gateway.statements.companies()
        return {"companies": [asdict(one) for one in found[:_MOST_COMPANIES]], "total": len(found)}

    @_tells
    async def get_statement(self, query: StatementQuery, collections: Sequence[str]) -> Json:
        """As GET /v1/companies/{company}/statements."""
        await self._read_in(collections)
        found = await self._gateway.statements.statement(query)
        return {
            "company": found.company,
            "statement": found.name,
            "basis": found.basis,
            "periods": list(found.grid.periods),
            "lines": [
                {
                    "label": line.label,
                    **({"column": line.column, "group": line.group} if line.column else {}),
                    "concept": line.concept,
                    "unit": line.unit,
                    "cells": [describe_figure(cell) if cell else None for cell in line.cells],
                }
                for line in found.grid.lines
            ],
        }

    @_tells
    async def find_figures(
        self, company: str, names: list[str], period_from: str, as_of: str, statement: str, collections: Sequence[str]
    ) -> Json:
        """As GET /v1/facts."""
        await self._read_in(collections)
        found = await self._gateway.statements.figures(
            company, names, period_from=period_from, as_of=as_of, statements=(statement,) if statement else ()
        )
        return {
            "figures": [
                {"label": one.label, "concept": one.concept, "statement": one.statement, "unit": one.unit}
                | ({"column": one.column, "group": one.group} if one.column else {})
                | describe_figure(one)
                for one in found
            ]
        }

    @_tells
    async def execute_python(self, code: str, market_data: bool) -> Json:
        """Once, in a container of its own."""
        analyst, settings = self._gateway.analyst, self._gateway.settings
        if analyst.sandbox is None:
            raise Conflict(OFF)
        if not code.strip() or len(code.encode()) > _MOST_CODE:
            raise InvalidInput(f"code must have 1 to {_MOST_CODE} bytes.")
        run, tenant = f"mcp-{uuid.uuid4().hex}", let_in().name
        session = None
        if market_data:
            if analyst.door is None:
                raise Conflict("Market data is not available in this deployment; run the code with market_data=false.")
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
        return describe_execution(done)

    async def _read_in(self, collections: Sequence[str]) -> None:
        """From here on the tool sees the named collections only. Raises NotFound for one that is not there."""
        if collections:
            enter(await readable(self._gateway.search, let_in().principal, collections))


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

    async def ask(self, question: str, as_of: str, collections: Sequence[str]) -> Json:
        """Forwarded."""
        return await self._call("ask", {"question": question, "as_of": as_of}, collections)

    async def search_passages(
        self, query: str, filters: FiltersIn, limit: int, as_of: str, collections: Sequence[str]
    ) -> Json:
        """Forwarded."""
        asked = {"query": query, "filters": filters.model_dump(), "limit": limit, "as_of": as_of}
        return await self._call("search_passages", asked, collections)

    async def list_collections(self) -> Json:
        """Forwarded."""
        return await self._call("list_collections", {})

    async def list_documents(self, filters: FiltersIn, page_token: str, collections: Sequence[str]) -> Json:
        """Forwarded."""
        asked = {"filters": filters.model_dump(), "page_token": page_token}
        return await self._call("list_documents", asked, collections)

    async def analyse(self, question: str, as_of: str, follows: str, collections: Sequence[str]) -> Json:
        """Forwarded."""
        asked = {"question": question, "as_of": as_of}
        return await self._call("analyse", asked | ({"follows": follows} if follows else {}), collections)

    async def list_companies(self, collections: Sequence[str]) -> Json:
        """Forwarded."""
        return await self._call("list_companies", {}, collections)

    async def get_statement(self, query: StatementQuery, collections: Sequence[str]) -> Json:
        """Forwarded."""
        asked = asdict(query)
        del asked["doubtful"]
        return await self._call("get_statement", asked, collections)

    async def find_figures(
        self, company: str, names: list[str], period_from: str, as_of: str, statement: str, collections: Sequence[str]
    ) -> Json:
        """Forwarded."""
        asked = {"company": company, "names": names, "period_from": period_from, "as_of": as_of}
        if statement:
            asked["statement"] = statement
        return await self._call("find_figures", asked, collections)

    async def execute_python(self, code: str, market_data: bool) -> Json:
        """Forwarded."""
        return await self._call("execute_python", {"code": code, "market_data": market_data})

    async def _call(self, name: str, arguments: Json, collections: Sequence[str] = ()) -> Json:
        if collections:
            arguments = {**arguments, "collections": list(collections)}
        result = await self._client.call_tool(name, arguments)
        if result.is_error or not isinstance(result.structured_content, dict):
            texts = [text for part in result.content if isinstance(text := getattr(part, "text", None), str)]
            raise ToolError(" ".join(texts) or f"{name} failed at the gateway.")
        return result.structured_content
