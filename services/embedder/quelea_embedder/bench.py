"""How well the queue feeds the encoder: ratios, measured in one run against a real gRPC server with the real model.

- queries: 32 callers with one short query each, against one caller.
- passages: 32 callers with one passage of about 250 tokens each, against the best rate that the encoder reaches on
  the same machine when it is called directly, over several batch sizes and ways to use the cores.

Each round measures both sides one after the other, and the ratios are the medians over the rounds, so that what else
the machine does matters less. On a busy machine look at the ratios by processor time: how much less of it a query
takes when 32 callers share batches (times the cores, which one caller cannot all use), and how much of the time for a
passage, gRPC at both ends included, is the encoder's. The cache of queries is off.

With --against RUNTIME:PRECISION, for example torch:auto, the encoder as it is set is compared with that one instead:
passages of mixed lengths through the queue, and single queries, in turns.

Run as: python -m quelea_embedder.bench [--json] [--rounds N] [--against RUNTIME:PRECISION]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from quelea.embedder.v1 import embedder_pb2 as pb
from quelea.embedder.v1 import embedder_pb2_grpc as pb_grpc
from quelea_kit.client import channel, unary
from quelea_kit.server import Server

from quelea_embedder.__main__ import build, build_entailment, load
from quelea_embedder.core.model import Encoder, Kind
from quelea_embedder.service import NAME, EmbedderService
from quelea_embedder.settings import EmbedderSettings

CALLERS = 32
QUERIES_ALONE = 48
QUERIES_EACH = 8
PASSAGES_DIRECT = 16
BATCH_SIZES = (1, 4, 16)
PASSAGES_COMPARED = 48
QUERIES_COMPARED = 24

_WORDS = (
    "net sales of services and products increased compared with the quarter ended due to higher demand in Americas "
    "Europe Japan operating income margin segment tax rate foreign currency hedges inventory supply constraints cash "
    "equivalents marketable securities term debt repurchase dividends per share revenue recognised deferred cost"
).split()


def texts(words: int, seed: int) -> Iterator[str]:
    """Made-up filing prose without end, no two texts alike."""
    draw = random.Random(seed)  # noqa: S311  # nothing secret about it
    while True:
        yield " ".join(
            f"${draw.randint(1, 99_999):,}" if draw.random() < 0.15 else draw.choice(_WORDS) for _ in range(words)
        )


def _take(source: Iterator[str], count: int) -> list[str]:
    return [next(source) for _ in range(count)]


@dataclass(frozen=True, slots=True)
class Rate:
    """What one stretch of work came to."""

    per_second: float
    """Texts by wall clock."""

    cpu_seconds: float
    """Processor time of this process for one text."""


class _Clock:
    """Starts when made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def rate(self, count: int) -> Rate:
        return Rate(count / (time.perf_counter() - self._wall), (time.process_time() - self._cpu) / count)


def load_ways(settings: EmbedderSettings, cores: int) -> dict[tuple[int, int], Encoder]:
    """The encoder for each way to use the cores: (threads that call it, its own threads for each of them)."""
    ways = {(1, cores), (cores, 1)}
    return {
        (pools, threads): load(settings.model_copy(update={"workers": pools, "threads": threads}))
        for pools, threads in ways
    }


def direct_rates(ways: dict[tuple[int, int], Encoder], passages: Sequence[str]) -> dict[str, Rate]:
    """Passages a second of the encoder itself, by batch size and by how the cores are used."""
    rates: dict[str, Rate] = {}
    for (pools, threads), encoder in ways.items():
        with ThreadPoolExecutor(pools, initializer=encoder.start_thread) as pool:
            encode: Callable[[list[str]], Any] = partial(encoder.encode, kind=Kind.PASSAGE)
            list(pool.map(encode, [list(passages[:1])] * pools))
            for size in BATCH_SIZES:
                batches = [list(passages[i : i + size]) for i in range(0, len(passages), size)]
                clock = _Clock()
                list(pool.map(encode, batches))
                rates[f"{pools}x{threads} threads, batches of {size}"] = clock.rate(len(passages))
    return rates


class _Callers:
    """Closed-loop callers over one gRPC channel."""

    def __init__(self, stub: pb_grpc.EmbedderServiceAsyncStub) -> None:
        self._stub = stub

    async def rate(self, callers: int, each: int, source: Iterator[str], kind: pb.EmbedKind.ValueType) -> Rate:
        """Texts a second when so many callers send so many calls of one text, one after the other."""
        work = [_take(source, each) for _ in range(callers)]

        async def one(mine: list[str]) -> None:
            for text in mine:
                await unary(self._stub.Embed(pb.EmbedRequest(texts=[text], kind=kind), timeout=300))

        clock = _Clock()
        await asyncio.gather(*(one(mine) for mine in work))
        return clock.rate(callers * each)


async def measure(rounds: int) -> dict[str, Any]:
    """All the figures."""
    settings = EmbedderSettings(cache_queries=0, metrics_port=0, listen="127.0.0.1:0", drain_seconds=0.5)
    encoder = load(settings)
    embedding, batcher = await build(settings, encoder)
    service = EmbedderService(embedding, build_entailment(settings, None, encoder.info.device))
    server = Server(settings, [NAME], lambda s: pb_grpc.add_EmbedderServiceServicer_to_server(service, s))
    await server.start()
    cores = len(os.sched_getaffinity(0))
    ways = load_ways(settings, cores)
    queries, passages = texts(8, 1), texts(145, 2)
    found: dict[str, list[float]] = defaultdict(list)
    best_ways: list[str] = []
    async with channel(f"127.0.0.1:{server.port}", NAME) as to_server:
        callers = _Callers(pb_grpc.EmbedderServiceStub(to_server))
        await callers.rate(CALLERS, 1, queries, pb.EMBED_KIND_QUERY)
        for _ in range(rounds):
            one = await callers.rate(1, QUERIES_ALONE, queries, pb.EMBED_KIND_QUERY)
            many = await callers.rate(CALLERS, QUERIES_EACH, queries, pb.EMBED_KIND_QUERY)
            direct = await asyncio.to_thread(direct_rates, ways, _take(passages, PASSAGES_DIRECT))
            served = await callers.rate(CALLERS, 1, passages, pb.EMBED_KIND_PASSAGE)
            way = max(direct, key=lambda name: direct[name].per_second)
            best_ways.append(way)
            least_cpu = min(rate.cpu_seconds for rate in direct.values())
            for name, value in (
                ("one", one.per_second),
                ("many", many.per_second),
                ("query_ratio", many.per_second / one.per_second),
                ("query_cpu_ratio", cores * one.cpu_seconds / many.cpu_seconds),
                ("best", direct[way].per_second),
                ("served", served.per_second),
                ("ratio", served.per_second / direct[way].per_second),
                ("cpu_ratio", least_cpu / served.cpu_seconds),
            ):
                found[name].append(value)
    await server.stop()
    await batcher.stop()
    middle = {name: statistics.median(values) for name, values in found.items()}
    sample = (
        encoder.measure(_take(texts(8, 3), 32), Kind.QUERY),
        encoder.measure(_take(texts(145, 3), 32), Kind.PASSAGE),
    )
    return {
        "model": encoder.info.model,
        "device": encoder.info.device,
        "cores": cores,
        "load_average": round(os.getloadavg()[0], 1),
        "rounds": rounds,
        "query_tokens": round(statistics.mean(m.tokens for m in sample[0])),
        "passage_tokens": round(statistics.mean(m.tokens for m in sample[1])),
        "queries_per_second_one_caller": round(middle["one"], 1),
        "queries_per_second_32_callers": round(middle["many"], 1),
        "query_ratio": round(middle["query_ratio"], 2),
        "query_ratio_by_processor_time": round(middle["query_cpu_ratio"], 2),
        "query_ratio_target": 3.0,
        "passages_per_second_encoder_best": round(middle["best"], 1),
        "encoder_best_way": statistics.mode(best_ways),
        "passages_per_second_32_callers": round(middle["served"], 1),
        "passage_ratio": round(middle["ratio"], 2),
        "passage_ratio_by_processor_time": round(middle["cpu_ratio"], 2),
        "passage_ratio_target": 0.85,
        "rounds_query_ratio": [round(value, 2) for value in found["query_ratio"]],
        "rounds_passage_ratio": [round(value, 2) for value in found["ratio"]],
    }


async def compare(rounds: int, other: str) -> dict[str, Any]:
    """The encoder as it is set against another runtime and precision, each behind a queue of its own."""
    runtime, _, precision = other.partition(":")
    settings = EmbedderSettings(cache_queries=0)
    both = {
        "ours": settings,
        "other": EmbedderSettings.model_validate(
            {**settings.model_dump(), "runtime": runtime, "precision": precision or "auto"}
        ),
    }
    built = {name: await build(one, load(one)) for name, one in both.items()}
    draw = random.Random(4)  # noqa: S311  # nothing secret about it
    queries, found = texts(8, 1), defaultdict(list)
    for _ in range(rounds):
        passages = [next(texts(draw.randint(20, 220), draw.randint(0, 1 << 30))) for _ in range(PASSAGES_COMPARED)]
        asked = _take(queries, QUERIES_COMPARED)
        for name, (embedding, _) in built.items():
            clock = _Clock()
            await embedding.embed(passages, Kind.PASSAGE)
            of_passages, clock = clock.rate(len(passages)), _Clock()
            for query in asked:
                await embedding.embed([query], Kind.QUERY)
            found[name].append((of_passages, clock.rate(len(asked))))
    for _, batcher in built.values():
        await batcher.stop()
    figures: dict[str, Any] = {name: embedding.info.model for name, (embedding, _) in built.items()}
    for at, kind in enumerate(("passages", "queries")):
        for name, rates in found.items():
            figures[f"{kind}_per_second_{name}"] = round(statistics.median(rate[at].per_second for rate in rates), 1)
        turns = list(zip(found["ours"], found["other"], strict=True))
        clock_ratios = [ours[at].per_second / theirs[at].per_second for ours, theirs in turns]
        cpu_ratios = [theirs[at].cpu_seconds / ours[at].cpu_seconds for ours, theirs in turns]
        figures[f"{kind}_ratio"] = round(statistics.median(clock_ratios), 2)
        figures[f"{kind}_ratio_by_processor_time"] = round(statistics.median(cpu_ratios), 2)
    return figures


def main(arguments: list[str] | None = None) -> int:
    """Command line; 0 when the figures were taken, whatever they are."""
    parser = argparse.ArgumentParser(prog="python -m quelea_embedder.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--rounds", type=int, default=3, help="more rounds, steadier medians")
    parser.add_argument("--against", default="", metavar="RUNTIME:PRECISION", help="compare with this one instead")
    given = parser.parse_args(arguments)
    try:
        figures = asyncio.run(compare(given.rounds, given.against) if given.against else measure(given.rounds))
    except (ImportError, OSError, ValueError) as error:
        sys.stderr.write(f"bench: {error}\n")
        return 1
    if given.json:
        sys.stdout.write(json.dumps(figures) + "\n")
    else:
        for name, value in figures.items():
            sys.stdout.write(f"{name.replace('_', ' '):34} {value}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
