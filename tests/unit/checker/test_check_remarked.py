"""Cells that say more than a number are cells all the same: their row has them, and heads stand over them."""

from __future__ import annotations

import pytest
from quelea_checker import CheckPassage, check_answer
from quelea_checker.reading.tables import is_figure, without_remark

TABLE = CheckPassage(
    "Harrow Foods, annual results | 2021 | 2020\nRevenue | £7.4bn, up 6.2% | £6.97bn\n"
    "Volumes (ex-fuel) | down 3.1% | down 1.7%\nEarnings per share | 21.4p | 19.8p\n"
    "Operating income | £612 million (8.3% of revenue) | £540 million (7.7% of revenue)\n"
    "Net debt | £1,240m, reduced by £185m | £1,425m"
)
OUTLOOK = CheckPassage("Harrow Foods, outlook for 2022\nCapital expenditure | $410 million to $450 million")


def verdict(answer, *passages):
    return [f.verdict for f in check_answer(answer, passages or [TABLE]).figures if "20" not in f.text[:2]]


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Net debt was £1.24bn.", "Net debt was £124m."),
        ("Net debt was £1,425m in 2020.", "Net debt was £1,240m in 2020."),
        ("Net debt was reduced by £185m.", "Net debt was reduced by £158m."),
        ("Operating income was £540 million in 2020.", "Operating income was £612 million in 2020."),
        ("Operating income was 8.3% of revenue in 2021.", "Operating income was 7.7% of revenue in 2021."),
        ("Revenue rose 6.2% in 2021.", "Revenue fell 6.2% in 2021."),
        ("Volumes fell 1.7% in 2020.", "Volumes fell 3.1% in 2020."),
    ],
)
def test_a_remark_in_a_cell_hides_neither_its_amount_nor_its_year(true, false):
    assert set(verdict(true)) <= {"supported", "derived"}
    assert set(verdict(false)) <= {"contradicted", "not_found"}


def test_the_midpoint_of_a_range_in_a_cell():
    said = "The midpoint of the capital expenditure outlook for 2022 is ${} million."
    assert verdict(said.format(430), OUTLOOK) == ["derived"]
    assert verdict(said.format(440), OUTLOOK) == ["contradicted"]


@pytest.mark.parametrize(
    "cell", ["£7.4bn, up 6.2%", "$155.4 million (13.3% of net sales)", "down 5.9%", "$5.15 to $5.55", "49.4% of sales"]
)
def test_a_cell_with_words(cell):
    assert is_figure(cell)


@pytest.mark.parametrize("cell", ["31, 2018", "2019", "Note 4", "12 (a long tale)", "", "to expand by 60 basis points"])
def test_a_cell_that_is_no_amount(cell):
    assert not is_figure(cell)


def test_what_goes_down_in_the_remark_is_not_the_amount():
    assert without_remark("£2,340m, reduced by £477m") == "£2,340m"
    assert without_remark("down 5.9%") == "down 5.9%"
