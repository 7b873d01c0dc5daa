"""The client's models against the gateway's OpenAPI document; the client against a real gateway on fake services."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

import httpx2
import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_client import AsyncClient, NotFound, Unauthenticated, models
from quelea_client.models import Record, Rows
from quelea_gateway.testing import standing

NAMES = {
    "AnswerOut": models.Answer, "StartedOut": models.Started, "QuotesOut": models.Quotes,
    "GroundingOut": models.Grounding, "SearchOut": models.SearchResult, "FactOut": models.Fact,
    "CompanyOut": models.Company, "StatementOut": models.Statement, "CompanyComparisonOut": models.Comparison,
    "DocumentOut": models.Document, "PageOut": models.Page, "JobOut": models.Job, "UploadedOut": models.Uploaded,
    "ConversationOut": models.Conversation, "WholeConversationOut": models.WholeConversation,
    "RunOut": models.Run, "InfoOut": models.Info, "UsageRowOut": models.UsageRow,
}  # fmt: skip


@pytest.fixture
async def schemas():
    async with standing() as stand, httpx2.AsyncClient(trust_env=False, timeout=60) as web:
        yield (await web.get(f"{stand.url}/openapi.json")).json()["components"]["schemas"]


def faults(schemas: dict[str, Any], name: str, model: type[Record], seen: set[str]) -> list[str]:
    """What of a schema and its model differs, and of all that they are made of."""
    if name in seen:
        return []
    seen.add(name)
    properties, required = schemas[name]["properties"], set(schemas[name].get("required", ()))
    found = [f"{name}.{field} is no field of {model.__name__}" for field in set(properties) - set(model.model_fields)]
    found += [f"{model.__name__}.{field} is not in {name}" for field in set(model.model_fields) - set(properties)]
    for field in set(properties) & set(model.model_fields):
        own = model.model_fields[field]
        if own.is_required() and field not in required:
            found.append(f"{name}.{field} may be left out, {model.__name__} insists on it")
        found += fits(schemas, properties[field], own.annotation, f"{name}.{field}", seen)
    return found


def fits(schemas: dict[str, Any], node: dict[str, Any], own: Any, where: str, seen: set[str]) -> list[str]:
    """What of a property and a field's type differs."""
    wrong = [f"{where} is {node}, the client has {own}"]
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if "enum" in schemas[name]:
            return [] if own is str else wrong
        return faults(schemas, name, own, seen) if isinstance(own, type) and issubclass(own, Record) else wrong
    if "anyOf" in node:
        kinds = [one for one in get_args(own) if one is not NoneType] if get_origin(own) is UnionType else []
        (other,) = [one for one in node["anyOf"] if one.get("type") != "null"]
        nullable = len(node["anyOf"]) == 2 and len(kinds) == 1 and NoneType in get_args(own)
        return fits(schemas, other, kinds[0], where, seen) if nullable else wrong
    if node["type"] == "array":
        if isinstance(own, type) and issubclass(own, models.Figures):
            return fits(schemas, node["items"], models.AskedFigure, where, seen)
        is_list = get_origin(own) in (list, Rows)
        return fits(schemas, node["items"], get_args(own)[0], where, seen) if is_list else wrong
    if node["type"] == "object":
        return [] if get_origin(own) is dict else wrong
    time = node.get("format") == "date-time"
    kinds = {"string": (datetime,) if time else (str, Decimal), "integer": (int,), "number": (float,)}
    return [] if own in kinds.get(node["type"], (bool,)) else wrong


async def test_the_models_are_those_of_the_openapi_document(schemas: dict[str, Any]) -> None:
    seen: set[str] = set()
    found = [fault for name, model in NAMES.items() for fault in faults(schemas, name, model, seen)]
    assert found == []
    known = {model for model in vars(models).values() if isinstance(model, type) and issubclass(model, Record)}
    assert len(seen) == len(known - {Record})  # none is left that no schema is held against


async def test_a_model_that_drifts_is_found(schemas: dict[str, Any]) -> None:
    changed = {**schemas, "CompanyOut": {"properties": {
        "name": {"type": "integer"}, "ticker": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "documents": {"type": "integer"}, "sector": {"type": "string"},
    }, "required": ["name", "ticker"]}}  # fmt: skip
    assert len(faults(changed, "CompanyOut", models.Company, set())) == 5


async def test_a_real_gateway_is_asked() -> None:
    async with standing() as stand, AsyncClient(stand.url) as client:
        stand.world.facts = [
            retriever_pb2.StatedFact(
                fact=common_pb2.Fact(
                    statement="income", label="Turnover", concept="revenue", value="900.5", unit="USD",
                    period_start="2031-01-01", period_end="2031-12-31", printed="900.5", start=1, end=5,
                    basis="consolidated", source="table",
                ),
                document_id="d1", metadata=common_pb2.DocumentMetadata(company="Kestrel"), passage_id="p1", page=7,
            )
        ]  # fmt: skip
        companies = await client.companies()
        assert [one.name for one in companies]
        answer = await client.ask(f"What does {companies[0].name} sell?")
        assert answer.evidence
        streamed = [one async for one in client.stream(f"What does {companies[0].name} sell?")]
        assert type(streamed[-1]).__name__ == "Answer"
        assert streamed[-1].answer == answer.answer
        table = await client.facts("Kestrel", "revenue")
        assert table.loc[0, ["company", "value"]].tolist() == ["Kestrel", 900.5]
        statement = (await client.statement("Kestrel")).to_frame()
        assert statement.loc["Turnover", "2031-12-31"] == 900.5
        grid = (await client.compare(["Kestrel"], ["revenue", "debt"])).to_frame()
        assert grid.loc[("revenue", "Kestrel"), "2031"] == 900.5
        documents = await client.documents()
        assert (await client.page(documents[0].id, 1)).pages >= 1
        with pytest.raises(NotFound):
            await client.document("none-such")
        assert (await client.info()).formats


async def test_conversations_are_saved_found_and_exported(tmp_path) -> None:
    async with standing() as stand, AsyncClient(stand.url) as client:
        made = await client.create_conversation("Apple")
        answer = await client.ask("What were Apple's net sales?", conversation_id=made.id)
        whole = await client.conversation(made.id)
        assert [turn.answer for turn in whole.saved] == [answer]
        assert whole.saved[0].answer.question == "What were Apple's net sales?"
        assert [one.id for one in await client.conversations("net sales")] == [made.id]
        assert await client.conversations("nowhere") == []
        assert (await client.rename_conversation(made.id, "Sales")).title == "Sales"
        for name, begin in (("c.json", b"{"), ("c.md", b"# Sales"), ("c.docx", b"PK"), ("c.pdf", b"%PDF")):
            saved = await client.export_conversation(made.id, tmp_path / name)
            assert saved.read_bytes().startswith(begin)
        await client.delete_conversation(made.id)
        with pytest.raises(NotFound):
            await client.conversation(made.id)


async def test_a_wrong_key_is_told(tmp_path) -> None:
    keys = str(tmp_path / "keys.json")
    async with standing(auth="keys", keys_file=keys) as stand, AsyncClient(stand.url, "wrong") as client:
        with pytest.raises(Unauthenticated, match="Unknown API key"):
            await client.companies()
