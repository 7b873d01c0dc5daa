"""Filings without the tags of inline XBRL."""

from __future__ import annotations

import time

import pytest
from quelea_evaluation.statements.key import without_tags


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<p>a<IX:Header><ix:hidden>1</ix:hidden></ix:header>b</p>", "<p>ab</p>"),
        ("a<ix:header>1</ix:header>b<ix:header x='2'>2</ix:header>c", "abc"),
        ("a<ix:header>1<ix:nonFraction name='x'>2</ix:nonFraction>", "a12"),
        ("a</ix:header>b", "ab"),
    ],
)
def test_headers_go_with_what_is_in_them_and_of_other_tags_the_text_stays(html: str, left: str) -> None:
    assert without_tags(html) == left


@pytest.mark.parametrize("piece", ["<ix:header", "<ix:header>", "<ix:"])
def test_what_is_never_closed_takes_no_square_of_its_length(piece: str) -> None:
    begun = time.thread_time()
    without_tags(piece * 40_000)
    assert time.thread_time() - begun < 1
