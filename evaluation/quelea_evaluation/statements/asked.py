"""`quelea eval statement-answers`: questions about figures of statements, asked in other words than the filing's."""

from __future__ import annotations

import re
import statistics
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from quelea_fintext.asked_lines import name_key, names_said
from quelea_fintext.concepts import concept_of_tag
from quelea_fintext.metrics import compute, metrics

from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, Writer, say, tell, tell_json
from quelea_evaluation.stack.running import Stack, running_stack
from quelea_evaluation.statements.amounts import Form, document_of, read_filings
from quelea_evaluation.statements.key import KeyFigure

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_QUOTED = re.compile(r"“[^“”]*+”")
_MARKER = re.compile(r"\[\d+\]")
_SCALES = (0, 3, 6, 9)
_MONTH_DAYS = 30.44
_CONCEPTS, _ROWS, _METRICS = 24, 14, 10
"""Questions for each filing, at most."""
_CHANGES = 4
_NEAR = timedelta(days=10)
T = TypeVar("T")


class Part(StrEnum):
    """Which filings: every second one was looked at while the product was written."""

    DIRECTION = "direction"
    HELD = "held"
    ALL = "all"


@dataclass(frozen=True)
class FigureQuestion:
    """A question and the figure that answers it."""

    kind: str
    """ "concept" in other words than the label, "row" by its label, "metric" or "change"."""
    words: str
    """What is asked for."""
    text: str
    value: Decimal
    computed: bool = False


@dataclass
class AnswersReport:
    """Counts by kind of question."""

    asked: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    right: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """The first statement has the figure."""
    declined: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    wrong: list[dict[str, str]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Shares by kind."""
        found: dict[str, float] = {}
        for kind, count in self.asked.items():
            found[f"{kind}: asked"] = count
            found[f"{kind}: first statement right"] = self.right[kind] / count
            found[f"{kind}: declined"] = self.declined[kind] / count
        return {**found, "median ms": statistics.median(self.milliseconds) if self.milliseconds else float("nan")}


def statement_answers(
    form: Annotated[
        Form, typer.Option(help="Filings as they are, without their tags, or as Chromium prints these.")
    ] = Form.HTML,
    part: Annotated[Part, typer.Option(help="Filings for direction, those held out, or all.")] = Part.HELD,
    reader: Writer = "extractive",
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
    misses: Annotated[bool, typer.Option(help="Show what was missed.")] = False,
) -> None:
    """Figures, metrics and changes asked in other words; the tags of inline XBRL filings are the key."""
    paths = sorted((data / "filings_ixbrl").glob("*.html.gz"))
    report = evaluate_statement_answers(paths, form, part, home, options=("--reader", reader))
    if as_json:
        tell_json({**report.summary(), "misses": report.wrong}, None)
        return
    for name, value in report.summary().items():
        tell(f"{name:45} {value:8.3f}" if isinstance(value, float) else f"{name:45} {value:8}")
    for miss in report.wrong if misses else ():
        tell_json(miss, None)


def evaluate_statement_answers(
    paths: Sequence[Path], form: Form, part: Part, home: Path, *, options: Sequence[str] = ()
) -> AnswersReport:
    """All filings are stored, and the questions of a part of them asked of a stack with these options."""
    report = AnswersReport()
    folder = home / f"statement-answers-{form}"
    with running_stack(folder, arguments=options) as stack:
        filings = []
        for name, html, key in read_filings(paths):
            filings.append((name, key))
            stack.ingest((document_of(name, html, form, folder),), lambda _: None)
        for number, (name, key) in enumerate(filings):
            if part is Part.ALL or (number % 2 == 0) is (part is Part.DIRECTION):
                _ask_about(stack, name, key, report)
                say(f"{name}: {sum(report.right.values())} of {sum(report.asked.values())} so far")
    return report


def _ask_about(stack: Stack, name: str, key: Sequence[KeyFigure], report: AnswersReport) -> None:
    company = _company(stack, name)
    for question in questions_of(company, key):
        answer = stack.ask(question.text, route="local")
        said = first_statement(answer["answer"])
        right = not answer["declined"] and _states(said, question)
        report.asked[question.kind] += 1
        report.right[question.kind] += right
        report.declined[question.kind] += bool(answer["declined"])
        report.milliseconds.append(float(answer["timings"]["total"]))
        if not right:
            report.wrong.append(
                {"kind": question.kind, "question": question.text, "figure": str(question.value), "said": said}
            )


def _company(stack: Stack, name: str) -> str:
    documents: list[dict[str, Any]] = stack.http.get("/v1/documents", params={"page_size": 100}).json()["documents"]
    wanted = name.split("-", maxsplit=1)[0].upper()
    return next(str(one["company"]) for one in documents if one["ticker"].upper() == wanted)


def questions_of(company: str, key: Sequence[KeyFigure]) -> list[FigureQuestion]:
    """Questions about a filing, spread over its figures; the same ones every time."""
    figures = [one for one in key if not one.in_label and one.value]
    named = [
        (figure, words) for figure in figures if (words := _other_words(figure)) and not _is_ambiguous(figure, figures)
    ]
    rows = [
        one
        for one in figures
        if concept_of_tag(_tag(one)) is None and len(name_key(one.label)) > 1 and not _is_ambiguous(one, figures)
    ]
    found = [
        FigureQuestion("concept", words, _asking(company, words, one, at), one.value)
        for at, (one, words) in enumerate(_spread(named, _CONCEPTS))
    ]
    found += [
        FigureQuestion("row", one.label, _asking(company, one.label, one, at), one.value)
        for at, one in enumerate(_spread(rows, _ROWS))
    ]
    return (
        found
        + _spread(list(_of_metrics(company, figures)), _METRICS)
        + _spread(list(_of_changes(company, named)), _CHANGES)
    )


def _spread(some: Sequence[T], most: int) -> list[T]:
    return list(some[:: max(1, -(-len(some) // most))]) if some else []


def _tag(figure: KeyFigure) -> str:
    return figure.tag.rpartition(":")[2]


def _other_words(figure: KeyFigure) -> str:
    """A name of its concept that is not its label; which one, the label decides."""
    concept = concept_of_tag(_tag(figure))
    if concept is None:
        return ""
    own = name_key(figure.label)
    names = [name for name in names_said(concept.id, "en") if name_key(name) != own]
    return names[zlib.crc32(figure.label.encode()) % len(names)] if names else ""


def _is_ambiguous(figure: KeyFigure, figures: Sequence[KeyFigure]) -> bool:
    """Another row of the same concept or label has another value for that period."""
    concept = concept_of_tag(_tag(figure))
    period = (figure.period_start, figure.period_end)
    return any(
        abs(one.value) != abs(figure.value)
        and (one.period_start, one.period_end) == period
        and (
            name_key(one.label) == name_key(figure.label)
            or (concept is not None and concept_of_tag(_tag(one)) is concept)
        )
        for one in figures
    )


def _months(figure: KeyFigure) -> int:
    if not figure.period_start:
        return 0
    first, last = date.fromisoformat(figure.period_start), date.fromisoformat(figure.period_end)
    return round((last - first).days / _MONTH_DAYS)


def _when(figure: KeyFigure) -> str:
    day = date.fromisoformat(figure.period_end)
    said, months = f"{day:%B} {day.day}, {day.year}", _months(figure)
    if not months:
        return f"as of {said}"
    if months == 12:
        return f"for the year ended {said}"
    count = {3: "three", 6: "six", 9: "nine"}.get(months, str(months))
    return f"for the {count} months ended {said}"


_ASKED = ("What was {of} {words} {when}?", "How much was {of} {words} {when}?", "{of} {words} {when}")


def _asking(company: str, words: str, figure: KeyFigure, at: int) -> str:
    return _ASKED[at % len(_ASKED)].format(of=f"{company}'s", words=words, when=_when(figure))


def _of_metrics(company: str, figures: Sequence[KeyFigure]) -> Iterator[FigureQuestion]:
    """Every metric that the tags give the operands of, for the newest period of its length."""
    by_concept: dict[str, list[KeyFigure]] = defaultdict(list)
    for one in figures:
        if concept := concept_of_tag(_tag(one)):
            by_concept[concept.id].append(one)
    ends = [one for one in figures if _months(one) in (3, 12)]
    if not ends:
        return
    newest = max(ends, key=lambda one: (one.period_end, _months(one)))
    end, months = date.fromisoformat(newest.period_end), _months(newest)

    def lookup(concept: str, before: bool) -> _Tagged | None:
        day = end - timedelta(days=365.25) if before else end
        near = [
            one
            for one in by_concept[concept]
            if abs(date.fromisoformat(one.period_end) - day) <= _NEAR and _months(one) in (0, months)
        ]
        values = {abs(one.value) if one.tag.startswith("us-gaap:Pay") else one.value for one in near}
        unit = "shares" if concept.startswith("shares_") else "USD"
        return _Tagged(values.pop(), unit) if len(values) == 1 else None

    for metric in metrics().values():
        done = compute(metric, lookup, months=months)
        if done is None or len(done.operands) < 2:
            continue
        names = [name for name in metric.names if name.isascii()]
        words = names[zlib.crc32(company.encode()) % len(names)]
        text = f"What was {company}'s {words} {_when(newest)}?"
        yield FigureQuestion("metric", words, text, done.value, computed=True)


@dataclass(frozen=True)
class _Tagged:
    amount: Decimal
    unit: str


def _of_changes(company: str, named: Sequence[tuple[KeyFigure, str]]) -> Iterator[FigureQuestion]:
    """Growth of flows between the newest year, or quarter, and the one before it."""
    for figure, words in named:
        if _months(figure) not in (3, 12) or figure.value <= 0:
            continue
        day = date.fromisoformat(figure.period_end) - timedelta(days=365.25)
        earlier = next(
            (
                one
                for one, _ in named
                if one.tag == figure.tag
                and _months(one) == _months(figure)
                and abs(date.fromisoformat(one.period_end) - day) <= _NEAR
            ),
            None,
        )
        if earlier is not None and earlier.value > 0:
            growth = (figure.value - earlier.value) / earlier.value * 100
            text = f"By what percentage did {company}'s {words} change {_when(figure)} compared with a year earlier?"
            yield FigureQuestion("change", words, text, growth, computed=True)


def first_statement(answer: str) -> str:
    """The first line of an answer that is no opening."""
    lines = [line.strip().lstrip("- ") for line in answer.splitlines() if line.strip()]
    return next((line for line in lines if not line.endswith((":", "："))), "")


def _states(said: str, question: FigureQuestion) -> bool:
    """The statement has the figure in its own words, or where it has no number of its own, in its quote."""
    own = _MARKER.sub(" ", _QUOTED.sub(" ", said))
    texts = _NUMBER.findall(own) or _NUMBER.findall(_MARKER.sub(" ", said))
    numbers = [Decimal(text.replace(",", "")) for text in texts]
    value = abs(question.value)
    for number in numbers:
        step = Decimal(1).scaleb(min(0, int(number.as_tuple().exponent)))
        if not question.computed:
            if any(value.scaleb(-scale) == number for scale in _SCALES):
                return True
        elif number and any(value.scaleb(-s).quantize(step, ROUND_HALF_UP) == number for s in _SCALES):
            return True
    return False
