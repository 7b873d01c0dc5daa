"""The catalogue's headings in English and in plain words, and which of them a tool stands under.

A provider files its tools under headings in one language ("限售股解禁"); users ask in either, and rarely with the words
of the heading. headings.txt says each one in English and as people would; a tool is searched by all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from quelea_gateway.core.tools.model import Tool

_CHINESE = re.compile("[\u4e00-\u9fff]")
_AND = "&"
_NOTE = re.compile("；|，数据区间")
"""Behind it a description says what else is to be known, no longer what the tool gives."""


@dataclass(frozen=True)
class Heading:
    """One heading."""

    parts: tuple[str, ...]
    """Lower case; all of them stand in what a tool under this heading is called."""
    english: str
    plain: tuple[str, ...]
    """How people say it, in both languages."""


def parse(text: str) -> tuple[Heading, ...]:
    """Headings of a file like headings.txt. Raises ValueError for a line that is none."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 3 or not all(fields):
            raise ValueError(f"line {number} is no heading: one has three fields, and none is empty")
        parts = tuple(part.strip().lower() for part in fields[0].split(_AND))
        found.append(Heading(parts, fields[1], tuple(word.strip() for word in fields[2].split(","))))
    return tuple(found)


@cache
def load_headings() -> tuple[Heading, ...]:
    """The headings that come with the gateway."""
    return parse(resources.files("quelea_gateway.core.tools").joinpath("headings.txt").read_text("utf-8"))


def headings_of(tool: Tool, headings: Sequence[Heading] | None = None) -> list[Heading]:
    """The headings that a tool stands under, the most particular first.

    A heading of one part is looked for in the tool's own title: its name, the last part of its path and of
    its description. One of several parts is looked for in all that the tool says, and so are the others where no title
    holds one. What a longer heading says too ("财务报表" in "三大财务报表") is left out.
    """
    title, all_of_it = _title(tool), _all(tool)
    known = load_headings() if headings is None else headings
    found = [one for one in known if _holds(one, title if len(one.parts) == 1 else all_of_it)]
    found = found or [one for one in known if _holds(one, all_of_it)]
    kept = [one for one in found if not any(_is_part(one, other) for other in found)]
    return sorted(kept, key=lambda one: -sum(map(len, one.parts)))


def title_of(tool: Tool) -> str:
    """The end of its path and the end of its description: what tells it from its neighbours."""
    said = _trail(tool.description)[-1]
    path = " ".join(tool.path[-2:])
    return path if said in path else f"{path} {said}".strip()


def _trail(description: str) -> list[str]:
    """A Chinese description is a trail of headings ("东方财富网-数据中心-大宗交易"); any other is one sentence."""
    said = _NOTE.split(description)[0].strip()
    return [part.strip() for part in said.split("-")] if _CHINESE.match(said) else [said]


def _title(tool: Tool) -> str:
    return "\n".join((tool.name, *tool.path[-1:], _trail(tool.description)[-1])).lower()


def _all(tool: Tool) -> str:
    return "\n".join((tool.name, tool.description, *tool.path)).lower()


def _holds(heading: Heading, text: str) -> bool:
    return all(_whole(part).search(text) for part in heading.parts)


@cache
def _whole(part: str) -> re.Pattern[str]:
    """Latin letters at its ends begin and end a word: PPI is not in "shipping"."""
    first, last = (r"(?<![a-z0-9])", r"(?![a-z0-9])")
    before = first if part[0].isascii() and part[0].isalnum() else ""
    return re.compile(before + re.escape(part) + (last if part[-1].isascii() and part[-1].isalnum() else ""))


def _is_part(one: Heading, other: Heading) -> bool:
    if one is other or len(one.parts) > 1:
        return False
    return any(one.parts[0] != part and one.parts[0] in part for part in other.parts)
