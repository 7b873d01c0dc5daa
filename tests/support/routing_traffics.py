"""Routing policies under several traffics, in simulated time: PYTHONPATH=tests python -m support.routing_traffics

Per traffic and policy: the share of the prompts' blocks found cached, and the seconds to the first word (p50, p95,
p99), over all seeds together. With --noise: how far apart the p95 of two runs of bench_routing are, 60 requests each,
on engines whose speed wanders as on a machine with other work.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from quelea_generator.core.chat.routing import ByAffinity, Policy, PromptKey, RoundRobin
from support.routing_engines import BLOCK_TOKENS, Asked, Simulation, World

POLICIES: dict[str, Callable[[], Policy]] = {
    "affinity": ByAffinity,
    "least outstanding": lambda: ByAffinity(0.0),
    "round robin": RoundRobin,
}
_TEMPLATE = 3
"""Blocks that all prompts share: the template's words."""
_ALLOWED = 256


@dataclass(frozen=True)
class Traffic:
    """Requests of one shape.

    Attributes:
        prefixes: How many sets of evidence there are.
        tokens: Least and most tokens of one.
        per_second: Requests, on average.
        popular: Share of the requests that are about the first set of evidence; the others are evenly spread.
        burst: So many come at once.
        once: Share of the requests whose evidence nobody else has.
    """

    world: World
    prefixes: int
    tokens: tuple[int, int]
    per_second: float
    popular: float = 0.0
    burst: int = 1
    once: float = 0.0
    count: int = 300

    def requests(self, seed: int) -> list[Asked]:
        """The same ones for every policy."""
        dice = random.Random(seed)
        sizes = [dice.randint(*self.tokens) for _ in range(self.prefixes)]
        made, now = [], 0.0
        for number in range(self.count):
            if number % self.burst == 0:
                now += dice.expovariate(self.per_second / self.burst)
            of = 0 if dice.random() < self.popular else dice.randrange(self.prefixes)
            name, size = f"{of}", sizes[of]
            if dice.random() < self.once:
                name, size = f"once {number}", dice.randint(*self.tokens)
            prompt = _prompt(f"{seed} {name}", size, number, dice.randint(10, 40))
            made.append(Asked(now, prompt, dice.randint(20, 150), _ALLOWED))
        return made


def _prompt(evidence: str, tokens: int, number: int, question: int) -> PromptKey:
    def key(text: str) -> bytes:
        return blake2b(text.encode(), digest_size=8).digest()

    blocks = [key(f"template {n}") for n in range(_TEMPLATE)]
    blocks += [key(f"{evidence} {n}") for n in range(tokens // BLOCK_TOKENS)]
    home = blocks[5] if len(blocks) > 5 else key(f"{evidence} {number}")
    return PromptKey(tuple(blocks), home, len(blocks) * BLOCK_TOKENS + tokens % BLOCK_TOKENS + question)


TRAFFICS = {
    "few long prefixes": Traffic(World(), 4, (1000, 1600), 0.9),
    "few long prefixes, busy": Traffic(World(), 4, (1000, 1600), 1.6),
    "more prefixes than a cache holds": Traffic(World(), 60, (1000, 1600), 0.25),
    "many short prefixes": Traffic(World(), 80, (200, 500), 0.9),
    "long and short, half of them once": Traffic(World(), 20, (200, 1700), 0.25, once=0.5),
    "one popular prefix": Traffic(World(), 20, (800, 1400), 0.7, popular=0.8),
    "bursts of 12": Traffic(World(), 20, (500, 1400), 0.3, burst=12),
    "bursts of 12 over three engines": Traffic(World((1.0, 1.0, 1.0)), 20, (500, 1400), 0.5, burst=12),
    "one engine at a third": Traffic(World((1 / 3, 1.0)), 12, (500, 1400), 0.25),
    "one engine restarts": Traffic(World(restart=(300.0, 330.0)), 12, (800, 1400), 0.4),
    "caches that hold three prompts": Traffic(World(cached_blocks=60), 20, (800, 1400), 0.25, popular=0.6),
    "no caches": Traffic(World(cached_blocks=0), 20, (500, 1400), 0.2, popular=0.6),
    "four at once, shared cores": Traffic(World(at_once=4, shared=True), 60, (1050, 1050), 1.0),
    "sixteen at once, shared cores": Traffic(World(at_once=16, shared=True), 60, (1050, 1050), 1.0),
}


@dataclass(frozen=True)
class Figures:
    """Share of prompt blocks found cached, seconds to the first word."""

    cached: float
    p50: float
    p95: float
    p99: float


def measure(make: Callable[[], Policy], traffic: Traffic, seeds: Sequence[int]) -> Figures:
    """One policy under one traffic, over all seeds."""
    done: list[Asked] = []
    for seed in seeds:
        requests = traffic.requests(seed)
        Simulation(make(), traffic.world).run(requests)
        done += requests
    assert all(one.first >= one.at for one in done), "every request is answered"
    waits = sorted(one.first - one.at for one in done)
    cached = sum(one.found for one in done) / sum(len(one.prompt.blocks) for one in done)
    return Figures(cached, _at(0.5, waits), _at(0.95, waits), _at(0.99, waits))


def _at(share: float, ordered: Sequence[float]) -> float:
    return ordered[int(share * (len(ordered) - 1))]


def bench_p95(make: Callable[[], Policy], seed: int, wander: float, luck: str) -> float:
    """The p95 that bench_routing would report: two rounds of six groups of five, four at once, cold engines."""
    waits: list[float] = []
    for turn in range(2):
        asked = [
            Asked(0.0, _prompt(f"{seed} {turn} {group}", 1050, question, 20), 8, 8)
            for group in range(6)
            for question in range(5)
        ]
        random.Random(f"{seed} {turn}").shuffle(asked)
        world = World(at_once=4, shared=True, wander=wander)
        Simulation(make(), world, f"{seed} {turn} {luck}").run(asked)
        waits += [one.first - one.at for one in asked]
    return _at(0.95, sorted(waits))


def noise(seeds: int) -> None:
    """Print how far apart two runs are, of one policy and of two."""
    sys.stdout.write("| speed wanders | p95 of | ratio, p10 / p50 / p90 | 1.34 and more |\n|---|---|---|---|\n")
    for wander in (0.0, 0.3, 0.5, 0.7):
        for one, other in (("affinity", "round robin"), ("round robin", "round robin")):
            ratios = sorted(
                bench_p95(POLICIES[one], seed, wander, "one") / bench_p95(POLICIES[other], seed, wander, "other")
                for seed in range(seeds)
            )
            low, middle, high = (_at(share, ratios) for share in (0.1, 0.5, 0.9))
            worse = sum(ratio >= 1.34 for ratio in ratios) / seeds
            sys.stdout.write(f"| {wander} | {one} : {other} | {low:.2f} / {middle:.2f} / {high:.2f} | {worse:.3f} |\n")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--noise", action="store_true")
    arguments = parser.parse_args()
    if arguments.noise:
        noise(arguments.seeds)
        return
    seeds = range(arguments.seeds)
    sys.stdout.write("| traffic | policy | cached | first word p50 / p95 / p99, s |\n|---|---|---|---|\n")
    for name, traffic in TRAFFICS.items():
        for policy, make in POLICIES.items():
            got = measure(make, traffic, seeds)
            times = f"{got.p50:.1f} / {got.p95:.1f} / {got.p99:.1f}"
            sys.stdout.write(f"| {name} | {policy} | {got.cached:.3f} | {times} |\n")


if __name__ == "__main__":
    main()
