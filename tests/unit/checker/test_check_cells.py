"""What a cell says against what the sentence says: of figures that are found, and of those that are pointed at."""

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer
from quelea_checker.reading.evidence import Evidence
from quelea_checker.verdicts.pointed import PointedFigure, find_differences

TABLE = CheckPassage(
    "Consolidated statements of income\n"
    "(millions of dollars)\tThree Months Ended June 30,\tNine Months Ended June 30,\n"
    "2031\t2030\t2031\t2030\n"
    "Freight income\t$ 8,346\t$ 7,912\t$ 24,010\t$ 23,058\n"
    "Harbour fees\t744\t681\t2,120\t2,044\n"
    "Crew costs\t2,815\t3,040\t8,611\t9,020\n"
    "Operating loss\t(214)\t(155)\t(712)\t(509)\n"
    "Net income\t$ 391\t$ 402\t$ 1,108\t$ 1,131",
    header="Ostrel · 10-Q · FY2031 Q3 · quarter ended June 30, 2031",
)


def doubted(answer: str) -> bool:
    return any(f.verdict in UNSUPPORTED for f in check_answer(answer, [TABLE]).figures)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (
            "Ostrel's harbour fees rose to $744 million from $681 million a year earlier.",
            "Ostrel's harbour fees fell to $744 million from $681 million a year earlier.",
        ),
        (
            "Ostrel's operating loss widened to $214 million from $155 million a year earlier.",
            "Ostrel's operating loss narrowed to $214 million from $155 million a year earlier.",
        ),
        (
            "Ostrel's operating loss widened to $(214) million from $(155) million a year earlier.",
            "Ostrel's operating loss narrowed to $(214) million from $(155) million a year earlier.",
        ),
        (
            "Harbour fees grew from $681 million to $744 million and freight income from $7,912 million to $8,346 "
            "million.",
            "Harbour fees fell from $681 million to $744 million and freight income from $7,912 million to $8,346 "
            "million.",
        ),
        (
            "Ostrel had net income of $391 million in the quarter ended June 30, 2031.",
            "Ostrel had a net loss of $391 million in the quarter ended June 30, 2031.",
        ),
        (
            "Ostrel had an operating loss of $214 million in the quarter ended June 30, 2031.",
            "Ostrel had an operating profit of $214 million in the quarter ended June 30, 2031.",
        ),
        ("Ostrel's freight income was 8,346.", "Ostrel had 8,346 employees."),
        ("Ostrel's net income of $391 million compares with $402 million.", "Ostrel has $391 million customers."),
        ("Freight income of $8,346 million reflects new lines.", "Freight income of $8,346 million trains."),
        (
            "Ostrel's freight income was $24,010 million in the nine months ended June 30, 2031.",
            "Ostrel's freight income was $24,010 million in the three months ended June 30, 2031.",
        ),
    ],
)
def test_a_plain_figure_is_compared_with_its_cell(true, false):
    assert not doubted(true)
    assert doubted(false)


def differences(answer: str, said: str, *printed: str, change: bool = False) -> list[str]:
    evidence = Evidence([TABLE])
    cells = tuple(tuple(f for f in evidence.facts if f.figure.text.strip("$ ()") == one) for one in printed)
    assert all(cells)
    start = answer.index(said)
    pointed = PointedFigure(start, start + len(said), cells, len(cells) > 1, change)
    return list(find_differences(answer, [pointed], [TABLE], evidence, "").values())


@pytest.mark.parametrize(
    ("answer", "said", "printed", "change", "found"),
    [
        ("Freight income was $8,346 million [1].", "$8,346 million", ("8,346",), False, []),
        ("Crew costs were $8,346 million [1].", "$8,346 million", ("8,346",), False, ["row"]),
        ("Freight income was $24,010 million [1] in the quarter ended June 30, 2031.", "$24,010 million", ("24,010",),
         False, ["time"]),
        ("It had $8,346 million [1] employees.", "$8,346 million", ("8,346",), False, ["kind"]),
        ("Harbour fees rose by 9.3% [1].", "9.3%", ("744", "681"), True, []),
        ("Harbour fees fell by 9.3% [1].", "9.3%", ("744", "681"), True, ["direction"]),
        ("Crew costs fell by 7.4% [1].", "7.4%", ("2,815", "3,040"), True, []),
        ("Crew costs rose by 7.4% [1].", "7.4%", ("2,815", "3,040"), True, ["direction"]),
        ("Harbour fees fell by 75.5% [1].", "75.5%", ("744", "3,040"), True, ["row"]),
        ("Harbour fees were 8.9% [1] of freight income.", "8.9%", ("744", "8,346"), False, []),
        ("Harbour fees were 33.7% [1] of freight income.", "33.7%", ("2,815", "8,346"), False, ["row"]),
        ("Harbour fees were 8.9% [1] of freight income in the nine months ended June 30, 2031.", "8.9%",
         ("744", "8,346"), False, ["time"]),
        ("Harbour fees were 3.1% [1] of freight income.", "3.1%", ("744", "24,010"), False, ["time"]),
    ],
)  # fmt: skip
def test_a_pointed_figure_is_compared_with_its_cells(answer, said, printed, change, found):
    assert differences(answer, said, *printed, change=change) == found
