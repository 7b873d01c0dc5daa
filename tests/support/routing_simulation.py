"""Engines with prefix caches in a simulation: what a routing policy finds in them, and how long its answers take.

The prompts are of the shape of recorded ones: the passages that a search over two of NVIDIA's filings gave for 50
questions, by number and length (tests/unit/generator/recorded/prompts.jsonl), in the prompt that the generator makes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from quelea_generator.core.chat.prompt import Message, build_prompt
from quelea_generator.core.chat.routing import Load, Policy, PromptKey, prompt_key
from quelea_generator.core.model import Evidence, Task

RECORDED = Path(__file__).parents[1] / "unit/generator/recorded/prompts.jsonl"
ANSWER_TOKENS = 150
WRITE = 4
"""A token that is written costs as much of an engine as so many that are read."""


def recorded(passages: int = 8) -> list[tuple[Message, ...]]:
    """The prompts, with at most so many passages each."""
    prompts = []
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        evidence = tuple(
            Evidence(at, _text(number, length))
            for at, (number, length) in enumerate(asked["passages"][:passages], start=1)
        )
        task = Task(asked["question"], evidence, date(2024, 6, 1))
        prompts.append(build_prompt(task, evidence_tokens=6000, history_tokens=0).messages)
    return prompts


def _text(number: int, length: int) -> str:
    words = random.Random(number).choices(
        ("sales", "rose", "segment", "quarter", "million", "income"), k=length // 6 + 1
    )
    return f"Passage {number}: {' '.join(words)}"[:length]


@dataclass
class _Engine:
    cached: set[bytes] = field(default_factory=set)
    working: list[_Work] = field(default_factory=list)


@dataclass
class _Work:
    prompt: PromptKey
    began: float
    to_read: float
    to_write: float


@dataclass(frozen=True)
class Found:
    """Share of the prompts' blocks found in a cache, mean time of an answer (in tokens read), answers per engine."""

    cached: float
    mean: float
    answers: dict[str, int]


def simulate(policy: Policy, prompts: Sequence[Sequence[Message]], *, engines: int, at_once: int, seed: int) -> Found:
    """Send the prompts in a random order, so many at once; each engine shares its time among what it has to do."""
    waiting = [prompt_key("m", one, sum(len(message.content) for message in one) // 4) for one in prompts]
    random.Random(seed).shuffle(waiting)
    pool = {f"http://engine-{n}/v1": _Engine() for n in range(engines)}
    answers = dict.fromkeys(pool, 0)
    now, hits, looked_up, times = 0.0, 0, 0, []
    while waiting or any(engine.working for engine in pool.values()):
        while waiting and sum(len(engine.working) for engine in pool.values()) < at_once:
            prompt = waiting.pop()
            loads = [
                Load(name, round(sum(w.to_read + w.to_write / WRITE for w in one.working)), len(one.working), at_once)
                for name, one in pool.items()
            ]
            choice = policy.choose(loads, prompt)
            assert choice is not None
            engine = pool[choice.name]
            alike = next((n for n, b in enumerate(prompt.blocks) if b not in engine.cached), len(prompt.blocks))
            hits, looked_up = hits + alike, looked_up + len(prompt.blocks)
            unread = prompt.prompt_tokens * (1 - alike / max(1, len(prompt.blocks)))
            engine.working.append(_Work(prompt, now, unread, ANSWER_TOKENS * WRITE))
            answers[choice.name] += 1
        step = 100.0
        now += step
        for engine in pool.values():
            for work in list(engine.working):
                share = step / len(engine.working)
                read = min(share, work.to_read)
                work.to_read -= read
                work.to_write -= share - read
                if not work.to_read:
                    engine.cached.update(work.prompt.blocks)  # only now: who came together found nothing
                if work.to_write <= 0:
                    engine.working.remove(work)
                    times.append(now - work.began)
    return Found(hits / looked_up, sum(times) / len(times), answers)
