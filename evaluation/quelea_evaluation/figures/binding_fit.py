"""`quelea eval binding`: fits how the checker tells that a figure is said of another fact than the one it equals.

The gateway makes true and false sentences of the passages and says their features, in a process of its own; the true
answers of the data sets are observed as well. The fit is a logistic regression; a quarter of the documents is held out.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from quelea_evaluation.console import DATA, Data, say, tell_json
from quelea_evaluation.figures.items import Item, tatqa
from quelea_evaluation.figures.process import load_items

Values = NDArray[np.float64]
_STRENGTH = 0.3
"""Inverse of the L2 penalty, on standardised features."""
_NATURAL = 5.0
"""How much a figure of a natural answer counts; those of templates are many more, and plainer."""
_PIECE, _PIECES = 700, 3
"""Characters of a piece of news, and pieces that are taken of one."""
_FEWEST = 12
"""Digits of news that is worth taking."""
_LINES = 25
_REPORT_TABLES = 60
_PROCESSES = 2


@dataclass(frozen=True)
class Document:
    """Passages as POST /v1/check takes them; answers to questions that are true of them."""

    name: str
    passages: tuple[Mapping[str, str], ...]
    answers: tuple[tuple[str, str], ...] = ()

    @property
    def held(self) -> bool:
        """Held out: a quarter, always the same."""
        return hashlib.sha256(self.name.encode()).digest()[1] % 4 == 0


@dataclass(frozen=True)
class Observed:
    """A figure with the features of its best rival, and whether that one is right."""

    kind: str
    held: bool
    rival: bool
    features: tuple[float, ...]


def documents(data: Path, home: Path) -> list[Document]:
    """Of the data sets, their development halves: tables of TAT-QA, filings of docugami, news, annual reports.

    Raises:
        typer.BadParameter: No run of `quelea eval figures` with a stack has kept the filings' passages.
    """
    by_passages: dict[tuple[str, ...], list[Item]] = {}
    for item in [*tatqa(data), *load_items(home)]:
        if item.half == "development":
            by_passages.setdefault(tuple(p["text"] for p in item.passages), []).append(item)
    found = [
        Document(own[0].id, own[0].passages, tuple((item.answer, item.question) for item in own))
        for own in by_passages.values()
    ]
    return [*found, *_news(data), *_reports(data)]


def _news(data: Path) -> Iterator[Document]:
    for name, every in (("news", 1), ("reports", 4)):
        for number, one in enumerate(json.loads((data / "alphafin" / f"{name}.json").read_text(encoding="utf-8"))):
            text = one["content"]
            if number % every or len(re.findall(r"\d", text)) < _FEWEST:
                continue
            pieces = [text[at : at + _PIECE] for at in range(0, min(len(text), _PIECES * _PIECE), _PIECE)]
            yield Document(f"{name}-{number}", tuple({"text": piece} for piece in pieces))


def _reports(data: Path) -> Iterator[Document]:
    """Tables of Chinese annual reports with the line above each, three together."""
    for path in sorted((data / "finglm" / "reports").glob("*.txt")):
        header = f"{path.name.split('__')[3]} · 年度报告 · 2019"
        tables = _tables(path.read_text(encoding="utf-8", errors="replace").splitlines())[:_REPORT_TABLES]
        for at in range(0, len(tables) - 2, 3):
            yield Document(path.stem, tuple({"text": text, "header": header} for text in tables[at : at + 3]))


def _tables(lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    above, rows = "", list[str]()
    for line in lines:
        try:
            read = json.loads(line)
        except ValueError:
            continue
        if read.get("type") == "excel":
            cells = [str(cell).replace("\n", "") for cell in ast.literal_eval(read["inside"])]
            rows.append("\t".join(cell for cell in cells if cell.strip()))
        elif read.get("type") == "text":
            if len(rows) > 2:  # a head and two rows
                found.append("\n".join([above, *rows[:_LINES]]))
            above, rows = read["inside"].strip(), []
    return found


def observe(found: Sequence[Document]) -> list[Observed]:
    """What the gateway's code makes of them.

    Raises:
        RuntimeError: Its process ended before it had answered.
    """
    shares = [found[at::_PROCESSES] for at in range(_PROCESSES)]
    with ThreadPoolExecutor(_PROCESSES) as pool:
        return [one for share in pool.map(_observe, shares) for one in share]


def _observe(found: Sequence[Document]) -> list[Observed]:
    bodies = [{"name": d.name, "passages": list(d.passages), "answers": list(d.answers)} for d in found]
    done = subprocess.run(
        [sys.executable, "-m", "quelea_evaluation.figures.binding_lines"],
        input="\n".join(json.dumps(body, ensure_ascii=False) for body in bodies),
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    if len(lines) != len(found):
        raise RuntimeError(f"the gateway answered {len(lines)} of {len(found)}: {done.stderr[-500:]}")
    return [
        Observed(row["kind"], document.held, row["rival"], tuple(row["features"]))
        for document, line in zip(found, lines, strict=True)
        for row in json.loads(line)
    ]


def fit(seen: Sequence[Observed], names: Sequence[str], threshold: float) -> dict[str, Any]:
    """weights.json, from what is not held out; its shape is what quelea_checker/binding/scorer.py reads."""
    # sklearn takes a second to load, which no other command shall wait for; no stubs are published.
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # noqa: PLC0415

    own = [one for one in seen if not one.held]
    values = np.array([one.features for one in own], dtype=np.float64)
    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale[scale == 0] = 1.0
    model = LogisticRegression(C=_STRENGTH, max_iter=2000)
    weights = [_NATURAL if one.kind == "natural" else 1.0 for one in own]
    model.fit((values - mean) / scale, [one.rival for one in own], sample_weight=weights)
    rounded = partial(np.format_float_positional, precision=4, unique=True, fractional=False)
    features = {
        name: {"mean": float(rounded(m)), "scale": float(rounded(s)), "weight": float(rounded(w))}
        for name, m, s, w in zip(names, mean, scale, model.coef_[0], strict=True)
    }
    note = "Written by `quelea eval binding --write`; a rival is right where the chance is over the threshold."
    return {
        "note": note,
        "features": features,
        "intercept": float(rounded(model.intercept_[0])),
        "threshold": threshold,
    }


def chances(fitted: Mapping[str, Any], seen: Sequence[Observed]) -> Values:
    """That the rival is right, by the fit."""
    each = list(fitted["features"].values())
    mean, scale, weight = (np.array([one[key] for one in each]) for key in ("mean", "scale", "weight"))
    values = np.array([one.features for one in seen], dtype=np.float64)
    found = ((values - mean) / scale) @ weight + fitted["intercept"]
    return np.asarray(1.0 / (1.0 + np.exp(-found)), dtype=np.float64)


def figures(fitted: Mapping[str, Any], seen: Sequence[Observed]) -> dict[str, float]:
    """Of what is held out: AUC, the share of false figures over the threshold, of true ones, of natural ones."""
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]  # noqa: PLC0415

    own = [one for one in seen if one.held]
    chance = chances(fitted, own)
    over = chance > fitted["threshold"]
    rival = np.array([one.rival for one in own])
    natural = np.array([one.kind == "natural" for one in own])
    return {
        "held_out": len(own),
        "auc": float(roc_auc_score(rival, chance)),
        "caught": float(over[rival].mean()),
        "flagged": float(over[~rival & ~natural].mean()),
        "natural": int(natural.sum()),
        "natural_flagged": float(over[natural].mean()) if natural.any() else 0.0,
    }


def binding(
    target: Annotated[Path, typer.Argument(help="The file that is fitted anew.")] = Path(
        "libs/checker/quelea_checker/binding/weights.json"
    ),
    write: Annotated[bool, typer.Option(help="Write it; else only the figures are shown.")] = False,
    every: Annotated[int, typer.Option(help="Take each so many-th document.", min=1)] = 1,
    threshold: Annotated[float, typer.Option(help="Chance over which a rival is right.", min=0.5, max=0.99)] = 0.8,
    data: Data = DATA,
    home: Annotated[Path, typer.Option(help="Where a run of `quelea eval figures` kept its items.")] = Path(
        ".quelea/eval"
    ),
) -> None:
    """Fit anew by which words a figure of an answer is taken for another fact's; says what holds on held-out ones."""
    names = list(json.loads(target.read_text(encoding="utf-8"))["features"])
    seen = observe(documents(data, home)[::every])
    if {len(one.features) for one in seen} != {len(names)}:
        raise typer.BadParameter(
            f"{target} names {len(names)} features, the gateway's code has others: list them there"
        )
    fitted = fit(seen, names, threshold)
    tell_json({key: round(value, 4) for key, value in figures(fitted, seen).items()}, None)
    if write:
        target.write_text(_format_weights(fitted), encoding="utf-8")
        say(f"written: {target}")


def _format_weights(fitted: Mapping[str, Any]) -> str:
    """As JSON, a feature a line."""
    features = ",\n".join(f"    {json.dumps(n)}: {json.dumps(v)}" for n, v in fitted["features"].items())
    rest = f'  "intercept": {fitted["intercept"]},\n  "threshold": {fitted["threshold"]}\n'
    return f'{{\n  "note": {json.dumps(fitted["note"])},\n  "features": {{\n{features}\n  }},\n{rest}}}\n'
