"""The figures of an answer, as callers of REST and of gRPC read them, and as the generator does."""

from __future__ import annotations

from dataclasses import replace

from quelea_fintext.facts import Fact
from quelea_gateway.adapters.services.generator import request_of
from quelea_gateway.core.answers.evidence import figures_of
from quelea_gateway.core.asking.question import Limits, build
from quelea_gateway.core.model import Figure, Operand, Passage
from quelea_gateway.rest.answers.answer_schemas import AskedFigureOut
from quelea_gateway.service import _figure

FACT = Fact("income", "Gross profit", "gross_profit", "40", "USD", "2031-01-01", "2031-12-31", "40", 110, 112)
SALES = Fact("income", "Net sales", "revenue", "100", "USD", "2031-01-01", "2031-12-31", "100", 90, 93)
OTHER = Passage(document_id="e", page=1, start=0, end=2, text="xx")
PASSAGE = Passage(document_id="d", page=7, start=80, end=200, text="x" * 120)
STATED = Figure(
    "Kestrel", "40", "percent", "2031-01-01", "2031-12-31", (Operand(FACT, PASSAGE), Operand(SALES, PASSAGE)),
    "gross_margin", "{0} / {1}",
)  # fmt: skip
(FIGURE,) = figures_of([STATED], [OTHER, PASSAGE])


def test_to_the_generator_with_spans_of_the_evidence() -> None:
    question = build("What was Kestrel's gross margin?", Limits())
    (figure,) = request_of(question, (OTHER, PASSAGE), evidence_incomplete=False, figures=(STATED,)).figures
    assert (figure.company, figure.metric, figure.value, figure.formula) == (
        "Kestrel", "gross_margin", "40", "{0} / {1}",
    )  # fmt: skip
    assert [(one.passage, one.fact.label, one.fact.start, one.fact.end) for one in figure.operands] == [
        (2, "Gross profit", 30, 32),
        (2, "Net sales", 10, 13),
    ]


def test_over_rest() -> None:
    figure = AskedFigureOut.of(FIGURE)
    assert (figure.metric, figure.value, figure.unit, figure.formula) == ("gross_margin", "40", "percent", "{0} / {1}")
    assert [(one.number, one.document_id, one.page, one.start, one.end, one.printed) for one in figure.operands] == [
        (2, "d", 7, 110, 112, "40"),
        (2, "d", 7, 90, 93, "100"),
    ]


def test_over_grpc() -> None:
    figure = _figure(FIGURE)
    assert (figure.metric, figure.value, figure.formula) == ("gross_margin", "40", "{0} / {1}")
    assert [(one.passage, one.fact.label, one.fact.start) for one in figure.operands] == [
        (2, "Gross profit", 110),
        (2, "Net sales", 90),
    ]


def test_the_formula_of_a_change_is_that_of_both_values() -> None:
    change = replace(STATED, metric="change", formula_before="({2} − {3}) / {3}", value="6", unit="points")
    (figure,) = figures_of([change], [OTHER, PASSAGE])
    assert figure.formula == "{0} / {1} − (({2} − {3}) / {3})"
    (figure,) = figures_of([replace(change, metric="compound_growth")], [OTHER, PASSAGE])
    assert figure.formula == "{0} / {1}"
