"""Which questions go to the web, what the web adds, and what is left when a part of it fails."""

import asyncio
from dataclasses import replace

import pytest
from quelea_fintext.notices import Note, NoteReason
from quelea_gateway.core.model import (
    Filters,
    Kept,
    Question,
    Reading,
    Retrieved,
    Turn,
)
from quelea_gateway.core.web.model import WebFound
from quelea_kit.errors import Conflict, DeadlineExceeded, Unavailable
from quelea_kit.testing import wait_until_async
from support.web_step import AS_OF, FOUND, FakeWeb, Room, local, page, web


@pytest.mark.parametrize(
    ("route", "gate", "searched"),
    [("auto", 0.84, True), ("auto", 0.5, False), ("local", 0.84, False), ("web", 0.5, True), ("web", 0.84, True)],
)
async def test_which_questions_go_to_the_web(route, gate, searched):
    room = Room(gate=gate)
    started, answer = await room.ask(route=route)
    assert bool(room.web.finds) is searched
    assert started.route == answer.route == ("local+web" if searched else "local")
    assert (answer.web is not None) is searched
    assert answer.gate.passed is (gate == 0.5)
    assert answer.notices == ()


async def test_local_and_web_are_one_list_numbered_together():
    room = Room()
    started, answer = await room.ask()
    everything = (*started.evidence, *started.further_reading)
    assert [c.number for c in everything] == [1, 2, 3, 4, 5]
    assert [c.source for c in everything] == ["web", "web", "local", "local", "local"]
    assert [p.document_id for p in room.generator.calls[0][0]] == ["w1", "w2"]
    assert (answer.web.provider, answer.web.pages_read, answer.web.cached, answer.web.problems) == (
        "searxng",
        2,
        True,
        (),
    )
    assert answer.citations[0].source == "web"
    assert room.generator.calls[0][0][0].header == "head 3"


async def test_local_passages_are_ranked_with_their_known_cosines_and_the_web_is_asked_with_its_limits():
    room = Room()
    history = (Turn("user", "How many vehicles did\nRivian deliver?"),)
    await room.ask("And in 2023?", history=history)
    query, said = room.web.finds[0]
    assert query == "How many vehicles did Rivian deliver? And in 2023?"
    assert said == {"as_of": AS_OF, "pages": 4, "passages": 7, "seconds": 5.0}
    assert [p.source for p in room.retriever.ranks[0][1]] == ["local"] * 3 + ["web"] * 2
    assert room.retriever.ranks[0][1][0].cosine == 0.8


async def test_of_the_web_at_most_k_passages_are_shown():
    room = Room(web=FakeWeb(WebFound((page(1, *(web(n, document_id="w1") for n in range(1, 9))),))))
    started, _ = await room.ask()
    sources = [c.source for c in (*started.evidence, *started.further_reading)]
    assert (sources.count("web"), sources.count("local")) == (3, 3)


@pytest.mark.parametrize(
    ("providers", "route", "notice"),
    [((), "auto", "this deployment has no web search"), (None, "auto", "The web search failed")],
)
async def test_without_a_web_the_local_answer_is_marked(providers, route, notice):
    found = Unavailable("search is away") if providers is None else FOUND
    started, answer = await Room(web=FakeWeb(found, providers)).ask(route=route)
    assert (started.route, answer.route) == ("local", "local")
    assert [c.source for c in started.evidence] == ["local", "local"]
    assert any(notice in line for line in answer.notices)


async def test_without_a_web_a_good_answer_has_no_notice():
    _, answer = await Room(web=FakeWeb(providers=()), gate=0.5).ask()
    assert answer.notices == ()


async def test_asking_for_the_web_where_there_is_none_is_a_conflict_before_anything_is_done():
    room = Room(web=FakeWeb(providers=()))
    with pytest.raises(Conflict, match="No web search is configured"):
        await room.ask(route="web")
    assert room.retriever.searches == []


@pytest.mark.parametrize(
    ("fault", "notice", "problem"),
    [
        ({"web": FakeWeb(Unavailable("The search service does not answer."))}, "web search failed", "does not answer"),
        ({"web": FakeWeb(DeadlineExceeded("late"))}, "web search failed", "late"),
        ({"web": FakeWeb(None), "seconds": 0.02}, "web search failed", "no answer in 0.02 s"),
        ({"rank_error": Unavailable("no encoder")}, "could not be ranked", "no encoder"),
        (
            {"web": FakeWeb(WebFound((), problems=("searxng: down (TIMEOUT)",)))},
            "nothing that could be used",
            "TIMEOUT",
        ),
    ],
    ids=["down", "late", "hangs", "rank", "empty"],
)
@pytest.mark.parametrize("route", ["auto", "web"])
async def test_whatever_fails_on_the_web_leaves_the_local_answer_and_says_so(fault, notice, problem, route):
    room = Room(**fault)
    started, answer = await room.ask(route=route)
    assert started.route == answer.route == "local"
    assert [c.source for c in started.evidence] == ["local", "local"]
    assert answer.answer
    assert any(notice in line for line in answer.notices)
    assert any(problem in line for line in answer.web.problems)
    assert room.web.kept == []


async def test_a_part_that_failed_is_listed_with_one_notice():
    problems = ("https://a.test/: too slow (TIMEOUT)", "https://b.test/: robots (ROBOTS)")
    _, answer = await Room(web=FakeWeb(replace(FOUND, problems=problems))).ask()
    assert answer.route == "local+web"
    assert answer.web.problems == problems
    assert len(answer.notices) == 1
    _, chinese = await Room(web=FakeWeb(replace(FOUND, problems=problems))).ask("里维安交付了多少辆车？")
    assert chinese.notices == ("部分网络来源未能搜索或读取，详见 web.problems。",)


async def test_a_missing_company_that_the_web_knows_is_not_missing_any_more():
    reading = Reading(
        companies=("Rivian",), company_missing=True, notes=(Note(NoteReason.COMPANY_NOT_STORED, ("Rivian",)),)
    )
    room = Room(reading=reading)
    _, answer = await room.ask()
    assert room.generator.calls[0][1] is False
    assert answer.notices == ()
    assert answer.reading.company_missing
    other = Room(reading=replace(reading, companies=("Zyxel",)))
    _, answer = await other.ask()
    assert other.generator.calls[0][1] is True
    assert answer.notices == ("no document of Rivian; searched everything",)


async def test_timings_tell_the_web_apart_and_add_up():
    _, answer = await Room().ask()
    t = answer.timings
    assert {"web", "rank", "web_provider", "web_fetch"} <= set(t)
    parts = sum(
        t[name] for name in ("retrieve", "web", "rank", "generate", "gateway", *(["keep"] if "keep" in t else []))
    )
    assert parts == pytest.approx(t["total"], abs=0.05)
    _, alone = await Room(gate=0.5).ask()
    assert not {"web", "rank"} & set(alone.timings)


async def test_useful_pages_are_kept_and_the_answer_says_so():
    room = Room(web=FakeWeb(WebFound((page(1), page(2, suspicious=True)), provider="brave")))
    started, answer = await room.ask()
    order = room.web.kept[0]
    assert (order.query, order.provider) == ("How many vehicles did Rivian deliver?", "brave")
    assert [(p.document_id, p.url, p.score) for p in order.pages] == [("w1", "https://x.test/1", 0.9)]
    assert started.web.kept == ()
    assert answer.web.kept == (Kept("https://x.test/1", "kept", "j"),)


async def test_pages_that_are_not_above_c_are_not_kept():
    room = Room(c=0.95)
    await room.ask()
    assert room.web.kept == []


async def test_an_answer_does_not_wait_long_for_what_is_kept(monkeypatch):
    monkeypatch.setattr("quelea_gateway.core.pipeline.KEPT_SECONDS", 0.01)
    room = Room()
    room.web.keep_waits.clear()
    _, answer = await room.ask()
    assert answer.web.kept == ()
    room.web.keep_waits.set()
    await room.reporter.close(60)
    assert room.reports[0][1][0].state == "kept"


async def test_leaving_after_the_evidence_still_keeps_what_was_useful():
    room = Room()
    items = room.pipeline.ask(Question(text="Rivian?", as_of=AS_OF, k=3, j=2))
    await anext(items)
    await items.aclose()
    await room.reporter.close(60)
    assert room.web.kept


async def test_with_filters_the_web_is_searched_only_when_asked_for():
    filters = Filters(companies=("Apple",))
    room = Room()
    _, answer = await room.ask(filters=filters)
    assert room.web.finds == []
    assert "route web" in answer.notices[0]
    _, answer = await room.ask(filters=filters, route="web")
    assert answer.route == "local+web"


async def test_nothing_published_after_the_day_of_the_question_is_used_and_more_is_looked_for():
    later = tuple(local(n, published="2024-06-01", cosine=0.95) for n in range(1, 4))
    earlier = tuple(local(n) for n in range(4, 9))
    every = (*later, *earlier)
    room = Room(found=lambda k: Retrieved(every[:k], best_cosine=0.95), web=FakeWeb(providers=()))
    started, answer = await room.ask()
    assert [c.document_id for c in (*started.evidence, *started.further_reading)] == ["l4", "l5", "l6"]
    assert [k for _, k, _ in room.retriever.searches] == [3, 12]
    assert answer.gate.probability == 0.8


async def test_cancelling_while_the_web_is_searched_goes_through():
    room = Room(web=FakeWeb(None), seconds=3600)
    task = asyncio.create_task(room.ask())
    await wait_until_async(lambda: bool(room.web.finds), what="the web is searched")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
