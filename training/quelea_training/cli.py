"""`quelea train …`: the one place where the rooms' commands are registered.

A room is imported when one of its commands is called: `quelea train pairs` does not wait for torch.
"""

from __future__ import annotations

import typer
from quelea_evaluation.rooms import make_group

COMMANDS = {
    "blend": "encoder",
    "encoder": "encoder",
    "gate": "gate",
    "pairs": "pairs",
    "ranker": "ranking",
    "review": "pairs",
    "samples": "writer",
    "sft": "writer",
    "sft-test": "writer",
    "verifier": "verifier",
}
"""Command → the room whose `commands.app` has it."""

_TRAIN = "trains models and wants more packages: pip install quelea-training[train], in a checkout `make train`"
_ADVICE = dict.fromkeys(
    ("torch", "sentence_transformers", "transformers", "accelerate", "datasets", "peft", "tensorboardX", "trl", "gguf"),
    _TRAIN,
)

app = typer.Typer(
    cls=make_group("quelea_training", COMMANDS, (), _ADVICE),
    no_args_is_help=True,
    help="Train models on your own documents.",
)


@app.callback()
def _main() -> None:
    """Train models on your own documents."""
