"""How a writer is trained: all that decides the result beside base model and samples."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from quelea_evaluation.inputs import BadInput


@dataclass(frozen=True)
class Recipe:
    """Settings of one training, after the paper; an interrupted run is resumed only under the same."""

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.1
    rate: float = 1e-4
    """Highest learning rate; FinVerse: 5e-5."""
    batch: int = 1
    """Samples in memory at once, of each process."""
    accumulate: int = 8
    """Batches of a step; the paper: 100 of 8."""
    max_tokens: int = 2048
    """Of prompt and answer; a longer sample is left out, for an answer that is cut teaches to stop early."""
    epochs: float = 2.0
    warm_up: float = 0.05
    weight_decay: float = 0.01
    dtype: str = "float32"
    """Of the base model's weights: float32 is the fastest on processors without bfloat16; bfloat16 for GPUs."""
    checkpointing: bool = False
    """Activations are computed again and not kept: less memory, a third more time."""
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be trained. Raises BadInput with the option that is wrong."""
        if self.dtype not in ("float32", "bfloat16"):
            raise BadInput(f"--dtype must be float32 or bfloat16, got {self.dtype!r}")

    def as_row(self) -> dict[str, Any]:
        """For manifests."""
        return asdict(self)
