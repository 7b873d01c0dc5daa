"""What is asked of the product: every passage of the documents, and a teacher's judgement of pairs that were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from quelea_evaluation.endpoints.client import Client
from quelea_training.pairs.making import PEOPLE, Made, Plan, refine
from quelea_training.pairs.passages import collect
from unit.training.made import pair, passage


class Product:
    """A gateway whose search gives what it is told to, best first."""

    def __init__(self, found: list[dict[str, Any]], most: int = 200) -> None:
        self.found = found
        self.most = most
        self.queries: list[str] = []

    async def get(self, path: str) -> dict[str, Any]:
        return {"text": f"page {path.rpartition('/')[2]}"}

    async def post(self, path: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        assert path == "/v1/search"
        self.queries.append(body["query"])
        wanted = body.get("filters", {}).get("document_ids")
        mine = [one for one in self.found if wanted is None or one["document_id"] in wanted]
        if body["query"].startswith("page "):
            mine = [one for one in mine if one["page"] == int(body["query"][5:])]
        return {"passages": mine[: min(body["k"], self.most)]}, 1


def found(document: str, page: int, text: str) -> dict[str, Any]:
    return {
        "document_id": document, "page": page, "start": 0, "end": len(text), "text": text, "title": "A report",
        "header": "Apple · 10-Q", "table_head": "", "company": "Apple", "language": "en", "section": "",
        "is_table": False,
    }  # fmt: skip


async def test_a_long_document_is_asked_page_by_page() -> None:
    product = Product([found("long", page, f"Text {page}.") for page in range(1, 301)], most=200)
    said: list[str] = []
    documents = {"long": {"passages": 300, "pages": 300, "title": "A report"}}
    passages = await collect(cast("Client", product), documents, "stored", "own", said.append)
    assert len(passages) == 300
    assert passages["long:7:0-7"].encoded == "Apple · 10-Q\nText 7."
    assert product.queries[:3] == ["A report", "page 1", "page 2"]
    short = Product([found("d", 1, "Text.")])
    await collect(cast("Client", short), {"d": {"passages": 2, "pages": 1, "title": ""}}, "stored", "own", said.append)
    assert short.queries == ["d"]
    assert said[-1].startswith("stored: 1 passages repeat others")


async def test_the_teacher_judges_what_was_made_and_not_what_people_ask_or_what_is_tested_with() -> None:
    passages = {
        name: passage(name, document=name.partition(":")[0], text=f"{name} speaks of something of its own")
        for name in ("a:1:0-9", "b:1:0-9", "c:1:0-9")
    }
    a, b, c = passages.values()
    product = Product([found(one.document, 1, "x" * 9) for one in (a, b)])
    made = Made(dict(passages), [pair("found?", a), pair("lost?", c), pair("asked?", c, made_by=PEOPLE)])
    plan = Plan(dev=0.0, test=0.0, teacher_k=2, negatives=1, concurrency=1)
    kept = await refine(made, cast("Client", product), plan, {}, lambda _: None)
    assert [(one.query, one.negatives) for one in kept] == [("found?", (b.id,)), ("asked?", (a.id,))]
    assert made.dropped["not found again by the teacher"] == 1
    sibling = Made(dict(passages), [replace(pair("found?", a), negatives=(c.id,))])  # what rules know comes first
    for count, negatives in ((1, (c.id,)), (2, (c.id, b.id)), (0, (c.id,))):
        kept = await refine(sibling, cast("Client", product), replace(plan, negatives=count), {}, lambda _: None)
        assert [one.negatives for one in kept] == [negatives]
    tested = Made(dict(passages), [pair("lost?", c)])
    product.queries.clear()
    kept = await refine(tested, cast("Client", product), replace(plan, test=1.0), {}, lambda _: None)
    assert [one.split for one in kept] == ["test"]
    assert product.queries == []
    everything = Made(dict(passages), [pair("lost?", c)])
    kept = await refine(everything, cast("Client", product), replace(plan, teacher_k=0), {}, lambda _: None)
    assert [one.query for one in kept] == ["lost?"]
