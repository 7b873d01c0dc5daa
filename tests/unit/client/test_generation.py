"""The client's made files: they are what their sources give, and a schema gives the model that it describes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

CLIENT = Path(__file__).resolve().parents[3] / "client"


@pytest.fixture(scope="module")
def made() -> Any:
    spec = importlib.util.spec_from_file_location("hatch_build", CLIENT / "hatch_build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_made_files_are_those_of_their_sources(made: Any) -> None:
    for name, text in made.generated().items():
        have = (CLIENT / "quelea_client" / name).read_text(encoding="utf-8")
        assert have == text, f"{name} is old; run: python client/hatch_build.py </dev/null"


def test_the_synchronous_client_awaits_nothing(made: Any) -> None:
    source = """class AsyncClient:
    async def stream(self) -> AsyncGenerator[Event, None]:
        async with contextlib.aclosing(self.events()) as events:
            async for one in events:
                await asyncio.sleep(1)
                yield (await self.page(one)).text
"""
    text = made.synchronous(source)
    assert text.splitlines()[1:] == [
        "class Client:",
        "    def stream(self) -> Generator[Event, None, None]:",
        "        with contextlib.closing(self.events()) as events:",
        "            for one in events:",
        "                time.sleep(1)",
        "                yield (self.page(one)).text",
    ]
    client = made.generated()["client.py"]
    assert "await" not in client.replace("awaited", "")
    assert "Async" not in client.replace("AsyncClient", "")


THING = {
    "description": "null of nothing.",
    "required": ["name", "value", "seen", "many", "state", "inner", "flag"],
    "properties": {
        "name": {"type": "string", "description": "Its name."},
        "value": {"type": "string", "description": "Decimal, exact."},
        "seen": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
        "many": {"type": "array", "items": {"$ref": "#/components/schemas/PartOut"}},
        "cells": {"type": "array", "default": [], "items": {"anyOf": [{"type": "null"}, {"type": "integer"}]}},
        "state": {"$ref": "#/components/schemas/State"},
        "inner": {"$ref": "#/components/schemas/PartOut"},
        "flag": {"type": "boolean"},
        "times": {"type": "object", "default": {}, "additionalProperties": {"type": "number"}},
    },
}
PART = {"required": ["a"], "properties": {"a": {"type": "integer"}}}


def test_a_schema_gives_its_model(made: Any) -> None:
    text = made.models({"PartOut": PART, "State": {"enum": ["x"], "type": "string"}, "ThingOut": THING})
    assert text.partition("class Thing(Record):\n")[2].splitlines() == [
        '    """None of nothing."""', "",
        "    name: str", '    """Its name."""',
        "    value: Decimal", '    """Decimal, exact."""',
        "    seen: datetime | None = None",
        "    many: Rows[Part] = Rows()",
        "    cells: list[int | None] = []",
        "    state: str",
        "    inner: Part",
        "    flag: bool = False",
        "    times: dict[str, float] = {}",
    ]  # fmt: skip
    with pytest.raises(SystemExit, match="no default"):
        made.models({"PartOut": {**PART, "required": []}})


def test_only_what_the_client_gives_back_is_kept(made: Any) -> None:
    schemas = {name: {"properties": {}} for name in (*made.ROOTS, *made.BASES, "PartOut", "StrangerOut")}
    schemas["JobOut"] = {"title": "JobOut", "properties": {"part": {"$ref": "#/components/schemas/PartOut"}}}
    kept = made.reached(schemas)
    assert "StrangerOut" not in kept
    assert list(kept).index("PartOut") < list(kept).index("JobOut")
    assert "title" not in kept["JobOut"]
