"""Numbers in words: 三千五百万, 百分之十二点五, 五成; twelve percent; the twenty-first, 第二点五.

How a number is put together is a rule of its language, so words and rules are here together.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

_BANK_DIGITS = "壹贰叁肆伍陆柒捌玖"
DIGITS = (
    {c: n for n, c in enumerate("零一二三四五六七八九")}
    | {"〇": 0, "两": 2}
    | {c: n for n, c in enumerate(_BANK_DIGITS, start=1)}
)
"""What a Chinese digit stands for, as banks write it too."""
_PLACES = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_GROUPS = {"万": 10**4, "亿": 10**8}

ENGLISH = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
} | {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)}
"""English number words up to ninety."""
_IRREGULAR = {"first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine",
              "twelfth": "twelve"}  # fmt: skip
_ORDINAL_WORDS = {word: ENGLISH[plain] for word, plain in _IRREGULAR.items()} | {
    f"{word.removesuffix('y')}ieth" if word.endswith("y") else f"{word}th": number
    for word, number in ENGLISH.items()
    if word not in _IRREGULAR.values()
}

_ONES = "|".join(word for word, number in ENGLISH.items() if 0 < number < 10)
_TENS = "|".join(word for word, number in ENGLISH.items() if number >= 20)
_ORDINAL = "|".join(sorted(_ORDINAL_WORDS, key=len, reverse=True))
CARDINAL_WORD = rf"(?:(?:{_TENS})[- ](?:{_ONES})|{'|'.join(sorted(ENGLISH, key=len, reverse=True))})"
"""Pattern of an English number word up to ninety-nine; lower case."""
ORDINAL_WORD = rf"(?:(?:(?:{_TENS})[- ])?(?:{_ORDINAL})|\d{{1,4}}(?:st|nd|rd|th))"
"""Pattern of an English ordinal, in words or digits; lower case."""
HAN_NUMERAL = rf"[零〇一二两三四五六七八九十百{_BANK_DIGITS}拾佰]{{1,8}}(?:点[零〇一二三四五六七八九]{{1,4}})?"
"""Pattern of a small Chinese numeral: bounded, so that a long run of digits costs no more than its length."""
ROMAN_NUMERAL = r"(?-i:X{0,3}(?:IX|IV|V?I{1,3}|V|X)|[\u2160-\u216b])"
"""Pattern of a Roman numeral up to thirty-nine, in capitals or as one sign (Ⅴ)."""


def chinese(text: str) -> Decimal | None:
    """The value of a Chinese numeral, 点 being the decimal point; None when it is none."""
    whole, point, part = text.partition("点")
    value = _whole(whole)
    if value is None or (point and not part):
        return None
    if not part:
        return Decimal(value)
    digits = [DIGITS.get(c) for c in part]
    if None in digits:
        return None
    return Decimal(f"{value}.{''.join(map(str, digits))}")


def _whole(text: str) -> int | None:
    if not text:
        return None
    if all(c in DIGITS for c in text):  # 二〇二三
        return int("".join(str(DIGITS[c]) for c in text))
    total = group = digit = 0
    for c in text:
        if c in DIGITS:
            digit = DIGITS[c]
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


def ordinal(text: str) -> int | None:
    """The value of "third", "twenty-first", "3rd", "zeroth"; None when it is none."""
    low = text.lower()
    if digits := re.fullmatch(r"(\d{1,4})(?:st|nd|rd|th)", low):
        return int(digits[1])
    *before, last = low.replace("-", " ").split() or [""]
    ones = _ORDINAL_WORDS.get(last)
    if not before or ones is None:
        return ones
    tens = english(before[0]) if len(before) == 1 else None
    return tens + ones if tens is not None and tens >= 20 and 0 < ones < 10 else None


def roman(text: str) -> int | None:
    """The value of "IV", "Ⅴ", "XIII"; None when it is none."""
    plain = unicodedata.normalize("NFKC", text)
    if not re.fullmatch(ROMAN_NUMERAL, plain):
        return None
    values = [{"I": 1, "V": 5, "X": 10}[c] for c in plain]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def number(text: str) -> Decimal | None:
    """A number however it is said: 4, 2.5, four, fourth, 4th, IV, 四, 肆, 二点五; None when it is none."""
    if re.fullmatch(r"\d+(?:\.\d+)?", text, re.ASCII):
        return Decimal(text)
    for read in (english, ordinal, roman):
        value = read(text)
        if value is not None:
            return Decimal(value)
    return chinese(text)


def how_many(text: str) -> int:
    """A count of whole things as a text says it, "a" being one: a, 3, three, 两; 0 when it says none."""
    low = text.lower()
    return 1 if low in ("a", "an") else int(number(low) or 0)
