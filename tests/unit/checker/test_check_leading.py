"""A line before a list, a caption and a column's head hold for what stands under them."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer
from quelea_checker.reading.leads import Leads

TABLE = CheckPassage(
    "(In millions)\tThree Months Ended June 30,\tPercentage Change\n2021\t2020\n"
    "Sales\nGarden tools\t$ 4,118\t$ 3,290\t25%\nPaints\t2,707\t3,064\t(12)%\n"
    "Operating profit\nGarden tools\t$ 611\t$ 482\t27%\nPaints\t304\t410\t(26)%"
)
CHINESE = CheckPassage("2021年公司涂料业务收入为27.07亿元，工具业务收入为41.18亿元；2020年分别为30.64亿元和32.90亿元。")


def doubted(answer: str, passage: CheckPassage) -> list[str]:
    return [f.text for f in check_answer(answer, [passage]).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Sales, quarter to June 2021:\n- Garden tools: $4,118 million\n- Paints: $2,707 million", []),
        ("Sales, quarter to June 2020:\n- Garden tools: $4,118 million\n- Paints: $3,064 million", ["$4,118 million"]),
        (
            "| Business | Sales, three months to June 2021 | Change |\n|---|---|---|\n"
            "| Garden tools | $4,118 million | 25% |\n| Paints | $2,707 million | (12)% |",
            [],
        ),
        (
            "Operating profit\n\n| Business | June 2021 | June 2020 |\n|---|---|---|\n| Paints | $304 million "
            "| $410 million |\n| Garden tools | $482 million | $611 million |",
            ["$482 million", "$611 million"],
        ),
        ("| Business | Sales in June 2021 (in millions) |\n|---|---|\n| Paints | 2,707 |", []),
        ("| Business | Sales in June 2021 (in billions) |\n|---|---|\n| Paints | 2,707 |", ["2,707"]),
    ],
)
def test_english(answer, wrong):
    assert doubted(answer, TABLE) == wrong


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("2021年收入如下：\n- 涂料业务27.07亿元\n- 工具业务41.18亿元", []),
        ("2020年收入如下：\n- 涂料业务27.07亿元\n- 工具业务32.90亿元", ["27.07亿元"]),
        ("| 业务 | 2021年收入（亿元） | 2020年收入（亿元） |\n| --- | --- | --- |\n| 涂料 | 27.07 | 30.64 |", []),
        (
            "| 业务 | 2021年收入（亿元） | 2020年收入（亿元） |\n| --- | --- | --- |\n| 涂料 | 30.64 | 27.07 |",
            ["30.64", "27.07"],
        ),
        ("| 业务 | 2021年收入（万元） |\n| --- | --- |\n| 涂料 | 27.07 |", ["27.07"]),
    ],
)
def test_chinese(answer, wrong):
    assert doubted(answer, CHINESE) == wrong


@pytest.mark.parametrize(
    ("text", "place", "over"),
    [
        ("In 2020:\n- a\n- b", "b", "In 2020"),
        ("In 2020:\n- Tools:\n  - a\n- b", "a", "In 2020 Tools"),
        ("In 2020:\n- Tools:\n  - a\n- b", "b", "In 2020"),
        ("In 2020:\n- a\n\nIt ended.\n- b", "b", ""),
        ("Nothing leads here.\n- a", "a", ""),
        ("## Year 2020\n| x | y |\n|---|---|\n| 1 | c |", "c", "y Year 2020"),
        ("**Sum**: 5\n- b", "b", ""),
    ],
)
def test_what_stands_over_a_place(text, place, over):
    at = text.index(f" {place}") + 1
    assert Leads(text).of(at).over(at) == over


def test_a_document_in_the_line_gives_no_time():
    lead = Leads("From the 2020 annual report:\n- Paints: 5").of(30)
    assert lead.line == "From the 2020 annual report"
    assert lead.periods(30, ()) == ()


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Sales, quarter to June 2021:\n- Paints: $2,707 million, down from $3,064 million a year earlier", []),
        ("Sales, quarter to June 2021:\n- Paints: $2,707 million (from $3,064 million)", []),
        (
            "Sales, quarter to June 2021:\n- Paints: $3,064 million, down from $2,707 million a year earlier",
            ["$3,064 million", "$2,707 million"],
        ),
    ],
)
def test_a_year_earlier_is_before_the_time_of_the_line(answer, wrong):
    assert set(doubted(answer, TABLE)) <= set(wrong)
    assert bool(doubted(answer, TABLE)) == bool(wrong)
