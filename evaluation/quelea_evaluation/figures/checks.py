"""`quelea eval figures`: what POST /v1/check of a running gateway catches of corrupted answers, and flags of true ones.

The answers are TAT-QA's, docugami's and ConvFinQA's, true and corrupted (items.py, corruption.py). Rules
were tuned on the development half of the first two; their frozen half and ConvFinQA, of which no rule was written, are
the measure and only counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import httpx2
import typer
from quelea_checker import UNSUPPORTED
from rich.console import Console
from rich.table import Table

from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, say
from quelea_evaluation.figures.computed import make_computed_pairs
from quelea_evaluation.figures.corruption import EXCHANGES, KINDS, corrupt
from quelea_evaluation.figures.items import Item, convfinqa, docugami, tatqa
from quelea_evaluation.figures.pairs import Pair, check_pairs, rows
from quelea_evaluation.figures.process import Post, checking_process, keep, load_items
from quelea_evaluation.sets import SETS
from quelea_evaluation.stack.running import Stack, running_stack

_CALLERS = 2
_QUERY = 4000
_PASSAGES = 200
"""Passages of a filing that are looked through for those that hold an answer's figures: most of it, or all."""
GROUPS = ("tatqa", "docugami", "convfinqa", "convfinqa look-ups")
HALVES = ("development", "frozen")
PARTS = (*HALVES, "unseen")
_TRUE_OF = "true, "
"""Before a kind of corruption: the true answers that were corrupted so."""

Check = Callable[[Item], Mapping[str, Any]]
"""What POST /v1/check answers for an item."""


@dataclass
class Outcome:
    """How many items of one kind there were, and how many the checker flagged."""

    items: int = 0
    flagged: int = 0
    figures: int = 0
    flagged_figures: int = 0

    @property
    def share(self) -> float:
        """Of the items, those that were flagged."""
        return self.flagged / self.items if self.items else float("nan")

    def add(self, other: Outcome) -> None:
        """Count another's in."""
        self.items += other.items
        self.flagged += other.flagged
        self.figures += other.figures
        self.flagged_figures += other.flagged_figures


@dataclass
class Report:
    """Outcomes by (part, group, kind); and what went wrong.

    The kind is "true", a corruption's, or "true, " with a corruption's: of the true answers that were corrupted so.
    """

    outcomes: dict[tuple[str, str, str], Outcome] = field(default_factory=dict)
    misses: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0

    def total(self, half: str, kinds: Sequence[str], groups: Sequence[str] = GROUPS) -> Outcome:
        """The outcomes of a half, of these kinds and groups together."""
        whole = Outcome()
        for (one, group, kind), outcome in self.outcomes.items():
            if one == half and kind in kinds and group in groups:
                whole.add(outcome)
        return whole

    def summary(self) -> dict[str, Any]:
        """Of each part: caught and flagged though true by kind of corruption and by set; shares from 0 to 1.

        `changed` kinds (digit, scale, period, sign) put something into the answer that its evidence lacks or says of
        something else; the exchanges (row, column, subject) say only what stands in the evidence. They are counted
        apart, as figures from before the exchanges were made stay comparable so.
        """
        changed = [kind for kind in KINDS if kind not in EXCHANGES]
        found: dict[str, Any] = {}
        for part in PARTS:
            groups = [group for group in GROUPS if any(key[:2] == (part, group) for key in self.outcomes)]
            found[part] = {
                "caught": _as_shares(self.total(part, changed)),
                **{f"caught, {kind}": _as_shares(self.total(part, (kind,))) for kind in KINDS},
                **{f"caught, {group}": _as_shares(self.total(part, changed, (group,))) for group in groups},
                "flagged though true": _as_shares(self.total(part, ("true",))),
                **{
                    f"flagged though true, {kind}": _as_shares(self.total(part, (_TRUE_OF + kind,)))
                    for kind in EXCHANGES
                },
                **{
                    f"flagged though true, {group}": _as_shares(self.total(part, ("true",), (group,)))
                    for group in groups
                },
            }
        return found


def _as_shares(outcome: Outcome) -> dict[str, float]:
    return {"items": outcome.items, "share": outcome.share}


def judge(item: Item, checked: Mapping[str, Any]) -> Outcome:
    """A true answer is flagged when any figure is doubted; a corrupted one when one in the changed sentence is."""
    bad = [figure for figure in checked["figures"] if figure["verdict"] in UNSUPPORTED]
    if not item.corruption:
        return Outcome(1, bool(bad), len(checked["figures"]), len(bad))
    own = [s for s in checked["sentences"] if s["start"] <= item.spot < s["end"]]
    caught = any(s["start"] <= figure["start"] < s["end"] for s in own for figure in bad)
    return Outcome(1, caught)


def evaluate_items(items: Sequence[Item], check: Check, say: Callable[[str], None]) -> Report:
    """Check every item, and each of its corruptions."""
    report = Report()
    every = [(item, list(corrupt(item))) for item in items]
    answers = [one for item, false in every for one in (item, *false)]
    say(f"{len(items)} true answers, {len(answers) - len(items)} corrupted ones")
    with ThreadPoolExecutor(_CALLERS) as pool:
        judged = dict(zip((one.id for one in answers), pool.map(check, answers), strict=True))
    for item, false in every:
        for one in (item, *false):
            kinds = [one.corruption] if one.corruption else ["true", *(_TRUE_OF + other.corruption for other in false)]
            outcome = judge(one, judged[one.id])
            for kind in kinds:
                report.outcomes.setdefault((one.half, one.group, kind), Outcome()).add(outcome)
            if one.half == "development" and bool(outcome.flagged) != bool(one.corruption):
                report.misses.append(_miss(one, judged[one.id]))
    return report


def _miss(item: Item, checked: Mapping[str, Any]) -> dict[str, Any]:
    doubted = [f["text"] for f in checked["figures"] if f["verdict"] in UNSUPPORTED]
    return {
        "id": item.id, "kind": item.corruption or "true", "question": item.question, "answer": item.answer,
        "doubted": doubted,
    }  # fmt: skip


def evaluate_figures(data: Path, home: Path, say: Callable[[str], None], *, in_process: bool = False) -> Report:
    """On the docugami stack, whose passages are the evidence of the docugami answers; or on those it found once.

    In a process without a stack the docugami answers are left out, and `say` is told so, where no stack has found them.
    """
    printed = [*tatqa(data), *convfinqa(data)]
    if in_process:
        try:
            printed += load_items(home)
        except typer.BadParameter as error:
            say(f"docugami is left out: {error}")
        with checking_process() as post:
            return evaluate_items(printed, lambda item: post(_body(item)), say)
    one = SETS["docugami"](data)
    with running_stack(home / one.name) as stack:
        ids = stack.ingest(one.documents, say)
        own, left_out = docugami(data, ids, lambda key, query: _passages(stack, ids[key], query))
        keep(own, home)
        report = evaluate_items([*printed, *own], lambda item: _post(stack.http, _body(item)), say)
    report.left_out = left_out
    return report


def _passages(stack: Stack, document_id: str, query: str) -> list[dict[str, str]]:
    """The document's passages for the query as the ask pipeline has them, in their order in the document."""
    body = {"query": query[:_QUERY], "k": _PASSAGES, "filters": {"document_ids": [document_id]}}
    found: list[dict[str, Any]] = stack.http.post("/v1/search", json=body).raise_for_status().json()["passages"]
    return [
        {
            "text": p["text"], "table_head": p["table_head"], "published": p["published"], "document": p["document_id"],
            "header": " · ".join((p["header"], p["title"], p["uri"])),
        }
        for p in sorted(found, key=lambda p: (p["page"], p["start"]))
    ]  # fmt: skip


def _body(item: Item) -> Mapping[str, Any]:
    return {"answer": item.answer, "passages": list(item.passages), "question": item.question}


def _post(http: httpx2.Client, body: Mapping[str, Any]) -> Mapping[str, Any]:
    checked: Mapping[str, Any] = http.post("/v1/check", json=body).raise_for_status().json()
    return checked


@contextmanager
def _checker(home: Path, *, in_process: bool) -> Iterator[Post]:
    if in_process:
        with checking_process() as post:
            yield post
        return
    with running_stack(home / "computed") as stack:
        yield lambda body: _post(stack.http, body)


def _of_pairs(sets: Mapping[str, Sequence[Pair]], home: Path, *, as_json: bool, misses: bool, in_process: bool) -> None:
    """Check the pairs of each set; what was judged wrongly is told of all but "frozen"."""
    told: dict[str, Any] = {}
    console = Console()
    for name, pairs in sets.items():
        with _checker(home, in_process=in_process) as post:
            wrong = check_pairs(pairs, lambda pair: post({"answer": pair.answer, "passages": list(pair.passages)}))
        open_ = [] if name == "frozen" else wrong
        table = rows(pairs, wrong)
        shown = {what: {"items": count, "share": share} for what, count, share in table}
        told[name] = {**shown, "wrong": [pair.id for pair in open_]}
        if not as_json:
            _print(console, name, table)
            for pair in open_ if misses else ():
                console.print(f"{pair.id} ({pair.kind}, {'true' if pair.true else 'false'}): {pair.answer}")
    if as_json:
        console.print_json(json.dumps(told if len(told) > 1 else next(iter(told.values())), ensure_ascii=False))


def _print(console: Console, title: str, rows: Sequence[tuple[str, int, float]]) -> None:
    table = Table(title=title)
    for head in ("what", "answers", "share"):
        table.add_column(head, justify="left" if head == "what" else "right")
    for name, count, share in rows:
        table.add_row(name, str(count), f"{share:.3f}")
    console.print(table)


def figures(
    which: Annotated[
        Literal["answers", "computed"],
        typer.Option("--set", help="Answers of data sets, or computed sentences made by template."),
    ] = "answers",
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
    in_process: Annotated[
        bool,
        typer.Option("--in-process", help="No stack: a process that checks, on passages that a stack found before."),
    ] = False,
    misses: Annotated[
        bool, typer.Option(help="Show what was missed, of the data sets' development part only.")
    ] = False,
) -> None:
    """Figures checked: how many corrupted answers are caught, by kind, and how many true ones are flagged."""
    if which == "computed":
        made = {half: make_computed_pairs(data, half) for half in HALVES}
        _of_pairs(made, home, as_json=as_json, misses=misses, in_process=in_process)
        return
    report = evaluate_figures(data, home, say, in_process=in_process)
    console = Console()
    if as_json:
        console.print_json(json.dumps({**report.summary(), "misses": report.misses}, ensure_ascii=False))
        return
    for half, shown in report.summary().items():
        _print(console, half, [(name, int(row["items"]), row["share"]) for name, row in shown.items()])
    console.print(f"docugami answers left out, for their figures are not in the filing: {report.left_out}")
    if misses:
        for miss in report.misses:
            console.print_json(json.dumps(miss, ensure_ascii=False))
