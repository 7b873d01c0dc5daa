"""Answers that would never end are ended; ordinary ones pass as they are."""

import random

import pytest
from quelea_generator.adapters.answer_bounds import AnswerBounds


def fed(pieces: list[str], max_tokens: int = 1000) -> tuple[str, str, int]:
    """What is shown, why it was stopped, and how many pieces were taken."""
    bounds = AnswerBounds(max_tokens)
    shown = ""
    for count, piece in enumerate(pieces, 1):
        shown += bounds.feed(piece)
        if bounds.stopped:
            return shown, bounds.stopped, count
    return shown, "", len(pieces)


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


TABLE = "| Item | 2023 | 2022 |\n|---|---:|---:|\n" + "".join(
    f"| Segment {n} | {1000 + 37 * n % 911:,} | {900 + 53 * n % 877:,} |\n" for n in range(30)
)
ORDINARY = [
    "Net sales were 81,797 million [1].\n\n  - Products: 60,584\n  - Services: 21,213\n",
    TABLE,
    "营业收入为15.82亿元，同比增长3.2%[1]。净利润为2.1亿元[2]。",
    f"{'-' * 120}\n" * 2 + "Total" + " ." * 100 + " 5",
    "No. No. No. The answer is no [1].",
]


@pytest.mark.parametrize("text", ORDINARY)
@pytest.mark.parametrize("size", [1, 3, 7, 5000])
def test_ordinary_answers_pass_unchanged(text: str, size: int) -> None:
    shown, why, _ = fed(cut(text, size), max_tokens=2000)
    assert (shown.rstrip(), why) == (text.rstrip(), "")


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\u3000", " \n"])
def test_endless_white_space_is_never_shown_and_ends(space: str) -> None:
    shown, why, taken = fed(["Sales rose."] + [space] * 5000, max_tokens=100_000)
    assert (shown, why) == ("Sales rose.", "white space")
    assert taken < 300
    assert fed([space * 50_000], max_tokens=100_000)[:2] == ("", "white space")
    assert fed(["Sales." + space * 1000], max_tokens=100_000)[:2] == ("Sales.", "white space")


def test_white_space_between_words_stays() -> None:
    assert fed(["a", " ", "\n", "b", "  "])[0] == "a \nb"


@pytest.mark.parametrize(
    "phrase", ["the ", "ha", "x", "。", "I do not know. ", "Net sales of segment A rose by 5% in the period [1]. " * 3]
)
@pytest.mark.parametrize("size", [1, 4, 50])
def test_the_same_words_for_ever_are_ended(phrase: str, size: int) -> None:
    shown, why, _ = fed(cut("It was so: " + phrase * 5000, size), max_tokens=100_000)
    assert why == "repeats"
    assert len(shown) < 3000


def test_an_engine_that_ignores_max_tokens_is_ended() -> None:
    words = random.Random(1)
    pieces = [f"{words.random():.9f} " for _ in range(5000)]
    shown, why, taken = fed(pieces, max_tokens=10)
    assert why in ("tokens", "characters")
    assert taken < 200
    assert len(shown) <= 10 * 24 + 256
    assert fed([""] * 5000, max_tokens=10)[1:] == ("tokens", 105)


def test_a_huge_piece_is_cut() -> None:
    text = "".join(chr(0x4E00 + n * 7 % 20000) for n in range(100_000))
    shown, why, _ = fed([text], max_tokens=10)
    assert why == "characters"
    assert shown == text[: 10 * 24 + 256]
