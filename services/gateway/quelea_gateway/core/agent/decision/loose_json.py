"""JSON as models write it, made strict: quotes and punctuation of Chinese, single quotes, quotes within a text that
nobody escaped, comments, trailing commas, Python's words, and an end that is missing.

One pass over the text, so that hostile answers cost no more than others (json-repair took 43 s for 10 kB of `["`).
"""

from __future__ import annotations

import json
import re
from typing import Any

_CLOSING = {'"': '"“”', "'": "'", "“": '”“"', "”": '”"', "‘": "’‘'", "’": "’'", "＂": '＂"'}
_PLAIN = str.maketrans("：，｛｝［］", ":,{}[]")
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "NaN": "null"}
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_BLANKS = re.compile(r"\s{0,200}")
_DEEPEST = 200


def loads(text: str) -> Any:
    """The value, or None when there is none."""
    try:
        return json.loads(strict(text), strict=False)
    except (ValueError, RecursionError):
        return None


def strict(text: str) -> str:
    """The text as strict JSON, as far as it is any."""
    out: list[str] = []
    stack: list[str] = []
    last, place = "", 0
    while place < len(text):
        char = text[place]
        if char in _CLOSING:
            key = last in "{," and bool(stack) and stack[-1] == "}"
            place, piece = _string(text, place, key=key)
            out.append(piece)
            last = '"'
            continue
        if (comment := _COMMENT.match(text, place)) is not None:
            place = comment.end()
            continue
        if (word := _WORD.match(text, place)) is not None:
            named = word[0] if word[0] in ("true", "false", "null") or _number(text, place) else _WORDS.get(word[0])
            out.append(named or json.dumps(word[0]))
            last, place = '"', word.end()
            continue
        char = char.translate(_PLAIN)
        if char in "{[":
            stack.append("}" if char == "{" else "]")
            if len(stack) > _DEEPEST:
                return ""
        elif char in "}]":
            _drop_comma(out)
            if not stack or stack.pop() != char:
                return ""
        out.append(char)
        place += 1
        if not char.isspace():
            last = char
        if not stack and char in "}]":
            return "".join(out)  # what comes behind is another value, or prose
    _end(out, stack, last)
    return "".join(out)


def _string(text: str, start: int, *, key: bool) -> tuple[int, str]:
    """(where it ends, the string): a quote ends it only where something follows that can follow a string."""
    closing, place, found = _CLOSING[text[start]], start + 1, []
    while place < len(text):
        char = text[place]
        if char == "\\" and place + 1 < len(text):
            pair = text[place : place + 2]
            found.append(pair if pair[1] in '"\\/bfnrtu' else pair[1])
            place += 2
            continue
        if char in closing and _ends(text, place + 1, key=key):
            break
        found.append('\\"' if char == '"' else char)
        place += 1
    return place + 1, '"' + "".join(found).rstrip("\\" if place >= len(text) else "") + '"'


def _ends(text: str, place: int, *, key: bool) -> bool:
    after = _blank(text, place)
    if after >= len(text):
        return True
    if key:
        return text[after] in ":："
    if text[after] in "}]｝］" or text.startswith(("//", "/*"), after):
        return True
    if text[after] not in ",，":
        return False
    then = _blank(text, after + 1)
    return then >= len(text) or text[then] in _CLOSING or text[then] in "{[}]-/" or text[then].isalnum()


def _blank(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return match.end() if match else place


def _number(text: str, place: int) -> bool:
    """Whether a letter here is the exponent of a number."""
    return text[place] in "eE" and place > 0 and text[place - 1].isdigit()


def _drop_comma(out: list[str]) -> None:
    while out and (out[-1].isspace() or out[-1] == ","):
        out.pop()


def _end(out: list[str], stack: list[str], last: str) -> None:
    """Close what was cut off; a key without its value goes."""
    _drop_comma(out)
    if stack and stack[-1] == "}":
        if last == ":":
            out.pop()
        before = next((piece for piece in reversed(out[:-1]) if not piece.isspace()), "")
        if out and out[-1].startswith('"') and before in ("{", ","):
            out.pop()
            _drop_comma(out)
    out.extend(reversed(stack))
