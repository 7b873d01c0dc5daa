"""Prefix affinity against plain round robin, on real engines: python -m quelea_generator.bench_routing URL URL …

Each policy gets the same shape of traffic, with prefixes that no engine has seen: groups of questions that share their
evidence, shuffled, several at a time. Reported per policy: the share of prompt tokens that the engines had cached
(vLLM's /metrics), and the time to the first text. The rounds alternate, so that a machine that gets slower or faster
meanwhile does it to both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx2
from pydantic import SecretStr
from quelea_kit.errors import QueleaError
from quelea_kit.logging import setup_logging
from quelea_kit.settings import ServiceSettings

from quelea_generator.adapters.engine_pool import EnginePool
from quelea_generator.adapters.engine_slots import PoolLimits
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_generator.core.chat.chat_model import ChatRequest
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.routing import ByAffinity, Policy, RoundRobin

_POLICIES: dict[str, Callable[[], Policy]] = {"affinity": ByAffinity, "round robin": RoundRobin}
_HITS = re.compile(r"^vllm:prefix_cache_(hits|queries)_total(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


@dataclass
class Measured:
    """One policy's figures: seconds to the first text, tokens looked up in the caches, and found there."""

    first_text: list[float] = field(default_factory=list)
    looked_up: float = 0.0
    found: float = 0.0

    def report(self) -> dict[str, float]:
        """What is printed."""
        ordered = sorted(self.first_text)
        return {
            "requests": len(ordered),
            "cached_share": round(self.found / self.looked_up, 4) if self.looked_up else 0.0,
            "first_text_p50_ms": round(1000 * statistics.median(ordered), 1),
            "first_text_p95_ms": round(1000 * ordered[int(0.95 * (len(ordered) - 1))], 1),
        }


def traffic(groups: int, questions: int, words: int) -> list[list[Message]]:
    """Prompts; those of a group begin alike, and like none that was ever made before."""
    prompts = []
    for _ in range(groups):
        shared = " ".join(secrets.token_hex(2) for _ in range(words))
        for number in range(questions):
            text = f"Evidence: {shared}\nQuestion {number}: which of these words comes first?"
            prompts.append([Message("system", "Answer from the evidence."), Message("user", text)])
    random.shuffle(prompts)
    return prompts


async def cache_counts(urls: Sequence[str]) -> dict[str, float]:
    """The engines' counters of looked-up and found prompt tokens, summed."""
    totals = {"hits": 0.0, "queries": 0.0}
    async with httpx2.AsyncClient(trust_env=False, timeout=10) as client:
        for url in urls:
            reply = await client.get(url.rstrip("/").removesuffix("/v1") + "/metrics")
            for name, value in _HITS.findall(reply.text):
                totals[name] += float(value)
    return totals


async def run(arguments: argparse.Namespace, policy: Policy, prompts: Sequence[list[Message]]) -> Measured:
    """Send the prompts through a pool with this policy."""
    urls, model = arguments.endpoints, arguments.model
    endpoints = [OpenAIEndpoint(url, SecretStr(arguments.api_key), model) for url in urls]
    pool = EnginePool(endpoints, PoolLimits(slots=arguments.at_once, queue_length=len(prompts)), policy)
    measured = Measured()
    turn = asyncio.Semaphore(arguments.at_once)

    async def ask(messages: list[Message]) -> None:
        async with turn:
            started = time.perf_counter()
            first = 0.0
            async for piece in pool.stream(ChatRequest(tuple(messages), model, 8)):
                if piece.text and not first:
                    first = time.perf_counter() - started
            measured.first_text.append(first)

    try:
        await pool.wait_until_all_up(arguments.wait_seconds)
        before = await cache_counts(urls)
        await asyncio.gather(*(ask(messages) for messages in prompts))
        after = await cache_counts(urls)
    finally:
        await pool.close()
    measured.found = after["hits"] - before["hits"]
    measured.looked_up = after["queries"] - before["queries"]
    return measured


async def compare(arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Every policy, in alternating rounds."""
    totals = {name: Measured() for name in _POLICIES}
    for number in range(arguments.rounds):
        names = list(_POLICIES) if number % 2 == 0 else list(_POLICIES)[::-1]
        for name in names:
            prompts = traffic(arguments.groups, arguments.questions, arguments.words)
            got = await run(arguments, _POLICIES[name](), prompts)
            totals[name].first_text += got.first_text
            totals[name].found += got.found
            totals[name].looked_up += got.looked_up
    return {name: measured.report() for name, measured in totals.items()}


def main() -> None:
    """Measure, and print one line of JSON per policy."""
    parser = argparse.ArgumentParser(prog="python -m quelea_generator.bench_routing", description=__doc__)
    parser.add_argument("endpoints", nargs="+", metavar="URL", help="an engine's address, with /v1; two at least")
    parser.add_argument("--model", default="smollm2-135m-instruct")
    parser.add_argument("--api-key", default="")
    parser.add_argument("--groups", type=int, default=12, help="sets of evidence per round")
    parser.add_argument("--questions", type=int, default=5, help="questions over each")
    parser.add_argument("--words", type=int, default=350, help="length of the evidence; a word is about three tokens")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--wait-seconds", type=float, default=60.0, help="longest wait for the engines' first token")
    arguments = parser.parse_args()
    setup_logging("bench", ServiceSettings(log_level="error"))
    if len(set(arguments.endpoints)) < 2:
        parser.error("two different engines at least: with one there is nothing to choose")
    try:
        found = asyncio.run(compare(arguments))
    except (QueleaError, httpx2.HTTPError) as error:
        sys.exit(f"An engine failed: {error}")
    for name, figures in found.items():
        sys.stdout.write(json.dumps({"policy": name, **figures}) + "\n")


if __name__ == "__main__":
    main()
