"""`quelea calibrate`: the paper's c for the encoder of a deployment."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from quelea.embedder.v1 import embedder_pb2

from quelea_evaluation.stack.running import running_stack, show_secret
from quelea_evaluation.stack.services import Embedder


@contextlib.contextmanager
def encoder(address: str, home: Path, say: Callable[[str], None]) -> Iterator[str]:
    """The address of an embedder: the given one, that of the stack running on the home, or of one of our own."""
    if address:
        yield address
        return
    if running := _of_home(home):
        say(f"using the encoder of the stack that runs on {home}")
        show_secret(home)
        yield running
        return
    say("starting a stack for its encoder")
    with tempfile.TemporaryDirectory(prefix="quelea-calibrate-") as folder, running_stack(Path(folder)) as stack:
        yield stack.address("embedder")


def _of_home(home: Path) -> str:
    """The embedder of the stack that runs on a home; empty when none does."""
    try:
        record = json.loads((home / "run" / "stack.json").read_text(encoding="utf-8"))
        os.kill(int(record["pid"]), 0)
        return f"127.0.0.1:{record['services']['embedder']['port']}" if record.get("state") == "ready" else ""
    except (OSError, ValueError, KeyError):
        return ""


def cosines(address: str, pairs: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float64], str]:
    """The cosine of each pair, and the encoder's name."""

    async def embed() -> tuple[NDArray[np.float64], str]:
        client = Embedder(address)
        queries = await client.embed([query for query, _ in pairs], embedder_pb2.EMBED_KIND_QUERY)
        passages = await client.embed([passage for _, passage in pairs], embedder_pb2.EMBED_KIND_PASSAGE)
        products = np.einsum("ij,ij->i", queries.astype(np.float64), passages.astype(np.float64))
        return products, await client.model()

    return asyncio.run(embed())
