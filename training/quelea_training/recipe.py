"""What every recipe of a training has: settings that decide the result beside base model and data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from quelea_evaluation.inputs import BadInput


@dataclass(frozen=True, kw_only=True)
class BaseRecipe:
    """Settings of one training; an interrupted run is resumed only under the same."""

    rate: float = 1e-4
    """Highest learning rate."""
    batch: int = 16
    """Examples in a step, of each process."""
    epochs: float = 2.0
    """Rounds over the examples, at most."""
    warm_up: float = 0.05
    """Share of the work over which the learning rate rises."""
    weight_decay: float = 0.01
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be trained. Raises BadInput with the option that is wrong."""
        if self.rate <= 0:
            raise BadInput(f"--rate must be above 0, got {self.rate}")

    def as_row(self) -> dict[str, Any]:
        """For manifests."""
        return asdict(self)
