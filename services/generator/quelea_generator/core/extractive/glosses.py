"""What the words of a question are called in the other language, for evidence that is written in that one.

From the kit's glossary of finance; a word that it does not have has no gloss, and what is asked for by such a word
alone is not found in the other language.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from quelea_fintext.glossary import entries, gloss_phrases
from quelea_fintext.line_items import Expression
from quelea_fintext.text import CJK, language_of, normalise, terms

from quelea_generator.core.model import Evidence

_LONGEST = 6
_SUFFIXES = ("", "价", "矿", "业", "市", "率", "类")
"""What may follow a single character that is the whole gloss: 铜 is meant by 铜价, and 金 is not by 金融."""


def find_glosses(kept: Sequence[str]) -> list[tuple[Expression, ...]]:
    """For each term of a question the expressions of the other language, empty where the glossary has none.

    The longest match wins, and each of its words has its gloss: "central" and "bank" both have 央行.
    """
    found: list[tuple[Expression, ...]] = [() for _ in kept]
    at = 0
    while at < len(kept):
        for length in range(min(_LONGEST, len(kept) - at), 0, -1):
            if known := _known().get(_key(kept[at : at + length])) or (_parts(kept[at]) if length == 1 else ()):
                found[at : at + length] = [known] * length
                at += length - 1
                break
        at += 1
    return found


@lru_cache(maxsize=256)
def is_foreign_text(language: str, text: str) -> bool:
    """Whether a passage is in another language than the question's; one without letters is in none."""
    return any(letter.isalpha() for letter in text) and language_of(text) != language


def is_foreign(language: str, evidence: Evidence) -> bool:
    """Whether the evidence has to be read by the question's gloss."""
    return is_foreign_text(language, evidence.text)


def has_expression(expression: Expression, line: str, bare: str) -> bool:
    """Whether a line of terms has the expression; `bare` is the line without spaces.

    Chinese is looked for in the letters, as words are cut differently beside one another.
    """
    phrase = "".join(expression)
    if not CJK.search(phrase):
        return f" {' '.join(expression)} " in line
    if len(phrase) > 1:
        return phrase in bare
    return any(f" {phrase}{suffix} " in line for suffix in _SUFFIXES)


def names_company(gloss: Sequence[Expression], companies: Sequence[str]) -> bool:
    """Whether a gloss is the name of one of these companies, or the short form of it."""
    for company in companies:
        words = terms(company)
        line = f" {' '.join(words)} "
        if any(has_expression(one, line, "".join(words)) for one in gloss):
            return True
    return False


def _key(words: Sequence[str]) -> str:
    return ("" if CJK.search(words[0]) else " ").join(words)


def _parts(word: str) -> tuple[Expression, ...]:
    """A Chinese word of which the glossary has the parts: 铜价."""
    if not CJK.search(word) or len(word) == 1:
        return ()
    return tuple(expression for phrase in gloss_phrases(word) if (expression := tuple(terms(phrase))))


@cache
def place_terms() -> frozenset[str]:
    """Terms of the glossary's places, in both languages."""
    return frozenset(word for sides in entries("places") for side in sides for name in side for word in terms(name))


@cache
def _known() -> dict[str, tuple[Expression, ...]]:
    found: dict[str, dict[Expression, None]] = {}
    for chinese, english in entries():
        for sides in ((chinese, english), (english, chinese)):
            others = [expression for phrase in sides[1] if (expression := tuple(terms(phrase)))]
            for phrase in sides[0]:
                words = terms(phrase)
                if words:
                    key = normalise(phrase) if CJK.search(phrase) else _key(words)
                    found.setdefault(key, {}).update(dict.fromkeys(others))
    return {key: tuple(value) for key, value in found.items()}
