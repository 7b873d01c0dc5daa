"""Sentences made from the cells of the sample filings: false ones are doubted, true ones are not.

The shares are floors below what was measured; `tests/eval/cell_drafts.py` measures any filings.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.cell_draft_review import Doubts, count_doubts
from support.cell_drafts import make_drafts
from support.filing_cells import read_filing

SAMPLES = Path(__file__).parents[3] / "samples"
FILINGS = ("filings/2023 Q2 AAPL.pdf", "ixbrl/2024 FY NFLX.html")
LEAST = {"row": 0.8, "column": 0.8, "length": 0.8, "direction": 0.8, "operand": 0.5, "sign": 0.9, "unit": 0.8}


async def _doubts() -> Doubts:
    drafts = [
        draft
        for name in FILINGS
        for draft in make_drafts(name, read_filing(SAMPLES / name), random.Random(3), 2)
        if draft.form == "notation"
    ]
    return await count_doubts(drafts)


@pytest.mark.slow(reason="reads two whole filings, and reviews some hundred drafts on them")
async def test_false_drafts_are_doubted_and_true_ones_are_not() -> None:
    doubts = await _doubts()
    wrong = [one.draft for one in doubts.wrong if not one.kind]
    assert len(wrong) <= 1, wrong
    for kind, least in LEAST.items():
        if doubts.count(kind, "notation"):
            assert doubts.share(kind, "notation") >= least, (kind, [o.draft for o in doubts.wrong if o.kind == kind])
