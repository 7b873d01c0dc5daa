"""The catalogue of tools: what is read from packages, and what is refused."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest
from quelea_kit.errors import InvalidInput
from quelea_sandbox.registry import gaps
from quelea_sandbox.registry.akshare import AkshareProvider
from quelea_sandbox.registry.catalogue import Catalogue, collect
from quelea_sandbox.registry.curated import CuratedProvider
from quelea_sandbox.registry.model import ApiSpec, Parameter
from quelea_sandbox.registry.openapi import OpenApiProvider
from quelea_sandbox.registry.package import Package
from quelea_sandbox.registry.signatures import Signatures

WHEELS = Path(__file__).parents[3] / ".cache" / "tools"
PAPER = {
    "Stock": 384,
    "Fund": 90,
    "Futures": 54,
    "Forex": 11,
    "Index": 87,
    "Interest rate": 14,
    "Currency": 5,
    "Macro": 215,
    "Option": 41,
    "Bond": 42,
}
needs_wheels = pytest.mark.skipif(
    not list(WHEELS.glob("akshare-*.whl")), reason="the wheels are not here: make tools fetches them"
)


def site(folder: Path, source: str, interfaces: list[dict[str, object]]) -> Path:
    (folder / "akshare" / "data").mkdir(parents=True)
    (folder / "akshare-9.9.dist-info").mkdir()
    (folder / "akshare" / "mod.py").write_text(source, "utf-8")
    text = json.dumps({"schema_version": 1, "interfaces": interfaces})
    (folder / "akshare" / "data" / "interfaces.json").write_text(text, "utf-8")
    return folder


def interface(name: str, **more: object) -> dict[str, object]:
    return {
        "name": name,
        "category": "stock",
        "desc": "某公司-历史行情",
        "documented": True,
        "example": f"import akshare as ak\nprint(ak.{name}())",
        "limit_desc": "-",
        "module": "akshare.mod",
        "outputs": [{"name": "日期", "type": "str", "desc": "-"}],
        "params": [{"name": "symbol", "type": "str", "desc": "股票代码"}],
        "url": "https://quote.example.com/x",
        **more,
    }


def test_akshare_parameters_come_from_source_and_documentation(tmp_path: Path) -> None:
    source = "raise SystemExit('imported')\ndef one(symbol: str, day='20240101', *, adjust=None, **more): ...\n"
    found = AkshareProvider((site(tmp_path, source, [interface("one"), interface("two", documented=False)]),)).list()
    assert [spec.name for spec in found] == ["one"]
    assert found[0].parameters == (
        Parameter("symbol", "str", "股票代码", required=True),
        Parameter("day", "", "", default="'20240101'"),
        Parameter("adjust", "", "", default="None"),
    )
    assert found[0].category == "Stock"
    assert found[0].limits == ""
    assert [column.name for column in found[0].outputs] == ["日期"]


def test_columns_without_documentation_are_read_from_the_source(tmp_path: Path) -> None:
    source = (
        "def one(symbol):\n    df.columns = ['_', '开盘', '收盘', '成交量']\n"
        "    df = df[['开盘', '收盘']]\n    return df\n"
        "def two(symbol):\n    df = df['开盘']\n    return df\n"
    )
    folder = site(tmp_path, source, [interface("one", outputs=[]), interface("two", outputs=[])])
    known = {"two": gaps.Gap(columns=("日期", "收盘"), sample="x", hosts=("push2his.eastmoney.com",))}
    one, two = AkshareProvider((folder,), known).list()
    assert [column.name for column in one.outputs] == ["开盘", "收盘"]
    assert [column.name for column in two.outputs] == ["日期", "收盘"]
    assert two.hosts == ("push2his.eastmoney.com",)


def test_a_function_without_source_keeps_its_documented_parameters(tmp_path: Path) -> None:
    found = AkshareProvider((site(tmp_path, "x = 1\n", [interface("one")]),)).list()
    assert found[0].parameters == (Parameter("symbol", "str", "股票代码", required=True),)


def test_a_registry_that_is_none_is_an_error_that_names_it(tmp_path: Path) -> None:
    folder = site(tmp_path, "", [])
    (folder / "akshare" / "data" / "interfaces.json").write_text("[]")
    with pytest.raises(InvalidInput, match=r"interfaces\.json"):
        AkshareProvider((folder,)).list()
    with pytest.raises(InvalidInput, match="make tools"):
        AkshareProvider((tmp_path / "nowhere",)).list()


def test_paths_out_of_a_package_are_refused(tmp_path: Path) -> None:
    package = Package("akshare", (site(tmp_path, "", []),))
    for path in ("../secret", "/etc/passwd", "akshare/../../x"):
        with pytest.raises(InvalidInput):
            package.read(path)
    (tmp_path / "akshare" / "bad.py").write_text("def (")
    with pytest.raises(InvalidInput, match=r"bad\.py"):
        Signatures(package).parameters("akshare/bad.py", "x")


def test_packaged_gaps_are_about_the_ten_categories() -> None:
    found = gaps.load_gaps()
    assert len(found) == 943
    assert sum(1 for gap in found.values() if gap.sample) == 943
    assert sum(1 for gap in found.values() if gap.hosts) > 930
    assert found["stock_zh_a_hist"].hosts[0] == "push2his.eastmoney.com"
    assert max(len(gap.sample) for gap in found.values()) <= 1500


def test_gaps_are_made_the_same_each_time() -> None:
    one = {"name": "f", "url": "https://a.com/x", "doc_path": ["[AK](http://x) 股票数据", "注意：别急"], "outputs": []}
    entry = {**one, "sample": "  日期   收盘  ...\n0  1  2 ...\n"}
    made = gaps.make([entry], {"a.com": ["f"], "b.com": ["f"]})
    assert made == gaps.make([entry], {"b.com": ["f"], "a.com": ["f"]})
    assert gaps.columns_of(entry["sample"]) == ("日期", "收盘")
    assert gaps.heading("[AK](http://x) 股票数据") == "股票数据"
    assert gaps.heading("注意：别急") == ""


@needs_wheels
def test_akshare_has_every_category_of_the_paper() -> None:
    found = AkshareProvider((WHEELS,)).list()
    counts = Counter(spec.category for spec in found)
    assert all(counts[category] >= count for category, count in PAPER.items())
    assert sum(counts[category] for category in PAPER) >= 943
    ten = [spec for spec in found if spec.category in PAPER]
    assert all(spec.description and spec.example for spec in ten)
    assert sum(1 for spec in ten if spec.outputs) >= 920
    assert sum(1 for spec in ten if spec.sample) >= 943


@needs_wheels
@pytest.mark.parametrize("name", ["yfinance", "edgartools"])
def test_every_described_call_is_in_the_package(name: str) -> None:
    text = resources.files("quelea_sandbox.registry").joinpath(f"{name}.toml").read_text("utf-8")
    said = {f"{one['call']}": one for one in tomllib.loads(text)["api"]}
    found = CuratedProvider(name, (WHEELS,)).list()
    assert len(found) == len(said) >= 20
    for spec in found:
        one = said[spec.name.partition(".")[2]]
        assert {parameter.name for parameter in spec.parameters} >= set(one.get("parameters", {})), spec.name
        compile(spec.example, spec.name, "exec")
        assert spec.outputs
        assert spec.hosts


def test_a_call_that_a_version_does_not_have_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "yfinance-0.0.1.dist-info").mkdir()
    (tmp_path / "yfinance").mkdir()
    (tmp_path / "yfinance" / "multi.py").write_text("def download(tickers, start=None): ...\n")
    (tmp_path / "yfinance" / "base.py").write_text("")
    for folder in ("scrapers/history", "ticker", "search", "calendars", "screener/screener"):
        path = tmp_path / "yfinance" / f"{folder}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    for domain in ("market", "sector", "industry"):
        path = tmp_path / "yfinance" / "domain" / f"{domain}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    found = CuratedProvider("yfinance", (tmp_path,)).list()
    assert [spec.name for spec in found] == ["yfinance.download"]
    assert [(p.name, p.required) for p in found[0].parameters] == [("tickers", True), ("start", False)]


TEXT = {"type": "string"}
DAY = {"name": "day", "in": "query", "required": True, "schema": TEXT, "example": "2024-01-02"}
CURRENCY = {"name": "currency", "in": "path", "required": True, "schema": TEXT, "example": "EUR"}


def document(**more: object) -> dict[str, object]:
    return {
        "openapi": "3.1.0",
        "servers": [{"url": "https://rates.example.com/v1"}],
        "paths": {
            "/rates/{currency}": {
                "get": {
                    "operationId": "get rate",
                    "summary": "Rate of a currency.",
                    "tags": ["rates"],
                    "x-quelea-category": "Forex",
                    "parameters": [
                        {"$ref": "#/components/parameters/currency"},
                        {
                            "name": "day",
                            "in": "query",
                            "required": True,
                            "schema": {"type": "string"},
                            "example": "2024-01-02",
                        },
                        {"name": "digits", "in": "query", "schema": {"type": "integer", "default": 4}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    ],
                    "responses": {
                        "200": {
                            "content": {
                                "application/json": {
                                    "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Rate"}}
                                }
                            }
                        }
                    },
                }
            }
        },
        "components": {
            "parameters": {
                "currency": {
                    "name": "currency",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string"},
                    "example": "EUR",
                }
            },
            "schemas": {"Rate": {"properties": {"rate": {"type": "number", "description": "CNY for one."}}}},
        },
        **more,
    }


def test_operations_of_an_openapi_document_become_tools() -> None:
    (spec,) = OpenApiProvider("bank", document()).list()
    assert (spec.name, spec.category, spec.hosts) == ("bank.get_rate", "Forex", ("rates.example.com",))
    assert [(p.name, p.type, p.required, p.default) for p in spec.parameters] == [
        ("currency", "str", True, ""),
        ("day", "str", True, ""),
        ("digits", "int", False, "4"),
    ]
    assert [(c.name, c.type, c.description) for c in spec.outputs] == [("rate", "float", "CNY for one.")]
    assert (
        "requests.get('https://rates.example.com/v1/rates/EUR', params={'day': '2024-01-02'}, timeout=30)"
        in spec.example
    )
    compile(spec.example, "example", "exec")


@pytest.mark.parametrize(
    "broken",
    [
        {"openapi": "2.0"},
        {"servers": []},
        {"servers": [{"url": "file:///etc"}]},
        {"paths": {"/x": {"get": {"parameters": [{"$ref": "other.json#/x"}]}}}},
        {"paths": {"/x": {"get": {"parameters": [{"$ref": "#/nowhere"}]}}}},
        {"paths": {"/x": {"get": {"x-quelea-category": "Weather"}}}},
        {
            "paths": {"/x": {"get": {"parameters": [{"$ref": "#/components/a"}]}}},
            "components": {"a": {"$ref": "#/components/a"}},
        },
    ],
)
def test_documents_that_cannot_be_used_are_refused(broken: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        OpenApiProvider("bank", document(**broken)).list()


def test_a_catalogue_comes_back_as_it_was_written(tmp_path: Path) -> None:
    catalogue = collect([OpenApiProvider("bank", document())])
    path = tmp_path / "deep" / "catalogue.jsonl"
    catalogue.write(path)
    again = Catalogue.read(path)
    assert again == catalogue
    assert again.version == catalogue.version
    assert again.categories == ("Forex",)
    assert [p.name for p in path.parent.iterdir()] == ["catalogue.jsonl"]


def test_two_of_one_name_and_broken_files_are_refused(tmp_path: Path) -> None:
    one = ApiSpec("a", "x", "Stock", "d")
    with pytest.raises(InvalidInput, match="Two tools"):
        Catalogue.of([one, one])
    with pytest.raises(InvalidInput, match="category"):
        Catalogue.of([ApiSpec("a", "x", "Weather", "d")])
    path = tmp_path / "catalogue.jsonl"
    for text in ("{", "[]", '{"name": "a"}'):
        path.write_text(text)
        with pytest.raises(InvalidInput, match="not a catalogue"):
            Catalogue.read(path)
