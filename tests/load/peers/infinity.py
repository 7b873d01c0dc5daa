"""The embedder beside infinity-emb: the same model on the same texts, in turns.

python tests/load/peers/infinity.py ENV [--texts 64] [--rounds 3]

ENV is an environment with infinity.txt. Both run as one process with the settings they come with, the embedder over
gRPC, infinity over HTTP, on torch; passages come from four callers with sixteen each, queries one after another. The
model is the bundled one, whose folder has what both need. Prints a JSON line for each: texts a second (rate), and
milliseconds of the processor a text, that of the caller left out.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import httpx2
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea_embedder.bench import texts
from quelea_kit.client import channel, unary
from quelea_kit.testing import free_port

sys.path.append(str(Path(__file__).resolve().parents[1]))
from processes import busy, get, process, until

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / ".cache/models/multilingual-e5-small"
_CALL, _CALLERS = 16, 4
_START_SECONDS, _SECONDS = 600.0, 600.0

Embed = Callable[[Sequence[str], str], Awaitable[None]]


@dataclass
class Side:
    """One of the two."""

    name: str
    pid: int
    embed: Embed
    rows: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {"passage": [], "query": []})
    """(texts a second, milliseconds of the processor a text) of each round."""


async def measure(side: Side, kind: str, calls: list[list[str]], at_once: int) -> None:
    """One round."""
    slots = asyncio.Semaphore(at_once)

    async def send(part: list[str]) -> None:
        async with slots:
            await side.embed(part, kind)

    count, before, began = sum(map(len, calls)), busy(side.pid), time.perf_counter()
    await asyncio.gather(*map(send, calls))
    seconds, used = time.perf_counter() - began, busy(side.pid) - before
    side.rows[kind].append((count / seconds, 1000 * used / count))


def infinity(stack: contextlib.ExitStack, env: Path, client: httpx2.AsyncClient, log: Path) -> Side:
    """infinity-emb's server on the CPU."""
    port = free_port()
    command = [str(env / "bin/infinity_emb"), "v2", "--model-id", str(MODEL), "--engine", "torch", "--device", "cpu"]
    quiet = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1", "INFINITY_ANONYMOUS_USAGE_STATS": "0"}
    command += ["--port", str(port), "--host", "127.0.0.1", "--served-model-name", "e5"]
    pid = stack.enter_context(process(command, log, **quiet)).pid
    url = f"http://127.0.0.1:{port}"
    until(lambda: get(f"{url}/health"), "infinity", log, seconds=_START_SECONDS)

    async def embed(part: Sequence[str], kind: str) -> None:
        said = {"model": "e5", "input": [f"{kind}: {text}" for text in part]}
        (await client.post(f"{url}/embeddings", json=said)).raise_for_status()

    return Side("infinity-emb", pid, embed)


def ours(stack: contextlib.ExitStack, log: Path) -> tuple[int, int]:
    """The embedder's pid and port."""
    port = free_port()
    named = {"QUELEA_EMBEDDER_LISTEN": f"127.0.0.1:{port}", "QUELEA_EMBEDDER_MODEL": str(MODEL)}
    named |= {"QUELEA_EMBEDDER_CACHE_QUERIES": "0", "QUELEA_EMBEDDER_LOG_LEVEL": "error"}
    return stack.enter_context(process([sys.executable, "-m", "quelea_embedder"], log, **named)).pid, port


async def run(given: argparse.Namespace) -> Iterator[Side]:
    """Both, measured in turns."""
    source = texts(180, 1)
    with contextlib.ExitStack() as stack:
        log = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quelea-infinity-"))) / "log"
        pid, port = ours(stack, log)
        async with (
            httpx2.AsyncClient(timeout=_SECONDS, trust_env=False) as client,
            channel(f"127.0.0.1:{port}", "quelea.embedder.v1.EmbedderService") as opened,
        ):
            stub = embedder_pb2_grpc.EmbedderServiceStub(opened)
            kinds = {"query": embedder_pb2.EMBED_KIND_QUERY, "passage": embedder_pb2.EMBED_KIND_PASSAGE}

            async def embed(part: Sequence[str], kind: str) -> None:
                request = embedder_pb2.EmbedRequest(texts=part, kind=kinds[kind])
                await unary(stub.Embed(request, timeout=_SECONDS, wait_for_ready=True))

            sides = [infinity(stack, given.env, client, log), Side("Quelea", pid, embed)]
            for side in sides:
                await side.embed(["warm"] * 4, "passage")
            for _ in range(given.rounds):
                passages = list(islice(source, given.texts))
                calls = [passages[at : at + _CALL] for at in range(0, len(passages), _CALL)]
                queries = [[" ".join(text.split()[:12])] for text in passages[: given.texts // 2]]
                for side in sides:
                    await measure(side, "passage", calls, _CALLERS)
                    await measure(side, "query", queries, 1)
    return iter(sides)


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("env", type=Path)
    parser.add_argument("--texts", type=int, default=64, help="passages of a round; half as many queries")
    parser.add_argument("--rounds", type=int, default=3)
    load = os.getloadavg()[0]
    for side in asyncio.run(run(parser.parse_args())):
        said = {"of": side.name, "load_before": round(load, 1)}
        for kind, rows in side.rows.items():
            rates, costs = zip(*rows, strict=True)
            said[f"{kind}_rate"] = round(statistics.median(rates), 2)
            said[f"processor_ms_a_{kind}"] = round(statistics.median(costs), 1)
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
