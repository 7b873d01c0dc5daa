"""The catalogue of tools: ToolService of the sandbox, and the retriever's entries as its index."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import grpc
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea.sandbox.v1 import tools_pb2, tools_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Conflict, Unavailable

from quelea_gateway.adapters.services.downstream import Health, naming
from quelea_gateway.adapters.services.retriever import SERVICE as RETRIEVER
from quelea_gateway.adapters.services.retriever import iso
from quelea_gateway.core.tools.index_texts import IndexedTool
from quelea_gateway.core.tools.model import Column, Parameter, Tool, ToolHealth
from quelea_gateway.core.tools.ports import Found, Listing, SearchMode

SERVICE = "quelea.sandbox.v1.ToolService"
COLLECTION = "tools"
_PAGE = 300
_MOST_PAGES = 100
_BATCH = 64
_BATCH_SECONDS = 120.0
_SECONDS = 10.0
_MODES = {
    "both": retriever_pb2.SEARCH_MODE_FUSED,
    "dense": retriever_pb2.SEARCH_MODE_DENSE,
    "lexical": retriever_pb2.SEARCH_MODE_SPARSE,
}


def health_from_wire(health: tools_pb2.ToolHealth) -> ToolHealth:
    """Health as the core has it."""
    return ToolHealth(
        score=health.score,
        last_ok=iso(health.last_ok) if health.HasField("last_ok") else "",
        last_error=iso(health.last_error) if health.HasField("last_error") else "",
        error=health.error,
        failures_in_row=health.failures_in_row,
        calls=health.calls,
        failures=health.failures,
    )


def tool_from_wire(tool: tools_pb2.Tool) -> Tool:
    """A tool as the core has it."""
    return Tool(
        name=tool.name,
        provider=tool.provider,
        category=tool.category,
        description=tool.description,
        limits=tool.limits,
        path=tuple(tool.path),
        parameters=tuple(
            Parameter(one.name, one.type, one.description, one.required, one.default) for one in tool.parameters
        ),
        outputs=tuple(Column(one.name, one.type, one.description) for one in tool.outputs),
        example=tool.example,
        sample=tool.sample,
        hosts=tuple(tool.hosts),
        docs_url=tool.docs_url,
        health=health_from_wire(tool.health),
    )


class ToolClient:
    """Client of ToolService.

    Args:
        target: gRPC address.
    """

    def __init__(self, target: str) -> None:
        reads = ["ListTools", "GetTool", "ListToolHealth"]
        self._channel: grpc.aio.Channel = channel(target, SERVICE, idempotent=reads)
        self._stub = tools_pb2_grpc.ToolServiceStub(self._channel)
        self.health_check = Health(self._channel, SERVICE, "tool catalogue")

    async def version(self) -> str:
        """The catalogue's version."""
        with naming("tool catalogue"):
            reply = await unary(self._stub.ListTools(tools_pb2.ListToolsRequest(page_size=1), timeout=_SECONDS))
        return reply.version

    async def listing(self) -> Listing:
        """Every page of the catalogue; read again once when it changes meanwhile."""
        try:
            return await self._listing()
        except Conflict:
            return await self._listing()

    async def _listing(self) -> Listing:
        tools: list[Tool] = []
        token = ""
        for _ in range(_MOST_PAGES):
            request = tools_pb2.ListToolsRequest(page_size=_PAGE, page_token=token)
            with naming("tool catalogue"):
                page = await unary(self._stub.ListTools(request, timeout=_SECONDS))
            tools += [tool_from_wire(tool) for tool in page.tools]
            token = page.next_page_token
            if not token:
                return Listing(page.version, tuple(page.categories), tuple(tools))
            await asyncio.sleep(0)
        raise Unavailable(f"The catalogue of tools has more than {_MOST_PAGES * _PAGE} tools, which is too many.")

    async def health(self) -> Mapping[str, ToolHealth]:
        """Of the tools of which something was reported."""
        with naming("tool catalogue"):
            reply = await unary(self._stub.ListToolHealth(tools_pb2.ListToolHealthRequest(), timeout=_SECONDS))
        return {one.name: health_from_wire(one) for one in reply.health}

    async def report(self, name: str, *, ok: bool, error: str = "") -> None:
        """What a call came to."""
        request = tools_pb2.ReportOutcomeRequest(name=name, ok=ok, error=error[:2000])
        with naming("tool catalogue"):
            await unary(self._stub.ReportOutcome(request, timeout=_SECONDS))

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()


class ToolIndex:
    """The retriever's entries, as an index of tools.

    Args:
        target: gRPC address of the retriever.
    """

    def __init__(self, target: str) -> None:
        reads = ["SearchEntries", "GetCollection", "UpsertEntries"]  # an upsert may be sent again at any time
        self._channel: grpc.aio.Channel = channel(target, RETRIEVER, idempotent=reads)
        self._stub = retriever_pb2_grpc.RetrieverServiceStub(self._channel)

    async def version(self) -> str:
        """What is indexed."""
        request = retriever_pb2.GetCollectionRequest(collection=COLLECTION)
        with naming("retriever"):
            return (await unary(self._stub.GetCollection(request, timeout=_SECONDS))).version

    async def put(self, version: str, tools: Sequence[IndexedTool], told: Callable[[int], None]) -> None:
        """Index in small batches, so that questions get their turn at the encoder in between."""
        for start in range(0, len(tools), _BATCH):
            request = retriever_pb2.UpsertEntriesRequest(
                collection=COLLECTION,
                version=version,
                entries=[
                    retriever_pb2.Entry(id=one.name, text=one.text, lexical=one.lexical, category=one.category)
                    for one in tools[start : start + _BATCH]
                ],
                commit=start + _BATCH >= len(tools),
                total=len(tools),
            )
            with naming("retriever"):
                await unary(self._stub.UpsertEntries(request, timeout=_BATCH_SECONDS))
            told(min(start + _BATCH, len(tools)))

    async def search(
        self, query: str, *, k: int, categories: Sequence[str] = (), mode: SearchMode = "both"
    ) -> tuple[str, list[Found]]:
        """The best names."""
        request = retriever_pb2.SearchEntriesRequest(
            collection=COLLECTION, query=query, k=k, categories=categories, mode=_MODES[mode]
        )
        with naming("retriever"):
            reply = await unary(self._stub.SearchEntries(request, timeout=_SECONDS))
        return reply.version, [Found(one.id, one.score, one.cosine, one.sparse) for one in reply.entries]

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()
