"""Engines behind a routing policy in simulated seconds: when the first word of each answer comes, and what was cached.

An engine works as vLLM's scheduler does: in steps, each with one token of every answer that is being written, then as
much of the prompts, first come first served, as the step's budget leaves. Its prefix cache forgets what was used
longest ago. Rates are those of docs/experiments/2026-11-23-engines.md for the CPU engine: 200 tokens read a second,
sixteen answers at once, a cache of 1 GiB, which is some 46,000 tokens of SmolLM2-135M. What a token written takes is
assumed.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from quelea_generator.core.chat.routing import Load, Policy, PromptKey

BLOCK_TOKENS = 64
READ_PER_SECOND = 200.0
STEP_SECONDS = 0.02
WRITE_SECONDS = 0.003
STEP_TOKENS = 2048
PLACES = 16
CACHED_BLOCKS = 46_000 // BLOCK_TOKENS


@dataclass(eq=False)
class Asked:
    """A request: when it comes, its prompt, how long its answer will be and was allowed to be (tokens)."""

    at: float
    prompt: PromptKey
    answer: int
    allowed: int
    first: float = -1.0
    """When its first word came."""
    found: int = 0
    """Blocks that the engine had cached."""
    to_read: int = -1
    to_write: int = 0
    owed: int = 0


@dataclass(frozen=True)
class World:
    """What the engines are like.

    Attributes:
        speeds: One per engine; 1: reads READ_PER_SECOND.
        restart: The first engine is away from .. to these seconds, and comes back with nothing cached.
        at_once: A caller asks only when fewer are unanswered; 0: requests come when they come.
        shared: The engines share their cores: one that works alone is as many times faster.
        cached_blocks: That an engine's cache holds; 0: it has none, which the policy does not know.
        wander: How far an engine's speed wanders, as on a machine with other work: deviation of its logarithm.
    """

    speeds: tuple[float, ...] = (1.0, 1.0)
    restart: tuple[float, float] | None = None
    at_once: int = 0
    shared: bool = False
    cached_blocks: int = CACHED_BLOCKS
    wander: float = 0.0


@dataclass(eq=False)
class _Engine:
    name: str
    speed: float
    cache: int
    wander: float
    dice: random.Random
    mood: float = 0.0
    up: bool = True
    life: int = 0
    outstanding: int = 0
    waiting: deque[Asked] = field(default_factory=deque)
    running: list[Asked] = field(default_factory=list)
    cached: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    step: list[tuple[Asked, int]] | None = None

    @property
    def load(self) -> Load:
        return Load(self.name, self.outstanding, len(self.waiting) + len(self.running), PLACES)

    def owe(self, asked: Asked, tokens: int) -> None:
        self.outstanding += tokens - asked.owed
        asked.owed = tokens

    def begin(self, working: int) -> float:
        """Plan a step. Returns its seconds, given how many engines share the cores; 0 when there is nothing to do."""
        self.step, budget = [], STEP_TOKENS
        for one in self.running:
            if not one.to_read:
                self.step.append((one, 0))
                budget -= 1
        for one in self.running:
            if one.to_read and budget > 0:
                self.step.append((one, min(one.to_read, budget)))
                budget -= self.step[-1][1]
        while self.waiting and budget > 0:
            one = self.waiting.popleft()
            blocks = one.prompt.blocks
            one.found = next((n for n, key in enumerate(blocks) if key not in self.cached), len(blocks))
            for key in reversed(blocks[: one.found]):
                self.cached.move_to_end(key)
            # The last token is always read, for the first word comes of it.
            one.to_read = max(1, one.prompt.prompt_tokens - one.found * BLOCK_TOKENS)
            self.running.append(one)
            self.step.append((one, min(one.to_read, budget)))
            budget -= self.step[-1][1]
        if not self.step:
            self.step = None
            return 0.0
        read = sum(tokens for _, tokens in self.step)
        wrote = sum(not tokens for _, tokens in self.step)
        self.mood = 0.8 * self.mood + 0.6 * self.dice.gauss(0, self.wander)
        seconds = STEP_SECONDS + read / READ_PER_SECOND + wrote * WRITE_SECONDS
        return seconds * working / self.speed * math.exp(self.mood)

    def end(self, now: float) -> list[Asked]:
        """Finish the step. Returns the answers that are done."""
        done: list[Asked] = []
        for one, tokens in self.step or ():
            one.to_read -= tokens
            if one.to_read:
                continue
            if tokens:
                # Only now: who came in the same step found nothing of it.
                for key in reversed(one.prompt.blocks):
                    self.cached[key] = None
                    self.cached.move_to_end(key)
                one.first = now
                self.owe(one, one.allowed)
            one.to_write -= 1
            if one.to_write <= 0:
                self.running.remove(one)
                self.owe(one, 0)
                done.append(one)
        while len(self.cached) > self.cache:
            self.cached.popitem(last=False)
        self.step = None
        return done

    def die(self) -> list[Asked]:
        """Lose everything. Returns the answers of which no text had come: they are begun again elsewhere."""
        lost = [*self.running, *self.waiting]
        self.up, self.step, self.life, self.outstanding = False, None, self.life + 1, 0
        self.waiting.clear()
        self.running.clear()
        self.cached.clear()
        for one in lost:
            one.owed = 0
        return [one for one in lost if one.first < 0]


class Simulation:
    """One policy before its engines; run() once. Where speeds wander, `luck` says how."""

    def __init__(self, policy: Policy, world: World, luck: str = "") -> None:
        self._policy, self._world = policy, world
        self._engines: dict[str, _Engine] = {}
        for number, speed in enumerate(world.speeds):
            name = f"http://engine-{number}/v1"
            dice = random.Random(f"{number} {luck}")
            self._engines[name] = _Engine(name, speed, world.cached_blocks, world.wander, dice)
        self._events: list[tuple[float, int, str, _Engine | None, int]] = []
        self._order: Iterator[int] = itertools.count()
        self._queue: deque[Asked] = deque()
        self._unanswered = 0

    def run(self, requests: Sequence[Asked]) -> None:
        """Answer all; each knows afterwards when its first word came."""
        coming = deque(sorted(requests, key=lambda one: one.at))
        if not self._world.at_once:
            for one in coming:
                self._later(one.at, "asked")
        if self._world.restart:
            first = next(iter(self._engines.values()))
            self._later(self._world.restart[0], "dies", first)
            self._later(self._world.restart[1], "back", first)
        now = 0.0
        while self._events or coming:
            if self._events:
                now, _, what, engine, life = heapq.heappop(self._events)
                self._happen(now, what, engine, life)
            while coming and (self._unanswered < self._world.at_once if self._world.at_once else coming[0].at <= now):
                asked = coming.popleft()
                asked.at, asked.to_write = (now if self._world.at_once else asked.at), asked.answer
                self._unanswered += 1
                self._queue.append(asked)
            self._dispatch(now)

    def _happen(self, now: float, what: str, engine: _Engine | None, life: int) -> None:
        if engine is None:
            return
        if what == "step" and life == engine.life:
            self._unanswered -= len(engine.end(now))
        elif what == "dies":
            went = len(engine.running) + len(engine.waiting)
            again = engine.die()
            self._unanswered -= went - len(again)
            self._queue.extendleft(reversed(again))
            self._policy.forget(engine.name)
        elif what == "back":
            engine.up = True

    def _dispatch(self, now: float) -> None:
        while self._queue:
            loads = [one.load for one in self._engines.values() if one.up]
            choice = self._policy.choose(loads, self._queue[0].prompt)
            if choice is None:
                break
            asked, engine = self._queue.popleft(), self._engines[choice.name]
            engine.waiting.append(asked)
            engine.owe(asked, asked.prompt.prompt_tokens + asked.allowed - choice.cached)
        for engine in self._engines.values():
            if engine.up and engine.step is None:
                others = sum(one.step is not None for one in self._engines.values())
                working = (others + 1) / len(self._engines) if self._world.shared else 1.0
                seconds = engine.begin(working)
                if seconds:
                    self._later(now + seconds, "step", engine)

    def _later(self, at: float, what: str, engine: _Engine | None = None) -> None:
        heapq.heappush(self._events, (at, next(self._order), what, engine, engine.life if engine else 0))
