"""A gateway with a small catalogue: a real ToolService and a real retriever, with a fake encoder."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from quelea_gateway.testing import standing
from quelea_kit.testing import running
from quelea_retriever.testing import memory_folder, running_retriever
from quelea_sandbox.registry.catalogue import Catalogue
from quelea_sandbox.registry.model import ApiSpec, Column, Parameter
from quelea_sandbox.registry.service import SERVICE, register
from quelea_sandbox.registry.settings import ToolSettings

NAMES = {
    "stock_zh_a_hist": ("Stock", "沪深京 A 股历史行情数据，日频率"),
    "stock_us_daily": ("Stock", "美股历史行情数据"),
    "bond_china_yield": ("Bond", "中国债券信息网 国债收益率曲线"),
    "macro_china_cpi": ("Macro", "中国居民消费价格指数"),
}


def specs() -> list[ApiSpec]:
    return [
        ApiSpec(
            name=name,
            provider="akshare",
            category=category,
            description=text,
            parameters=(
                Parameter("symbol", "str", "代码", required=True),
                Parameter("adjust", "str", "", default="''"),
            ),
            outputs=(Column("收盘", "float", "元"),),
            example=f"import akshare as ak\nprint(ak.{name}())",
            sample="收盘\n1.0",
            hosts=("quote.eastmoney.com",),
        )
        for name, (category, text) in NAMES.items()
    ]


@contextlib.asynccontextmanager
async def tool_service(folder: Path) -> AsyncIterator[str]:
    settings = ToolSettings(tools_file=folder / "catalogue.jsonl", tool_health_file=None)
    async with running(lambda server: register(server, settings), [SERVICE]) as address:
        yield address


@contextlib.asynccontextmanager
async def gateway_with_tools(**settings: Any) -> AsyncIterator[Any]:
    with memory_folder() as folder:
        Catalogue.of(specs()).write(folder / "catalogue.jsonl")
        async with (
            running_retriever(folder / "index") as retriever,
            tool_service(folder) as tools,
            standing(retriever=retriever.address, tools=tools, **settings) as stand,
        ):
            yield stand
