"""What a training keeps on the disk: the weights that move, and checkpoints of which a kill leaves a whole one."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from quelea_evaluation.inputs import BadInput
from safetensors.torch import load_file, save_file
from torch.distributed.tensor import DTensor, distribute_tensor

from quelea_training.processes import is_first

WEIGHTS = "trained.safetensors"
BEST = "best.safetensors"
CHECKPOINTS = "checkpoints"
PROGRESS, STATE = "progress.json", "trainer_state.json"
"""Of a checkpoint: what the clock must know beside it, and the trainer's own state."""


class MovingWeights:
    """The weights of a model that are trained, kept as one file.

    Args:
        trained: Whose.
    """

    def __init__(self, trained: torch.nn.Module) -> None:
        self._trained = trained

    def moving(self) -> dict[str, torch.Tensor]:
        """By their names; they are the model's own memory."""
        return {name: one for name, one in self._trained.named_parameters() if one.requires_grad}

    def save(self, file: Path) -> None:
        """Write them; the file is whole or not there. In a run of several processes all must call; the first writes."""
        weights = {name: _whole(one) for name, one in self.moving().items()}
        if not is_first():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_suffix(".part")
        save_file({name: one.detach().contiguous().cpu().clone() for name, one in weights.items()}, scratch)
        scratch.replace(file)

    def load(self, file: Path) -> None:
        """Take them back.

        Raises:
            BadInput: The file is of another model or recipe.
        """
        kept, mine = load_file(file), self.moving()
        if {name: one.shape for name, one in kept.items()} != {name: one.shape for name, one in mine.items()}:
            raise BadInput(f"{file} has weights of another model or recipe; choose another folder")
        with torch.no_grad():
            for name, one in mine.items():
                value = kept[name].to(one.device, one.dtype)
                if isinstance(one, DTensor):
                    value = distribute_tensor(value, one.device_mesh, one.placements)
                one.copy_(value)


def _whole(weight: torch.Tensor) -> torch.Tensor:
    """A weight whose parts several processes hold, gathered; all must call."""
    return weight.full_tensor() if isinstance(weight, DTensor) else weight


def last_checkpoint(out: Path) -> Path | None:
    """The newest checkpoint that is whole: its state, which is written after the weights, can be read."""
    found = [
        (int(one.name.rpartition("-")[2]), one)
        for one in (out / CHECKPOINTS).glob("checkpoint-*")
        if one.name.rpartition("-")[2].isdecimal()
    ]
    for _, one in sorted(found, reverse=True):
        try:
            json.loads((one / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if (one / WEIGHTS).is_file() and (one / PROGRESS).is_file():
            return one
    return None


def processes_of(out: Path) -> int:
    """How many processes wrote the newest whole checkpoint of a run: each keeps the state of its random numbers."""
    last = last_checkpoint(out)
    return max(len(list(last.glob("rng_state_*.pth"))), 1) if last else 1
