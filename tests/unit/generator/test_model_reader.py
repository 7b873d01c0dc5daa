"""The model reader over a scripted model: markers, quotes, declining, limits, leaving early."""

import asyncio
import contextlib
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from quelea_fintext.languages import REFUSALS
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.citations import best_support, cited_statements
from quelea_generator.core.chat.prompt_files import prompt_file
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.model import Decline, Delta, Event, Evidence, Finished, Quote, Task
from quelea_kit.errors import Unavailable

EVIDENCE = (
    Evidence(1, "Total net sales\t81,797\t82,959\nNet income\t19,881\t19,442", is_table=True),
    Evidence(2, "The plant opened in May. Net sales declined 1% because the dollar was strong. Weather was mild."),
)
TASK = Task("Why did sales change?", EVIDENCE, date(2024, 6, 1))


def reader(chat: FakeEndpoint, max_tokens: int = 100, evidence_tokens: int = 1000, **more: Any) -> ModelReader:
    return ModelReader(
        chat, evidence_tokens=evidence_tokens, history_tokens=100, max_tokens=max_tokens, temperature=0.0, **more
    )


async def events_of(chat: FakeEndpoint, task: Task = TASK, max_tokens: int = 100) -> list[Event]:
    return [event async for event in reader(chat, max_tokens).read(task)]


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


async def test_cited_passages_are_quoted_and_unknown_ones_vanish() -> None:
    chat = FakeEndpoint(["Net sales were 81,797 ", "[", "1] as the dollar was strong [2", "] and [9", "]."])
    events = await events_of(chat)
    assert text_of(events) == "Net sales were 81,797 [1] as the dollar was strong [2] and."
    quotes = [event for event in events if isinstance(event, Quote)]
    assert [quote.text for quote in quotes] == [
        "Total net sales\t81,797\t82,959",
        "Net sales declined 1% because the dollar was strong.",
    ]
    assert events[-1] == Finished("stop", "fake", prompt_file("answer", "en").version, 2, 5, removed_markers=1)


@pytest.mark.parametrize("refusal", REFUSALS.values())
async def test_a_refusal_is_declined_and_quotes_nothing(refusal: str) -> None:
    events = await events_of(FakeEndpoint([refusal[:9], refusal[9:], ". [1]"]))
    assert not any(isinstance(event, Quote) for event in events)
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "declined"
    assert events[-1].decline is not None
    assert events[-1].decline.reason == "model_refused"


async def test_a_silent_model_declines_aloud() -> None:
    events = await events_of(FakeEndpoint([]))
    assert text_of(events) == REFUSALS["en"]
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "declined"
    assert events[-1].decline is not None
    assert events[-1].decline.reason == "engine_empty"


async def test_without_evidence_the_model_is_not_asked() -> None:
    chat = FakeEndpoint(["invented"])
    events = await events_of(chat, Task("销售额是多少？", (), date(2024, 6, 1)))
    assert text_of(events) == REFUSALS["zh"]
    assert isinstance(events[-1], Finished)
    assert events[-1].decline == Decline("no_evidence", "No passages were given.")
    assert chat.seen == []


async def test_the_model_sees_an_excerpt_and_the_whole_passage_is_quoted() -> None:
    async def cut(task: Task) -> Task:
        return replace(task, evidence=(replace(task.evidence[1], text="Net sales declined 1%."),))

    chat = FakeEndpoint(["They declined 1% [2]."])
    events = [event async for event in reader(chat, excerpt=cut).read(TASK)]
    assert "Weather" not in chat.seen[0][-1].content
    (quote,) = (event for event in events if isinstance(event, Quote))
    assert quote.text == "Net sales declined 1% because the dollar was strong."


async def test_what_the_excerpt_declines_the_model_is_not_asked() -> None:
    async def decline(_task: Task) -> Decline:
        return Decline("no_such_period", "No passage is of 2029.")

    chat = FakeEndpoint(["invented"])
    events = [event async for event in reader(chat, excerpt=decline).read(TASK)]
    assert text_of(events) == REFUSALS["en"]
    assert isinstance(events[-1], Finished)
    assert events[-1].decline == Decline("no_such_period", "No passage is of 2029.")
    assert chat.seen == []


async def test_a_cut_answer_says_so_and_the_server_limit_holds() -> None:
    chat = FakeEndpoint(["a "] * 10)
    events = await events_of(chat, Task("Q?", EVIDENCE, date(2024, 6, 1), max_tokens=50), max_tokens=4)
    assert isinstance(events[-1], Finished)
    assert (events[-1].reason, events[-1].completion_tokens) == ("length", 4)


async def test_only_passages_in_the_prompt_may_be_cited() -> None:
    long = (Evidence(1, "word " * 50), Evidence(2, "Never shown. " * 200))
    chat = FakeEndpoint(["Both [1] [2]"])
    found = [event async for event in reader(chat, evidence_tokens=90).read(Task("Q?", long, date(2024, 6, 1)))]
    assert text_of(found) == "Both [1]"


async def test_an_error_of_the_endpoint_reaches_the_caller() -> None:
    chat = FakeEndpoint(["half "], error=Unavailable("gone"))
    with pytest.raises(Unavailable, match="gone"):
        await events_of(chat)
    assert chat.closed == 1


async def test_leaving_early_closes_the_stream() -> None:
    chat = FakeEndpoint(["one ", "two "], wait=asyncio.Event())
    async with contextlib.aclosing(reader(chat).read(TASK)) as events:
        await anext(events)
        assert chat.closed == 0
    assert chat.closed == 1


async def test_readiness_is_the_endpoints() -> None:
    chat = FakeEndpoint([])
    await reader(chat).ready()
    chat.failing = Unavailable("model not listed")
    with pytest.raises(Unavailable, match="model not listed"):
        await reader(chat).ready()


def test_citing_takes_the_statement_before_the_marker() -> None:
    answer = "Sales were 5.2 million. Costs fell [1][2]. 利润增长。收入下降[2]"
    assert cited_statements(answer, 1) == "Costs fell"
    assert cited_statements(answer, 2) == "Costs fell 收入下降"


def test_support_prefers_shared_figures() -> None:
    evidence = Evidence(1, "Net sales and net income rose.\nIn total it was 81,797 dollars of sales.")
    quote = best_support("Net sales?", "Net sales were 81,797 [1].", evidence)
    assert quote is not None
    assert quote.text == "In total it was 81,797 dollars of sales."


def test_support_of_a_passage_without_sentences_is_none() -> None:
    assert best_support("q", "a [1]", Evidence(1, "12 34")) is None


async def test_how_sure_the_model_is_of_its_digits_comes_with_them_markers_aside() -> None:
    chat = FakeEndpoint(["Sales were ", "81,797", " [", "1", "]."], sureness=0.7)
    deltas = [event async for event in reader(chat, sureness=True).read(TASK) if isinstance(event, Delta)]
    assert [delta.sureness for delta in deltas if "8" in delta.text] == [0.7]
    assert [delta.sureness for delta in deltas if "8" not in delta.text] == [None] * (len(deltas) - 1)
    unasked = [event async for event in reader(chat).read(TASK) if isinstance(event, Delta)]
    assert {delta.sureness for delta in unasked} == {None}
