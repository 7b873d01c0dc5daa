"""How a writer is trained: all that decides the result beside base model and samples."""

from __future__ import annotations

from dataclasses import dataclass

from quelea_evaluation.inputs import BadInput

from quelea_training.recipe import BaseRecipe


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Settings of one training, after the paper; an interrupted run is resumed only under the same.

    FinVerse's highest learning rate is 5e-5.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.1
    batch: int = 1
    """Samples in memory at once, of each process."""
    accumulate: int = 8
    """Batches of a step; the paper: 100 of 8."""
    max_tokens: int = 2048
    """Of prompt and answer; a longer sample is left out, for an answer that is cut teaches to stop early."""
    dtype: str = "float32"
    """Of the base model's weights: float32 is the fastest on processors without bfloat16; bfloat16 for GPUs."""
    checkpointing: bool = False
    """Activations are computed again and not kept: less memory, a third more time."""

    def check(self) -> None:
        """Refuse what cannot be trained. Raises BadInput with the option that is wrong."""
        super().check()
        if self.dtype not in ("float32", "bfloat16"):
            raise BadInput(f"--dtype must be float32 or bfloat16, got {self.dtype!r}")
