"""The gate: is the local evidence good enough, or should the web be searched?"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Protocol

from quelea_fintext.dates import parse_iso
from quelea_fintext.text import language_of
from quelea_kit.errors import InvalidInput
from quelea_kit.files.fitted_files import fits_encoder

from quelea_gateway.core.gate import reasons as gate_reasons
from quelea_gateway.core.gate.features import BEST, FEATURES, measure
from quelea_gateway.core.model import Passage, Question, Retrieved, Verdict


@dataclass(frozen=True)
class Coefficient:
    """What one feature adds to the log-odds: weight * (value - mean) / scale."""

    mean: float
    scale: float
    weight: float


@dataclass(frozen=True)
class Calibration:
    """The fitted part of both gates; good for one encoder."""

    encoder: str
    """As `quelea_kit.files.fitted_files.fits_encoder` takes it."""
    fitted: str
    """When and on what; empty: the weights were set by hand."""
    cosine: float
    """The paper's c."""
    features: dict[str, Coefficient]
    intercept: float
    threshold: float
    """Of the probability; from here on the evidence is good enough."""
    foreign_gap: float = 0.0
    """How much lower the encoder puts a text in another language than the question's, whatever it says."""

    @classmethod
    def parse(cls, text: str, *, name: str, base: Calibration | None = None) -> Calibration:
        """A calibration from its JSON; what it does not have is taken from `base`.

        Args:
            text: {"encoder", "fitted", "cosine", "features": {name: {mean, scale, weight}}, "intercept", "threshold"}.
            name: What to call it in an error.
            base: For a file that has the cosine alone, or the features alone.

        Raises:
            InvalidInput: it is no such JSON, or weighs a feature that there is not.
        """
        try:
            said: dict[str, Any] = json.loads(text)
            given = {**({} if base is None else vars(base)), **{k: v for k, v in said.items() if v is not None}}
            found = cls(
                encoder=str(given["encoder"]),
                fitted=str(given["fitted"]),
                cosine=float(given["cosine"]),
                features={
                    n: c if isinstance(c, Coefficient) else _coefficient(c) for n, c in given["features"].items()
                },
                intercept=float(given["intercept"]),
                threshold=float(given["threshold"]),
                foreign_gap=_gap(said, base),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f"{name} is not a calibration of the gate ({error}); run `quelea calibrate`.") from error
        unknown = sorted(set(found.features) - set(FEATURES))
        if unknown:
            raise InvalidInput(f"{name} has weights of unknown features: {', '.join(unknown)}; run `quelea calibrate`.")
        return found


def _gap(said: dict[str, Any], base: Calibration | None) -> float:
    """As said; what another encoder's is nobody knows."""
    same = base is not None and fits_encoder(base.encoder, said.get("encoder", base.encoder))
    gap = float(said.get("foreign_gap", base.foreign_gap if base and same else 0.0))
    if not 0 <= gap < 1:
        raise ValueError("foreign_gap must be at least 0 and below 1")
    return gap


def _coefficient(said: dict[str, Any]) -> Coefficient:
    made = Coefficient(mean=float(said["mean"]), scale=float(said["scale"]), weight=float(said["weight"]))
    if not made.scale > 0 or not all(map(math.isfinite, (made.mean, made.scale, made.weight))):
        raise ValueError("scale must be above 0, and every number finite")
    return made


class Gate(Protocol):
    """Judges local evidence. Pure: the same evidence gives the same verdict."""

    def judge(self, question: Question, retrieved: Retrieved) -> Verdict:
        """Whether the evidence is good enough."""
        ...


class CosineGate:
    """The paper's gate: the best cosine is above c (WeaverBird, section 2.1), and nothing else counts.

    Args:
        cosine: c.
    """

    def __init__(self, cosine: float) -> None:
        self.cosine = cosine

    def judge(self, question: Question, retrieved: Retrieved) -> Verdict:
        """Best cosine > c."""
        found = measure(question.query, retrieved, question.as_of).features
        best = max([retrieved.best_cosine, *(passage.cosine for passage in retrieved.passages)])
        passed = best > self.cosine
        language = language_of(question.text)
        reason = gate_reasons.say("above" if passed else "below", language, value=best, c=self.cosine)
        return Verdict("cosine", best, self.cosine, passed, (reason,), found)


class CalibratedGate:
    """Logistic regression over readable features, and two rules beside it.

    A question that asks for the latest, or for a period newer than all that is stored, goes to the web however well
    the passages fit, unless they are fresh.

    Args:
        calibration: Weights and threshold.
        threshold: The calibration's own when None.
        fresh_days: Evidence published, or as a web page fetched, so many days before the day of the question or later
            is fresh.
    """

    def __init__(
        self,
        calibration: Calibration,
        *,
        threshold: float | None = None,
        fresh_days: float = 1.0,
    ) -> None:
        self._calibration = calibration
        self._threshold = calibration.threshold if threshold is None else threshold
        self._fresh = timedelta(days=fresh_days)

    def judge(self, question: Question, retrieved: Retrieved) -> Verdict:
        """The probability that the evidence answers the question, and the rules."""
        reading, language = retrieved.reading, language_of(question.text)
        measured = measure(question.query, retrieved, question.as_of, self._calibration.foreign_gap)
        contributions = {
            name: c.weight * (measured.features[name] - c.mean) / c.scale
            for name, c in self._calibration.features.items()
        }
        probability = _logistic(self._calibration.intercept + sum(contributions.values()))
        rules: list[str] = []
        if not retrieved.passages:
            rules.append(gate_reasons.say("none", language))
            probability = 0.0
        elif not self._is_fresh(retrieved.passages[:BEST], parse_iso(question.as_of)):
            if reading.period_newer:
                rules.append(gate_reasons.say("newer", language))
            if reading.asks_latest:
                rules.append(gate_reasons.latest(measured, reading, language))
        passed = probability >= self._threshold and not rules
        told = gate_reasons.explain_weights(measured, reading, contributions, language, passed=passed)
        return Verdict(
            kind="calibrated",
            probability=round(probability, 4),
            threshold=self._threshold,
            passed=passed,
            reasons=tuple(dict.fromkeys((*rules, *(told if retrieved.passages else ()))))[: gate_reasons.MOST],
            features=measured.features,
        )

    def _is_fresh(self, passages: tuple[Passage, ...], today: date | None) -> bool:
        if today is None:
            return False
        said = (parse_iso(d) for p in passages for d in (p.published, p.fetched[:10] if p.from_web else ""))
        return any(today - day <= self._fresh for day in said if day)


def _logistic(value: float) -> float:
    """1 / (1 + e^-value), without overflow."""
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else math.exp(value) / (1.0 + math.exp(value))
