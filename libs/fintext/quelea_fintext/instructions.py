"""Texts that speak to a machine instead of a reader: "ignore your instructions", chat markers, calls of tools.

A flag, not a defence: who words it otherwise gets through, so what a page says stays fenced data whatever this finds.
It may also meet a page about such attacks; all that follows is that the text is not quoted without need.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.sentences import sentence_spans

_ORDERS = tuple(
    (tuple(one["words"]), re.compile(one["pattern"]))
    for orders in LANGUAGES.of("instructions.orders").values()
    for one in orders
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e007f]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
"""Unicode tag characters: text that models read and people do not see."""
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*")
"""Of white space that has no runs of spaces any more; the orders' patterns know short white space only."""
_LINE = re.compile(r"[^\n]+")
_LONGEST_ORDER = 3
"""Sentences or lines over which one order may be broken."""


def strip_invisible(text: str) -> str:
    """The text without characters that are not seen but read: zero width, direction marks, tags."""
    return _INVISIBLE.sub("", text)


@lru_cache(maxsize=512)
def reads_like_instructions(text: str) -> bool:
    """Whether a text holds what reads like an instruction to a machine, however it is wrapped or disguised."""
    if _TAGS.search(text):
        return True
    # Full-width and invisible characters are a common disguise.
    plain = _LINES.sub("\n", _SPACES.sub(" ", strip_invisible(unicodedata.normalize("NFKC", text)))).lower()
    flat = plain.replace("\n", " ")
    return any(any(word in flat for word in words) and pattern.search(plain) for words, pattern in _ORDERS)


@lru_cache(maxsize=512)
def instruction_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of the sentences and lines that read like instructions, in order; the rest of the text is as good as any.

    An order that is broken over lines or sentences is found in the shortest run of them that reads like one; where no
    run of three does, it is the whole text.
    """
    if not reads_like_instructions(text):
        return ()
    pieces = [span for line in _LINE.finditer(text) for span in sentence_spans(text, *line.span())]
    bad: set[int] = set()
    for length in range(1, _LONGEST_ORDER + 1):
        for first in range(len(pieces) - length + 1):
            run = range(first, first + length)
            if bad.isdisjoint(run) and reads_like_instructions(text[pieces[first][0] : pieces[run[-1]][1]]):
                bad.update(run)
    return tuple(pieces[at] for at in sorted(bad)) or ((0, len(text)),)
