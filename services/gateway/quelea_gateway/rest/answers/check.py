"""POST /v1/check: the figures and citations of any answer against any passages."""

from __future__ import annotations

from typing import Literal

import quelea_checker
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from quelea_kit.errors import InvalidInput, TooLarge
from quelea_kit.text_fields import check_length

from quelea_gateway.core.review.verifier import VerifiedReport, VerifierState
from quelea_gateway.metrics import observe_verdicts
from quelea_gateway.rest.error_schemas import ERRORS
from quelea_gateway.rest.fields import Day
from quelea_gateway.rest.state import gateway_of
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["check"])

MOST_ANSWER = 10_000
MOST_PASSAGES = 50
MOST_CHARACTERS = 200_000
_MOST_QUESTION = 8000


class CheckPassageIn(BaseModel):
    """Evidence, with what stands around it."""

    model_config = ConfigDict(extra="forbid")

    text: str
    table_head: str = Field(default="", description="Lines that head the table of the text: title, unit, column heads.")
    header: str = Field(default="", description="What it is from: company, form, period.")
    published: Day = Field(default="", description="YYYY-MM-DD.")
    document: str = Field(
        default="",
        description="Which document it is from, by any name: what one passage states, its unit say, holds for the "
        "others of its document. Empty: passages of one header are of one document.",
    )


class CheckIn(BaseModel):
    """POST /v1/check."""

    model_config = ConfigDict(extra="forbid")

    answer: str = Field(min_length=1, description=f"At most {MOST_ANSWER:,} characters.")
    passages: list[str | CheckPassageIn] = Field(
        description=f"At most {MOST_PASSAGES}, and {MOST_CHARACTERS:,} characters in all. Markers [n] count from 1."
    )
    question: str = Field(default="", description="What was asked: which computations, of which times.")


class SentenceOut(BaseModel):
    """A sentence of the answer: answer[start:end], in code points."""

    text: str
    start: int
    end: int
    verdict: Literal["supported", "partly", "contradicted", "not_found", "no_claim"]
    passages: list[int] = Field(description="Those that support it, the best first, numbered from 1.")


class FigureOut(BaseModel):
    """A figure of the answer: answer[start:end], in code points."""

    text: str
    start: int
    end: int
    verdict: Literal["supported", "derived", "contradicted", "not_found"]
    passage: int | None = Field(description="Where it stands, or its formula's first operand does; numbered from 1.")
    formula: str = Field(description='Of a derived figure: "= 1,496.5 − 1,202.9".')


class MarkerOut(BaseModel):
    """A wrong marker: answer[start:end]."""

    number: int
    start: int
    end: int
    suggested: int | None = Field(description="The passage that it should name.")


class MissingOut(BaseModel):
    """A sentence without a marker, and the passage that supports it."""

    sentence: int = Field(description="Its place in `sentences`, from 0.")
    at: int = Field(description="Where in the answer the marker belongs.")
    suggested: int


class MarkersOut(BaseModel):
    """What is wrong with the markers."""

    unresolved: list[MarkerOut] = Field(description="They name no passage.")
    corrections: list[MarkerOut] = Field(description="Another passage supports the sentence, the named one does not.")
    missing: list[MissingOut]


class CheckOut(BaseModel):
    """The verdicts, each list in the answer's order."""

    sentences: list[SentenceOut]
    figures: list[FigureOut]
    markers: MarkersOut
    verifier: VerifierState = Field(
        default="",
        description="How the verifier did: done, partial or unavailable (then the checker's verdicts stand); empty: "
        "none is configured, or it had nothing to judge.",
    )


@router.post("/v1/check", response_model=CheckOut, responses=ERRORS, summary="Check an answer")
async def check(body: CheckIn, request: Request) -> CheckOut:
    """Whether each figure and sentence of an answer is supported by the passages; for answers of any generator.

    A figure is `supported` when the evidence has it, allowing for scale and rounding at the precision shown, with
    nothing that contradicts its unit, sign, direction or period; `derived` when it is the sum, difference, growth,
    ratio, average or share of figures of the evidence; `contradicted` when the evidence has what the words name with
    another value; else `not_found`. Dates and periods are figures too. The first 2,000 figures of an answer are looked
    for.
    """
    passages = passages_of(body)
    checker = gateway_of(request).checker
    report = await while_there(request, checker.check(body.answer, passages, question=body.question))
    observe_verdicts("check", report)
    return to_wire(report)


def passages_of(body: CheckIn) -> list[quelea_checker.CheckPassage]:
    """The passages within the limits. Raises InvalidInput, TooLarge."""
    if not body.answer.strip():
        raise InvalidInput("answer is empty; send the text to check.", details={"field": "answer"})
    check_length(body.answer, "answer", MOST_ANSWER)
    check_length(body.question, "question", _MOST_QUESTION)
    if not body.passages:
        raise InvalidInput("passages is empty; send the evidence for the answer.", details={"field": "passages"})
    if len(body.passages) > MOST_PASSAGES:
        raise TooLarge(
            f"passages has {len(body.passages):,} items; the limit is {MOST_PASSAGES}.",
            details={"field": "passages", "limit": str(MOST_PASSAGES)},
        )
    passages = [
        quelea_checker.CheckPassage(one)
        if isinstance(one, str)
        else quelea_checker.CheckPassage(one.text, one.table_head, one.header, one.published, one.document)
        for one in body.passages
    ]
    parts = [part for p in passages for part in (p.text, p.table_head, p.header, p.document)]
    check_length(parts, "passages", MOST_CHARACTERS)
    return passages


def to_wire(report: quelea_checker.Report) -> CheckOut:
    """A report as the wire has it."""

    def fault(one: quelea_checker.MarkerFault) -> MarkerOut:
        return MarkerOut(number=one.number, start=one.start, end=one.end, suggested=one.suggested)

    markers = report.markers
    return CheckOut(
        sentences=[
            SentenceOut(text=s.text, start=s.start, end=s.end, verdict=s.verdict, passages=list(s.passages))
            for s in report.sentences
        ],
        figures=[
            FigureOut(text=f.text, start=f.start, end=f.end, verdict=f.verdict, passage=f.passage, formula=f.formula)
            for f in report.figures
        ],
        markers=MarkersOut(
            unresolved=[fault(one) for one in markers.unresolved],
            corrections=[fault(one) for one in markers.corrections],
            missing=[MissingOut(sentence=m.sentence, at=m.at, suggested=m.suggested) for m in markers.missing],
        ),
        verifier=report.verifier if isinstance(report, VerifiedReport) else "",
    )
