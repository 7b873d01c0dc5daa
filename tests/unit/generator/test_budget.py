"""Prompts that fit: evidence goes first, then whole turns, then the request; few counts of tokens."""

from collections.abc import AsyncGenerator, Sequence
from datetime import date

import pytest
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.budget import Budget
from quelea_generator.core.chat.chat_model import ChatPiece, ChatRequest, TokenCount
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.model import Delta, Event, Evidence, Task, Turn
from quelea_kit.errors import TooLarge

EVIDENCE = tuple(
    Evidence(n, f"Passage {n}. " + "Net sales of the segment were 81,797 million dollars. " * 12) for n in range(1, 21)
)
HISTORY = tuple(
    Turn("user" if n % 2 == 0 else "assistant", f"turn {n} " + "about the year before " * 10) for n in range(6)
)
DAY = date(2024, 6, 1)


class Costly(FakeEndpoint):
    """Counts `rate` tokens per word: nothing like the estimate."""

    def __init__(self, context: int, rate: float) -> None:
        super().__init__([], context=context, counts=True)
        self.rate = rate

    async def count(self, messages: Sequence[Message], *, model: str) -> TokenCount | None:
        self.counted += 1
        return TokenCount(self.tokens(messages), self.context(model))

    def tokens(self, messages: Sequence[Message]) -> int:
        return round(self.rate * self.words(messages))


def budget(chat: FakeEndpoint, **more: float) -> Budget:
    return Budget(chat, **{"evidence_tokens": 100_000, "history_tokens": 1000, **more})


def task(question: str = "What were net sales?", evidence: tuple[Evidence, ...] = EVIDENCE, **more: object) -> Task:
    return Task(question, evidence, DAY, **{"history": HISTORY, **more})


@pytest.mark.parametrize(("context", "rate"), [(1200, 1.4), (2048, 0.8), (2048, 1.4), (2048, 3.5), (8192, 3.5)])
async def test_the_prompt_fits_by_the_models_own_count(context: int, rate: float) -> None:
    chat = Costly(context, rate)
    one = budget(chat)
    fitted = await one.fit(task(), model="m", max_tokens=200)
    assert chat.tokens(fitted.prompt.messages) == fitted.tokens <= context - 200
    assert chat.counted <= 3
    fitted = await one.fit(task(), model="m", max_tokens=200)  # the tokenizer's rate is known now
    assert 0.7 * (context - 200) < fitted.tokens <= context - 200


async def test_the_second_prompt_of_a_model_takes_one_count() -> None:
    chat = Costly(2048, 3.0)
    one = budget(chat)
    await one.fit(task(), model="m", max_tokens=200)
    before = chat.counted
    fitted = await one.fit(task("How much were net sales then?"), model="m", max_tokens=200)
    assert fitted.tokens <= 2048 - 200
    assert chat.counted - before <= 2


async def test_nothing_is_counted_where_a_token_per_byte_would_fit() -> None:
    chat = Costly(1_000_000, 1.4)
    fitted = await budget(chat, evidence_tokens=500).fit(task(), model="m", max_tokens=200)
    assert chat.counted == 0
    assert fitted.prompt.numbers


async def test_far_below_the_context_one_count_of_a_model_is_enough() -> None:
    chat = Costly(4096, 1.4)
    one = budget(chat, evidence_tokens=1500)
    assert (await one.fit(task(), model="m", max_tokens=200)).counted
    again = await one.fit(task("How much were net sales then?"), model="m", max_tokens=200)
    assert not again.counted
    assert chat.counted == 1
    assert chat.tokens(again.prompt.messages) <= 4096 - 200
    assert (await one.fit(task(), model="other", max_tokens=200)).counted
    assert (await one.fit(task(), model="m", max_tokens=200, exactly=True)).counted


async def test_evidence_goes_first_from_the_end_then_the_oldest_turns() -> None:
    kept = []
    for context in (6000, 3000, 1800, 1300, 1100, 1000):
        chat = Costly(context, 1.3)
        prompt = (await budget(chat).fit(task(), model="m", max_tokens=100)).prompt
        turns = [message.content.split(" about")[0] for message in prompt.messages[1:-1]]
        assert list(prompt.numbers) == list(range(1, len(prompt.numbers) + 1))
        assert turns == [f"turn {n}" for n in range(6 - len(turns), 6)]
        assert prompt.messages[1 + len(turns) :][0].role == "user"
        kept.append((len(prompt.numbers), len(turns)))
    assert kept[0][0] > kept[1][0] > kept[2][0] >= 1
    assert kept[1][1] == 6  # while passages can go, every turn stays
    assert 6 > kept[-2][1] > kept[-1][1] > 0
    assert all(numbers == 1 for numbers, turns in kept if turns < 6)


async def test_a_question_that_leaves_no_room_is_told_so() -> None:
    with pytest.raises(TooLarge, match="question is too long") as caught:
        await budget(Costly(1000, 1.3)).fit(task("and " * 900 + "?"), model="m", max_tokens=100)
    assert caught.value.details["context_tokens"] == "1000"


async def test_an_answer_takes_at_most_half_of_the_context() -> None:
    chat = Costly(1600, 1.0)
    fitted = await budget(chat).fit(task(), model="m", max_tokens=100_000)
    assert fitted.max_tokens == 800
    assert fitted.tokens <= 800


async def test_without_a_tokenizer_the_estimate_has_a_margin() -> None:
    chat = FakeEndpoint([], context=2048)
    plain = await budget(chat, safety=1.0).fit(task(), model="m", max_tokens=200)
    wary = await budget(chat, safety=2.0).fit(task(), model="m", max_tokens=200)
    assert 0 < len(wary.prompt.numbers) < len(plain.prompt.numbers)
    assert wary.tokens <= 2048 - 200
    with pytest.raises(TooLarge):
        await budget(chat).fit(task("and " * 3000), model="m", max_tokens=200)


async def test_without_a_context_only_the_settings_limit() -> None:
    chat = FakeEndpoint([], counts=True)
    fitted = await budget(chat, evidence_tokens=800).fit(task(), model="m", max_tokens=200)
    assert len(fitted.prompt.numbers) > 1
    told = await budget(FakeEndpoint([]), context_tokens=1500).fit(task(), model="m", max_tokens=200)
    assert told.tokens <= 1300


class Refusing(Costly):
    """An endpoint that refuses what does not fit."""

    def __init__(self, context: int, rate: float) -> None:
        super().__init__(context, rate)
        self._pieces = ["Both [1]"]

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        if self.tokens(request.messages) > self.context("m") - 100:
            raise TooLarge("too long")
        async for piece in super().stream(request):
            yield piece


async def test_what_was_not_counted_and_proves_too_long_is_counted() -> None:
    chat = Refusing(4096, 1.4)
    reader = ModelReader(chat, evidence_tokens=1500, history_tokens=0, max_tokens=100, temperature=0.0)
    for rate, counts in ((1.4, 1), (1.4, 1), (6.0, 2)):  # then another language, say
        chat.rate = rate
        events = [event async for event in reader.read(task())]
        assert "".join(event.text for event in events if isinstance(event, Delta)) == "Both [1]"
        assert chat.counted == counts


class Strict(FakeEndpoint):
    """Finds prompts of more than `most` words too long, and tells nobody how many it takes."""

    most = 250

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        if self.words(request.messages) > self.most:
            self.seen.append(request.messages)
            raise TooLarge("too long")
        async for piece in super().stream(request):
            yield piece


async def read(chat: FakeEndpoint) -> list[Event]:
    reader = ModelReader(chat, evidence_tokens=900, history_tokens=0, max_tokens=100, temperature=0.0)
    return [event async for event in reader.read(task())]


async def test_an_endpoint_that_finds_the_prompt_too_long_gets_a_shorter_one() -> None:
    chat = Strict(["Both [1]", " [20]"])
    chat.most = 600
    events = await read(chat)
    assert "".join(event.text for event in events if isinstance(event, Delta)) == "Both [1]"
    sizes = [chat.words(messages) for messages in chat.seen]
    assert sizes == sorted(sizes, reverse=True)
    assert 2 <= len(sizes) <= 3


async def test_and_twice_at_most() -> None:
    chat = Strict(["never"])
    chat.most = 0
    with pytest.raises(TooLarge):
        await read(chat)
    assert len(chat.seen) <= 3
