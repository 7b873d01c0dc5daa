"""What the encoders are asked of an answer in another language than its evidence, and what is done without them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from quelea_checker import CheckPassage, Near, Report, check_answer
from quelea_gateway.core.model import Passage, Ranked
from quelea_gateway.core.review.foreign_sentences import MOST_WAITING, MeaningChecker
from quelea_kit.errors import Unavailable
from quelea_kit.testing import wait_until_async

FILING = CheckPassage("The plant uses natural gas. Demand from car makers strengthened.")
ANSWER = "汽车制造商的需求走强。"


class Plain:
    """The checker itself."""

    async def check(
        self,
        answer: str,
        passages: Sequence[CheckPassage],
        *,
        question: str = "",
        near: Mapping[str, Sequence[Near]] | None = None,
    ) -> Report:
        return check_answer(answer, passages, question=question, near=near or {})


class Encoder:
    """Finds sentences about demand alike."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: Exception | None = None

    async def rank(self, query: str, passages: Sequence[Passage]) -> tuple[Ranked, ...]:
        self.asked.append((query, [one.text for one in passages]))
        await self.gate.wait()
        if self.error:
            raise self.error
        assert all(one.source == "web" for one in passages)  # a local one's cosine would be taken as known
        found = [Ranked(at, 0.0, 0.9 if "Demand" in one.text else 0.7, "") for at, one in enumerate(passages)]
        return tuple(reversed(found))


async def verdicts(checker: MeaningChecker, answer: str) -> list[str]:
    return [one.verdict for one in (await checker.check(answer, [FILING])).sentences]


async def test_the_nearest_sentence_supports_it() -> None:
    encoder = Encoder()

    assert await verdicts(MeaningChecker(Plain(), encoder), ANSWER) == ["partly"]
    assert encoder.asked == [(ANSWER, ["The plant uses natural gas.", "Demand from car makers strengthened."])]


async def test_nobody_is_asked_about_an_answer_in_the_evidences_language() -> None:
    encoder = Encoder()

    assert await verdicts(MeaningChecker(Plain(), encoder), "Demand from car makers strengthened.") == ["supported"]
    assert encoder.asked == []


async def test_without_the_encoder_the_answer_is_checked_all_the_same() -> None:
    encoder = Encoder()
    encoder.error = Unavailable("away")

    assert await verdicts(MeaningChecker(Plain(), encoder), ANSWER) == ["not_found"]


async def test_a_slow_encoder_is_not_waited_for() -> None:
    encoder = Encoder()
    encoder.gate.clear()

    assert await verdicts(MeaningChecker(Plain(), encoder, seconds=0.05), ANSWER) == ["not_found"]


async def test_a_fault_is_not_hidden() -> None:
    encoder = Encoder()
    encoder.error = ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        await verdicts(MeaningChecker(Plain(), encoder), ANSWER)


async def test_so_many_are_compared_at_once_and_no_more() -> None:
    encoder = Encoder()
    encoder.gate.clear()
    checker = MeaningChecker(Plain(), encoder, seconds=60)
    waiting = [asyncio.create_task(verdicts(checker, ANSWER)) for _ in range(MOST_WAITING)]
    await wait_until_async(lambda: len(encoder.asked) == MOST_WAITING, what="all are compared")

    assert await verdicts(checker, ANSWER) == ["not_found"]  # at once, by the glossary

    encoder.gate.set()
    assert [one for task in waiting for one in await task] == ["partly"] * MOST_WAITING
    assert await verdicts(checker, ANSWER) == ["partly"]
