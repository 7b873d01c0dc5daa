"""The second stage's weights: a data file, checked against the features that this version computes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
from quelea_kit.errors import InvalidInput

from quelea_retriever.core.ranking.ranking_features import FEATURES, VERSION, weigh

FIT = "fit one with `quelea train ranker`"


@dataclass(frozen=True, eq=False)
class Ranker:
    """A linear ranker: a passage's score is the sum of its features, each times its weight."""

    name: str
    """What it is called in an answer and in an error."""
    encoder: str
    """The encoder whose cosines it was fitted with; empty: it was set by hand, for any."""
    fitted: str
    """When and on what; empty: set by hand."""
    anywhere: npt.NDArray[np.float64]
    """Weights, one for each feature, where all documents are searched."""
    in_filing: npt.NDArray[np.float64]
    """Weights where the search was narrowed to a company's documents."""

    @classmethod
    def parse(cls, text: str, *, name: str) -> Ranker:
        """A ranker from its JSON.

        Args:
            text: {"features_version", "encoder", "fitted", "anywhere": {feature: weight}, "in_filing": {…}}.
            name: What to call it in an error.

        Raises:
            InvalidInput: it is no such JSON, is for other features than this version has, or has a weight below 0.
        """
        try:
            said: dict[str, Any] = json.loads(text)
            version = int(said["features_version"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{name} is not a ranker ({error!r}); {FIT}.") from error
        if version != VERSION:
            raise InvalidInput(
                f"{name} weighs version {version} of the ranking features, and this retriever computes version "
                f"{VERSION}; {FIT} on this version, or unset QUELEA_RETRIEVER_RANKER_FILE."
            )
        try:
            return cls(
                name=name,
                encoder=str(said.get("encoder", "")),
                fitted=str(said.get("fitted", "")),
                anywhere=_weights(said["anywhere"]),
                in_filing=_weights(said["in_filing"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f"{name} is not a ranker ({error}); {FIT}.") from error

    def weights(self, *, chosen: bool) -> npt.NDArray[np.float64]:
        """Those for a search that was narrowed to a company's documents, or was not."""
        return self.in_filing if chosen else self.anywhere


@cache
def packaged() -> Ranker:
    """The ranker that comes with this version."""
    text = resources.files(__package__).joinpath("ranker.json").read_text("utf-8")
    return Ranker.parse(text, name="the packaged ranker.json")


def _weights(said: dict[str, Any]) -> npt.NDArray[np.float64]:
    unknown = sorted(set(said) - set(FEATURES))
    if unknown:
        raise ValueError(f"it weighs unknown features: {', '.join(unknown)}")
    found = {name: float(weight) for name, weight in said.items()}
    wrong = [name for name, weight in found.items() if not (math.isfinite(weight) and weight >= 0)]
    if wrong:
        raise ValueError(f"a weight is 0 or more, and finite: {', '.join(wrong)}")
    if not any(found.values()):
        raise ValueError("every weight is 0")
    return weigh(found)
