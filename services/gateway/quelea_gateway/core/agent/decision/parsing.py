"""What a model wrote, read as far as it can be read.

Structured output keeps most answers in shape; endpoints without it, small models and cut answers do not, so every
answer is read leniently here and judged strictly by its decoder.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quelea_gateway.core.agent.decision import loose_json

LONGEST = 200_000
FENCE = re.compile(
    r"(?:```|~~~)[ \t]{0,8}+([A-Za-z0-9_+-]{0,40}+)[^\n]{0,200}\n(.*?)(?:\r?\n[ \t]{0,40}+(?:```|~~~)|\Z)", re.DOTALL
)
_THINKING = re.compile(
    r"<(think(?:ing)?|reasoning)>.*?(?:</\1>|\Z)|\A.*</(?:think(?:ing)?|reasoning)>", re.DOTALL | re.IGNORECASE
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_STARTS = 40
_LOOSE_STARTS = 5


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
    """The first JSON object in a text: fenced, amid prose, in bad shape, or cut off at its end. Raises Misfit."""
    found = json_value(text)
    if isinstance(found, list):
        found = next((one for one in found if isinstance(one, dict)), None)
    if isinstance(found, dict) and found:
        return found
    raise Misfit("The answer is no JSON object. Answer with one JSON object and nothing else.")


def json_value(text: str) -> Any:
    """The first JSON object or list in a text; None when there is none. Raises Misfit when it is empty."""
    text = without_thinking(text[:LONGEST]).strip()
    if not text:
        raise Misfit("The answer was empty. Answer with one JSON object.")
    for piece in (text, *(match[2] for match in FENCE.finditer(text))):
        found = _loads(piece)
        if isinstance(found, dict | list):
            return found
    decoder = json.JSONDecoder(strict=False)
    starts = [match.start() for match in itertools.islice(re.finditer(r"[{｛]", text), _STARTS)]
    for start in starts:
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found:
            return _loose(text, (one for one in starts[:_LOOSE_STARTS] if one < start), around=found) or found
    return _loose(text, starts[:_LOOSE_STARTS])


def _loose(text: str, starts: Iterable[int], around: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The first object that is no strict JSON; with `around` only one that holds that object, as its own part."""
    for start in starts:
        found = loose_json.loads(text[start:])
        if isinstance(found, dict) and found and (around is None or _holds(found, around)):
            return found
    return None


def _holds(value: Any, part: dict[str, Any]) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(one == part or _holds(one, part) for one in inner)


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def string(value: Mapping[str, Any], name: str, *, longest: int, needed: bool = True) -> str:
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


def strings(value: Mapping[str, Any], name: str, *, most: int, longest: int) -> list[str]:
    """A list of texts; a lone text is a list of one, of an object the texts in it count, anything else is left out."""
    given = value.get(name) or []
    if isinstance(given, str | dict):
        given = [given]
    if not isinstance(given, list):
        raise Misfit(f'"{name}" must be a list of texts.')
    found = [clean(flat(one), longest).strip() for one in given]
    return [one for one in found if one][:most]


def flat(value: Any) -> str:
    """The texts and numbers of a value, in one line."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return ": ".join(
            one if isinstance(one, str) else str(one) for one in parts if isinstance(one, str | int | float)
        )
    return ""


def known_name(given: str, names: Sequence[str]) -> str:
    """The known name that is meant: "ak.stock_us_daily()" is stock_us_daily; as given when none is known so."""
    plain = given.strip().strip("`\"'*").partition("(")[0].strip()
    if plain in names or not names:
        return plain
    short = re.sub(r"^(?:ak|akshare)\.", "", plain)
    ends = [name for name in names if name.lower() == short.lower() or name.endswith(f".{short}")]
    return ends[0] if len(ends) == 1 else plain


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


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
            found |= numbers(node.value)
    return found


def numbers(text: str) -> set[str]:
    """The numbers of a text, as in "1234.5"."""
    return {canonical(match) for match in re.findall(r"\d[\d,]*(?:\.\d+)?", text[:20_000])}


def canonical(number: str) -> str:
    """A number without thousands separators and needless zeros: "1,250.50" is "1250.5"."""
    plain = number.replace(",", "").replace("，", "").lstrip("+-−").strip()
    if "." in plain and "e" not in plain:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"
