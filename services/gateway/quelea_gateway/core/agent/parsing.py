"""What a model wrote, read as far as it can be read.

Structured output keeps most answers in shape; endpoints without it, small models and cut answers do not, so every
answer is read leniently here and judged strictly by its decoder.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

LONGEST = 200_000
_FENCE = re.compile(r"```[ \t]*([A-Za-z0-9_+-]*)[ \t]*\r?\n(.*?)(?:\r?\n[ \t]*```|\Z)", re.DOTALL)
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_STARTS = 40
_MOST_CODE = 60_000


class Misfit(Exception):
    """The answer cannot be used; the message tells the model why."""


def clean(text: str, longest: int = LONGEST) -> str:
    """The text without what cannot be stored or is read without being seen; cut to `longest` characters."""
    text = text[: longest * 2].encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub("", text)[:longest]


def without_thinking(text: str) -> str:
    """The answer without a reasoning model's thoughts; all of it when there is nothing else."""
    rest = _THINKING.sub("", text).strip()
    return rest or text


def json_object(text: str) -> dict[str, Any]:
    """The first JSON object in a text, also in a fence, amid prose, or cut off at its end. Raises Misfit."""
    text = without_thinking(text[:LONGEST]).strip()
    if not text:
        raise Misfit("The answer was empty. Answer with one JSON object.")
    for piece in (text, *(match[2] for match in _FENCE.finditer(text))):
        found = _loads(piece)
        if isinstance(found, dict):
            return found
    decoder = json.JSONDecoder(strict=False)
    for count, match in enumerate(re.finditer(r"\{", text)):
        if count >= _STARTS:
            break
        try:
            found, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found:
            return found
    start = text.find("{")
    closed = _loads(_closed(text[start:])) if start >= 0 else None
    if isinstance(closed, dict) and closed:
        return closed
    raise Misfit("The answer is no JSON object. Answer with one JSON object and nothing else.")


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _closed(text: str) -> str:
    """JSON that was cut off, with its open strings, arrays and objects closed; a dangling key or comma is dropped."""
    stack: list[str] = []
    in_string = escaped = False
    for char in text[:LONGEST]:
        if escaped:
            escaped = False
        elif in_string:
            escaped = char == "\\"
            in_string = char != '"'
        elif char == '"':
            in_string = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]" and stack:
            stack.pop()
    if escaped:
        text = text[:-1]
    if in_string:
        text += '"'
    text = re.sub(r'(?:,\s*"(?:[^"\\]|\\.)*"\s*:?|[,:])\s*\Z', "", text) if not in_string else text
    return text + "".join(reversed(stack[:200]))


def string(value: dict[str, Any], name: str, *, longest: int, needed: bool = True) -> str:
    """A text field, in one piece. Raises Misfit."""
    given = value.get(name, "")
    if isinstance(given, int | float) and not isinstance(given, bool):
        given = str(given)
    if not isinstance(given, str):
        raise Misfit(f'"{name}" must be a text.')
    given = clean(given, longest).strip()
    if needed and not given:
        raise Misfit(f'"{name}" is missing or empty.')
    return given


def strings(value: dict[str, Any], name: str, *, most: int, longest: int) -> list[str]:
    """A list of texts; a lone text is a list of one, anything else in it is left out."""
    given = value.get(name) or []
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list):
        raise Misfit(f'"{name}" must be a list of texts.')
    found = [clean(one, longest).strip() for one in given if isinstance(one, str)]
    return [one for one in found if one][:most]


def code(text: str) -> str:
    """The Python of an answer: its longest fenced block, else all of it when that is Python. Raises Misfit."""
    text = without_thinking(clean(text)).strip()
    if not text:
        raise Misfit("The answer was empty. Answer with one block of Python code.")
    blocks = [match[2] for match in _FENCE.finditer(text) if match[1].lower() in ("", "python", "py", "python3")]
    found = max(blocks, key=len, default=text).strip("\n")
    if len(found) > _MOST_CODE:
        raise Misfit(f"The code has more than {_MOST_CODE:,} characters. Write less.")
    if not blocks and found.startswith("{"):
        wrapped = _loads(found)
        if isinstance(wrapped, dict) and isinstance(wrapped.get("code"), str):
            found = wrapped["code"]
    try:
        tree = ast.parse(found)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else "it cannot be read"
        raise Misfit(f"This is no Python{line}: {reason}. Answer with one ```python block of whole code.") from error
    if not tree.body or (not blocks and all(isinstance(node, ast.Expr | ast.Pass) for node in tree.body)
                         and not any(isinstance(node, ast.Call) for node in ast.walk(tree))):  # fmt: skip
        raise Misfit("There is no code in the answer. Answer with one ```python block.")
    return found


def literals(source: str) -> set[str]:
    """The numbers that are typed into code, as in "1234.5": the constants, and those within its texts."""
    found: set[str] = set()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
            continue
        if isinstance(node.value, int | float):
            found.add(canonical(repr(node.value)))
        elif isinstance(node.value, str):
            found |= {canonical(match) for match in re.findall(r"\d[\d,]*(?:\.\d+)?", node.value[:20_000])}
    return found


def canonical(number: str) -> str:
    """A number without thousands separators and needless zeros: "1,250.50" is "1250.5"."""
    plain = number.replace(",", "").replace("，", "").lstrip("+-−").strip()
    if "." in plain and "e" not in plain:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"
