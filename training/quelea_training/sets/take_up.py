"""A set is taken up by a home: gate and ranker while it runs, a new encoder by encoding the index again."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from quelea_cli.commands.stack import default_encoder
from quelea_cli.stack.home import Home
from quelea_cli.stack.model_set import model_in
from quelea_evaluation.stack.services import encoder_of as ask_encoder
from quelea_kit.errors import Conflict, Unavailable

from quelea_training.own_service import running_service
from quelea_training.sets.manifest import read
from quelea_training.sets.shelf import PACKAGED, Shelf

Say = Callable[[str], None]
_REEMBED_SECONDS = 24 * 3600.0


def activate(home: Path, name: str, say: Say) -> None:
    """Use a set from now on.

    Everything is checked first. A stack that runs reads gate and ranker anew within seconds; where the encoder is
    another one, it must be stopped, the index is encoded again, and only then the set is switched. What fails before
    leaves the old set in use.

    Raises:
        NotFound: there is no such set.
        Conflict: a file is not as the manifest says, the stack runs and the encoder changes, or another switch is
            under way.
        Unavailable: the encoder did not start, or the index could not be encoded again.
    """
    shelf, place = Shelf(home), Home(home)
    with shelf.locked():
        shelf.check(name)
        if _encoder_files(shelf, shelf.active()) != _encoder_files(shelf, name) and _has_index(place):
            if place.is_locked():
                raise Conflict(
                    f"The set {name} has another encoder, for which the index is encoded again, and a stack runs in "
                    f"{home}: stop it with `quelea down --home {home}` first. On a Qdrant server it need not stop: "
                    "docs/howto/models.md."
                )
            _encode_again(place, _encoder_in(shelf, name) or default_encoder(), say)
        old = shelf.switch(name)
    say(f"{name} is in use" + (f"; `quelea models roll-back` returns to {old}" if old != name else " already"))
    if place.is_locked():
        say("the stack that runs reads it within seconds")


def roll_back(home: Path, say: Say) -> None:
    """Use the set before this one again. Raises Conflict when there is none, else as `activate`."""
    before = Shelf(home).previous()
    if before is None:
        raise Conflict(f"No set was in use in {home} before; `quelea models list` names those that there are.")
    activate(home, before, say)


def _encoder_files(shelf: Shelf, name: str) -> dict[str, str] | None:
    """Hashes of a set's encoder; None where it has none, and the one that comes with Quelea is used."""
    part = None if name == PACKAGED else read(shelf.folder(name)).parts.get("encoder")
    return part.files if part else None


def _encoder_in(shelf: Shelf, name: str) -> Path | None:
    if name == PACKAGED:
        return None
    return model_in(shelf.folder(name), "encoder")


def _has_index(home: Home) -> bool:
    return (home.index / "CURRENT").is_file()


def _encode_again(home: Home, model: Path | str, say: Say) -> None:
    home.create()
    with running_service("embedder", {"MODEL": str(model)}, home.logs / "models.log", ask_encoder) as address:
        say(f"encoding the index of {home.root} again with {asyncio.run(ask_encoder(address))}")
        environment = {
            **os.environ,
            "QUELEA_RETRIEVER_EMBEDDER": address,
            "QUELEA_RETRIEVER_NEXT_EMBEDDER": "",
            "QUELEA_RETRIEVER_DATA_DIR": str(home.index),
            "QUELEA_RETRIEVER_STORE": "qdrant_edge",
        }
        command = [sys.executable, "-m", "quelea_retriever.admin", "reembed"]
        done = subprocess.run(  # noqa: S603  # our own command line
            command, env=environment, capture_output=True, text=True, check=False, timeout=_REEMBED_SECONDS
        )
    if done.returncode:
        why = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it said nothing"]
        raise Unavailable(f"The index could not be encoded again, and the set in use is as before: {why[0]}")
    say(done.stdout.strip())
