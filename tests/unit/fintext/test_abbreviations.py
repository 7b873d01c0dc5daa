"""What texts say that an abbreviation stands for."""

from __future__ import annotations

import pytest
from quelea_fintext.abbreviations import find_abbreviations, is_made_of, meanings, short_forms


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("▪ Client Rendering (CRG)\n▪ Bulk Storage and AI (BSAI)", "BSAI", "Bulk Storage and AI"),
        ("▪ Client Rendering (CRG)\n▪ Bulk Storage and AI (BSAI)", "CRG", "Client Rendering"),
        ("The Network and Edge (“NEX”) group grew.", "NEX", "Network and Edge"),
        ("Sales of Global Industrial Services, or GIS, rose.", "GIS", "Global Industrial Services"),
        ("EPS Earnings per share\nBSAI Bulk Storage and AI operating segment", "BSAI", "Bulk Storage and AI"),
    ],
)
def test_definitions(text: str, short: str, long: str) -> None:
    assert meanings([short], [text]) == {short: (long,)}


@pytest.mark.parametrize("text", ["BSAI revenue fell (BSAI).", "The Board (SEC)", "Total Revenue (USD)", ""])
def test_what_defines_nothing(text: str) -> None:
    assert meanings(["BSAI", "SEC", "USD"], [text]) == {}


def test_a_letter_may_be_left_over_and_no_word_may() -> None:
    assert is_made_of("CRG", ["Client", "Rendering"])
    assert not is_made_of("CRGXY", ["Client", "Rendering"])
    assert not is_made_of("CR", ["Client", "Rendering", "Group"])
    assert not is_made_of("AWS", ["AWS"])


def test_only_capitals_are_asked_for() -> None:
    assert find_abbreviations("What was BSAI revenue, and CRG's? And A/B of R&D, iPad, Q2 FY2023") == ("BSAI", "CRG")


@pytest.mark.parametrize(
    "text",
    [
        "We pay crossing fuel costs (“CFC”) to the yards.",
        "average crossing fuel costs (CFC) fell",
        "EPS\tEarnings per share\nCFC\tCrossing fuel costs",
    ],
)
def test_a_text_abbreviates_words_of_the_question(text: str) -> None:
    assert short_forms("Why did crossing fuel costs fall in 2024?", [text, text]) == ("CFC",)


@pytest.mark.parametrize(
    "text", ["crossing fees (“CFC”)", "Crossing fuel costs (see Note)", "CFC fell (CFC)", "AB 12 34"]
)
def test_other_words_are_not_abbreviated(text: str) -> None:
    assert short_forms("Why did crossing fuel costs fall in 2024?", [text]) == ()
