"""Whatever is sent along, the prompt fits; evidence goes first, then the oldest turns, whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.budget import _LEAST_EVIDENCE, Budget, FittedPrompt, _estimated
from quelea_generator.core.chat.chat_model import TokenCount
from quelea_generator.core.chat.prompt import Message, build_prompt
from quelea_generator.core.model import Evidence, Task, Turn
from quelea_kit.errors import TooLarge

SENTENCES = st.sampled_from(
    [
        "Net sales rose by 81,797 million. ",
        "The board met. ",
        "营业收入为3.6亿元。",
        "毛利率下降，主要由于原材料涨价。",
        "x",
    ]
)
TEXTS = st.lists(SENTENCES, min_size=1, max_size=40).map("".join)
EVIDENCE = st.lists(TEXTS, min_size=1, max_size=12).map(
    lambda texts: tuple(Evidence(number, text) for number, text in enumerate(texts, 1))
)
TURNS = st.lists(TEXTS, max_size=8).map(
    lambda texts: tuple(Turn("assistant" if at % 2 else "user", text) for at, text in enumerate(texts))
)
TASKS = st.builds(
    lambda evidence, turns, question: Task(question, evidence, date(2024, 6, 1), history=turns),
    EVIDENCE,
    TURNS,
    st.sampled_from(["What were net sales?", "营业收入是多少？", "Compare them. " * 30]),
)
HISTORY = 1500


class PerLetter(FakeEndpoint):
    """A tokenizer that makes a token of so many letters, one at least, which no estimate knows."""

    def __init__(self, context: int, letters: float) -> None:
        super().__init__([], context=context, counts=True)
        self.letters = letters

    def tokens(self, messages: Sequence[Message]) -> int:
        return round(sum(4 + len(message.content) / self.letters for message in messages))

    async def count(self, messages: Sequence[Message], *, model: str) -> TokenCount | None:
        return TokenCount(self.tokens(messages), self.context(model))


def fitted(chat: FakeEndpoint, task: Task, answer: int) -> FittedPrompt | None:
    budget = Budget(chat, evidence_tokens=3000, history_tokens=HISTORY, safety=1.5)
    try:
        return asyncio.run(budget.fit(task, model="m", max_tokens=answer))
    except TooLarge:
        return None


def kept_turns(task: Task, found: FittedPrompt) -> int:
    """How many of the newest turns are left, each whole."""
    turns = found.prompt.messages[1:-1]
    said = [(turn.role, turn.text) for turn in task.history]
    assert [(turn.role, turn.content) for turn in turns] == said[len(said) - len(turns) :]
    return len(turns)


@settings(max_examples=60, deadline=None)
@given(TASKS, st.integers(300, 6000), st.floats(1, 5), st.integers(1, 400))
def test_by_the_models_own_count_it_fits(task: Task, context: int, letters: float, answer: int) -> None:
    chat = PerLetter(context, letters)
    found = fitted(chat, task, answer)
    if found is None:
        return
    assert chat.tokens(found.prompt.messages) + found.max_tokens <= context
    assert 0 < found.max_tokens <= answer
    assert found.prompt.numbers == tuple(range(1, len(found.prompt.numbers) + 1))
    assert found.prompt.numbers
    kept_turns(task, found)


@settings(max_examples=60, deadline=None)
@given(TASKS, st.integers(300, 6000), st.integers(1, 400))
def test_a_turn_goes_only_when_there_is_no_room_for_it_with_the_least_evidence(
    task: Task, context: int, answer: int
) -> None:
    found = fitted(FakeEndpoint([], context=context), task, answer)
    if found is None:
        return
    assert found.tokens + found.max_tokens <= context
    kept = kept_turns(task, found)
    whole = build_prompt(task, evidence_tokens=3000, history_tokens=HISTORY)
    remembered = len(whole.messages) - 2
    if kept < remembered:
        more = Task(task.question, task.evidence, task.as_of, history=task.history[len(task.history) - kept - 1 :])
        rest = _estimated(build_prompt(more, evidence_tokens=0, history_tokens=HISTORY).messages)
        assert rest + _LEAST_EVIDENCE > (context - found.max_tokens) / 1.5
        assert len(found.prompt.numbers) <= len(whole.numbers)


def test_both_ends_of_the_property_are_reached() -> None:
    evidence = tuple(Evidence(number, "Net sales rose by 81,797 million. " * 20) for number in range(1, 9))
    turns = tuple(Turn("user", "The board met. " * 30) for _ in range(6))
    task = Task("What were net sales?", evidence, date(2024, 6, 1), history=turns)
    shapes = set()
    for context in (200, 900, 1200, 1600, 2400, 4000, 9000):
        found = fitted(FakeEndpoint([], context=context), task, 100)
        shapes.add((len(found.prompt.numbers), kept_turns(task, found)) if found else None)
    assert None in shapes
    assert (8, 6) in shapes
    assert any(one and one[0] < 8 and one[1] == 6 for one in shapes)  # evidence first
    assert any(one and one[1] < 6 for one in shapes)  # then turns
