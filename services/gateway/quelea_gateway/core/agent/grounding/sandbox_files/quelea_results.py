"""Beside the code of a run, in its sandbox: its passages, and results that say what they rest on.

    from quelea_results import figure, passage, passages, report
    revenue = figure(3, "60,922")                # the number as passage 3 prints it; a ValueError where it does not
    report("Revenue growth", growth, "%", inputs=[3])

It is sent as it stands, so it imports the standard library alone.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def passages() -> list[dict[str, Any]]:
    """The run's passages: [{"id", "document", "page", "published", "text"}]."""
    found: list[dict[str, Any]] = json.loads(Path("evidence.json").read_text(encoding="utf-8"))
    return found


def passage(number: int) -> str:
    """The text of one. Raises ValueError where there is none of that number."""
    found = passages()
    for one in found:
        if one["id"] == number:
            return str(one["text"])
    raise ValueError(f"There is no passage {number}; there are {[one['id'] for one in found]}.")


def figure(number: int, printed: str) -> float:
    """A number that a passage prints; below zero where it is given with a minus or in parentheses.

    Raises:
        ValueError: the passage does not print it.
    """
    text, wanted = passage(number), str(printed).strip()
    plain = re.sub(r"[^\d.]", "", wanted).strip(".")
    if plain and any(match[0].replace(",", "") == plain for match in _NUMBER.finditer(text)):
        return -float(plain) if wanted[0] in "(-−–" else float(plain)
    raise ValueError(f"Passage {number} does not print {wanted!r}.")


def _text(value: Any) -> str:
    if hasattr(value, "to_string"):
        return f"\n{value.to_string()}"
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:,.4f}".rstrip("0").rstrip(".") if abs(value) >= 0.1 else f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


class _Report:
    def __init__(self, place: int = 0) -> None:
        self._place = place

    def at(self, place: int) -> _Report:
        """The same for one place of the code."""
        return _Report(place)

    def __call__(self, name: str, value: Any, unit: str = "", inputs: Sequence[int | str] | int | str = ()) -> Any:
        """Report a result: it is printed, and the run keeps it with its inputs. The value is given back."""
        given = [inputs] if isinstance(inputs, str | int) else list(inputs)
        record = {
            "name": str(name), "value": _text(value), "unit": str(unit or ""), "inputs": [str(one) for one in given],
            "place": self._place,
        }  # fmt: skip
        sys.stdout.write(f"\ue000{json.dumps(record, ensure_ascii=False)}\ue001\n")
        return value


report = _Report()


def untraced(*values: Any, **options: Any) -> None:
    """print() of what draws on numbers that were typed into the code: it is marked so."""
    if options.get("file") not in (None, sys.stdout):
        print(*values, **options)  # noqa: T201  # what the code asked for
        return
    sys.stdout.write("\ue002")
    print(*values, **options)  # noqa: T201  # what the code asked for
    sys.stdout.write("\ue003")
