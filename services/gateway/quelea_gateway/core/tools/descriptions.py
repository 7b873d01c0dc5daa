"""A tool as text: one line to choose by, one document to call it by."""

from __future__ import annotations

from collections.abc import Sequence

from quelea_gateway.core.tools.model import Parameter, Tool

_LINE = 160
_DESCRIPTION = 2000
_PARAMETERS = 40
_COLUMNS = 60
_COLUMN = 120
_TEXT = 300
_SAMPLE = 1500
_BROKEN = 0.4


def line(tool: Tool) -> str:
    """Name and description."""
    head = " › ".join(tool.path[-2:])
    said = f"{head}: {tool.description}" if head else tool.description
    return f"{tool.name}: {_cut(' '.join(said.split()), _LINE)}"


def details(tool: Tool) -> str:
    """The document for a prompt: what it gives, its parameters, its columns, an example, the first rows of a result."""
    parts = [
        f"{tool.name} ({tool.provider}, {tool.category})",
        _cut(tool.description, _DESCRIPTION),
        *([f"Returns: {_cut(tool.limits, _TEXT)}"] if tool.limits else []),
        "Parameters:\n" + _parameters(tool.parameters) if tool.parameters else "Parameters: none",
        *([f"Columns of the result: {_columns(tool)}"] if tool.outputs else []),
        *([f"Example:\n{tool.example}"] if tool.example else []),
        *([f"First rows of a result:\n{tool.sample[:_SAMPLE]}"] if tool.sample else []),
        *([f"Hosts: {', '.join(tool.hosts)}"] if tool.hosts else []),
    ]
    if tool.health.score < _BROKEN:
        parts.append(
            f"Warning: its last {tool.health.failures_in_row} calls failed ({_cut(tool.health.error, _TEXT)}); "
            "another tool may be better."
        )
    return "\n".join(parts)


def _parameters(parameters: Sequence[Parameter]) -> str:
    lines = []
    for one in parameters[:_PARAMETERS]:
        kind = one.type or "any"
        need = "required" if one.required else f"default {one.default or 'None'}"
        about = f": {_cut(one.description, _TEXT)}" if one.description else ""
        lines.append(f"- {one.name} ({kind}, {need}){about}")
    if len(parameters) > _PARAMETERS:
        lines.append(f"- and {len(parameters) - _PARAMETERS} more")
    return "\n".join(lines)


def _columns(tool: Tool) -> str:
    names = []
    for column in tool.outputs[:_COLUMNS]:
        about = ", ".join(part for part in (column.type, column.description) if part)
        names.append(_cut(f"{column.name} ({about})" if about else column.name, _COLUMN))
    more = len(tool.outputs) - _COLUMNS
    return "; ".join(names) + (f"; and {more} more" if more > 0 else "")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
