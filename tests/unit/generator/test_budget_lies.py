"""A budget whose tokenizer or context lies: every prompt is still built or refused clearly, now and afterwards."""

from collections.abc import Sequence
from datetime import date

import pytest
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.budget import Budget
from quelea_generator.core.chat.chat_model import TokenCount
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.model import Evidence, Task, Turn
from quelea_kit.errors import TooLarge

ROW = "Net sales of the segment were 81,797 million dollars in the quarter. "
DAY = date(2024, 6, 1)


class Liar(FakeEndpoint):
    """Its tokenizer says what it is told to."""

    def __init__(self, tokens: int, context: int = 2048, told_context: int = 2048) -> None:
        super().__init__(["x"], context=context)
        self.tokens, self.told = tokens, told_context

    async def count(self, messages: Sequence[Message], *, model: str) -> TokenCount | None:
        self.counted += 1
        return TokenCount(self.tokens, self.told)


def budget(chat: FakeEndpoint) -> Budget:
    return Budget(chat, evidence_tokens=50_000, history_tokens=500)


def task(passages: int) -> Task:
    evidence = tuple(Evidence(n, f"Passage {n}. {ROW * 15}") for n in range(1, passages + 1))
    return Task("What were net sales?", evidence, DAY, history=(Turn("user", "And sales? " * 20),) * 4)


@pytest.mark.parametrize("tokens", [-(10**9), -1, 0, 1, 10**6, 10**15])
async def test_an_impossible_count_is_none_and_the_estimate_with_its_margin_holds(tokens: int) -> None:
    one = budget(Liar(tokens))
    for _ in range(3):  # what was told once must not spoil the next
        fitted = await one.fit(task(30), model="fake", max_tokens=100)
        words = FakeEndpoint.words(fitted.prompt.messages)
        assert not fitted.counted
        assert 300 < words < 2048 - 100
        assert fitted.prompt.numbers[0] == 1


@pytest.mark.parametrize("tokens", [7, 50, 3000, 9000])
async def test_a_count_that_could_be_true_never_breaks_the_next_prompts(tokens: int) -> None:
    one = budget(Liar(tokens))
    for passages in (30, 30, 3, 30):
        try:
            fitted = await one.fit(task(passages), model="fake", max_tokens=100)
        except TooLarge as error:  # it says so itself: nothing is small enough
            assert tokens > 2048 - 100
            assert error.details["context_tokens"] == "2048"
        else:
            assert fitted.prompt.numbers
            assert 0 < fitted.max_tokens <= 100


@pytest.mark.parametrize("context", [1, 10, 300])
async def test_a_context_that_holds_nothing_is_named(context: int) -> None:
    with pytest.raises(TooLarge) as caught:
        await budget(Liar(500, context, context)).fit(task(3), model="fake", max_tokens=100)
    assert caught.value.details["context_tokens"] == str(context)


@pytest.mark.parametrize("tokens", [-5, 0, 10**9])
async def test_a_plain_completion_is_measured_by_an_estimate_too(tokens: int) -> None:
    messages = (Message("user", ROW * 60),)
    counted, room = await budget(Liar(tokens)).room(messages, model="fake", max_tokens=2000)
    assert 500 < counted < 2048
    assert 0 < room <= 2048 - counted
