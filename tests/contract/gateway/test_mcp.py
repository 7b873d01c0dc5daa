"""The MCP server, spoken to with the SDK's own client: over HTTP at the gateway, and over stdio in front of it."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea.search.v1 import search_pb2
from quelea_gateway import keys
from quelea_gateway.core.agent.ports import CodeFile, Execution
from quelea_gateway.mcp import asgi
from quelea_gateway.testing import standing
from quelea_kit.errors import Overloaded, QueleaError, Unavailable
from support.tool_catalogue import gateway_with_tools

QUESTION = "What were Apple's net sales in the third quarter of fiscal 2023?"


class Sandbox:
    """Runs nothing; says what it was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self.done: Execution | QueleaError | None = None

    async def execute(self, code: str, **more: Any) -> Execution:
        self.asked = {"code": code, **more}
        if isinstance(self.done, QueleaError):
            raise self.done
        if self.done is not None:
            return self.done
        files = (CodeFile("a.txt", b"abc", "text/plain"), CodeFile("b.bin", b"x" * 300_000))
        return Execution("ok", stdout="1\n", files=files, wall_seconds=0.1)

    async def close(self) -> None: ...


def text_of(result: Any) -> str:
    return " ".join(part.text for part in result.content)


async def test_the_tools_are_listed_with_their_schemas(stand: Any) -> None:
    async with Client(f"{stand.url}/mcp") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {
        "search_tools", "tool_details", "ask", "execute_python", "list_companies", "get_statement", "find_figures",
        "search_passages", "list_documents", "list_collections", "analyse",
    }  # fmt: skip
    schema = tools["search_tools"].input_schema
    assert schema["required"] == ["query"]
    assert schema["properties"]["limit"]["maximum"] == 50
    assert tools["ask"].annotations.read_only_hint
    assert not tools["execute_python"].annotations.read_only_hint


async def test_a_question_is_answered_with_citations(stand: Any) -> None:
    async with Client(f"{stand.url}/mcp") as client:
        result = await client.call_tool("ask", {"question": QUESTION})
        refused = await client.call_tool("ask", {"question": QUESTION, "as_of": "yesterday"})
    assert not result.is_error
    said = result.structured_content
    assert said["answer"]
    assert said["citations"][0]["quote"]
    assert refused.is_error
    assert "YYYY-MM-DD" in text_of(refused)


async def test_without_catalogue_and_sandbox_the_tools_say_what_to_do(stand: Any) -> None:
    async with Client(f"{stand.url}/mcp") as client:
        search = await client.call_tool("search_tools", {"query": "x"})
        details = await client.call_tool("tool_details", {"name": "x"})
        run = await client.call_tool("execute_python", {"code": "print(1)"})
    assert search.is_error
    assert details.is_error
    assert "make tools" in text_of(search)
    assert run.is_error
    assert "runner-image" in text_of(run)


async def test_code_is_run_once_and_small_files_come_back(stand: Any) -> None:
    sandbox = Sandbox()
    stand.gateway.analyst.sandbox = sandbox
    async with Client(f"{stand.url}/mcp") as client:
        result = await client.call_tool("execute_python", {"code": "print(1)"})
        no_door = await client.call_tool("execute_python", {"code": "print(1)", "market_data": True})
    said = result.structured_content
    assert (said["result"], said["stdout"]) == ("ok", "1\n")
    assert said["files"][0] == {"path": "a.txt", "media_type": "text/plain", "bytes": 3, "base64": "YWJj"}
    assert said["files"][1]["base64"] is None
    assert (sandbox.asked["code"], sandbox.asked["session_id"], sandbox.asked["market_token"]) == ("print(1)", "", "")
    assert sandbox.asked["tenant"] == "local"
    assert no_door.is_error
    assert "Market data is not available" in text_of(no_door)


async def test_only_keys_come_in_and_the_key_names_the_tenant(tmp_path: Any) -> None:
    path = tmp_path / "keys.json"
    key = keys.create(path, "desk")
    async with standing(auth="keys", keys_file=str(path)) as stand:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as web:
            ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            assert (await web.post(f"{stand.url}/mcp", json=ping)).status_code == 401
            assert (await web.get(f"{stand.url}/mcp", headers={"Authorization": f"Bearer {key}"})).status_code == 405
        sandbox = Sandbox()
        stand.gateway.analyst.sandbox = sandbox
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=60, headers={"Authorization": f"Bearer {key}"}) as web,
            Client(streamable_http_client(f"{stand.url}/mcp", http_client=web)) as client,
        ):
            await asyncio.gather(*(client.call_tool("execute_python", {"code": f"print({n})"}) for n in range(5)))
        assert sandbox.asked["tenant"] == "desk"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', b"x" * 100_000])
async def test_nonsense_is_refused_and_the_server_goes_on(stand: Any, body: bytes) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as web:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        answer = await web.post(f"{stand.url}/mcp", content=body, headers=headers)
        assert answer.status_code < 500
    async with Client(f"{stand.url}/mcp") as client:
        assert (await client.list_tools()).tools


async def test_passages_and_documents_by_filters(stand: Any) -> None:
    async with Client(f"{stand.url}/mcp") as client:
        asked = {"query": "net sales", "filters": {"companies": ["Apple"]}, "limit": 2, "as_of": "2024-01-02"}
        found = (await client.call_tool("search_passages", asked)).structured_content
        listed = (await client.call_tool("list_documents", {"filters": {"companies": ["Apple"]}})).structured_content
        everything = (await client.call_tool("list_documents", {})).structured_content
        for tool, wrong, told in (
            ("search_passages", {"query": "  "}, "query"),
            ("search_passages", {"query": "x", "limit": 51}, "limit"),
            ("search_passages", {"query": "x", "as_of": "today"}, "YYYY-MM-DD"),
            ("search_passages", {"query": "x", "filters": {"colour": "red"}}, "colour"),
            ("list_documents", {"page_token": "no token of ours"}, "page_token"),
        ):
            refused = await client.call_tool(tool, wrong)
            assert refused.is_error, (tool, wrong)
            assert told in text_of(refused), (tool, wrong, text_of(refused))
    assert 1 <= len(found["passages"]) <= 2
    assert {one["company"] for one in found["passages"]} == {"Apple"}
    assert found["passages"][0]["text"]
    assert {one["company"] for one in listed["documents"]} == {"Apple"}
    assert 0 < listed["total"] < everything["total"]


async def test_collections_are_listed_and_one_that_is_not_there_is_said(stand: Any) -> None:
    stand.world.collections["deals"] = search_pb2.Collection(name="deals", title="Deal room")
    async with Client(f"{stand.url}/mcp") as client:
        listed = (await client.call_tool("list_collections", {})).structured_content["collections"]
        asked = {"question": QUESTION, "collections": ["default", "deals"]}
        answered = await client.call_tool("ask", asked)
        for tool, arguments in (
            ("ask", {"question": QUESTION}),
            ("search_passages", {"query": "x"}),
            ("list_documents", {}),
            ("analyse", {"question": QUESTION}),
            ("list_companies", {}),
            ("get_statement", {"company": "Apple"}),
            ("find_figures", {"company": "Apple", "names": ["revenue"]}),
        ):
            refused = await client.call_tool(tool, {**arguments, "collections": ["nowhere"]})
            assert refused.is_error, tool
            assert "There is no collection 'nowhere'." in text_of(refused), (tool, text_of(refused))
    assert [(one["name"], one["right"]) for one in listed] == [("deals", "manage"), ("default", "manage")]
    assert answered.structured_content["citations"]


def turnover(value: str, year: int) -> retriever_pb2.StatedFact:
    fact = common_pb2.Fact(
        statement="income", label="Turnover", concept="revenue", value=value, unit="USD", printed=value, start=3, end=6,
        period_start=f"{year}-01-01", period_end=f"{year}-12-31", passed=["a sum"],
    )  # fmt: skip
    about = common_pb2.DocumentMetadata(company="Kestrel", title="10-K")
    return retriever_pb2.StatedFact(fact=fact, document_id="d1", metadata=about, passage_id=f"p{value}", page=7)


async def test_statements_and_figures_come_with_their_place(stand: Any) -> None:
    stand.world.facts = [turnover("900", 2031), turnover("800", 2030)]
    async with Client(f"{stand.url}/mcp") as client:
        companies = (await client.call_tool("list_companies", {})).structured_content
        statement = (await client.call_tool("get_statement", {"company": "Kestrel"})).structured_content
        asked = {"company": "Kestrel", "names": ["revenue"], "period_from": "2031-01-01", "as_of": "2023-06-30"}
        figures = (await client.call_tool("find_figures", asked)).structured_content
        for tool, wrong, told in (
            ("get_statement", {"company": "Nobody"}, "Nobody"),
            ("get_statement", {"company": "Kestrel", "statement": "ledger"}, "statement"),
            ("get_statement", {"company": "Kestrel", "as_of": "today"}, "YYYY-MM-DD"),
            ("find_figures", {"company": "Kestrel", "names": []}, "names"),
            ("list_documents", {"company": "Kestrel"}, "company"),  # belongs into filters
        ):
            refused = await client.call_tool(tool, wrong)
            assert refused.is_error, (tool, wrong)
            assert told in text_of(refused), (tool, wrong)
    assert "Apple" in {one["name"] for one in companies["companies"]}
    assert statement["periods"] == ["2031-12-31", "2030-12-31"]
    assert [cell["value"] for cell in statement["lines"][0]["cells"]] == ["900", "800"]
    place = {key: figures["figures"][0][key] for key in ("document_id", "page", "start", "end", "checks_passed")}
    assert place == {"document_id": "d1", "page": 7, "start": 3, "end": 6, "checks_passed": ["a sum"]}
    sent = next(one for one in stand.world.fact_requests if one.concepts)
    assert (sent.period_from, sent.as_of, list(sent.filters.companies)) == ("2031-01-01", "2023-06-30", ["Kestrel"])


async def test_parts_of_a_company_are_found_where_they_are_asked_for(stand: Any) -> None:
    ferries = turnover("700", 2031)
    ferries.fact.statement, ferries.fact.label, ferries.fact.concept = "breakdown", "渡轮", ""
    ferries.fact.column, ferries.fact.group = "营业收入", "分产品"
    stand.world.facts = [turnover("900", 2031), ferries]
    async with Client(f"{stand.url}/mcp") as client:
        asked = {"company": "Kestrel", "names": ["渡轮"], "statement": "breakdown"}
        (figure,) = (await client.call_tool("find_figures", asked)).structured_content["figures"]
        assert list(stand.world.fact_requests[-1].statements) == ["breakdown"]
        wanted = {"company": "Kestrel", "statement": "breakdown"}
        (line,) = (await client.call_tool("get_statement", wanted)).structured_content["lines"]
    for told in (figure, line):
        assert (told["group"], told["label"], told["column"]) == ("分产品", "渡轮", "营业收入")
    assert (figure["value"], line["cells"][0]["value"]) == ("700", "700")


async def test_over_stdio_the_gateway_is_asked(stand: Any) -> None:
    stand.world.facts = [turnover("900", 2031)]
    stand.gateway.analyst.sandbox = Sandbox()
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "quelea_gateway.mcp", "--url", stand.url], env=dict(os.environ)
    )
    async with Client(command) as client:
        assert len((await client.list_tools()).tools) == 11
        apple = {"companies": ["Apple"], "document_types": ["10-Q"]}
        passages = await client.call_tool("search_passages", {"query": "net sales", "filters": apple, "limit": 3})
        documents = await client.call_tool("list_documents", {"filters": apple})
        run = await client.call_tool("analyse", {"question": QUESTION})
        result = await client.call_tool("execute_python", {"code": "print(1)"})
        search = await client.call_tool("search_tools", {"query": "x"})
        collections = await client.call_tool("list_collections", {})
        nowhere = await client.call_tool("ask", {"question": QUESTION, "collections": ["nowhere"]})
        statement = await client.call_tool("get_statement", {"company": "Kestrel", "years": 1})
        parts = {"company": "Kestrel", "names": ["revenue"], "statement": "breakdown"}
        none = await client.call_tool("find_figures", parts)
    assert [line["cells"][0]["value"] for line in statement.structured_content["lines"]] == ["900"]
    assert none.structured_content == {"figures": []}
    assert passages.structured_content["passages"]
    assert {one["company"] for one in passages.structured_content["passages"]} == {"Apple"}
    assert documents.structured_content["total"] >= 1
    assert [one["name"] for one in collections.structured_content["collections"]] == ["default"]
    assert "There is no collection 'nowhere'." in text_of(nowhere)
    assert run.is_error
    assert "agent" in text_of(run)
    assert result.structured_content["stdout"] == "1\n"
    assert search.is_error
    assert "make tools" in text_of(search)


async def test_over_stdio_without_a_gateway_one_line_says_so() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "quelea_gateway.mcp", "--url", "http://127.0.0.1:9",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, said = await asyncio.wait_for(process.communicate(), 300)
    assert process.returncode == 1
    assert said.decode().splitlines()[-1].startswith("quelea mcp: cannot reach a gateway at http://127.0.0.1:9")


async def test_tools_are_found_and_described_and_what_is_wrong_is_said() -> None:
    async with gateway_with_tools() as stand, Client(f"{stand.url}/mcp") as client:
        async with asyncio.timeout(60):
            while (found := await client.call_tool("search_tools", {"query": "国债收益率曲线", "limit": 2})).is_error:
                assert "being built" in text_of(found)  # the index
                await asyncio.sleep(0.05)
        assert found.structured_content["tools"][0]["name"] == "bond_china_yield"
        of_macro = await client.call_tool("search_tools", {"query": "国债收益率曲线", "category": "Macro"})
        assert [one["name"] for one in of_macro.structured_content["tools"]] == ["macro_china_cpi"]
        details = await client.call_tool("tool_details", {"name": "stock_us_daily"})
        assert "symbol (str, required)" in details.structured_content["document"]
        for tool, arguments, told in (
            ("tool_details", {"name": "stock_us_dayly"}, "stock_us_daily"),
            ("search_tools", {"query": "x", "category": "Weather"}, "no category"),
            ("search_tools", {}, "query"),
            ("search_tools", {"query": "x", "limit": 0}, "limit"),
            ("no_such_tool", {}, "no_such_tool"),
        ):
            try:
                wrong = await client.call_tool(tool, arguments)
            except MCPError as error:
                assert told in str(error), (tool, arguments)
                continue
            assert wrong.is_error, (tool, arguments)
            assert told in text_of(wrong), (tool, arguments, text_of(wrong))


async def test_a_reader_that_is_down_and_code_that_fails_are_told(stand: Any) -> None:
    stand.world.generator_error = Unavailable("The reader is away.")
    sandbox = stand.gateway.analyst.sandbox = Sandbox()
    sandbox.done = Execution("error", stdout="", error="ZeroDivisionError: division by zero")
    async with Client(f"{stand.url}/mcp") as client:
        asked = await client.call_tool("ask", {"question": QUESTION})
        failed = await client.call_tool("execute_python", {"code": "1/0"})
        empty = await client.call_tool("execute_python", {"code": "  "})
        sandbox.done = Overloaded("All containers are taken.")
        full = await client.call_tool("execute_python", {"code": "1"})
    assert asked.is_error
    assert "generator service does not answer" in text_of(asked)
    assert not failed.is_error  # the call went well; the code did not
    assert failed.structured_content["result"] == "error"
    assert "ZeroDivisionError" in failed.structured_content["error"]
    assert empty.is_error
    assert full.is_error
    assert "taken" in text_of(full)


async def _tools_at(url: str) -> int:
    async with Client(f"{url}/mcp") as client:
        return len((await client.list_tools()).tools)


async def test_the_server_is_made_once_by_the_first_calls(stand: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = [], asgi._make
    monkeypatch.setattr(asgi, "_make", lambda gateway: made.append(gateway) or make(gateway))
    found = await asyncio.gather(*(_tools_at(stand.url) for _ in range(3)))
    assert found == [11, 11, 11]
    assert len(made) == 1


async def test_a_server_that_could_not_be_made_is_made_by_the_next_call(
    stand: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = asgi._make

    def fail(gateway: Any) -> Any:
        monkeypatch.setattr(asgi, "_make", make)
        raise OSError("Too many open files")

    monkeypatch.setattr(asgi, "_make", fail)
    async with httpx2.AsyncClient() as http:
        assert (await http.post(f"{stand.url}/mcp", json={})).status_code == 500
    assert await _tools_at(stand.url) == 11
