"""Numbers in words: 三千五百万, 百分之十二点五, 五成; twelve percent."""

from __future__ import annotations

from decimal import Decimal

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "壹": 1, "贰": 2, "叁": 3}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_GROUPS = {"万": 10**4, "亿": 10**8}

ENGLISH = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
} | {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)}
"""English number words up to ninety."""


def chinese(text: str) -> Decimal | None:
    """The value of a Chinese numeral, 点 being the decimal point; None when it is none."""
    whole, point, part = text.partition("点")
    value = _whole(whole)
    if value is None or (point and not part):
        return None
    if not part:
        return Decimal(value)
    digits = [_DIGITS.get(c) for c in part]
    if None in digits:
        return None
    return Decimal(f"{value}.{''.join(map(str, digits))}")


def _whole(text: str) -> int | None:
    if not text:
        return None
    if all(c in _DIGITS for c in text):  # 二〇二三
        return int("".join(str(_DIGITS[c]) for c in text))
    total = group = digit = 0
    for c in text:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _PLACES:
            group += (digit or (1 if c == "十" else 0)) * _PLACES[c]
            digit = 0
        elif c in _GROUPS:
            base = total + group + digit if c == "亿" else group + digit
            if base == 0:
                return None
            total = base * _GROUPS[c] if c == "亿" else total + base * _GROUPS[c]
            group = digit = 0
        else:
            return None
    return total + group + digit


def english(text: str) -> int | None:
    """The value of "twelve", "twenty-five"; None when it is none."""
    words = text.lower().replace("-", " ").split()
    if not words or any(word not in ENGLISH for word in words) or len(words) > 2:
        return None
    if len(words) == 2 and not (ENGLISH[words[0]] >= 20 and 0 < ENGLISH[words[1]] < 10):
        return None
    return sum(ENGLISH[word] for word in words)
