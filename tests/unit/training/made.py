"""Passages and pairs for these tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quelea_training.pairs.model import Pair, Passage

_USUAL = Passage(
    id="", document="d1", page=1, start=0, end=10, text="Net sales were 5.", head="", title="", company="",
    language="en", section="", is_table=False, source="stored", licence="own",
)  # fmt: skip


def passage(name: str, **given: Any) -> Passage:
    return replace(_USUAL, **{"id": name, **given})


def pair(query: str, of: Passage, **given: Any) -> Pair:
    return replace(Pair.of(query, of, given.pop("kind", "figure"), given.pop("made_by", "rules")), **given)
