"""The glossary: every line holds together, and what is known is found in both directions."""

from __future__ import annotations

import pytest
from quelea_fintext.glossary import entries, gloss_phrases
from quelea_fintext.text import CJK


def test_every_line_has_chinese_on_the_left_and_english_on_the_right() -> None:
    assert len(entries()) > 300
    for chinese, english in entries():
        assert all(CJK.search(one) and one.strip() == one for one in chinese), chinese
        assert all(one and not CJK.search(one) and one.strip() == one for one in english), english


def test_no_chinese_word_is_given_twice() -> None:
    every = [one for chinese, _ in entries() for one in chinese]
    assert sorted({one for one in every if every.count(one) > 1}) == []


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("该公司上半年的经营活动现金流是多少？", "operating activities"),
        ("毛利率是多少", "gross margin percentage"),
        ("What did the central bank say about deposit rates?", "存款利率"),
        ("What did the central bank say about deposit rates?", "央行"),
        ("NVIDIA's inventories", "英伟达"),
        ("How large were SHARE REPURCHASES?", "回购"),
    ],
)
def test_what_is_known_is_found(text: str, phrase: str) -> None:
    assert phrase in gloss_phrases(text) or any(phrase in one for one in gloss_phrases(text))


def test_the_longest_match_wins() -> None:
    found = gloss_phrases("净利息收入")
    assert "net interest income" in found
    assert "net income" not in found


@pytest.mark.parametrize("text", ["", "???", "xyzzy plugh", "甲乙丙丁"])
def test_what_is_not_known_is_left_out(text: str) -> None:
    assert gloss_phrases(text) == []
