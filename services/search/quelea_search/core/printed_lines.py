"""Printed lines to running text."""

from __future__ import annotations

import re

_CJK_EDGE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef“”‘’—…]")


def ends_chinese(text: str) -> bool:
    """Whether a line's last character is Chinese or full-width."""
    return _CJK_EDGE.match(text[-1]) is not None


def glue(upper: str, lower: str) -> str:
    """Two printed lines as one: no space between Chinese characters, nor after a hyphen or slash that joins words."""
    if _CJK_EDGE.match(upper[-1]) and (_CJK_EDGE.match(lower[0]) or lower[0].isdigit()):
        return upper + lower
    if _CJK_EDGE.match(lower[0]) and upper[-1].isdigit():
        return upper + lower
    if upper[-1] in "-/" and len(upper) > 1 and upper[-2].isalpha() and lower[0].isalpha():
        return upper + lower
    return f"{upper} {lower}"
