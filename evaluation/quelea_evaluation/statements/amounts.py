"""`quelea eval statements`: figures of financial statements, against the tags of inline XBRL filings."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from quelea_evaluation.console import DATA, HOME, AsJson, Data, Home, say, tell, tell_json
from quelea_evaluation.sets.model import SourceDocument
from quelea_evaluation.stack.running import Stack, running_stack
from quelea_evaluation.statements.key import KeyFigure, answer_key, tagged_amounts, without_tags

_WEEK = timedelta(days=8)
_PRINT_SECONDS = 240.0
_LABEL = 15
"""Letters of two labels that are compared: one may go on, or be cut, where the other ends."""


class Form(StrEnum):
    """What the product is given."""

    TAGGED = "tagged"
    HTML = "html"
    PDF = "pdf"


@dataclass
class StatementReport:
    """Counts over all filings."""

    filings: int = 0
    figures: int = 0
    """Of the key."""
    found: int = 0
    """With value, sign, scale and period right."""
    missed_in_labels: int = 0
    """Of those not found: figures printed within a label's words."""
    stated: int = 0
    """Facts that the product has of the statements."""
    wrong: int = 0
    """Of these: not zero, and no tag of any context has the amount on that day."""
    with_concept: int = 0
    failed: int = 0
    """Facts that break an identity."""

    def summary(self) -> dict[str, float]:
        """Counts and shares."""
        return {
            **asdict(self),
            "recall": self.found / self.figures if self.figures else float("nan"),
            "precision": 1 - self.wrong / self.stated if self.stated else float("nan"),
        }


def statements(
    form: Annotated[
        Form, typer.Option(help="Filings as they are, without their tags, or as Chromium prints these.")
    ] = Form.HTML,
    data: Data = DATA,
    home: Home = HOME,
    as_json: AsJson = False,
) -> None:
    """Recall and precision of the facts of primary statements of ten filings; its tags are the key."""
    report = evaluate_statements(sorted((data / "filings_ixbrl").glob("*.html.gz")), form, home)
    if as_json:
        tell_json(report.summary(), None)
        return
    for name, value in report.summary().items():
        tell(f"{name.replace('_', ' '):20} {format(value, '.4f') if isinstance(value, float) else value}")


def evaluate_statements(filings: Sequence[Path], form: Form, home: Path) -> StatementReport:
    """Ingest the filings in a form and compare."""
    report = StatementReport()
    folder = home / f"statements-{form}"
    with running_stack(folder) as stack:
        for name, html, key in read_filings(filings):
            ids = stack.ingest((document_of(name, html, form, folder),), lambda _: None)
            _compare(key, _facts(stack, ids[name]), html, report)
            say(f"{name}: {report.found} of {report.figures} so far")
    return report


def read_filings(paths: Sequence[Path]) -> Iterator[tuple[str, str, Sequence[KeyFigure]]]:
    """Name, HTML and key of each filing whose tags give a key."""
    for path in paths:
        html = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        if key := answer_key(html):
            yield path.name.removesuffix(".html.gz"), html, key


def document_of(name: str, html: str, form: Form, folder: Path) -> SourceDocument:
    """A filing as the product is given it; prints are kept in the folder."""
    if form is Form.TAGGED:
        return SourceDocument(name, f"{name}.html", html.encode())
    plain = without_tags(html)
    if form is Form.HTML:
        return SourceDocument(name, f"{name}.html", plain.encode())
    return SourceDocument(name, f"{name}.pdf", print_pdf(plain, folder / "printed" / f"{name}.pdf"))


def print_pdf(html: str, kept: Path) -> bytes:
    """What Chromium prints of a page; kept, for it takes long."""
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        _print(html, kept)
    return kept.read_bytes()


def _print(html: str, into: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise typer.BadParameter("Chromium is not installed; install it, or take another --form.")
    with tempfile.TemporaryDirectory() as temporary:
        page, made = Path(temporary) / "filing.html", Path(temporary) / "filing.pdf"
        page.write_text(html, encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={made}"]
        subprocess.run(  # noqa: S603  # the arguments are ours
            [chromium, *options, page.as_uri()], check=True, capture_output=True, timeout=_PRINT_SECONDS
        )
        shutil.move(made, into)


def _facts(stack: Stack, document_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    token = ""
    while True:
        params: dict[str, Any] = {"document_id": document_id, "doubtful": True, "page_size": 1000}
        page = stack.http.get("/v1/facts", params=params | ({"page_token": token} if token else {}))
        found += page.raise_for_status().json()["facts"]
        token = page.json()["next_page_token"] or ""
        if not token:
            return found


def _compare(key: Sequence[KeyFigure], facts: Sequence[dict[str, Any]], html: str, report: StatementReport) -> None:
    report.filings += 1
    report.figures += len(key)
    of_day: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for fact in facts:
        of_day[fact["period_end"], not fact["period_start"]].append(fact)
    for figure in key:
        hit = any(_fits(figure, fact) for fact in of_day[figure.period_end, not figure.period_start])
        report.found += hit
        report.missed_in_labels += not hit and figure.in_label
    amounts = tagged_amounts(html)
    stated = [fact for fact in facts if fact["statement"] != "note"]
    report.stated += len(stated)
    report.with_concept += sum(1 for fact in stated if fact["concept"])
    report.failed += sum(1 for fact in stated if fact["failed"])
    for fact in stated:
        value = abs(Decimal(fact["value"]))
        report.wrong += value != 0 and (fact["period_end"], value) not in amounts


def _fits(figure: KeyFigure, fact: dict[str, Any]) -> bool:
    if Decimal(fact["value"]) not in (figure.value, figure.printed):
        return False
    if figure.period_start:
        apart = date.fromisoformat(fact["period_start"]) - date.fromisoformat(figure.period_start)
        if abs(apart) > _WEEK:
            return False
    return fact["tag"] == figure.tag or figure.in_label or _begin(figure.label) == _begin(fact["label"])


def _begin(label: str) -> str:
    return "".join(label.lower().split())[:_LABEL]
