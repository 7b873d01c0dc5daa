"""The catalogue of tools in the gateway: texts, choosing, keeping the index up to date; no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from quelea_gateway.core.agent.ports import Completed, ModelInfo
from quelea_gateway.core.model import Message
from quelea_gateway.core.tools import choice, descriptions
from quelea_gateway.core.tools.catalogue import ToolCatalogue, ToolRules
from quelea_gateway.core.tools.index_texts import IndexedTool, index_texts_of, index_version, name_parts
from quelea_gateway.core.tools.model import Column, Parameter, Tool, ToolHealth
from quelea_gateway.core.tools.ports import Found, Listing, SearchMode
from quelea_gateway.core.tools.search_text import strip_dates
from quelea_gateway.core.tools.terms import load_terms, parse, terms_of
from quelea_kit.errors import Conflict, NotFound, Unavailable

YIELD = Tool("bond_china_yield", "akshare", "Bond", "中国债券信息网-国债收益率曲线", path=("债券", "国债"))
PRICES = [Tool(f"stock_{number:02d}", "akshare", "Stock", f"历史行情 {number}") for number in range(30)]
CPI = Tool("macro_china_cpi", "akshare", "Macro", "中国居民消费价格指数")
TOOLS = (CPI, YIELD, *PRICES)


class Source:
    def __init__(self, tools: tuple[Tool, ...] = TOOLS, version: str = "v1") -> None:
        self.tools, self.now = tools, version
        self.listed = 0
        self.known: dict[str, ToolHealth] = {}

    async def version(self) -> str:
        return self.now

    async def listing(self) -> Listing:
        self.listed += 1
        return Listing(self.now, tuple(dict.fromkeys(tool.category for tool in self.tools)), self.tools)

    async def health(self) -> Mapping[str, ToolHealth]:
        return self.known

    async def report(self, name: str, *, ok: bool, error: str = "") -> None:
        self.known[name] = ToolHealth(score=1.0 if ok else 0.0, error=error, failures_in_row=3)


class Index:
    """Finds what it is told to, in the order of the names."""

    def __init__(self) -> None:
        self.there = ""
        self.puts: list[str] = []
        self.tools: list[IndexedTool] = []
        self.asked: list[tuple[str, int, tuple[str, ...], str]] = []

    async def version(self) -> str:
        return self.there

    async def put(self, version: str, tools: Sequence[IndexedTool], told: Callable[[int], None]) -> None:
        self.puts.append(version)
        told(len(tools))
        self.there, self.tools = version, list(tools)

    async def search(
        self, query: str, *, k: int, categories: Sequence[str] = (), mode: SearchMode = "both"
    ) -> tuple[str, list[Found]]:
        self.asked.append((query, k, tuple(categories), mode))
        names = [tool.name for tool in self.tools if not categories or tool.category in categories]
        return self.there, [Found(name, 1.0 - n / 100, 0.9, 1.0) for n, name in enumerate(names[:k])]


class Model:
    """Says what it is told to, one answer for each call."""

    def __init__(self, *said: object, language_model: bool = True) -> None:
        self.said = list(said)
        self.language_model = language_model
        self.schemas: list[dict[str, Any]] = []
        self.prompts: list[str] = []

    async def info(self) -> ModelInfo:
        return ModelInfo("m", is_language_model=self.language_model)

    async def complete(self, messages: Sequence[Message], **more: Any) -> Completed:
        self.schemas.append(json.loads(more["json_schema"]))
        self.prompts.append(messages[-1].text)
        answer = self.said.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completed):
            return answer
        return Completed(answer if isinstance(answer, str) else json.dumps(answer))


async def filled(model: Model | None = None, source: Source | None = None) -> tuple[ToolCatalogue, Index]:
    index = Index()
    catalogue = ToolCatalogue(source or Source(), index, model, rules=ToolRules(candidates=10, every_seconds=0))
    await catalogue.refresh()
    return catalogue, index


# Texts


def test_the_texts_of_a_tool_speak_both_languages() -> None:
    texts = index_texts_of(replace(YIELD, outputs=(Column("曲线名称"),)))
    for part in ("国债收益率曲线", "yield curve", "government bond"):
        assert part in texts.text
        assert part in texts.lexical
    assert {"Bond 债券", "曲线名称"} <= set(texts.lexical.splitlines())  # category and columns are words alone
    assert "曲线名称" not in texts.text
    assert "treasuries" in texts.lexical  # how people say it
    assert "treasuries" not in texts.text
    english = index_texts_of(Tool("yfinance.Ticker.get_dividends", "yfinance", "Stock", "Dividends that a stock paid."))
    assert "分红" in english.lexical


def test_names_are_cut_into_words() -> None:
    assert name_parts("yfinance.Ticker.get_newsFeed") == ("yfinance", "ticker", "get", "news", "feed")
    assert name_parts("index_option_50etf_qvix") == ("index", "option", "50", "etf", "qvix")


def test_the_version_of_the_index_changes_with_every_text() -> None:
    texts = [index_texts_of(tool) for tool in TOOLS]
    changed = [replace(texts[0], lexical=texts[0].lexical + "x"), *texts[1:]]
    assert index_version(texts) == index_version(list(texts))
    assert index_version(texts) != index_version(changed)
    assert index_version(texts) != index_version(texts[1:])


def test_terms_are_found_as_whole_words_and_by_parts_of_names() -> None:
    terms = parse("黄金 | gold | gold,au\n# remark\n\n私募 | private fund~PE | amac\n")
    assert [term.english for term in terms_of("Price of GOLD, daily", [], terms)] == [("gold",)]
    assert terms_of("golden share", [], terms) == []
    assert terms_of("PE ratio", [], terms) == []  # how people say it is never looked for
    assert [term.chinese for term in terms_of("", ["amac"], terms)] == [("私募",)]
    with pytest.raises(ValueError, match="line 1"):
        parse("黄金 | gold")
    assert len(load_terms()) > 200


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("平安银行2023年10月每天的股价", "平安银行 每天的股价"),
        ("2023年2月3日一美元值多少", "一美元值多少"),
        ("GDP on 2024-05-01 and 2024/6", "GDP on and"),
        ("Hang Seng in 2022", "Hang Seng in"),
        ("中证1000和沪深300", "中证1000和沪深300"),
        ("2024", "2024"),
        ("股票代码 600519", "股票代码 600519"),
    ],
)
def test_dates_are_not_searched(asked: str, expected: str) -> None:
    assert strip_dates(asked) == expected


def test_a_document_says_all_that_a_call_needs_and_is_bounded() -> None:
    tool = replace(
        YIELD,
        parameters=(Parameter("start_date", "str", "x" * 5000, required=True), Parameter("n", "int", "", default="3")),
        outputs=tuple(Column(f"c{number}") for number in range(100)),
        example="import akshare as ak",
        sample="a\n" * 5000,
        health=ToolHealth(score=0.0, failures_in_row=4, error="HTTP 502"),
    )
    said = descriptions.details(tool)
    for part in (
        "start_date (str, required)",
        "n (int, default 3)",
        "c59",
        "and 40 more",
        "import akshare",
        "HTTP 502",
    ):
        assert part in said
    assert len(said) < 6000
    assert "Warning" not in descriptions.details(YIELD)
    assert "Parameters: none" in descriptions.details(YIELD)


# Choosing


async def test_the_model_chooses_among_the_categories_there_are() -> None:
    model = Model(
        {"category": "Bond"}, {"category": "Weather"}, "nonsense", {"category": "All"}, Completed("{", "length")
    )
    chosen = [await choice.choose_category(model, "国债收益率", ["Stock", "Bond"], tenant="t") for _ in range(5)]
    assert chosen == ["Bond", "", "", "", ""]
    assert model.schemas[0]["properties"]["category"]["enum"] == ["Stock", "Bond", "All"]


async def test_only_candidates_can_be_picked_and_each_once() -> None:
    model = Model({"names": ["stock_01", "no_such", "stock_00", "stock_01", 3]}, {"names": "stock_00"}, {})
    picked = await choice.pick(model, "price", PRICES[:3], most=2, tenant="t")
    assert [tool.name for tool in picked] == ["stock_01", "stock_00"]
    assert model.schemas[0]["properties"]["names"]["items"]["enum"] == ["stock_00", "stock_01", "stock_02"]
    assert await choice.pick(model, "price", PRICES[:3], most=2, tenant="t") == []
    assert await choice.pick(model, "price", PRICES[:3], most=2, tenant="t") == []


async def test_a_small_category_is_listed_whole_and_a_large_one_searched() -> None:
    model = Model({"category": "Bond"}, {"names": ["bond_china_yield"]}, {"category": "Stock"}, {"names": ["stock_04"]})
    catalogue, index = await filled(model)
    small = await catalogue.choose("国债收益率")
    assert (small.category, small.candidates, small.by) == ("Bond", 1, "model")
    large = await catalogue.choose("price")
    assert (large.category, large.candidates, [hit.tool.name for hit in large.tools]) == ("Stock", 10, ["stock_04"])
    assert index.asked[-1][2] == ("Stock",)


@pytest.mark.parametrize(
    "said", [[Unavailable("away"), Unavailable("away")], ["x", "y"], [{"category": "All"}, {"names": ["nothing"]}]]
)
async def test_what_the_model_cannot_do_retrieval_does(said: list[object]) -> None:
    catalogue, _ = await filled(Model(*said))
    chosen = await catalogue.choose("price", k=3)
    assert (chosen.by, chosen.category, len(chosen.tools)) == ("retrieval", "", 3)


async def test_without_a_language_model_nothing_is_asked_of_it() -> None:
    catalogue, _ = await filled(Model(language_model=False))
    assert (await catalogue.choose("price", k=2)).by == "retrieval"


async def test_the_agent_gets_candidates_of_a_category_or_of_all() -> None:
    catalogue, _ = await filled()
    assert await catalogue.categories() == ("Macro", "Bond", "Stock")
    assert [one.name for one in await catalogue.select("bond", "x", limit=5)] == ["bond_china_yield"]
    assert len(await catalogue.select("Weather", "x", limit=5)) == 5
    assert [one.category for one in await catalogue.select("Stock", "x", limit=2)] == ["Stock", "Stock"]


# Kept up to date


async def test_the_index_is_made_once_and_again_when_the_catalogue_changes() -> None:
    source, index = Source(), Index()
    catalogue = ToolCatalogue(source, index, rules=ToolRules(every_seconds=0))
    with pytest.raises(Unavailable, match="being built") as raised:
        await catalogue.search("x")
    assert raised.value.details == {"indexed": "0", "tools": str(len(source.tools))}
    for _ in range(3):
        await catalogue.refresh()
    assert (source.listed, len(index.puts)) == (1, 1)
    source.tools, source.now = (CPI,), "v2"
    await catalogue.refresh()
    assert (source.listed, len(index.puts)) == (2, 2)
    assert [hit.tool.name for hit in await catalogue.search("x")] == ["macro_china_cpi"]


async def test_an_index_that_is_gone_is_made_again_and_that_of_another_gateway_is_left_alone() -> None:
    catalogue, index = await filled()
    index.there = "another gateway's"
    for _ in range(3):
        await catalogue.refresh()
    assert len(index.puts) == 1
    index.there = ""
    await catalogue.refresh()
    assert len(index.puts) == 2


async def test_names_that_the_index_has_and_the_catalogue_has_not_are_left_out() -> None:
    catalogue, index = await filled()
    index.tools = [IndexedTool("gone", "Stock", "", ""), *index.tools]
    assert "gone" not in {hit.tool.name for hit in await catalogue.search("x", k=50)}


async def test_what_failed_lately_comes_later_and_says_so() -> None:
    catalogue, _ = await filled()
    assert (await catalogue.search("x", k=2))[0].tool.name == "macro_china_cpi"
    await catalogue.report("macro_china_cpi", ok=False, error="HTTP 502")
    await catalogue.listing()
    assert (await catalogue.search("x", k=2))[0].tool.name == "bond_china_yield"
    assert "HTTP 502" in await catalogue.details("macro_china_cpi")


async def test_a_tool_is_found_by_the_end_of_its_name_where_that_is_clear() -> None:
    tools = (
        Tool("yfinance.Ticker.history", "yfinance", "Stock", "d"),
        Tool("a.x", "p", "Stock", "d"),
        Tool("b.x", "p", "Stock", "d"),
    )
    catalogue, _ = await filled(source=Source(tools))
    assert (await catalogue.get("Ticker.history")).name == "yfinance.Ticker.history"
    for name in ("x", "", "nothing like it"):
        with pytest.raises(NotFound):
            await catalogue.get(name)
    with pytest.raises(NotFound, match=r"a\.x"):
        await catalogue.get("a.y")


async def test_without_a_source_there_are_no_categories_and_the_rest_says_what_to_do() -> None:
    catalogue = ToolCatalogue(None, Index())
    catalogue.start()
    assert await catalogue.categories() == ()
    with pytest.raises(Conflict, match="make tools"):
        await catalogue.search("x")
    await catalogue.close()
