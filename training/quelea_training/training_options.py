"""Options that every training has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from quelea_cli.commands.stack import default_encoder
from quelea_cli.errors import CliError
from quelea_evaluation.inputs import BadInput

Out = Annotated[Path, typer.Option(help="Folder of the run; an interrupted one is resumed.")]
Base = Annotated[Path | None, typer.Option(help="Folder of the encoder to begin with; none: the one of Quelea.")]
Batch = Annotated[int, typer.Option(min=1, help="Examples in memory at once.")]
Epochs = Annotated[float, typer.Option(min=0, help="Rounds over the examples, at most.")]
Minutes = Annotated[float, typer.Option(min=0, help="Time to train, at most; 0: no limit.")]
Interval = Annotated[int, typer.Option(min=1, help="Steps from checkpoint to checkpoint.")]
Patience = Annotated[int, typer.Option(min=1, help="Checkpoints without a better one, then it ends.")]
Threads = Annotated[int, typer.Option(min=0, help="Of torch; 0: as many as there are cores.")]
Remember = Annotated[
    int, typer.Option(min=0, help="MiB for what layers give that do not move; 0: they are computed each time.")
]
Seed = Annotated[int, typer.Option(help="Of all that is drawn: examples, batches, first weights.")]
Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:N; empty chooses.")]


def base_or_default(base: Path | None) -> Path:
    """The folder that was named, else the encoder that comes with Quelea. Raises BadInput where that is not there."""
    try:
        return base or default_encoder()
    except CliError as error:
        raise BadInput(f"{error}; name an encoder with --base") from error
