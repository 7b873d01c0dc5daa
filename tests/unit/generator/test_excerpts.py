"""Evidence cut to the lines that matter: the right rows, each figure with its column, in the room there is."""

from dataclasses import replace
from datetime import date

import pytest
from quelea_generator.core.chat.excerpts import count_tokens, excerpt
from quelea_generator.core.chat.prompt import context_line
from quelea_generator.core.model import Decline, Evidence, Task

HEAD = "(In thousands)\nSix Months Ended\nJune 30, 2031\tJune 30, 2030\n"
TABLE = Evidence(
    1,
    f"{HEAD}Freight income\t512\t498\nOperating income\t77\t81\nInterest paid\t9\t8",
    header="Harrow Lines · 10-Q · FY2031 Q2 · quarter ended June 30, 2031 · Statements of Operations",
    is_table=True,
    company="Harrow Lines",
    period_end="2031-06-30",
    period_label="FY2031 Q2",
)
PROSE = Evidence(
    2,
    "The harbour was dredged in spring. Operating income fell because diesel became dearer. Staff were trained.",
    header="Harrow Lines · 10-Q · FY2031 Q2 · quarter ended June 30, 2031 · MD&A",
    company="Harrow Lines",
    period_end="2031-06-30",
    period_label="FY2031 Q2",
)


def ask(question: str, *evidence: Evidence, tokens: int = 400) -> tuple[Evidence, ...]:
    cut = excerpt(Task(question, evidence, date(2031, 9, 1)), tokens)
    assert isinstance(cut, Task)
    return cut.evidence


def test_a_row_comes_with_the_head_of_each_column() -> None:
    (found,) = ask("What was Harrow Lines' operating income in the six months ended June 30, 2031?", TABLE)
    assert found.text.splitlines()[0] == (
        "Operating income (in thousands): 77 (six months ended June 30, 2031); 81 (six months ended June 30, 2030)"
    )
    assert "Freight" not in found.text


def test_a_sentence_stays_as_it_is_and_passages_keep_their_numbers_and_order() -> None:
    found = ask("Why did Harrow Lines' operating income fall?", TABLE, PROSE)
    assert [one.number for one in found] == sorted(one.number for one in found)
    (prose,) = (one for one in found if one.number == 2)
    assert "Operating income fell because diesel became dearer." in prose.text
    assert "harbour" not in prose.text
    if len(found) > 1:
        assert prose.header == "same filing · MD&A"


def test_the_date_is_said_once_where_filing_and_date_are_the_same() -> None:
    asked = "Why did Harrow Lines' operating income fall?"
    dates = [replace(TABLE, published="2031-08-01"), replace(PROSE, published="2031-08-01")]
    found = ask(asked, *dates)
    assert [one.date for one in found] == ["2031-08-01", ""]
    later = replace(dates[1], published="2031-09-01")
    assert [one.date for one in ask(asked, dates[0], later)] == ["2031-08-01", "2031-09-01"]


def test_a_header_of_another_filing_is_whole() -> None:
    other = replace(PROSE, header=PROSE.header.replace("Harrow Lines", "Tern Ferries"), company="Tern Ferries")
    found = ask("Why did operating income fall at Harrow Lines and Tern Ferries?", TABLE, other)
    assert [one.header for one in found if one.number == 2] == [other.header]


def test_the_column_that_is_meant_comes_first_and_none_of_another_length() -> None:
    head = "Three Months Ended June 30,\tSix Months Ended June 30,\n2030\t2031\t2030\t2031\n"
    table = replace(TABLE, text=f"(In thousands)\n{head}Operating income\t40\t39\t81\t77")
    (found,) = ask("What was Harrow Lines' operating income in the second quarter of 2031?", table)
    assert found.text == (
        "Operating income (in thousands): 39 (three months ended June 30, 2031); 40 (three months ended June 30, 2030)"
    )


@pytest.mark.parametrize("tokens", [80, 150, 400])
def test_no_more_is_shown_than_there_is_room_for(tokens: int) -> None:
    rows = "\n".join(f"Operating income of depot {n}\t{n}7\t{n}8" for n in range(60))
    found = ask("What was the operating income?", Evidence(1, HEAD + rows, is_table=True), tokens=tokens)
    assert 0 < sum(count_tokens(one.text) for one in found) <= tokens


def test_what_has_no_line_that_matters_comes_back_whole() -> None:
    odd = Evidence(1, "?!")
    assert ask("What was the operating income?", odd) == (odd,)


@pytest.mark.parametrize(
    "question",
    [
        "What was Tesla's operating income?",
        "What was Harrow Lines' operating income in the third quarter of fiscal 2029?",
    ],
)
def test_a_model_is_not_asked_for_what_is_known_to_be_missing(question: str) -> None:
    declined = excerpt(Task(question, (TABLE, PROSE), date(2031, 9, 1), evidence_incomplete=True), 400)
    assert isinstance(declined, Decline)
    assert declined.detail


def test_passages_may_stay_whole() -> None:
    task = Task("What was Harrow Lines' operating income?", (TABLE, PROSE), date(2031, 9, 1))
    assert excerpt(task, 0) == task


def test_columns_without_a_period_have_the_words_above_them() -> None:
    text = "Unit: USD\nRevenue\tCost\tMargin\tChange of revenue\nBy product\nFerries\t612.5\t401.2\t34.5%\t182.3%"
    (found,) = ask("What was the margin of Harrow Lines' ferries?", Evidence(1, text, is_table=True))
    assert "Revenue 612.5; Cost 401.2; Margin 34.5%; Change of revenue 182.3%" in found.text


def test_what_stands_above_rows_is_said_once() -> None:
    text = "Largest customers of the year\nShare of the five largest customers\t65.05%\nShare of others\t0.00%"
    (found,) = ask("What is the share of the five largest customers?", Evidence(1, text, is_table=True))
    assert "65.05%" in found.text
    assert found.text.count("Largest customers of the year") == 1


def test_named_columns_keep_the_period_above_them() -> None:
    columns = "Segment\tRevenue\tOperating income"
    text = (
        f"Year ended December 31, 2029 (in millions)\n{columns}\nFerries\t600.5\t100.2\nCruises\t500.5\t90.2\n"
        f"Year ended December 31, 2030 (in millions)\n{columns}\nFerries\t612.5\t101.2"
    )
    (found,) = ask("What was the operating income of ferries and cruises?", Evidence(1, text, is_table=True))
    assert found.text.splitlines() == [
        "Ferries (in millions): Revenue 600.5; Operating income 100.2 (Year ended December 31, 2029 (in millions))",
        "Cruises (in millions): Revenue 500.5; Operating income 90.2",
        "Ferries (in millions): Revenue 612.5; Operating income 101.2 (Year ended December 31, 2030 (in millions))",
    ]


def test_a_row_whose_columns_are_unclear_has_the_head_though_another_rows_were_clear() -> None:
    text = f"{HEAD}Freight income\t512\t498\nFreight income growth\t9\t8\t7"
    (found,) = ask("What was Harrow Lines' freight income?", Evidence(1, text, is_table=True))
    clear, unclear = found.text.splitlines()
    assert clear.endswith("512 (six months ended June 30, 2031); 498 (six months ended June 30, 2030)")
    assert unclear.endswith("9 8 7 ((In thousands) Six Months Ended June 30, 2031 June 30, 2030)")


def test_each_digit_counts_as_small_models_read_it() -> None:
    assert count_tokens("Operating income") == count_tokens("Operating income 12345") - 5


@pytest.mark.parametrize("tokens", [120, 180, 240, 300])
def test_what_stands_before_the_lines_needs_room_as_well(tokens: int) -> None:
    notes = [replace(PROSE, number=n, header=f"Depot {n} · {PROSE.header}") for n in range(1, 9)]
    found = ask("Why did operating income fall?", *notes, tokens=tokens)
    assert 0 < sum(count_tokens(context_line(one, one.text)) for one in found) <= tokens
