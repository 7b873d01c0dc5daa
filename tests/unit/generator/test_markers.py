"""Citation markers: what stays, what goes, and that chunk boundaries never matter."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_generator.core.chat.citations import MarkerFilter


def run(pieces: list[str], known: set[int]) -> tuple[str, list[int], int]:
    markers = MarkerFilter(known)
    shown = "".join(markers.feed(piece) for piece in pieces) + markers.finish()
    return shown, markers.cited, markers.removed


@pytest.mark.parametrize(
    ("text", "shown", "cited", "removed"),
    [
        ("Sales rose [1].", "Sales rose [1].", [1], 0),
        ("Sales rose [9].", "Sales rose.", [], 1),
        ("Both [2][1] and [1]", "Both [2][1] and [1]", [2, 1], 0),
        ("A list [1, 3, 9] here", "A list [1][3] here", [1, 3], 1),
        ("收入增长【1】，利润［２］", "收入增长[1]，利润[2]", [1, 2], 0),
        ("In [2023] and a[i] and [note]", "In [2023] and a[i] and [note]", [], 0),
        ("cut at the end [1", "cut at the end [1", [], 0),
        ("zero [0] and [00]", "zero and", [], 2),
        ("[ 1 ] spaced", "[1] spaced", [1], 0),
        ("[[1]] nested", "[[1]] nested", [1], 0),
        ("", "", [], 0),
    ],
)
def test_what_stays(text: str, shown: str, cited: list[int], removed: int) -> None:
    assert run([text], {1, 2, 3}) == (shown, cited, removed)


TEXTS = st.lists(
    st.sampled_from(
        ["[", "]", "1", "2", "12", "7", "123", "1234", ",", " ", "  ", "【", "】", "、", "a", "收", ".", "\n", "\t"]
    )
).map("".join)


@given(TEXTS, st.data())
def test_boundaries_never_matter(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    edges = [0, *cuts, len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
    assert run(pieces, {1, 2, 12}) == run([text], {1, 2, 12})
    assert run(list(text), {1, 2, 12}) == run([text], {1, 2, 12})


@given(TEXTS)
def test_nothing_unknown_is_left(text: str) -> None:
    shown, cited, _ = run([text], {1, 12})
    again, cited_again, removed = run([shown], {1, 12})
    assert removed == 0 or again != shown or "[" in text
    assert set(cited) <= {1, 12}
    assert set(cited_again) >= set(cited)


def test_text_is_not_held_longer_than_needed() -> None:
    markers = MarkerFilter({1})
    assert markers.feed("Revenue was 5 ") == "Revenue was 5"
    assert markers.feed("billion [") == " billion"
    assert markers.feed("1") == ""
    assert markers.feed("].") == " [1]."
