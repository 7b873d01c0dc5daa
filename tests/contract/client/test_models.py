"""The client's schemas against the gateway's OpenAPI document; the client against a real gateway on fake services."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_client import AsyncClient, NotFound, Unauthenticated
from quelea_gateway.testing import standing
from support.openapi_document import document

CLIENT = Path(__file__).resolve().parents[3] / "client"


async def test_the_schemas_are_those_of_the_gateway() -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", CLIENT / "hatch_build.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    schemas = json.loads(await document())["components"]["schemas"]
    kept = json.loads((CLIENT / "schemas.json").read_text(encoding="utf-8"))
    assert kept == made.reached(schemas), "client/schemas.json is old; run: make client-schemas"


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
        cells = (await client.statement("Kestrel")).cells.to_frame()
        assert cells["printed"].tolist() == ["900.5"]
        assert [one.name for one in await client.collections()] == ["default"]
        checked = await client.check("Turnover was 900.5 [1].", ["Turnover was 900.5 in 2031."])
        assert [one.verdict for one in checked.figures] == ["supported"]
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
