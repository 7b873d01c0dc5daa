"""Results of code: the helper that reports them from within the sandbox, and what comes back, taken apart.

The helper is a file beside the code, sent with it. What it writes into the output is framed by characters that nobody
prints: a report is a JSON object between two of them, and what was printed of typed numbers stands between two others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from quelea_gateway.core.agent.decision.parsing import clean

HELPER = "quelea_results"
EVIDENCE = "evidence.json"
_MARKS = re.compile("\ue000([^\ue000-\ue003]*)\ue001|\ue002([^\ue000-\ue003]*)(?:\ue003|\\Z)")
_MOST = 200
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Result:
    """A figure, or a text, that code reported.

    Attributes:
        place: Which of the code's reports it is.
        inputs: What the code said that it rests on.
    """

    name: str
    value: str
    unit: str
    inputs: tuple[str, ...]
    place: int

    @property
    def line(self) -> str:
        """As a reader has it."""
        return f"{self.name}: {self.value}{' ' if self.unit else ''}{self.unit}"


@dataclass(frozen=True, slots=True)
class Output:
    """What code printed.

    Attributes:
        text: All of it, reports as lines.
        traced: The same without what draws on typed numbers.
    """

    text: str
    traced: str
    results: tuple[Result, ...] = ()


def helper() -> bytes:
    """The helper's source, for the sandbox."""
    return (resources.files(__package__) / "sandbox_files" / f"{HELPER}.py").read_bytes()


def read_output(stdout: str, untraced_places: frozenset[int] = frozenset(), *, all_untraced: bool = False) -> Output:
    """Take an output apart.

    Args:
        untraced_places: Of the reports whose value draws on typed numbers.
    """
    results: list[Result] = []
    text: list[str] = []
    traced: list[str] = []
    end = 0
    for match in _MARKS.finditer(stdout):
        between = stdout[end : match.start()]
        text.append(between)
        traced.append(between)
        end = match.end()
        if match[1] is None:
            text.append(match[2])
            continue
        result = _result(match[1])
        if result is None or len(results) >= _MOST:
            continue
        results.append(result)
        text.append(result.line)
        if result.place and result.place not in untraced_places:
            traced.append(result.line)
    text.append(stdout[end:])
    traced.append(stdout[end:])
    whole = re.sub("[\ue000-\ue003]", "", "".join(text))
    return Output(whole, "" if all_untraced else re.sub("[\ue000-\ue003]", "", "".join(traced)), tuple(results))


def _result(text: str) -> Result | None:
    try:
        found: dict[str, Any] = json.loads(text)
        inputs: Sequence[Any] = found["inputs"]
        return Result(
            clean(str(found["name"]), 200), clean(str(found["value"]), _LONGEST), clean(str(found["unit"]), 40),
            tuple(clean(str(one), 200) for one in inputs[:20]), int(found["place"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
