"""Texts of callers: as long as they are after normalising, Unicode, and with few marks on a letter."""

from __future__ import annotations

import time
from datetime import date

import pytest
from quelea_kit.errors import InvalidInput, TooLarge
from quelea_kit.text_fields import check_day, check_length


@pytest.mark.parametrize("text", ["", "a" * 40, "收" * 40, "ﷺ" * 2, "e\u0301" * 20, "🙂" * 40])
def test_texts_within_the_limit_pass(text: str) -> None:
    check_length(text, "question", 40)


@pytest.mark.parametrize(
    ("text", "told"),
    [("a" * 41, "41 characters"), ("ﷺ" * 4, "72 characters after"), ("㌕" * 12, "60 characters after")],
)
def test_the_length_that_counts_is_the_one_after_normalising(text: str, told: str) -> None:
    with pytest.raises(TooLarge, match=f"question has {told}.*the limit is 40") as caught:
        check_length(text, "question", 40)
    assert caught.value.details == {"field": "question", "limit": "40"}


def test_several_texts_count_together() -> None:
    with pytest.raises(TooLarge, match="history has 44 characters"):
        check_length(["a" * 22, "b" * 22], "history", 40)
    with pytest.raises(TooLarge, match="after Unicode normalisation"):
        check_length(["a" * 20, "ﷺ" * 2], "history", 40)


@pytest.mark.parametrize("half", ["\ud800", "\udfff"])
def test_half_a_surrogate_pair_is_told_with_its_place(half: str) -> None:
    with pytest.raises(InvalidInput, match="position 3") as caught:
        check_length(f"abc{half}", "question", 40)
    assert not isinstance(caught.value, TooLarge)


def test_marks_in_a_row_are_bounded_before_they_are_sorted() -> None:
    check_length("a" + "\u0301\u0316" * 15, "question", 4000)
    marks = "a" + "\u0301\u0316" * 20_000  # normalising these takes seconds
    began = time.process_time()
    with pytest.raises(InvalidInput, match="combining marks"):
        check_length(marks, "history", 100_000)
    assert time.process_time() - began < 1


def test_a_day_is_written_in_one_way() -> None:
    assert check_day("2024-02-29", "as_of") == date(2024, 2, 29)
    assert check_day("", "as_of") is None
    for text in ("2023-02-29", "20240203", "2024-W05-6", "2024-2-3", " 2024-02-03", "yesterday"):
        with pytest.raises(InvalidInput, match="as_of must be YYYY-MM-DD, got"):
            check_day(text, "as_of")
