"""A small model and the extractive reader with one answer: what stands, what leads, what is left out."""

from dataclasses import replace
from datetime import date

import pytest
from quelea_fintext.facts import StatedFigure
from quelea_fintext.languages import REFUSALS
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.joint_answer import Bounds, Preparation, compare, first_sentence, is_better_choice, prepare
from quelea_generator.core.joint_reader import JointReader
from quelea_generator.core.model import Delta, Event, Evidence, Finished, Operand, Quote, Task

HEADER = "Harrow Lines · 10-Q · FY2031 Q2 · quarter ended June 30, 2031 · MD&A"
TABLE = Evidence(
    1,
    "(In thousands)\nSix Months Ended\nJune 30, 2031\tJune 30, 2030\n"
    "Operating income\t77\t81\nOther operating income\t19\t18",
    header=HEADER,
    is_table=True,
    company="Harrow Lines",
    period_end="2031-06-30",
    period_label="FY2031 Q2",
)
PROSE = Evidence(
    2,
    "The harbour was dredged in spring. Operating income fell because diesel became dearer.",
    header=HEADER,
    company="Harrow Lines",
    period_end="2031-06-30",
    period_label="FY2031 Q2",
)
DAY = date(2031, 9, 1)
HOW_MUCH = Task("What was Harrow Lines' operating income in the six months ended June 30, 2031?", (TABLE, PROSE), DAY)
WHY = Task("Why did Harrow Lines' operating income fall?", (TABLE, PROSE), DAY)


async def ask(chat: FakeEndpoint, task: Task) -> tuple[str, list[Quote], Finished]:
    async def read(task: Task) -> Preparation:
        return prepare(task, 360)

    writer = ModelReader(
        chat,
        evidence_tokens=3000,
        history_tokens=0,
        max_tokens=100,
        temperature=0,
        template="short_answer",
        sureness=True,
    )
    events: list[Event] = [event async for event in JointReader(writer, read).read(task)]
    assert isinstance(events[-1], Finished)
    text = "".join(event.text for event in events if isinstance(event, Delta))
    return text, [event for event in events if isinstance(event, Quote)], events[-1]


async def test_a_sentence_with_the_figure_of_the_quotes_is_the_answer_and_has_its_scale() -> None:
    text, quotes, end = await ask(FakeEndpoint(["It was ", "$77 in the half [1]."], sureness=0.5), HOW_MUCH)
    assert text == "It was $77 thousand in the half [1]."
    assert [one.text for one in quotes] == ["Operating income\t77\t81"]
    assert (end.reason, end.reader) == ("stop", "")


@pytest.mark.parametrize("first", ["Harrow Lines Inc. earned", "In the U.S. it earned", "1. It earned"])
async def test_a_stop_that_ends_no_sentence_ends_none(first: str) -> None:
    text, _, end = await ask(FakeEndpoint([first, " $77", " [1]. ", "It is so."], sureness=0.5), HOW_MUCH)
    assert text == f"{first} $77 thousand [1]. It is so."
    assert end.reader == ""


@pytest.mark.parametrize("said", ["It was $77 [1]. {}.", "{}. It was $77 [1]."])
async def test_a_refusal_beside_an_answer_takes_no_quote_from_it(said: str) -> None:
    text, quotes, end = await ask(FakeEndpoint([said.format(REFUSALS["en"])], sureness=0.95), HOW_MUCH)
    assert text.strip() == "It was $77 thousand [1]."
    assert [one.text for one in quotes] == ["Operating income\t77\t81"]
    assert (end.reason, end.decline) == ("stop", None)


@pytest.mark.parametrize("wrong", ["It was $81 in the half [1].", "It was $5,000 [1].", "It was good [2]."])
async def test_a_figure_of_another_column_or_of_nowhere_leaves_the_quotes(wrong: str) -> None:
    chat = FakeEndpoint([wrong + " ", "More."], sureness=0.99)
    text, quotes, end = await ask(chat, HOW_MUCH)
    assert "no language model wrote this" in text
    assert "Operating income: 77" in text
    assert wrong not in text
    assert "More." not in text
    assert quotes[0].text == "Operating income\t77\t81"
    assert (end.reader, end.model) == ("extractive", "extractive-1")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("Diluted earnings per share\t6.13\t6.08", "It was $6.13 [1]."),
        ("Average price per barrel\t80.10\t81.20", "It was $80.10 [1]."),
        ("Gross margin (%)\t12.5\t13.5", "It was 12.5 [1]."),
    ],
)
@pytest.mark.parametrize("first", [True, False])
async def test_rates_are_in_no_scale_of_their_table(row: str, said: str, *, first: bool) -> None:
    unit, dates = "(In millions, except per share amounts)", "Six Months Ended\nJune 30, 2031\tJune 30, 2030"
    table = replace(TABLE, text="\n".join([*((unit, dates) if first else (dates, unit)), row]))
    label = row.partition("\t")[0].lower()
    asked = f"What was Harrow Lines' {label} in the six months ended June 30, 2031?"
    text, _, _ = await ask(FakeEndpoint([said], sureness=0.99), replace(HOW_MUCH, question=asked, evidence=(table,)))
    assert "million" not in text.partition(", from the row")[0].replace("in millions", "")
    assert said.split()[2].strip("$") in text


async def test_of_a_row_of_losses_the_other_column_is_no_answer() -> None:
    losses = replace(TABLE, text=TABLE.text.replace("77\t81", "(77)\t(81)"))
    text, _, end = await ask(FakeEndpoint(["It was $(81) [1]."], sureness=0.99), replace(HOW_MUCH, evidence=(losses,)))
    assert "Operating income: (77)" in text
    assert end.reader == "extractive"


@pytest.mark.parametrize(("sureness", "kept"), [(0.95, True), (0.6, False)])
async def test_a_figure_of_another_row_stands_when_the_model_is_sure(sureness: float, kept: bool) -> None:
    text, _, end = await ask(FakeEndpoint(["It was $19", " [1]."], sureness=sureness), HOW_MUCH)
    assert text.startswith("It was $19 thousand [1]") is kept
    assert (end.reader == "extractive") is not kept


async def test_quotes_follow_an_account_unless_it_says_the_same() -> None:
    text, quotes, _ = await ask(FakeEndpoint(["Costs rose [2]. ", "So it fell."]), WHY)
    sentence, _, beside = text.partition("\n\nQuoted from the sources:\n")
    assert sentence == "Costs rose [2]. So it fell."
    assert "because diesel became dearer" in beside
    assert {one.number for one in quotes} == {1, 2}
    copied, _, _ = await ask(FakeEndpoint([PROSE.text.split(". ")[1] + " [2]."]), replace(WHY, evidence=(PROSE,)))
    assert "Quoted" not in copied


@pytest.mark.parametrize("said", [[], [REFUSALS["en"]], [" "]])
async def test_where_the_model_says_nothing_the_quotes_answer(said: list[str]) -> None:
    text, quotes, end = await ask(FakeEndpoint(said), WHY)
    assert "because diesel became dearer" in text
    assert REFUSALS["en"] not in text
    assert quotes
    assert (end.reason, end.reader) == ("stop", "extractive")


async def test_what_statements_say_stands_and_the_model_is_not_asked() -> None:
    start = TABLE.text.index("77")
    operand = Operand(1, start, start + 2, "Operating income", "", "77000", "USD", "2031-01-01", "2031-06-30", "77")
    figure = StatedFigure("Harrow Lines", "77000", "USD", "2031-01-01", "2031-06-30", (operand,))
    chat = FakeEndpoint(["invented"])
    text, quotes, end = await ask(chat, replace(HOW_MUCH, figures=(figure,)))
    assert "Harrow Lines reported Operating income" in text
    assert chat.seen == []
    assert quotes[0].text.endswith("77")
    assert end.reader == "extractive"


async def test_why_a_stated_figure_moved_is_asked_and_the_figure_leads() -> None:
    start = TABLE.text.index("77")
    operand = Operand(1, start, start + 2, "Operating income", "", "77000", "USD", "2031-01-01", "2031-06-30", "77")
    figure = StatedFigure("Harrow Lines", "77000", "USD", "2031-01-01", "2031-06-30", (operand,))
    text, quotes, _ = await ask(FakeEndpoint(["Diesel became dearer [2]."]), replace(WHY, figures=(figure,)))
    assert text.index("reported Operating income") < text.index("As the language model puts it: Diesel")
    assert [one.number for one in quotes] == [1, 2]


async def test_what_the_extractive_reader_declines_the_model_is_not_asked() -> None:
    chat = FakeEndpoint(["invented"])
    text, quotes, end = await ask(
        chat, replace(HOW_MUCH, question="How many ferries did Harrow Lines charter in Norway?")
    )
    assert text == REFUSALS["en"]
    assert not quotes
    assert chat.seen == []
    assert end.decline is not None


async def test_without_preparation_the_model_answers_alone() -> None:
    async def fail(_task: Task) -> None:
        return None

    chat = FakeEndpoint(["It was ", "dear [2]."])
    writer = ModelReader(chat, evidence_tokens=3000, history_tokens=0, max_tokens=100, temperature=0)
    events = [event async for event in JointReader(writer, fail).read(WHY)]
    assert "".join(event.text for event in events if isinstance(event, Delta)) == "It was dear [2]."
    assert len(chat.seen) == 1


@pytest.mark.parametrize(
    ("said", "relation"),
    [
        ("It was $77 in the half [1].", "same"),
        ("It was $81 in the half [1].", "same line"),
        ("It was $19 [1].", "other line"),
        ("It was $5,000 [1].", "unseen"),
        ("It was good [1].", "no figure"),
    ],
)
def test_the_models_figure_is_told_by_the_line_that_it_is_of(said: str, relation: str) -> None:
    found = compare(said, prepare(HOW_MUCH, 360))
    assert found.relation == relation
    assert (found.ratio > 0.0) == (relation == "other line")


def test_a_figure_of_another_row_stands_from_the_bound_on() -> None:
    prepared = prepare(HOW_MUCH, 360)
    assert is_better_choice("It was $19 [1].", prepared, 0.6, Bounds(sure=0.5))
    assert not is_better_choice("It was $19 [1].", prepared, 0.6, Bounds(sure=0.7))
    assert not is_better_choice("It was $19 [1].", prepared, None, Bounds(as_good=1.0))
    assert is_better_choice("It was $19 [1].", prepared, None, Bounds(as_good=0.1))


def test_of_a_text_in_pieces_the_first_sentence_has_the_lowest_sureness_of_its_own() -> None:
    pieces = [("\n", None), ("In the U.S. it was ", 0.9), ("$19", 0.7), (" [1]. ", None), ("Before, 18.", 0.2)]
    assert first_sentence(pieces) == ("In the U.S. it was $19 [1]. ", 0.7)
    assert first_sentence(pieces[:3]) == ("In the U.S. it was $19", 0.7)
