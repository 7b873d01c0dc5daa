"""What is shown of what a reader wrote: checked, put right, withheld or declined."""

import asyncio
import time

import pytest
from quelea_checker import check_answer
from quelea_fintext.languages import REFUSALS
from quelea_gateway.core.draft import Sources
from quelea_gateway.core.model import Delta, Finished, Passage, Quote, ReaderInfo
from quelea_gateway.core.review import answer_review
from quelea_gateway.core.review.answer_review import Basis, ReaderAnswer, review
from quelea_gateway.core.review.decline import DeclineReason, decline, refusal
from quelea_kit.errors import DeadlineExceeded, Overloaded, Unavailable

SALES = "Total net sales were $81,797 million in the third quarter of 2023, compared to $82,959 million a year earlier."
SERVICES = "Services net sales increased, due primarily to advertising, cloud services and the App Store."
CHINESE = "公司第三季度营业收入4.42亿元，同比增长21.3%；归属于上市公司股东的净利润2.05亿元。"
TABLE = "Three Months Ended\nJuly 1, 2023  June 25, 2022\nNet income  19,881  19,442"


def passage(text, **more):
    return Passage("d", 1, 100, 100 + len(text), text, published="2023-08-04", **more)


EVIDENCE = (
    passage(SALES, header="Apple · 10-Q · FY2023 Q3"),
    passage(SERVICES),
    passage(CHINESE),
    passage("Net income  19,881  19,442", table_head="Three Months Ended\nJuly 1, 2023  June 25, 2022"),
)


class Here:
    def __init__(self, error=None, wait=0.0):
        self.error, self.wait, self.calls = error, wait, []

    async def check(self, answer, passages, *, question=""):
        self.calls.append((answer, passages, question))
        await asyncio.sleep(self.wait)
        if self.error:
            raise self.error
        return check_answer(answer, passages, question=question)


async def conclude(text, *, reader="openai", reason="stop", quotes=(), checker=None, **more):
    basis = Basis(**{"question": "q", "language": "en", "evidence": EVIDENCE, "enough": True, "strict": False, **more})
    return await review(checker or Here(), ReaderAnswer(text, tuple(quotes), Finished(reason, reader, "m")), basis)


def names(done):
    return [name for name, _ in done.notices]


def failed(done):
    return [check.name for check in done.checks if not check.passed]


async def test_a_good_answer_is_shown_with_the_span_that_supports_each_sentence():
    done = await conclude(
        "Net income was 19,881 for the three months ended July 1, 2023. Sales were $81,797 million [1]."
    )
    assert done.text.startswith("Net income was 19,881 for the three months ended July 1, 2023 [4]. Sales")
    assert [(c.number, c.quote) for c in done.citations] == [(4, "Net income  19,881  19,442"), (1, SALES)]
    assert (done.citations[0].start, done.citations[0].end) == (100, 126)
    assert failed(done) == []
    assert done.notices == ()


async def test_the_checker_is_given_what_stands_around_a_passage():
    checker = Here()
    await conclude("Sales were $81,797 million [1].", checker=checker, question="What were sales?")
    _, passages, question = checker.calls[0]
    assert question == "What were sales?"
    assert passages[0].header == "Apple · 10-Q · FY2023 Q3"
    assert passages[3].table_head.startswith("Three Months Ended")
    assert passages[0].published == "2023-08-04"


async def test_a_wrong_figure_is_a_failed_check_and_a_notice():
    done = await conclude("Sales were $81,797 million [1]. Net income was 19,981 [4].")
    assert not done.declined
    assert "figures_supported" in failed(done)
    assert ("figures", "19,981") in done.notices
    check = next(check for check in done.checks if check.name == "figures_supported")
    assert check.detail == "checker: contradicted by the evidence: 19,981"


async def test_invented_markers_fail_a_check_and_are_gone():
    done = await conclude("Sales were $81,797 million [1][77].")
    assert done.text == "Sales were $81,797 million [1]."
    assert failed(done) == ["markers_right"]
    assert done.grounding.removed_markers == ("[77]",)


NONSENSE = [
    "asdf jkl qwer zxcv uiop ghty bnmk lkjh [1].",
    "the the the the the the the the",
    "ÿÿÿÿ \x00\x00 ���� ☃☃☃☃",
    '{"tool": "none", "x": [[[[[',
    "Unicorns are pink and fly around the moon at night while singing loudly.",
    "作为一个语言模型，独角兽在月球上唱歌跳舞并且非常快乐。",
    "asdf",
    "[1][2][3]",
    "999,999,999 and 123,456,789 [1].",
]


@pytest.mark.parametrize("text", NONSENSE)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("strict", [True, False])
async def test_nonsense_is_declined_with_the_papers_sentence_and_says_why(text, language, strict):
    done = await conclude(text, language=language, strict=strict)
    assert done.declined
    assert done.text == REFUSALS[language]
    assert done.citations == ()
    assert done.grounding.text == done.text
    assert done.declined.reason in {"ungrounded", "all_withheld"}
    assert names(done) == [done.declined.reason]


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_an_empty_answer_is_declined(text):
    done = await conclude(text)
    assert (done.text, done.declined.reason) == (REFUSALS["en"], "empty_answer")


@pytest.mark.parametrize("text", ["App Store", "Yes [1].", "是的[3]。", "advertising, cloud services [2]"])
async def test_short_answers_that_stand_in_the_evidence_or_cite_it_are_answers(text):
    assert not (await conclude(text)).declined


async def test_partial_support_is_enough_only_with_enough_evidence():
    text = "Services sales increased with cloud advertising, which pleased many patient investors everywhere today."
    assert not (await conclude(text, enough=True)).declined
    done = await conclude(text, enough=False)
    assert done.declined
    assert names(done) == [done.declined.reason] == ["weak_evidence"]
    assert not (await conclude("Sales were $81,797 million.", enough=False)).declined


async def test_strict_withholds_and_says_how_many():
    text = "Sales were $81,797 million [1]. Net income was 19,981 [4]."
    done = await conclude(text, strict=True)
    assert done.text == "Sales were $81,797 million [1]."
    assert done.grounding.withheld == ("Net income was 19,981 [4].",)
    assert done.notices == (("withheld", "1"),)
    assert "figures_supported" not in failed(done)
    assert [c.number for c in done.citations] == [1]


@pytest.mark.parametrize(("text", "language"), [("Net income was 19,981 [4].", "en"), ("净利润为9.99亿元[3]。", "zh")])
async def test_strict_declines_when_nothing_with_content_is_left(text, language):
    done = await conclude(text, strict=True, language=language)
    assert done.declined
    assert done.text == REFUSALS[language]
    assert done.grounding.withheld == (text,)
    assert names(done) == ["all_withheld"]
    assert not (await conclude("以下是结果：\n" + text + "\n第三季度营业收入4.42亿元[3]。", strict=True)).declined


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        (REFUSALS["en"] + ".", "en", REFUSALS["en"] + "."),
        (REFUSALS["zh"] + "。", "zh", REFUSALS["zh"] + "。"),
        (REFUSALS["en"], "zh", REFUSALS["zh"]),
        ("Sales were 5 billion. " + REFUSALS["en"], "en", REFUSALS["en"]),
    ],
)
async def test_a_reader_that_declines_is_taken_at_its_word_in_the_questions_language(text, language, said):
    checker = Here()
    done = await conclude(text, reason="declined", language=language, checker=checker)
    assert (done.text, done.declined.reason, done.checks) == (said, "model_refused", ())
    assert refusal(text, language) == said
    assert checker.calls == []


REFUSED = {"text": REFUSALS["en"], "reason": "declined"}


@pytest.mark.parametrize(
    ("reader", "decline_reason", "reason"),
    [
        ("extractive", None, "not_in_evidence"),
        ("openai", None, "model_refused"),
        ("openai", DeclineReason.EMPTY_ANSWER, "empty_answer"),
    ],
)
async def test_a_readers_own_reason_is_taken_where_it_has_one(reader, decline_reason, reason):
    basis = Basis("q", "en", EVIDENCE, enough=True, strict=False)
    written = ReaderAnswer(REFUSALS["en"], (), Finished("declined", reader, "m", decline_reason=decline_reason))
    assert (await review(Here(), written, basis)).declined == decline(DeclineReason(reason), "en")


async def test_a_readers_own_sentence_is_english_and_so_is_shown_to_english_questions_only():
    finished = Finished("declined", "extractive", "m", decline_reason=DeclineReason.NOT_IN_EVIDENCE,
                        decline_detail="No passage names Acme.")  # fmt: skip
    for language, detail in (("en", "No passage names Acme."), ("zh", decline(finished.decline_reason, "zh").detail)):
        basis = Basis("q", language, EVIDENCE, enough=True, strict=False)
        done = await review(Here(), ReaderAnswer(REFUSALS[language], (), finished), basis)
        assert (done.declined.reason, done.declined.detail) == ("not_in_evidence", detail)


async def test_what_the_evidence_lacks_explains_a_readers_refusal_and_not_an_answer_that_fails_the_checks():
    lacking = decline(DeclineReason.COMPANY_NOT_COVERED, "en")
    assert (await conclude(**REFUSED, shortfall=lacking)).declined == lacking
    assert (await conclude(NONSENSE[0], shortfall=lacking)).declined.reason == "ungrounded"
    assert (await conclude(NONSENSE[0], shortfall=lacking, evidence=())).declined == lacking
    assert (await conclude("Sales were $81,797 million [1].", shortfall=lacking)).declined is None


async def test_an_answer_in_the_other_language_is_a_notice():
    assert names(await conclude("第三季度营业收入4.42亿元，同比增长21.3%[3]。", language="en")) == ["language"]
    assert names(await conclude("Total net sales were $81,797 million [1].", language="zh")) == ["language"]
    assert names(await conclude("$81,797 [1]", language="zh")) == []


async def test_quotes_of_the_extractive_reader_need_no_checker_and_are_never_declined():
    checker, row = Here(), "Net income  19,881  19,442"
    text = f"Quoted from the sources:\nNet income: 19,881 (three months ended July 1, 2023), from the row “{row}” [4]"
    quote = Quote(4, 0, len(row), row)
    done = await conclude(text, reader="extractive", quotes=[quote], checker=checker, enough=False, strict=True)
    assert checker.calls == []
    assert (done.text, done.declined, failed(done), done.notices) == (text, None, [], ())
    assert [c.quote for c in done.citations] == [row]
    assert {f.verdict for f in done.grounding.figures} == {"supported"}
    assert next(c.detail for c in done.checks if c.name == "figures_supported").startswith("quotes: ")


async def test_a_figure_beside_the_quotes_of_the_extractive_reader_is_checked():
    checker, row = Here(), "Net income  19,881  19,442"
    text = f"Net income: 77,777 in the row “{row}” [4]"
    done = await conclude(text, reader="extractive", quotes=[Quote(4, 0, len(row), row)], checker=checker)
    assert len(checker.calls) == 1
    assert done.grounding.unsupported() == ["77,777"]
    assert [p.text for p in checker.calls[0][1]] == ["", "", "", row]


@pytest.mark.parametrize("error", [Overloaded("full"), Unavailable("gone"), DeadlineExceeded("late")])
async def test_a_check_that_cannot_be_made_leaves_the_answer_and_says_so(error):
    done = await conclude("Sales were $81,797 million [1].", checker=Here(error))
    assert done.grounding is None
    assert [c.number for c in done.citations] == [1]
    assert names(done) == ["unchecked"]
    assert failed(done) == ["figures_supported"]
    with pytest.raises(type(error)):
        await conclude("Sales were $81,797 million [1].", checker=Here(error), strict=True)


async def test_what_a_draft_pointed_at_stays_where_the_check_cannot_be_made():
    draft = "Net income was {19,881 [4]}; sales fell by {(82,959 [1] - 81,797 [1]) / 82,959 [1] = %}."
    done = await conclude(draft, checker=Here(Overloaded("full")), sources=Sources(EVIDENCE))
    assert names(done) == ["unchecked"]
    assert [(one.metric, len(one.operands)) for one in done.figures] == [("calculation", 2)]
    assert [(c.number, c.quote) for c in done.citations] == [(4, "Net income  19,881  19,442"), (1, SALES)]


SEGMENT = passage(
    "North America\nNet sales\t$ 78,843\t$ 87,887\nOperating income (loss)\t$ (412)\t$ 4,307\n"
    "AWS\nNet sales\t$ 20,538\t$ 23,059\nOperating income\t$ 5,403\t$ 6,976\n"
    "Consolidated\nNet sales\t$ 127,101\t$ 143,083\nOperating income\t2,525\t11,188",
    table_head="(in millions)\tThree Months Ended September 30,\n2022\t2023",
    header="Amazon · 10-Q · FY2023 Q3 · quarter ended September 30, 2023",
    section="Segment information › AWS",
    is_table=True,
)
UNSCALED = passage(
    "Net Sales:\nAWS 20,538 23,059\nPhysical stores 4,694 4,959",
    table_head="Three Months Ended September 30,\n2022 2023",
)
REASONS = passage(
    "AWS costs rose due to increased payroll and spending on technology infrastructure in the nine months."
)


async def write(draft, *evidence):
    return await conclude(draft, evidence=evidence, sources=Sources(evidence))


async def test_what_a_figure_is_compared_with_is_not_of_the_sentences_time_where_a_marker_stands_between():
    draft = (
        "AWS operating income was {6,976 [1]} in the third quarter of 2023, compared with {5,403 [1]} a year before."
    )
    assert (await write(draft, SEGMENT)).notices == ()
    wrong = "AWS operating income was {5,403 [1]} in the third quarter of 2023."
    assert names(await write(wrong, SEGMENT)) == ["figures"]


async def test_two_figures_beside_two_that_they_are_compared_with():
    draft = (
        "AWS earned more in the third quarter of 2023. Operating income was {6,976 [1]} on net sales of {23,059 [1]}, "
        "compared with {5,403 [1]} on {20,538 [1]}."
    )
    assert (await write(draft, SEGMENT)).grounding.unsupported() == []


async def test_a_figure_of_another_row_is_no_base_of_a_comparison():
    draft = "AWS's operating income was {6,976 [1]}, compared with {11,188 [1]}."  # of the whole company
    assert names(await write(draft, SEGMENT)) == ["figures"]


async def test_the_scale_of_a_row_is_told_by_another_table_of_the_document():
    done = await write("AWS's net sales were {23,059 [1]} and physical stores' {4,959 [1]}.", UNSCALED, SEGMENT)
    assert done.text == "AWS's net sales were $23,059 million [1] and physical stores' 4,959 [1]."


async def test_a_marker_behind_words_of_its_own_passage_stays_in_a_sentence_of_another_ones_figures():
    draft = "Operating income was {6,976 [1]} in the third quarter of 2023, as payroll and technology cost more [2]."
    done = await write(draft, SEGMENT, REASONS)
    assert done.text.endswith(
        "$6,976 million [1] in the third quarter of 2023, as payroll and technology cost more [2]."
    )
    moved = await write(draft.replace("[2]", "[3]"), SEGMENT, REASONS, passage(SERVICES))
    assert "cost more [3]" not in moved.text


async def test_a_checker_that_breaks_costs_its_verdicts_and_not_the_answer():
    done = await conclude("Sales were $81,797 million [1].", checker=Here(ZeroDivisionError("a bug")))
    assert names(done) == ["unchecked"]
    with pytest.raises(answer_review.CheckFailed):
        await conclude("Sales were $81,797 million [1].", checker=Here(ZeroDivisionError("a bug")), strict=True)


async def test_a_check_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(answer_review, "CHECK_SECONDS", 0.01)
    assert names(await conclude("Sales were $81,797 million [1].", checker=Here(wait=30))) == ["unchecked"]


async def test_a_comparison_that_breaks_or_takes_too_long_costs_the_verdicts_and_not_the_answer(monkeypatch):
    monkeypatch.setattr(answer_review, "CHECK_SECONDS", 0.5)
    for compare in (lambda *_: 1 / 0, lambda *_: time.sleep(2)):
        monkeypatch.setattr(answer_review, "compare", compare)
        assert names(await conclude("Sales were $81,797 million [1].")) == ["unchecked"]


def test_a_reader_that_never_stops_is_cut():
    draft = answer_review.Draft(ReaderInfo("openai", "m", 100, "v"))
    while not draft.endless:
        draft.take(Delta("more and more "))
    written = draft.written()
    assert len(written.text) == answer_review.MOST_CHARACTERS
    assert (written.finished.reason, written.finished.model) == ("length", "m")
