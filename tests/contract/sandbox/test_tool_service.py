"""ToolService over a real gRPC server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from quelea.sandbox.v1 import tools_pb2, tools_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Conflict, InvalidInput, NotFound
from quelea_kit.testing import running
from quelea_sandbox.registry.catalogue import Catalogue
from quelea_sandbox.registry.model import ApiSpec, Column, Parameter
from quelea_sandbox.registry.service import SERVICE, register
from quelea_sandbox.registry.settings import ToolSettings


def spec(name: str, category: str = "Stock") -> ApiSpec:
    return ApiSpec(
        name=name,
        provider="akshare",
        category=category,
        description=f"about {name}",
        parameters=(Parameter("symbol", "str", "code", required=True), Parameter("day", default="'20240101'")),
        outputs=(Column("close", "float", "price"),),
        example="print(1)",
        hosts=("example.com",),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    specs = [spec(f"stock_{number:02d}") for number in range(7)] + [spec("macro_gdp", "Macro")]
    Catalogue.of(specs).write(tmp_path / "catalogue.jsonl")
    return tmp_path


@pytest.fixture
async def stub(folder: Path) -> AsyncIterator[tools_pb2_grpc.ToolServiceAsyncStub]:
    async with serving(folder) as one:
        yield one


def settings(folder: Path) -> ToolSettings:
    return ToolSettings(tools_file=folder / "catalogue.jsonl", tool_health_file=folder / "health.json", max_tool_page=5)


class serving:  # noqa: N801  # used as a function
    def __init__(self, folder: Path) -> None:
        self._settings = settings(folder)

    async def __aenter__(self) -> tools_pb2_grpc.ToolServiceAsyncStub:
        def add(server: grpc.aio.Server) -> None:
            self._servicer = register(server, self._settings)

        self._running = running(add, [SERVICE])
        self._channel = channel(await self._running.__aenter__(), SERVICE)
        return tools_pb2_grpc.ToolServiceStub(self._channel)

    async def __aexit__(self, *_: object) -> None:
        await self._channel.close()
        await self._running.__aexit__(None, None, None)
        self._servicer.health.flush()


async def test_pages_give_every_tool_once_and_one_version(stub: tools_pb2_grpc.ToolServiceAsyncStub) -> None:
    names, versions, token = [], set(), ""
    while True:
        page = await unary(stub.ListTools(tools_pb2.ListToolsRequest(page_size=3, page_token=token)))
        assert page.total == 8
        assert list(page.categories) == ["Stock", "Macro"]
        names += [tool.name for tool in page.tools]
        versions.add(page.version)
        token = page.next_page_token
        if not token:
            break
    assert names == sorted(names)
    assert len(set(names)) == 8
    assert len(versions) == 1


async def test_bad_pages_are_refused(folder: Path, stub: tools_pb2_grpc.ToolServiceAsyncStub) -> None:
    with pytest.raises(InvalidInput, match="page_size"):
        await unary(stub.ListTools(tools_pb2.ListToolsRequest(page_size=6)))
    with pytest.raises(InvalidInput, match="page_token"):
        await unary(stub.ListTools(tools_pb2.ListToolsRequest(page_token="nonsense")))
    page = await unary(stub.ListTools(tools_pb2.ListToolsRequest(page_size=2)))
    Catalogue.of([spec("another")]).write(folder / "catalogue.jsonl")
    async with serving(folder) as later:
        with pytest.raises(Conflict, match="changed"):
            await unary(later.ListTools(tools_pb2.ListToolsRequest(page_token=page.next_page_token)))


async def test_one_tool_with_all_its_facts(stub: tools_pb2_grpc.ToolServiceAsyncStub) -> None:
    tool = (await unary(stub.GetTool(tools_pb2.GetToolRequest(name="macro_gdp")))).tool
    assert (tool.provider, tool.category, list(tool.hosts)) == ("akshare", "Macro", ["example.com"])
    assert [(p.name, p.type, p.required, p.default) for p in tool.parameters] == [
        ("symbol", "str", True, ""),
        ("day", "", False, "'20240101'"),
    ]
    assert tool.outputs[0].description == "price"
    assert tool.health.score == 1.0
    with pytest.raises(NotFound, match="macro_gdp"):
        await unary(stub.GetTool(tools_pb2.GetToolRequest(name="macro_gpd")))


async def test_outcomes_are_remembered_and_survive_a_restart(
    folder: Path, stub: tools_pb2_grpc.ToolServiceAsyncStub
) -> None:
    for _ in range(3):
        await unary(stub.ReportOutcome(tools_pb2.ReportOutcomeRequest(name="macro_gdp", error="HTTP 502")))
    health = (await unary(stub.GetTool(tools_pb2.GetToolRequest(name="macro_gdp")))).tool.health
    assert health.score < 0.01
    assert health.error == "HTTP 502"
    assert health.HasField("last_error")
    assert not health.HasField("last_ok")
    with pytest.raises(NotFound):
        await unary(stub.ReportOutcome(tools_pb2.ReportOutcomeRequest(name="unheard_of", ok=True)))
    answer = await unary(stub.ListToolHealth(tools_pb2.ListToolHealthRequest()))
    assert [one.name for one in answer.health] == ["macro_gdp"]


async def test_health_is_there_again_when_the_service_is(folder: Path) -> None:
    async with serving(folder) as stub:
        await unary(stub.ReportOutcome(tools_pb2.ReportOutcomeRequest(name="stock_01", ok=True)))
    async with serving(folder) as stub:
        tool = (await unary(stub.GetTool(tools_pb2.GetToolRequest(name="stock_01")))).tool
    assert tool.health.calls == 1
    assert tool.health.HasField("last_ok")


async def test_without_a_catalogue_the_list_is_empty(tmp_path: Path) -> None:
    async with serving(tmp_path) as stub:
        page = await unary(stub.ListTools(tools_pb2.ListToolsRequest()))
    assert page.total == 0
    assert not page.tools
