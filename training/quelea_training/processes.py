"""Several processes that train one model (`accelerate launch`): the first alone speaks and writes."""

from __future__ import annotations

import os
from collections.abc import Callable

import torch
from torch import distributed


def is_first() -> bool:
    """Whether this process is the only one, or the first of several."""
    return int(os.environ.get("RANK", "0")) == 0


def only_first(say: Callable[[str], None]) -> Callable[[str], None]:
    """Of several processes the first alone speaks."""
    return say if is_first() else lambda _: None


def is_spread() -> bool:
    """Whether the model is spread over the processes (FSDP)."""
    return os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true"


def any_process(flag: bool) -> bool:
    """Whether it is so in one of the processes: clocks differ, and one that ends alone leaves the others waiting."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return flag
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    said = torch.tensor(float(flag), device=device)
    distributed.all_reduce(said, distributed.ReduceOp.MAX)
    return bool(said.item())
