"""The ask pipeline on fakes, without a network."""

import asyncio
from dataclasses import replace

import pytest
from quelea_fintext.notices import Note, NoteReason
from quelea_gateway.core.model import (
    Answer,
    Delta,
    Fact,
    Figure,
    Filters,
    Finished,
    Operand,
    Passage,
    Quote,
    Quoted,
    ReaderInfo,
    Reading,
    Retrieved,
    Standalone,
    Started,
    Turn,
)
from quelea_gateway.core.pipeline import ReaderFailed
from quelea_gateway.core.review.decline import DeclineReason
from quelea_gateway.core.review.verdicts import Grounding
from quelea_kit.errors import Overloaded, Unavailable
from support.pipeline import FakeGenerator, FakeRetriever, Pipeline, passages, question, run

NO_FILING = Note(NoteReason.PERIOD_NOT_STORED, periods=("FY2019",))


def good_events():
    text = passages(1)[0].text
    return [Quote(1, 0, len(text), text), Delta(f"{text} "), Delta("[1]"), Finished("stop", "extractive", "m")]


async def test_started_then_deltas_then_the_answer():
    items = await run(Pipeline(FakeRetriever(Retrieved(passages(5))), FakeGenerator(good_events())))
    assert [type(i) for i in items] == [Started, Delta, Delta, Grounding, Answer]
    started, answer = items[0], items[-1]
    assert [c.number for c in started.evidence] == [1, 2]
    assert [c.number for c in answer.further_reading] == [3, 4, 5]
    assert answer.answer == passages(1)[0].text + " [1]"
    assert [(c.number, c.document_id, c.start) for c in answer.citations] == [(1, "d1", 10)]
    assert all(c.passed for c in answer.checks)
    assert answer.route == "local"
    assert answer.as_of == "2024-01-02"


async def test_timings_add_up_and_the_gateways_own_share_is_small():
    answer = (await run(Pipeline(FakeRetriever(Retrieved(passages(5))), FakeGenerator(good_events()))))[-1]
    own = answer.timings
    assert own["retrieve"] + own["generate"] + own["gateway"] == pytest.approx(own["total"], abs=0.05)
    assert own["gateway"] < 1000


async def test_the_readers_budget_bounds_the_evidence():
    generator = FakeGenerator(good_events(), tokens=40)
    await run(Pipeline(FakeRetriever(Retrieved(passages(5))), generator), question(j=5))
    assert 1 <= len(generator.calls[0][1]) < 5


@pytest.mark.parametrize("missing", ["company_missing", "period_missing"])
async def test_a_missing_company_or_period_is_told_to_the_reader(missing):
    generator = FakeGenerator(good_events())
    found = Retrieved(passages(2), Reading(**{missing: True}))
    answer = (await run(Pipeline(FakeRetriever(found), generator)))[-1]
    assert generator.calls[0][2] is True
    assert len(answer.notices) == 1


@pytest.mark.parametrize(
    ("asked", "missing", "expected"),
    [
        ("Net sales?", False, ["no filing for FY2019; searched everything"]),
        ("Net sales?", True, ["no filing for FY2019; searched everything"]),
        ("营业收入是多少？", False, ["没有2019财年的财务报告，已检索全部内容"]),
        ("营业收入是多少？", True, ["没有2019财年的财务报告，已检索全部内容"]),
    ],
)
async def test_notes_are_a_notice_and_chinese_questions_get_chinese_ones(asked, missing, expected):
    found = Retrieved(passages(2), Reading(notes=(NO_FILING,), company_missing=missing))
    answer = (await run(Pipeline(FakeRetriever(found), FakeGenerator(good_events())), question(asked)))[-1]
    assert list(answer.notices) == expected


async def test_a_declined_answer_cites_nothing_and_shows_what_was_looked_at():
    events = [Delta("Unable to answer."), Finished("declined", "extractive")]
    answer = (await run(Pipeline(FakeRetriever(Retrieved(passages(5))), FakeGenerator(events))))[-1]
    assert answer.declined.reason == "not_in_evidence"
    assert answer.citations == ()
    assert answer.checks == ()
    assert [c.number for c in answer.further_reading] == [1, 2, 3, 4, 5]


async def test_no_passages_is_a_notice():
    events = [Delta("Unable."), Finished("declined", "extractive")]
    answer = (await run(Pipeline(FakeRetriever(Retrieved(())), FakeGenerator(events))))[-1]
    assert "no passage" in answer.notices[0]
    assert (answer.declined.reason, answer.declined.detail) == ("no_evidence", answer.notices[0])


@pytest.mark.parametrize(
    ("asked", "reading", "reason", "words"),
    [
        ("Net sales in the fifth quarter of 2023?", Reading(), "no_such_period", "fifth quarter"),
        ("2023年第五季度的营业收入是多少？", Reading(), "no_such_period", "第五季度"),
        ("What were net sales in fiscal 2031?", Reading(), "period_not_begun", "2031"),
        ("What were net sales in the week 3 of 2023?", Reading(), "period_not_covered", "week 3"),
        (
            "Tesla's sales?",
            Reading(company_missing=True, notes=(Note(NoteReason.COMPANY_NOT_STORED, ("Tesla",)),)),
            "company_not_covered",
            "Tesla",
        ),
        ("Sales?", Reading(period_missing=True, notes=(NO_FILING,)), "period_not_covered", "FY2019"),
        ("Sales?", Reading(), "not_in_evidence", "none of them"),
    ],
)
async def test_the_reason_of_a_declined_answer_names_what_is_missing(asked, reading, reason, words):
    old = tuple(replace(one, period="FY2020 Q1", period_end="2020-03-31") for one in passages(2))
    generator = FakeGenerator([Delta("Unable."), Finished("declined", "extractive")])
    answer = (await run(Pipeline(FakeRetriever(Retrieved(old, reading)), generator), question(asked)))[-1]
    assert answer.declined.reason == reason
    assert words in answer.declined.detail
    assert reason == "not_in_evidence" or answer.declined.detail in answer.notices


async def test_a_dead_reader_leaves_the_evidence_in_the_error():
    pipeline = Pipeline(FakeRetriever(Retrieved(passages(5))), FakeGenerator([Unavailable("away")]))
    with pytest.raises(ReaderFailed) as caught:
        await run(pipeline)
    assert isinstance(caught.value.error, Unavailable)
    assert len(caught.value.started.evidence) == 2
    assert len(caught.value.started.further_reading) == 3


async def test_a_reader_that_stops_without_finishing_failed():
    with pytest.raises(ReaderFailed):
        await run(Pipeline(FakeRetriever(Retrieved(passages(1))), FakeGenerator([Delta("half")])))


async def test_a_failed_retrieval_is_the_callers_error():
    with pytest.raises(Overloaded):
        await run(Pipeline(FakeRetriever(Retrieved(()), Overloaded("full")), FakeGenerator([])))


async def test_leaving_early_closes_the_reader():
    generator = FakeGenerator(good_events())
    items = Pipeline(FakeRetriever(Retrieved(passages(1))), generator).ask(question())
    await anext(items)
    await anext(items)
    await items.aclose()
    assert generator.closed


async def test_cancellation_goes_through():
    class Slow(FakeRetriever):
        async def search(self, *args, **kwargs):
            await asyncio.sleep(3600)

    task = asyncio.create_task(run(Pipeline(Slow(Retrieved(())), FakeGenerator([]))))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


HISTORY = (Turn("user", "What were Apple's net sales in Q3?"), Turn("assistant", "81,797"))
ALONE = Standalone("What were Apple's net sales in Q2?", "rules")


async def test_a_follow_up_is_searched_judged_and_answered_as_it_stands_alone_and_shown():
    retriever, generator = FakeRetriever(Retrieved(passages(1))), FakeGenerator(good_events())
    generator.rewrites = {"And in Q2?": ALONE}
    started, *_, answer = await run(Pipeline(retriever, generator), question("And in Q2?", history=HISTORY))
    assert (started.standalone, answer.standalone) == (ALONE, ALONE)
    assert [call[0] for call in retriever.calls] == [ALONE.question]
    asked = generator.calls[0][0]
    assert (asked.asked, asked.text, asked.history) == (ALONE.question, "And in Q2?", HISTORY)
    assert answer.timings["rewrite"] >= 0
    assert (retriever.texts, generator.companies) == ([HISTORY[0].text, "And in Q2?"], ("Zebra",))


async def test_a_question_that_stands_alone_is_left_as_it_is():
    retriever, generator = FakeRetriever(Retrieved(passages(1))), FakeGenerator(good_events())
    generator.rewrites = {"And in Q2?": AssertionError("nobody asks without a history")}
    started, *_, answer = await run(Pipeline(retriever, generator), question("And in Q2?"))
    assert (started.standalone, answer.standalone, "rewrite" in answer.timings) == (None, None, False)
    *_, answer = await run(Pipeline(retriever, generator), question(history=HISTORY))
    assert answer.standalone is None
    assert [call[0] for call in retriever.calls] == ["And in Q2?", "What were net sales?"]


async def test_while_nobody_can_rewrite_a_follow_up_is_searched_with_the_question_before():
    retriever, generator = FakeRetriever(Retrieved(passages(1))), FakeGenerator(good_events())
    texts = ("And in Q2?", "What is Basel III about in general?", "那第二季度呢？")
    generator.rewrites = {text: Unavailable("away") for text in texts}
    history, pipeline = HISTORY, Pipeline(retriever, generator)
    await run(pipeline, question("And in Q2?", history=history))
    await run(pipeline, question("What is Basel III about in general?", history=history))
    await run(pipeline, question("那第二季度呢？", history=history))
    queries = [call[0] for call in retriever.calls]
    assert queries[0].startswith("What were Apple's")
    assert queries[1] == "What is Basel III about in general?"
    assert queries[2].startswith("What were Apple's")
    assert generator.calls[0][0].asked == "And in Q2?"


async def test_filters_and_k_reach_the_retriever():
    retriever = FakeRetriever(Retrieved(passages(1)))
    filters = Filters(companies=("Apple",))
    await run(Pipeline(retriever, FakeGenerator(good_events())), question(filters=filters, k=7))
    assert retriever.calls[0][1:] == (7, "2024-01-02", filters)


STATING = Passage("d9", 3, 100, 127, "Net sales\t$ 1,200\t$ 1,000")
NET_SALES = Fact("income", "Net sales", "revenue", "1200", "USD", "2023-01-01", "2023-12-31", "$ 1,200", 110, 117)
ASKED_FIGURE = Figure("Kestrel", "1200", "USD", "2023-01-01", "2023-12-31", (Operand(NET_SALES, STATING),))


async def test_passages_that_state_the_figure_come_first_and_make_the_evidence_enough():
    text = "Kestrel reported Net sales of $1,200 [1] for the year ended December 31, 2023."
    events = [Delta(text), Quote(1, 0, 17, "Net sales\t$ 1,200"), Finished("stop", "extractive", "m")]
    generator = FakeGenerator(events)
    found = Retrieved(passages(5), Reading(period_missing=True), figures=(ASKED_FIGURE,))
    items = await run(Pipeline(FakeRetriever(found), generator, passes=False))
    started, answer = items[0], items[-1]
    assert started.gate.passed
    assert [one.document_id for one in started.evidence] == ["d9", "d1"]
    assert generator.calls[0][2] is False  # nothing is missing
    assert answer.answer == text
    assert [(one.start, one.quote) for one in answer.citations] == [(100, "Net sales\t$ 1,200")]
    assert all(one.passed for one in answer.checks)


async def test_a_figure_of_no_period_at_all_is_none():
    generator = FakeGenerator([Delta("Unable."), Finished("declined", "extractive")])
    found = Retrieved(passages(5), figures=(ASKED_FIGURE,))
    await run(Pipeline(FakeRetriever(found), generator), question("Net sales in the fifth quarter of 2023?"))
    assert generator.calls[0][1] == ()


SALES = Passage(
    document_id="d1",
    page=3,
    start=10,
    end=80,
    text="Net sales 81,797 82,959\nServices 21,213 19,604",
    is_table=True,
    table_head="(In millions of dollars)",
    company="Zebra",
)


class Writer(FakeGenerator):
    async def info(self):
        return ReaderInfo("openai", "m", self.tokens)


def drafted(*pieces):
    return Writer([*map(Delta, pieces), Finished("stop", "openai", "m")])


async def test_a_draft_streams_with_its_figures_in_place_and_the_answer_carries_them():
    generator = drafted("Net sales were {81,7", "97 [1]}, a fall of {(82,959 [1] - 81,797 [1]) /", " 82,959 [1] = %}.")
    items = await run(Pipeline(FakeRetriever(Retrieved((SALES,))), generator))
    said = "Net sales were $81,797 million [1], a fall of 1.40% [1]."
    assert "".join(item.text for item in items if isinstance(item, Delta)) == said
    answer = items[-1]
    assert answer.answer == said
    assert [(c.number, c.quote) for c in answer.citations] == [
        (1, "Net sales 81,797"),
        (1, "Net sales 81,797 82,959"),
    ]
    assert [(f.value[:4], f.unit, f.formula, [o.printed for o in f.operands]) for f in answer.figures] == [
        ("8179", "USD", "", ["81,797"]),
        ("1.40", "percent", "({0} − {1}) / {0}", ["82,959", "81,797"]),
    ]
    assert all(one.passed for one in answer.checks)


async def test_a_strict_answer_leaves_out_what_was_not_traced():
    generator = drafted("Net sales were {81,797 [1]}. They grew by {(81,797 [1] - 70,000 [1]) / 70,000 [1] = %}.")
    items = await run(Pipeline(FakeRetriever(Retrieved((SALES,))), generator), question(strict=True))
    assert [item.text for item in items if isinstance(item, Delta)] == ["Net sales were $81,797 million [1]."]
    assert len(items[-1].grounding.withheld) == 1


async def test_the_quotes_of_the_extractive_reader_keep_their_braces():
    odd = replace(SALES, text="The set {81,797 [1]} is printed so.")
    events = [Quote(1, 0, len(odd.text), odd.text), Delta(f"{odd.text} [1]"), Finished("stop", "extractive", "m")]
    items = await run(Pipeline(FakeRetriever(Retrieved((odd,))), FakeGenerator(events)))
    assert items[-1].answer == f"{odd.text} [1]"


class WriterBesideQuotes(Writer):
    """A language model's events, and the extractive reader's beside it."""

    def __init__(self, events, quotes=None, waits=None):
        super().__init__(events)
        self.quoted, self.waits = good_events() if quotes is None else quotes, waits

    async def info(self):
        return ReaderInfo("openai", "m", self.tokens, adapters=("extractive-1",))

    async def generate(self, question, evidence, *, evidence_incomplete, figures=()):
        if question.model == "extractive-1":
            for event in self.quoted:
                yield event
            return
        if self.waits:
            await self.waits.wait()
        async for event in super().generate(
            question, evidence, evidence_incomplete=evidence_incomplete, figures=figures
        ):
            yield event


WROTE = [Delta("Net sales of part 1 were 100 units [1]."), Finished("stop", "openai", "m")]
INVENTED = [Delta("Unicorns graze on 777 meadows."), Finished("stop", "openai", "m")]


async def test_quotes_are_there_before_the_model_has_written():
    waits = asyncio.Event()
    items = []
    async for item in Pipeline(FakeRetriever(Retrieved(passages(5))), WriterBesideQuotes(WROTE, waits=waits)).ask(
        question()
    ):
        items.append(item)
        if isinstance(item, Quoted):
            waits.set()
    assert [type(i) for i in items] == [Started, Quoted, Delta, Grounding, Answer]
    assert (items[1].text, len(items[1].citations)) == (passages(1)[0].text + " [1]", 1)
    assert (items[-1].reader, items[-1].stands_in) == ("openai", False)


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([Unavailable("The engine is gone.")], "did not answer"),
        ([Delta("Net sal"), Unavailable("The engine is gone.")], "did not answer"),
        ([Delta("Net sal")], "did not answer"),
        (INVENTED, "does not bear out"),
        ([Finished("declined", "openai", "m", decline_reason=DeclineReason.EMPTY_ANSWER)], "does not bear out"),
    ],
)
async def test_where_the_model_cannot_answer_the_quotes_do(events, why):
    answer = (await run(Pipeline(FakeRetriever(Retrieved(passages(5))), WriterBesideQuotes(events))))[-1]
    assert (answer.answer, answer.reader, answer.stands_in) == (passages(1)[0].text + " [1]", "extractive", True)
    assert why in answer.notices[0]
    assert answer.declined is None


async def test_the_model_may_decline_and_what_is_refused_stays_refused():
    refused = [Delta("Unable."), Finished("declined", "openai", "m", decline_reason=DeclineReason.MODEL_REFUSED)]
    answer = (await run(Pipeline(FakeRetriever(Retrieved(passages(5))), WriterBesideQuotes(refused))))[-1]
    assert answer.declined.reason == "model_refused"
    with pytest.raises(ReaderFailed):
        await run(Pipeline(FakeRetriever(Retrieved(passages(5))), WriterBesideQuotes([Overloaded("Full.")])))


async def test_without_quotes_a_dead_model_is_an_error_and_a_poor_draft_a_decline():
    declined = [Delta("Unable."), Finished("declined", "extractive", "m")]
    for quotes in (declined, [Unavailable("Gone too.")]):
        with pytest.raises(ReaderFailed):
            dead = WriterBesideQuotes([Unavailable("Gone.")], quotes)
            await run(Pipeline(FakeRetriever(Retrieved(passages(5))), dead))
        poor = (await run(Pipeline(FakeRetriever(Retrieved(passages(5))), WriterBesideQuotes(INVENTED, quotes))))[-1]
        assert poor.declined.reason == "ungrounded"


async def test_leaving_while_the_model_is_waited_for_ends_everything():
    waits = asyncio.Event()
    items = Pipeline(FakeRetriever(Retrieved(passages(5))), WriterBesideQuotes(WROTE, waits=waits)).ask(question())
    assert isinstance(await anext(items), Started)
    assert isinstance(await anext(items), Quoted)
    await items.aclose()
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
