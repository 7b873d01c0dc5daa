"""Restated figures, midpoints and changes in a model's words."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

SHIPS = CheckPassage(
    "Consolidated income statement\n(NOK million)\n\t2024\t2023 (restated)\t2023 (as reported)\n"
    "Freight income\t8,346\t7,912\t7,958\nResearch and development\t744\t680\t680\nOperating profit\t1,141\t966\t1,012",
)
GUIDANCE = CheckPassage("For 2025 we guide to EBITDA of NOK 2.2 billion to NOK 2.4 billion.")
LOANS = CheckPassage("\t2023年12月31日\t2022年12月31日\t2021年12月31日\n不良贷款率\t1.18%\t1.25%\t1.37%")


def unsupported(answer: str, passage: CheckPassage) -> list[str]:
    return [f.text for f in check_answer(answer, [passage]).figures if f.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("true", "false", "passage"),
    [
        (
            "Restating 2023 cut that year's operating profit by NOK 46 million, from 1,012 to 966.",
            "Restating 2023 cut that year's operating profit by NOK 64 million, from 1,012 to 966.",
            SHIPS,
        ),
        (
            "In 2024 freight income rose to NOK 8.35 billion from a restated 7.91 billion.",
            "In 2024 freight income rose to NOK 8.35 billion from a restated 7.19 billion.",
            SHIPS,
        ),
        ("R&D was up 9.4% on the year.", "R&D was up 4.9% on the year.", SHIPS),
        (
            "The midpoint of the EBITDA guidance is NOK 2.3 billion.",
            "The midpoint of the EBITDA guidance is NOK 2.6 billion.",
            GUIDANCE,
        ),
        ("不良贷款率连续下降，较2021年末下降0.19个百分点。", "不良贷款率连续下降，较2021年末下降0.91个百分点。", LOANS),
    ],
)
def test_true_passes_and_false_is_caught(true: str, false: str, passage: CheckPassage) -> None:
    assert unsupported(true, passage) == []
    assert unsupported(false, passage) != []
