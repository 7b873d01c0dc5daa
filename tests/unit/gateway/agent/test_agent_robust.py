"""200 runs with a model that is out to break them: each ends with an answer, in its bounds, nothing left open."""

import asyncio
import json
import random
import string

import pytest
from quelea_gateway.core.agent.work import Rules
from quelea_kit.errors import DeadlineExceeded, InvalidInput, Overloaded, QueleaError, Unavailable
from support.agent_world import SayingModel, asking, good, ran, world

RULES = Rules(model_seconds=0.3, code_seconds=0.3, search_seconds=0.3, finish_seconds=0.5)
SECONDS = 3.0


async def forever(*_):
    await asyncio.sleep(3600)


def garbage(random_):
    return "".join(random_.choice(string.printable + "龙\u202e\x00\ud800") for _ in range(random_.randint(0, 400)))


def adversary(seed):
    """A model that mixes good answers with every kind of bad one."""
    random_ = random.Random(seed)
    right = good()
    habit = seed % 10

    def says(kind, _messages):
        deep = '{"a":' * 5000
        bad = [
            lambda: "", lambda: garbage(random_), lambda: "null", lambda: "[]", lambda: "{}" * 1000, lambda: deep,
            lambda: "[" * 100_000, lambda: "word " * 100_000, lambda: "\n" * 50_000, lambda: "😀" * 20_000,
            lambda: json.dumps({"action": "rm -rf", "plan": "no", "insights": 5, "answer": [], "names": {}}),
            lambda: json.dumps({"action": {"action": {"action": "finish"}}}),
            lambda: json.dumps({"plan": [{"action": "finish"}] * 5000, "profile": "x" * 100_000}),
            lambda: json.dumps({"action": "code-exec", "task": "x" * 50_000, "apis": ["y" * 9999] * 999}),
            lambda: '{"action": "kb-search", "query": "' + "q" * 5000,
            lambda: '{"answer": "Profit was 123,456.78 million and 99.9 % [77]", "missing": "all"}',
            lambda: "```python\n" + "x = (" * 3000 + "\n```", lambda: '```python\nexit("memory")\n```',
            lambda: '```python\nraise ValueError("a" * 9)\n```', lambda: "<think>" + "hm " * 3000,
            lambda: json.dumps({"action": "api-details", "name": "../../secret"}),
            lambda: Unavailable("away", retry_after=0.01), lambda: Overloaded("full", retry_after=0.01),
            lambda: DeadlineExceeded("late"), lambda: InvalidInput("The prompt is too long."), lambda: QueleaError("?"),
            forever,
        ]  # fmt: skip
        if habit == 0:  # always one kind of bad
            return bad[seed // 10 % len(bad)]()
        if habit == 1:  # never stops: new searches for ever
            return (
                json.dumps({"action": "kb-search", "query": str(random_.random())}) if kind == "action" else right[kind]
            )
        if habit == 2:  # loops: the same code for ever
            return json.dumps({"action": "code-exec", "task": "again", "apis": []}) if kind == "action" else right[kind]
        if habit == 3 and kind != "answer":
            return right[kind] if isinstance(right[kind], str) else random_.choice(right[kind])
        if random_.random() < (0.9 if habit == 4 else 0.5):
            return random_.choice(bad)()
        return right[kind] if isinstance(right[kind], str) else random_.choice(right[kind])

    return SayingModel(dict.fromkeys(right, says), context=random_.choice([0, 700, 2048, 8192]))


async def one(seed):
    ports = world(adversary(seed))
    loop = asyncio.get_running_loop()
    before = loop.time()
    outcome, journal = await ran(ports, asking(budget={"seconds": SECONDS, "tokens": 60_000}), RULES)
    return seed, outcome, journal, ports, loop.time() - before


@pytest.mark.parametrize("part", range(4))
async def test_every_run_ends_cleanly(part):
    runs = await asyncio.gather(*(one(seed) for seed in range(part * 50, part * 50 + 50)))
    assert len(runs) == 50
    for seed, outcome, journal, ports, seconds in runs:
        answer = outcome.answer
        assert journal.events[-1][0] == "answer", seed
        assert answer.text.strip(), seed
        assert answer.grounded, (seed, answer.text, answer.figures)
        assert answer.complete or answer.missing or answer.withheld, seed
        assert outcome.usage.steps <= 10, seed
        assert len(journal.of("step")) == outcome.usage.steps, seed
        assert all(0 < source.number <= len(answer.sources) for source in answer.sources), seed
        assert sorted(ports.sandbox.closed) == sorted(set(ports.sandbox.closed)), seed
        assert not ports.sandbox.sessions, seed
        assert ports.door.closed == ["door-1"], seed
        assert seconds < 300, seed  # its own limit is SECONDS; fifty share what the machine has left
