"""What fitted weights are worth on data that they have not seen, and whether they replace the ones that there were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sklearn.model_selection import GroupKFold  # type: ignore[import-untyped]  # no stubs are published

from quelea_training.ranking.candidates import Candidates, Weights
from quelea_training.ranking.fit import Measured, fit, measure, teaches

STRENGTHS = (0.01, 0.1, 1.0, 10.0)
"""Of the pull to the weights that there were; the one that does best on what is left out is taken."""
FOLDS = 5
KINDS = ("anywhere", "in_filing")
_LOSS = 1e-9

Fit = Callable[[Sequence[Candidates]], Weights]


@dataclass(frozen=True)
class LeftOut:
    """One set by weights that have not seen it, beside the weights that there were."""

    kind: str
    """Of the search: anywhere or in_filing."""
    by: str
    """What was left out: the set, or, where no other set teaches this kind, a fifth of its documents after another."""
    before: Measured
    after: Measured

    @property
    def as_good(self) -> bool:
        """Neither MRR@10 nor hit@5 of passages, nor hit@5 of documents, is lower."""
        return all(
            getattr(self.after, name) >= getattr(self.before, name) - _LOSS for name in ("mrr10", "hit5", "document5")
        )


@dataclass(frozen=True)
class Proof:
    """The weights of all data, and what says whether to use them."""

    strength: float
    weights: Weights
    """Of each kind of search the fitted ones where these are as good on everything left out, else those before."""
    fitted: Weights
    left_out: tuple[LeftOut, ...]
    accepted: tuple[str, ...]
    """The kinds whose fitted weights are used."""


def prove(questions: Sequence[Candidates], names: Sequence[str], prior: Weights) -> Proof:
    """Fit, with each set left out in turn, at several strengths; then on everything at the best of them.

    A set counts for a kind of search when it has questions with that kind that teach something.
    """
    best: tuple[float, float, tuple[LeftOut, ...]] | None = None
    for strength in STRENGTHS:

        def fit_some(some: Sequence[Candidates], strength: float = strength) -> Weights:
            return fit(some, names, prior, strength)

        rows = tuple(row for kind in KINDS for row in _leave_out(questions, kind, prior, fit_some))
        gain = sum(row.after.mrr10 - row.before.mrr10 for row in rows)
        if best is None or gain > best[0]:
            best = gain, strength, rows
    assert best is not None  # noqa: S101  # STRENGTHS is not empty
    _, strength, rows = best
    fitted = fit(questions, names, prior, strength)
    accepted = tuple(
        kind
        for kind in KINDS
        if (own := [row for row in rows if row.kind == kind])
        and all(row.as_good for row in own)
        and any(row.after.mrr10 > row.before.mrr10 for row in own)
    )
    weights = Weights(**{kind: getattr(fitted if kind in accepted else prior, kind) for kind in KINDS})
    return Proof(strength, weights, fitted, rows, accepted)


def _leave_out(questions: Sequence[Candidates], kind: str, prior: Weights, fit_some: Fit) -> list[LeftOut]:
    own = [one for one in questions if one.in_filing == (kind == "in_filing") and teaches(one)]
    sets = list(dict.fromkeys(one.set for one in own))
    rows = []
    for name in sets:
        mine = [one for one in own if one.set == name]
        rest = [one for one in own if one.set != name]
        before = measure(name, mine, prior)
        if rest:
            rows.append(LeftOut(kind, "the set", before, measure(name, mine, fit_some(rest))))
        groups = [one.group for one in mine]
        if len(set(groups)) >= FOLDS and len(sets) == 1:
            parts = []
            for train, test in GroupKFold(FOLDS).split(groups, groups=groups):
                weights = fit_some([mine[i] for i in train])
                chosen = [mine[i] for i in test]
                parts.append((len(chosen), measure(name, chosen, weights)))
            rows.append(LeftOut(kind, f"documents, {FOLDS} folds", before, _mean(name, parts)))
    return rows


def _mean(name: str, parts: Sequence[tuple[int, Measured]]) -> Measured:
    whole = sum(count for count, _ in parts)
    fields = ("hit1", "hit5", "mrr10", "document1", "document5")
    means = {field: sum(count * getattr(one, field) for count, one in parts) / whole for field in fields}
    return replace(parts[0][1], set=name, questions=whole, **means)
