"""Signs, scales and parts: a draft's figure is shown as the words say it, and a false one is found."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, check_answer
from quelea_gateway.core.answers.evidence import to_check
from quelea_gateway.core.draft import Sources, write_draft
from quelea_gateway.core.grounding import attribute, compare, settle
from quelea_gateway.core.model import Passage


def passage(text: str, company: str = "Kestrel", **more: object) -> Passage:
    header = f"{company} · 10-K · FY2024 · year ended December 31, 2024"
    return Passage("a", 1, 0, len(text), text, header=header, company=company, **more)  # type: ignore[arg-type]


CASH = passage(
    "(in millions)\nYear Ended December 31,\n2023\t2024\nNet cash from operating activities\t35,574\t61,840\n"
    "Purchases of equipment\t(59,060)\t(53,960)\nRepayments of leases\t(9,700)\t(5,700)\n"
    "Notes payable\t4,955\t5,419\nLong-term debt\t36,755\t33,570\nTerm debt\t700\t600\n"
    "Free cash flow\t(23,486)\t7,880\nLoss from operations\t(23,935)\t(24,614)\n"
    "Provision for (benefit from) income taxes\t1,203\t(2,406)",
    is_table=True,
)
BRIDGE = passage(
    "(In Millions)\n$ 6,018 Margin of 2024\n(467) Lower margin from weaker sales of routers\n"
    "(304) Lower margin from desktops\n592 Lower charges for inventory\n$ 5,839 Margin of 2023"
)
PARTS = passage(
    "(in millions)\nYear Ended December 31,\n2023\t2024\nRetail\nNet sales\t$ 78,843\t$ 87,887\n"
    "Operating income (loss)\t$ (412)\t$ 4,307\nCloud\nNet sales\t$ 20,538\t$ 23,059\n"
    "Operating income\t$ 5,403\t$ 6,976",
    is_table=True,
)
CHANGES = passage(
    "(in millions)\nYear Ended December 31,\n2024\t2023\t$ Change\t% Change\nTotal revenue\t$ 760,866\t$ 637,230\t"
    "$ 123,636\t19%\nMarketing\t$ 800\t$ 900\t$ (100)\t(11)%",
    is_table=True,
)
OTHER = passage(
    "(in millions)\nYear Ended December 31,\n2024\t2023\nRevenue\t$ 56,517\t$ 50,122", "Heron", is_table=True
)
COUNTS = passage(
    "(in millions)\nYear Ended December 31,\n2024\t2023\nDiluted shares\t12,411\t12,514\nAverage price paid\t1,301"
    "\t1,207\nTraining days\t4,305\t4,117",
    is_table=True,
)
FALLS = passage(
    "(in millions)\nYear Ended December 31,\n2024\t2023\tDecrease\nRental income\t$ 8,014\t$ 9,125\t$ 1,111",
    is_table=True,
)
SHARES = passage(
    "(In millions, except number of shares, which are reflected in thousands)\nYear Ended December 31,\n2024\t2023\n"
    "Diluted shares\t15,408,095\t15,812,547",
    is_table=True,
)
EVIDENCE = (CASH, BRIDGE, PARTS, CHANGES, OTHER, COUNTS, SHARES, FALLS)


def read(draft: str, *, companies: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """What is shown, and the figures that are said to be unsupported."""
    sources = Sources(EVIDENCE)
    shown, pointed = write_draft(draft, sources, "en")
    differences = compare(shown, pointed, sources, "")
    report = settle(check_answer(shown, [to_check(one) for one in EVIDENCE]), pointed, shown, differences)
    if companies:
        report = attribute(report, EVIDENCE, companies, missing=False)
    return shown, [one.text for one in report.figures if one.verdict in UNSUPPORTED]


@pytest.mark.parametrize(
    ("draft", "shown"),
    [
        ("{53,960 [1] / 61,840 [1] = %} went into equipment.", "87.3% [1] went into equipment."),
        ("Equipment took {53,960 [1]} in 2024.", "Equipment took $53,960 million [1] in 2024."),
        ("In 2024 {61,840 [1] - 53,960 [1]} was left.", "In 2024 7,880 million [1] was left."),
        ("Both took {53,960 [1] + 5,700 [1]} in 2024.", "Both took 59,660 million [1] in 2024."),
        ("Free cash flow swung by {7,880 [1] + 23,486 [1]}.", "Free cash flow swung by 31,366 million [1]."),
        ("The tax rate was {2,406 [1] / 61,840 [1] = %}.", "The tax rate was −3.89% [1]."),
        ("There were {12,411 [6]} shares.", "There were 12,411 million [6] shares."),
        ("It paid {1,301 [6]} on average.", "It paid 1,301 [6] on average."),
        ("It took {4,305 [6]} days.", "It took 4,305 [6] days."),
        ("There were {15,408,095 [7]} shares.", "There were 15,408,095 [7] shares."),
        ("Debt was {5,419 [1] + 33,570 [1]}.", "Debt was 38,989 million [1]."),
        ("Term debt was {600 [1]}.", "Term debt was 600 million [1]."),
        ("The sum is {7,880 [1] + (23,486) [1]}.", "The sum is −15,606 million [1]."),
        (
            "There was a loss from operations, which widened from {23,935 [1]} to {24,614 [1]}.",
            "There was a loss from operations, which widened from 23,935 million [1] to 24,614 million [1].",
        ),
        (
            "Routers cost {467 [2]} and desktops {304 [2]}.",
            "Routers cost $467 million [2] and desktops $304 million [2].",
        ),
        ("Inventory added {592 [2]}.", "Inventory added $592 million [2]."),
        ("Revenue grew ({19% [4]}).", "Revenue grew (19% [4])."),
    ],
)
def test_a_sign_is_shown_where_the_words_do_not_say_it(draft: str, shown: str) -> None:
    assert read(draft)[0].replace("$", "") == shown.replace("$", "")


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Total revenue rose by {123,636 [4]} in 2024.", "Total revenue fell by {123,636 [4]} in 2024."),
        ("It was {123,636 [4]} more than in 2023.", "It was {123,636 [4]} less than in 2023."),
        ("Rental income fell by {1,111 [8]} in 2024.", "Rental income rose by {1,111 [8]} in 2024."),
        ("Marketing fell by {100 [4]} in 2024.", "Marketing rose by {100 [4]} in 2024."),
        (
            "Total revenue rose by {(760,866 [4] - 637,230 [4]) / 637,230 [4] = %} in 2024.",
            "Total revenue declined by {(760,866 [4] - 637,230 [4]) / 637,230 [4] = %} in 2024.",
        ),
        (
            "Cloud's operating margin was {6,976 [3] / 23,059 [3] = %} in 2024.",
            "Cloud's operating margin was {4,307 [3] / 87,887 [3] = %} in 2024.",
        ),
        ("Cloud's net sales were $23,059 million in 2024.", "Cloud's net sales were $23,059 in 2024."),
    ],
)
def test_the_true_one_passes_and_the_false_one_is_found(true: str, false: str) -> None:
    assert read(true)[1] == []
    assert read(false)[1]


def test_another_company_may_be_compared_with_and_not_put_in_its_place() -> None:
    both = ("Kestrel", "Heron")
    true = "Kestrel added {760,866 [4] - 637,230 [4]}, against {56,517 [5] - 50,122 [5]}."
    assert read(true, companies=both)[1] == []
    assert read("Kestrel added {56,517 [5] - 50,122 [5]}.", companies=both)[1]


@pytest.mark.parametrize(
    "false",
    [
        "Kestrel's revenue was {760,866 [4]}, up from {50,122 [5]}.",
        "Kestrel's revenue was {760,866 [4]}, compared with {50,122 [5]} a year earlier.",
        "Kestrel's revenue was {760,866 [4]}, compared with {50,122 [5]} in 2023.",
    ],
)
def test_its_own_earlier_figure_is_not_that_of_another_company(false: str) -> None:
    assert read(false, companies=("Kestrel", "Heron"))[1]
