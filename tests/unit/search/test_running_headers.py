"""Running headers are taken off; lines that say another figure on every page are text."""

from __future__ import annotations

from quelea_search.core.layout.running_headers import body_mask


def kept(pages: list[list[str]]) -> list[list[str]]:
    return [
        [line for line, keep in zip(lines, mask, strict=True) if keep]
        for lines, mask in zip(pages, body_mask(pages), strict=True)
    ]


def test_a_header_with_its_page_number_goes_and_the_text_stays() -> None:
    body = ["The first paragraph.", "Second one here.", "A third line.", "A fourth line.", "A fifth.", "A sixth line."]
    pages = [
        ["Apple Inc. | Q3 2023 Form 10-Q | " + str(n), *(f"{line} {word}" for line in body), "See accompanying Notes."]
        for n, word in enumerate(("alpha", "beta", "gamma", "delta", "epsilon", "zeta"), start=1)
    ]
    for lines, original in zip(kept(pages), pages, strict=True):
        assert lines == original[1:-1]


def test_a_line_of_every_page_that_tells_a_figure_is_text() -> None:
    pages = [
        [f"Northwind Ferries, page {n}.", f"On route {n} the company carried {n * 137 % 1009} passengers."]
        for n in range(1, 201)
    ]
    assert kept(pages) == [lines[1:] for lines in pages]


def test_a_figure_at_the_top_of_long_pages_stays() -> None:
    pages = [
        [
            f"Revenue in month {n} was {n * n * 31 % 977} million.",
            *(f"Line {m} of page {n} says {w}." for m in range(9)),
        ]
        for n, w in enumerate("abcdefghijkl", start=1)
    ]
    assert [lines[0] for lines in kept(pages)] == [lines[0] for lines in pages]
