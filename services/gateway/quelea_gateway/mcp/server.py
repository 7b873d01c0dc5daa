"""The MCP server and its tools; the SDK makes their schemas from the signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import Field
from quelea_kit.errors import InvalidInput

from quelea_gateway.core.callers import audit
from quelea_gateway.core.statements.statement_grid import DEFAULT_YEARS, MOST_YEARS, Length, Shown, StatementQuery
from quelea_gateway.gateway import Gateway
from quelea_gateway.mcp.actions import Actions, GatewayActions
from quelea_gateway.rest.answers.question_schemas import FiltersIn
from quelea_gateway.rest.fields import CollectionName
from quelea_gateway.version import VERSION

_ABOUT = (
    "Quelea answers finance questions from a knowledge base with citations (ask), finds its passages (search_passages, "
    "list_documents; list_collections has the parts of it that you may read), analyses by code of its own (analyse), "
    "has the figures of the stored filings' statements as data (list_companies, get_statement, find_figures), and a "
    "catalogue of functions that get market data: find one with search_tools, read how to call it with tool_details, "
    "run Python that calls it with execute_python."
)
Basis = Literal["consolidated", "parent"]
AsOf = Annotated[str, Field(max_length=10, description="Only what had come out by this day, YYYY-MM-DD.")]

Filters = Annotated[FiltersIn, Field(description="All given fields must hold; in a field any of its values.")]
_EVERYTHING = FiltersIn()
Collections = Annotated[
    list[CollectionName],
    Field(max_length=100, description="Only these, as list_collections names them; empty: all that you may read."),
]

_READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)


class _Tools(list[Tool]):
    """The tools of one server. What the SDK makes of a signature is made once a process: tests have many servers."""

    _made: ClassVar[dict[str, Tool]] = {}

    def offer(self, annotations: ToolAnnotations) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Adds a function."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            name = function.__name__
            if name not in self._made:
                made = Tool.from_function(function, annotations=annotations)
                # A filter that was put in the wrong place is told, not left out: its answer would be of everything.
                arguments = made.fn_metadata.arg_model
                arguments.model_config["extra"] = "forbid"
                arguments.model_rebuild(force=True)
                self._made[name] = made.model_copy(update={"parameters": arguments.model_json_schema(by_alias=True)})
            self.append(self._made[name].model_copy(update={"fn": function}))
            return function

        return add


async def _note_failures(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """What fails before an action begins (an unknown tool, arguments that do not fit) is noted for the audit log."""
    try:
        result = await call_next(ctx)
    except Exception:
        audit.note_failure(InvalidInput.http_status)
        raise
    # As the wire has it, or as an object: the SDK says that it may be either.
    is_error = result.get("isError") if isinstance(result, dict) else getattr(result, "is_error", False)
    if is_error:
        audit.note_failure(InvalidInput.http_status)
    return result


def build_server(actions: Actions) -> MCPServer[Any]:
    """A server whose tools do these actions."""
    tools = _Tools()

    @tools.offer(_READ_ONLY)
    async def search_tools(
        query: Annotated[str, Field(min_length=1, max_length=4000, description="What data is needed, any language.")],
        category: Annotated[str, Field(max_length=60, description="Stock, Fund, Macro, …; empty: all.")] = "",
        limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of results.")] = 10,
    ) -> dict[str, Any]:
        """Find functions that get finance data (akshare, yfinance, SEC EDGAR, …) by what they give."""
        return await actions.search_tools(query, category, limit)

    @tools.offer(_READ_ONLY)
    async def tool_details(
        name: Annotated[str, Field(min_length=1, max_length=200, description="A name that search_tools gave.")],
    ) -> dict[str, Any]:
        """Read how to call a function: parameters, columns of its result, example, first rows."""
        return await actions.tool_details(name)

    @tools.offer(_READ_ONLY)
    async def ask(
        question: Annotated[str, Field(min_length=1, max_length=8000, description="A finance question.")],
        as_of: Annotated[str, Field(max_length=10, description="The day of the question, YYYY-MM-DD.")] = "",
        collections: Collections = [],  # noqa: B006  # pydantic copies it
    ) -> dict[str, Any]:
        """Answer a question from the knowledge base; every [n] of the answer is one of the citations."""
        return await actions.ask(question, as_of, collections)

    @tools.offer(_READ_ONLY)
    async def search_passages(
        query: Annotated[str, Field(min_length=1, max_length=8000, description="What is looked for, any language.")],
        filters: Filters = _EVERYTHING,
        limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of passages.")] = 10,
        as_of: AsOf = "",
        collections: Collections = [],  # noqa: B006  # pydantic copies it
    ) -> dict[str, Any]:
        """Find passages of stored documents, best first: the text with document, page and span, to write from."""
        return await actions.search_passages(query, filters, limit, as_of, collections)

    @tools.offer(_READ_ONLY)
    async def list_collections() -> dict[str, Any]:
        """List the collections of documents that you may read, and whether you may write to them."""
        return await actions.list_collections()

    @tools.offer(_READ_ONLY)
    async def list_documents(
        filters: Filters = _EVERYTHING,
        page_token: Annotated[str, Field(max_length=2000, description="next_page_token of the page before.")] = "",
        collections: Collections = [],  # noqa: B006  # pydantic copies it
    ) -> dict[str, Any]:
        """List stored documents: title, company, type, period, day, pages."""
        return await actions.list_documents(filters, page_token, collections)

    @tools.offer(ToolAnnotations(read_only_hint=False, open_world_hint=True))
    async def analyse(
        question: Annotated[str, Field(min_length=1, max_length=8000, description="What is to be found out.")],
        as_of: Annotated[str, Field(max_length=10, description="The day of the question, YYYY-MM-DD.")] = "",
        follows: Annotated[
            str, Field(max_length=64, description="`run` of an earlier analysis to go on from: its data and sources.")
        ] = "",
        collections: Collections = [],  # noqa: B006  # pydantic copies it
    ) -> dict[str, Any]:
        """Have the agent analyse: it searches, gets market data, runs code. Takes minutes; needs a language model."""
        return await actions.analyse(question, as_of, follows, collections)

    @tools.offer(_READ_ONLY)
    async def list_companies(
        collections: Collections = [],  # noqa: B006  # pydantic copies it
    ) -> dict[str, Any]:
        """List the companies that stored documents are about; at most 1000."""
        return await actions.list_companies(collections)

    @tools.offer(_READ_ONLY)
    async def get_statement(
        company: Annotated[str, Field(min_length=1, max_length=200, description="Name, other name or ticker.")],
        statement: Annotated[
            Shown, Field(description="Which statement; breakdown: tables by industry, product, region, subsidiary.")
        ] = "income",
        period: Annotated[
            Length | Literal[""],
            Field(description="Years or quarters; empty: years, or quarters where no year is stored."),
        ] = "",
        years: Annotated[int, Field(ge=1, le=MOST_YEARS, description="How many years back.")] = DEFAULT_YEARS,
        basis: Annotated[Basis, Field(description="The group, or the parent company alone.")] = "consolidated",
        as_of: AsOf = "",
        collections: Collections = [],  # noqa: B006  # pydantic copies it
    ) -> dict[str, Any]:
        """Read a company's statement: lines by periods, exact values, each with the document, page and span."""
        query = StatementQuery(company, statement, period, years, basis, as_of=as_of)
        return await actions.get_statement(query, collections)

    @tools.offer(_READ_ONLY)
    async def find_figures(
        company: Annotated[str, Field(min_length=1, max_length=200, description="Name, other name or ticker.")],
        names: Annotated[
            list[Annotated[str, Field(min_length=1, max_length=200)]],
            Field(
                min_length=1,
                max_length=20,
                description="What is wanted: capex, operating cash flow, 归母净利润; of a breakdown what its column "
                "says, a part or a kind of parts: 毛利率, 分行业.",
            ),
        ],
        period_from: Annotated[
            str, Field(max_length=10, description="Periods that end on or after this day, YYYY-MM-DD.")
        ] = "",
        as_of: AsOf = "",
        statement: Annotated[
            Literal["", "breakdown"],
            Field(description="breakdown: of tables by industry, product, region, subsidiary; empty: all but these."),
        ] = "",
        collections: Collections = [],  # noqa: B006  # pydantic copies it
    ) -> dict[str, Any]:
        """Find single figures of a company's filings, newest period first: exact values with document, page, span."""
        return await actions.find_figures(company, names, period_from, as_of, statement, collections)

    @tools.offer(ToolAnnotations(read_only_hint=False, open_world_hint=True))
    async def execute_python(
        code: Annotated[str, Field(min_length=1, max_length=262_144, description="Python; print what matters.")],
        market_data: Annotated[bool, Field(description="Let it reach data hosts, through the door.")] = False,
    ) -> dict[str, Any]:
        """Run Python once in a container of its own, with pandas, numpy, matplotlib and akshare; files come back."""
        return await actions.execute_python(code, market_data)

    return MCPServer(
        "quelea",
        version=VERSION,
        instructions=_ABOUT,
        tools=tools,
        log_level="WARNING",
        middleware=[_note_failures],
    )


def session_manager(gateway: Gateway) -> StreamableHTTPSessionManager:
    """A gateway's own server, ready to answer over HTTP without sessions.

    Host and origin are checked by the middleware, so the SDK's own check of them is off.
    """
    server = build_server(GatewayActions(gateway))
    server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=gateway.settings.max_body_bytes,
    )
    return server.session_manager
