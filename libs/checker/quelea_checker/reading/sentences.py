"""Plain text and its sentences: one form of spaces, quotes and signs of the same length, then cuts at sentence ends."""

from __future__ import annotations

import re

from quelea_fintext.sentences import clause_spans, sentence_spans

_PLAIN = str.maketrans(
    {
        **{chr(zero + n): str(n) for n in range(10) for zero in (0xFF10, 0x0660, 0x06F0)},
        "٬": ",", "٫": ".", "٪": "%",
        "％": "%", "．": ".", "（": "(", "）": ")", "＋": "+", "－": "-", "−": "-", "‐": "-", "‑": "-", "﹣": "-",
        "＄": "$", "￥": "¥", "￡": "£", "～": "~", "〜": "~",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ",
        "：": ":", "；": ";", "’": "'", "‘": "'", "`": "'", "［": "[", "］": "]",
    }
)  # fmt: skip
_WIDE_COMMA = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")


def plain(text: str) -> str:
    """The text with its full-width digits, signs and brackets made ordinary; as long as before.

    A full-width comma is a thousands separator only between full-width digits; elsewhere it ends a clause.
    """
    return _WIDE_COMMA.sub(",", text).translate(_PLAIN)


_LONGEST = 1500
"""Code points of a sentence; what is longer is cut between words."""
_MARKER = r"\[\d{1,3}(?:\s{0,8}+[,，、]\s{0,8}+\d{1,3})*+\]"
_MARKERS = re.compile(rf"(?:\s{{0,8}}+{_MARKER})++")
_ASIDE = re.compile(rf"{_MARKER}|^[ \t]*(?:```|'''|~~~)\w*[ \t]*$", re.MULTILINE)
"""What is no part of a sentence: markers, and lines that open or end code, in a plain() text too."""


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences, without the space around them, with the markers behind them. A line's end ends one."""
    bare = _ASIDE.sub(lambda match: " " * len(match.group()), text)
    found: list[tuple[int, int]] = []
    start = 0
    for line in bare.splitlines(keepends=True):
        for span in sentence_spans(bare, start, start + len(line)):
            found += clause_spans(bare, *span, _LONGEST)
        start += len(line)
    return [(first, _behind_markers(text, last)) for first, last in found]


def _behind_markers(text: str, end: int) -> int:
    markers = _MARKERS.match(text, end)
    return markers.end() if markers else end
