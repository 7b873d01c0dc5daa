"""Whether the extractive reader chooses better by weights that another author's questions taught.

python tests/eval/fit_quotes.py --data ../shared/data: the questions of TAT-QA and the first one of each ConvFinQA
conversation, each with the eight passages of all contexts that TF-IDF finds (its own context 0.15 nearer, as a filter
for the company would bring it). Right: a row or sentence of the own context with the answer. The fit is a conditional
logit over the 40 best and the right ones, pulled to the weights that there are.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from quelea_evaluation.judging.figures import numbers_in
from quelea_generator.core.extractive.question import read_question
from quelea_generator.core.extractive.scoring import WEIGHTS, score_candidates
from quelea_generator.core.model import Evidence, Task
from scipy.optimize import minimize  # type: ignore[import-untyped]  # no stubs are published
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # the same

FREE = ("coverage", "context", "precision", "exact", "pairs", "row", "length", "period", "figure", "kind")
SHOWN, NEARER, BEST, HEAT = 8, 0.15, 40, 0.5
Vector = NDArray[np.float64]
Says = Callable[[str], bool]


@dataclass(frozen=True)
class Seen:
    """A question's candidates: features of shape (candidates, features), and which are right."""

    features: Vector
    right: NDArray[np.bool_]


def tatqa(data: Path) -> tuple[dict[str, list[tuple[str, bool]]], list[tuple[str, str, Says]]]:
    """Passages by context, and (context, question, whether a text says the answer)."""
    contexts, asked = {}, []
    for number, one in enumerate(json.loads((data / "tatqa" / "tatqa_dataset_dev.json").read_text("utf-8"))):
        rows = "\n".join("\t".join(cell.strip() for cell in row).rstrip() for row in one["table"]["table"])
        contexts[str(number)] = [(rows, True), *((part["text"], False) for part in one["paragraphs"])]
        for question in one["questions"]:
            if question["answer_type"] == "span":
                words = [str(answer).strip().lower() for answer in question["answer"]]
                asked.append((str(number), question["question"], _says_words(words)))
            elif question["answer_type"] == "arithmetic" and len(numbers_in(question["derivation"])) > 1:
                asked.append((str(number), question["question"], _says_numbers(question["derivation"], 2)))
    return contexts, asked


def convfinqa(data: Path) -> tuple[dict[str, list[tuple[str, bool]]], list[tuple[str, str, Says]]]:
    """The same of ConvFinQA, where the first question asks for a figure that is printed."""
    contexts: dict[str, list[tuple[str, bool]]] = {}
    asked = {}
    for one in json.loads((data / "convfinqa" / "convfinqa_dev_pot.json").read_text("utf-8")):
        page = one["id"].rsplit("-", 1)[0]
        table = "\n".join("\t".join(cell.strip() for cell in row.split("|")) for row in one["table"].splitlines())
        contexts[page] = [(table, True), *((text, False) for text in re.findall(r".{1,700}(?: \. |$)", one["text"]))]
        if first := re.fullmatch(r"ans = -?([\d.]+)", one["programs"][0]):
            asked[page, one["questions"][0]] = _says_numbers(first[1], 1)
    return contexts, [(page, question, says) for (page, question), says in asked.items()]


def _says_words(words: Sequence[str]) -> Says:
    return lambda text: all(word in " ".join(text.lower().split()) for word in words)


def _says_numbers(said: str, least: int) -> Says:
    return lambda text: len(numbers_in(text) & numbers_in(said)) >= least


def read(contexts: dict[str, list[tuple[str, bool]]], asked: Sequence[tuple[str, str, Says]]) -> list[Seen]:
    """The candidates of every question whose passages hold the answer."""
    passages = [(key, *passage) for key, own in contexts.items() for passage in own]
    reader = TfidfVectorizer(sublinear_tf=True, token_pattern=r"[A-Za-z0-9]+")
    vectors = reader.fit_transform([text for _, text, _ in passages])
    keys = np.array([key for key, _, _ in passages])
    found = []
    for key, question, says in asked:
        near = (vectors @ reader.transform([question]).T).toarray().ravel() + NEARER * (keys == key)
        shown = [passages[at] for at in np.argsort(-near)[:SHOWN]]
        evidence = tuple(Evidence(n, text, header=of, is_table=rows) for n, (of, text, rows) in enumerate(shown, 1))
        task = Task(question, evidence, date(2020, 1, 1))
        ranked = score_candidates(read_question(task), evidence)
        right = np.array([one.evidence.header == key and says(one.text) for one in ranked], dtype=bool)
        if right.any():
            kept = np.flatnonzero(right | (np.arange(len(ranked)) < BEST))
            rows = [[ranked[at].features.get(name, 0.0) for name in WEIGHTS] for at in kept]
            found.append(Seen(np.array(rows), right[kept]))
    return found


def fit(questions: Sequence[Seen], pull: float) -> Vector:
    """Weights in the order of WEIGHTS: those of FREE fitted, the others as they are (times HEAT, as the fit is)."""
    names = list(WEIGHTS)
    start = HEAT * np.array([WEIGHTS[name] for name in names])
    free = [names.index(name) for name in FREE]
    spread = np.concatenate([one.features for one in questions]).std(axis=0)[free] + 1e-6

    def loss(moved: Vector) -> tuple[float, Vector]:
        weights = start.copy()
        weights[free] = moved / spread
        value, slope = 0.0, np.zeros(len(names))
        for one in questions:
            power = np.exp((scores := one.features @ weights) - scores.max())
            right = power * one.right
            value += np.log(power.sum()) - np.log(max(right.sum(), 1e-300))
            slope += one.features.T @ (power / power.sum() - right / max(right.sum(), 1e-300))
        away = moved - start[free] * spread
        return value / len(questions) + pull * away @ away, slope[free] / spread / len(questions) + 2 * pull * away

    weights = start.copy()
    weights[free] = minimize(loss, start[free] * spread, jac=True, method="L-BFGS-B").x / spread
    return weights


def tell(questions: Sequence[Seen], weights: Vector) -> str:
    """Share of the questions whose first candidate, and one of whose first three, is right."""
    ranks = [one.right[np.argsort(-(one.features @ weights), kind="stable")] for one in questions]
    return f"first {np.mean([r[0] for r in ranks]):.3f}, in three {np.mean([r[:3].any() for r in ranks]):.3f}"


def main() -> None:
    """Print both sets by the present weights and by those that the other set taught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--every", type=int, default=3, help="Read every so many-th question of TAT-QA.")
    parser.add_argument("--pull", type=float, default=1.0)
    options = parser.parse_args()
    contexts, asked = tatqa(options.data)
    sets = {"TAT-QA": read(contexts, asked[:: options.every]), "ConvFinQA": read(*convfinqa(options.data))}
    for name, own in sets.items():
        print(f"{name}, {len(own)} questions: {tell(own, np.array(list(WEIGHTS.values())))}")
        weights = fit([one for key, others in sets.items() if key != name for one in others], options.pull)
        print(f"  taught by the other: {tell(own, weights)}")
        print("  " + ", ".join(f"{key} {2 * w:.2f}" for key, w in zip(WEIGHTS, weights, strict=True) if key in FREE))


if __name__ == "__main__":
    main()
