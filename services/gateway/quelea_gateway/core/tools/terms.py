"""Terms of finance in Chinese and English, and which of them a tool is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

_SAYS = "~"
_WORDS_ONLY = "#: words only"


@dataclass(frozen=True)
class Term:
    """One idea: what it is called, and how people say it."""

    chinese: tuple[str, ...]
    english: tuple[str, ...]
    parts: frozenset[str]
    """Parts of function names that mean it."""
    said: tuple[str, ...]
    """Other ways to say it, in both languages: added to a tool's words, never looked for in its text."""
    words_only: bool = False
    """Not for the encoder's text."""


def parse(text: str) -> tuple[Term, ...]:
    """Terms of a file like terms.txt. Raises ValueError for a line that is none."""
    found, words_only = [], False
    for number, line in enumerate(text.splitlines(), start=1):
        words_only = words_only or line.startswith(_WORDS_ONLY)
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 3:
            raise ValueError(f"line {number} has {len(fields)} fields; a term has three")
        (chinese, more), (english, rest) = (_split(field) for field in fields[:2])
        found.append(Term(chinese, english, frozenset(_names(fields[2])), more + rest, words_only))
    return tuple(found)


@cache
def load_terms() -> tuple[Term, ...]:
    """The terms that come with the gateway."""
    return parse(resources.files("quelea_gateway.core.tools").joinpath("terms.txt").read_text("utf-8"))


def terms_of(text: str, parts: Sequence[str], terms: Sequence[Term] | None = None) -> list[Term]:
    """The terms that a text names in Chinese or English, or the parts of a function's name stand for.

    Args:
        text: What the tool's provider says of it.
        parts: Of the function's name, lower case.
        terms: To look among; the packaged ones when not given.
    """
    known = load_terms() if terms is None else terms
    low, given = text.lower(), frozenset(parts) - _ambiguous(tuple(known))
    return [term for term in known if _is_named(term, low, given)]


@cache
def _ambiguous(terms: tuple[Term, ...]) -> frozenset[str]:
    """Parts of names that several terms claim ("stock": shares, and what lies in store) say nothing."""
    claimed = Counter(part for term in terms for part in term.parts)
    return frozenset(part for part, times in claimed.items() if times > 1)


def _is_named(term: Term, text: str, parts: frozenset[str]) -> bool:
    if any(word.lower() in text for word in term.chinese):
        return True
    return bool(term.parts & parts) or any(_whole(word).search(text) for word in term.english)


@cache
def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9]){re.escape(word.lower())}s?(?![a-z0-9])")


def _split(field: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names, _, said = field.partition(_SAYS)
    return _names(names), _names(said)


def _names(field: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in field.split(",") if name.strip())
