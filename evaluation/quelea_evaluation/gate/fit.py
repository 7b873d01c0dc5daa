"""`quelea eval gate`, second half: how well the gates tell answerable from unanswerable, and the fit of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quelea_evaluation.gate.asking import Asked

Values = NDArray[np.float64]
FOLDS = 5
SENT = 0.95
"""Share of the unanswerable questions that must go to the web."""
_STRENGTH = 1.0
"""Inverse of the L2 penalty, on standardised features; sklearn's default, not tuned."""
_DIGITS = 3
AGAINST = frozenset(
    "names_missing years_missing numbers_missing company_missing period_missing period_newer latest_age".split()
)
"""Features that speak against local evidence; all others speak for it."""
FORCED = ("latest_age", "period_newer")
"""Features that are above 0 where a rule sends the question to the web whatever the probability."""


@dataclass(frozen=True)
class Separation:
    """How well one gate separates the questions of one set."""

    gate: str
    set: str
    questions: int
    auc: float
    threshold: float
    """At which the share SENT of the unanswerable questions goes to the web; chosen on these questions."""
    stays: float
    """Share of the answerable questions that stay local there."""


@dataclass(frozen=True)
class Model:
    """Weights over standardised features."""

    names: tuple[str, ...]
    mean: Values
    scale: Values
    weight: Values
    intercept: float

    def probability(self, asked: Sequence[Asked]) -> Values:
        """That the evidence answers, for each."""
        standard = (matrix(asked, self.names) - self.mean) / self.scale
        return np.asarray(1.0 / (1.0 + np.exp(-(standard @ self.weight + self.intercept))), dtype=np.float64)


def matrix(asked: Sequence[Asked], names: Sequence[str]) -> Values:
    """Shape (questions, features)."""
    return np.array([[a.features[name] for name in names] for a in asked], dtype=np.float64)


def fit(asked: Sequence[Asked]) -> Model:
    """Logistic regression; every set counts the same, whatever its size. Features that never change are left out.

    So are those whose weight would contradict what they mean (covered terms speaking against the evidence), one after
    the other, the worst first: they only make up for others that say nearly the same, and no reason could be read off.
    """
    whole = tuple(asked[0].features)
    spread = matrix(asked, whole).std(axis=0)
    names = tuple(name for name, value in zip(whole, spread, strict=True) if value > 0)
    while True:
        model = _fit_on(asked, names)
        signs = np.array([-1.0 if name in AGAINST else 1.0 for name in names])
        wrong = np.minimum(model.weight * signs, 0.0)
        if not wrong.any():
            return model
        names = tuple(name for i, name in enumerate(names) if i != int(np.argmin(wrong)))


def _fit_on(asked: Sequence[Asked], names: tuple[str, ...]) -> Model:
    # sklearn takes a second to load, which no other command shall wait for; no stubs are published.
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # noqa: PLC0415

    values = matrix(asked, names)
    mean, scale = values.mean(axis=0), values.std(axis=0)
    sizes = {one: sum(a.set == one for a in asked) for one in {a.set for a in asked}}
    weights = np.array([len(asked) / (len(sizes) * sizes[a.set]) for a in asked])
    model = LogisticRegression(C=_STRENGTH, max_iter=2000)
    model.fit((values - mean) / scale, [a.answerable for a in asked], sample_weight=weights)
    return Model(names, mean, scale, np.asarray(model.coef_[0], dtype=np.float64), float(model.intercept_[0]))


def predict_held_out(asked: Sequence[Asked]) -> Values:
    """The probability of each question by a model that has seen no question of its group."""
    from sklearn.model_selection import StratifiedGroupKFold  # type: ignore[import-untyped]  # noqa: PLC0415

    labels, groups = [a.answerable for a in asked], [a.group for a in asked]
    found = np.zeros(len(asked))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(np.zeros(len(asked)), labels, groups):
        model = fit([asked[i] for i in train])
        found[test] = model.probability([asked[i] for i in test])
    return found


def separation(gate: str, name: str, asked: Sequence[Asked], values: Values) -> Separation:
    """AUC, and what stays local at SENT; `values` is what the gate judges by, larger for better evidence."""
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]  # noqa: PLC0415

    labels = np.array([a.answerable for a in asked])
    limit = threshold(values[~labels])
    return Separation(
        gate=gate,
        set=name,
        questions=len(asked),
        auc=float(roc_auc_score(labels, values)),
        threshold=limit,
        stays=float((values[labels] >= limit).mean()),
    )


def threshold(unanswerable: Values) -> float:
    """The smallest value above which at most 1 - SENT of the unanswerable questions lie."""
    ordered = np.sort(unanswerable)[::-1]
    staying = int((1 - SENT) * len(ordered) + 1e-9)
    return float(np.nextafter(ordered[staying], np.inf)) if staying < len(ordered) else float(ordered[-1])


def with_reader(asked: Sequence[Asked]) -> list[Asked]:
    """The same questions with the reader's verdict among the features; none where one of them has no verdict."""
    return [replace(a, features=a.features | a.reader) for a in asked] if all(a.reader for a in asked) else []


def separations(asked: Sequence[Asked], calibrated: Values) -> list[Separation]:
    """Both gates, over all questions and for each set; and one that would see the reader's verdict, too."""
    cosine = np.array([a.features["cosine"] for a in asked])
    plain = np.array([not is_forced(a) for a in asked])
    rows = []
    gates = [("cosine (the paper's)", cosine), ("calibrated, held out", calibrated)]
    if seeing := with_reader(asked):
        gates.append(("with the reader's verdict, held out", predict_held_out(seeing)))
    for gate, values in gates:
        rows.append(separation(gate, "all", asked, values))
        if not plain.all():
            rows.append(
                separation(
                    gate,
                    "all but those for the latest",
                    [a for a, p in zip(asked, plain, strict=True) if p],
                    values[plain],
                )
            )
        for name in dict.fromkeys(a.set for a in asked):
            chosen = np.array([a.set == name for a in asked])
            rows.append(separation(gate, name, [a for a in asked if a.set == name], values[chosen]))
    return rows


def is_forced(asked: Asked) -> bool:
    """Whether a rule sends the question to the web whatever the probability."""
    return any(asked.features.get(name, 0.0) > 0 for name in FORCED)


def gate_file(asked: Sequence[Asked], calibrated: Values, encoder: str, cosine: float | None) -> dict[str, Any]:
    """The gateway's calibration: fitted on every question; the threshold is from the held-out probabilities."""
    model = fit(asked)
    labels = np.array([a.answerable for a in asked])
    sets = ", ".join(dict.fromkeys(a.set for a in asked))
    found: dict[str, Any] = {
        "encoder": encoder,
        "fitted": f"{date.today().isoformat()}: {len(asked)} questions of {sets}",  # the runner's day
        "note": "Written by `quelea eval gate --fit`.",
        "features": {
            name: {
                "mean": _round_to(model.mean[i], _DIGITS + 1),
                "scale": _round_to(model.scale[i], _DIGITS + 1),
                "weight": _round_to(model.weight[i], _DIGITS),
            }
            for i, name in enumerate(model.names)
        },
        "intercept": _round_to(model.intercept, _DIGITS),
        "threshold": round(min(1.0, threshold(calibrated[~labels])), _DIGITS),
    }
    if cosine is not None:
        found["cosine"] = cosine
    return found


def _round_to(value: float, digits: int) -> float:
    """To so many significant digits: cosines differ in the third place after the point."""
    return float(f"{value:.{digits}g}")
