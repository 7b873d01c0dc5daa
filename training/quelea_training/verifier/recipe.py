"""How a verifier is trained: all that decides the result beside base model and passages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from quelea_evaluation.inputs import BadInput

from quelea_training.recipe import BaseRecipe

LABELS = ("entailment", "neutral", "contradiction")
"""In the order of the model's outputs; the embedder finds them by these names."""

Scores = NDArray[np.float32]
"""Shape (pairs, 3), columns as LABELS; rows sum to 1."""


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Settings of one training; an interrupted run is resumed only under the same."""

    rate: float = 5e-4
    """Highest learning rate: the head is new, and at 1e-4 it stays at chance for some hundred steps."""
    layers: int = 4
    """The last ones, which move together with the head; 0: every weight."""
    most: int = 6000
    """Examples to train on."""
    max_tokens: int = 128
    """Passage and sentence together are cut here in training; the served model reads up to its own limit."""

    def check(self) -> None:
        """Refuse what cannot be trained.

        Raises:
            BadInput: With the option that is wrong.
        """
        super().check()
        if self.layers < 0:
            raise BadInput(f"--layers must be 0 (every weight) or more, got {self.layers}")
