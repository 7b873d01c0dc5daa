"""Whether what a capable model wrote comes out as it wrote it, and what it invented is found.

`recorded/drafts.jsonl` has passages as searches of a running Quelea brought them (filings of Amazon, Exxon Mobil,
HubSpot and Salesforce from EDGAR; 安靠智电's annual report from cninfo; notes of `samples/reports`, whose licence is
there), and drafts on them, written by hand as the prompts ask, with what is to be shown. `unsupported` are the figures
that must be said to be in no passage (or the answer is declined);
`companies` are those that the question compares; `fails` says why a draft does not come out yet.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from quelea_checker import check_answer
from quelea_gateway.core.draft import Sources
from quelea_gateway.core.model import Finished, Passage
from quelea_gateway.core.review.answer_review import Basis, ReaderAnswer, ReviewedAnswer, review

LINES = [json.loads(line) for line in (Path(__file__).parent / "recorded/drafts.jsonl").read_text("utf-8").splitlines()]
PASSAGES = {
    line["passage"]: Passage(**{"start": 0, **{name: value for name, value in line.items() if name != "passage"}})
    for line in LINES
    if "passage" in line
}
DRAFTS = [line for line in LINES if "draft" in line]


class _Checker:
    async def check(self, answer: str, passages: Any, *, question: str = "") -> Any:
        return check_answer(answer, passages, question=question)


async def read(recorded: dict[str, Any], *, strict: bool = False) -> ReviewedAnswer:
    evidence = tuple(PASSAGES[name] for name in recorded["evidence"])
    basis = Basis(
        question=recorded["question"],
        language=recorded["language"],
        evidence=evidence,
        enough=True,
        strict=strict,
        companies=tuple(recorded.get("companies", ())),
        sources=Sources(evidence),
    )
    return await review(_Checker(), ReaderAnswer(recorded["draft"], (), Finished("stop", "openai", "by hand")), basis)


def _cases(*, good: bool, failing: bool = True) -> list[Any]:
    return [
        pytest.param(
            one,
            id=one["question"][:40],
            marks=[pytest.mark.xfail(reason=one["fails"], strict=True)] if failing and "fails" in one else [],
        )
        for one in DRAFTS
        if bool(one["unsupported"]) is not good
    ]


@pytest.mark.parametrize("recorded", _cases(good=True))
async def test_a_good_draft_is_shown_as_written(recorded: dict[str, Any]) -> None:
    answer = await read(recorded)
    assert answer.text == recorded["shown"]
    assert answer.declined is None
    assert not answer.notices
    assert [check.name for check in answer.checks if not check.passed] == []
    grounding = answer.grounding
    assert grounding is not None
    assert not grounding.removed_markers
    assert not grounding.added_markers


@pytest.mark.parametrize("recorded", _cases(good=True))
async def test_strict_withholds_nothing_of_a_good_draft(recorded: dict[str, Any]) -> None:
    assert (await read(recorded, strict=True)).text == recorded["shown"]


@pytest.mark.parametrize("recorded", _cases(good=False))
async def test_an_invented_figure_is_found(recorded: dict[str, Any]) -> None:
    answer = await read(recorded)
    if answer.declined is None:
        assert answer.grounding is not None
        assert list(answer.grounding.unsupported()) == recorded["unsupported"]


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


@pytest.mark.parametrize("recorded", _cases(good=True, failing=False))
async def test_every_figure_opens_its_cell(recorded: dict[str, Any]) -> None:
    """A citation's quote is the row up to the cell, or the sentence with it; a computed figure cites its operands."""
    answer = await read(recorded)
    for figure in answer.figures:
        for operand in figure.operands:
            evidence = PASSAGES[recorded["evidence"][operand.number - 1]]
            opened = evidence.text[operand.start - evidence.start : operand.end - evidence.start]
            assert _digits(opened) == _digits(operand.printed)
            assert _digits(operand.value).lstrip("0").startswith(_digits(opened).strip("0"))
            cited = [one for one in answer.citations if one.number == operand.number]
            assert cited
            if not figure.formula:
                assert any(one.start <= operand.end and operand.start <= one.end for one in cited), operand
