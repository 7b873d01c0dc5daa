"""Plain text and its sentences: one form of spaces, quotes and signs of the same length, then cuts at sentence ends."""

from __future__ import annotations

import re

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
_MARKS = r"(?:\s{0,8}+\[\d{1,3}(?:\s{0,8}+[,，、]\s{0,8}+\d{1,3})*+\])*+"
_END = re.compile(
    rf"[。！？；]+[”』」）\"]*{_MARKS}|(?<![.!?])[.!?]++[\"”’)]*+{_MARKS}(?=\s|$|\[)|\n+",
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:Inc|Corp|Co|Ltd|Nos?|U\.S|U\.K|E\.U|vs|Mr|Mrs|Ms|Dr|Jr|Sr|St|approx|e\.g|i\.e|etc|al|Fig|Sec|Bros|cf"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)|\b[A-Z]|^\s*\(?\d{1,2})$"
)
_FENCE = re.compile(r"(?m)^[ \t]*(?:```|'''|~~~)\w*[ \t]*$")
"""The line that opens or ends code, in a plain() text too: no sentence."""
_AT = re.compile(r"\s*[A-Z0-9\"“‘(\[$€£•*#\u3400-\u9fff-]|\s*$|\s*[a-z]+[A-Z]")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences, without the space around them. A line's end ends a sentence."""
    text = _FENCE.sub(lambda match: " " * len(match.group()), text)
    found: list[tuple[int, int]] = []
    begin = 0
    for match in _END.finditer(text):
        said = match.group()
        if said[0] == ".":
            before = text[max(0, match.start() - 12) : match.start()].rsplit("\n", 1)[-1]
            behind = text[match.end() : match.end() + 12]
            if (_ABBREVIATION.search(before) and behind.strip()) or not _AT.match(behind):
                continue
        _add_sentence(found, text, begin, match.end())
        begin = match.end()
    _add_sentence(found, text, begin, len(text))
    return found


def _add_sentence(found: list[tuple[int, int]], text: str, begin: int, end: int) -> None:
    inner = text[begin:end]
    start = begin + len(inner) - len(inner.lstrip())
    stop = begin + len(inner.rstrip())
    if start >= stop:
        return
    while stop - start > _LONGEST:  # no prose; cut, so that the work for a sentence has a bound
        space = max(text.rfind(mark, start + _LONGEST // 2, start + _LONGEST) for mark in " ,，、\t")
        middle = space + 1 if space > 0 else start + _LONGEST
        found.append((start, middle - (text[middle - 1].isspace())))
        start = middle
    if found and re.fullmatch(_MARKS, text[start:stop]):  # markers on a line of their own
        found[-1] = (found[-1][0], stop)
    else:
        found.append((start, stop))
