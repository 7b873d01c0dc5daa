"""What is made when the client is built or installed: the synchronous client of the asynchronous one, and the models of
the gateway's OpenAPI document (schemas.json).

`python hatch_build.py < openapi.json` (make client-schemas) writes schemas.json anew, and makes both; without an input
it makes them alone. docs/decisions/0022 has the reasons.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "quelea_client"
MADE = {"client.py": "async_client.py", "models.py": "../schemas.json"}
"""File of the package -> what it is made of."""
WIDTH = 120

ROOTS = (
    "AnswerOut StartedOut QuotesOut GroundingOut SearchOut CheckOut FactOut CompanyOut StatementOut "
    "CompanyComparisonOut DocumentOut PageOut JobOut UploadedOut FetchedOut WatchOut WatchedOut CollectionOut "
    "CollectionDeletedOut DeletedOut ConversationOut WholeConversationOut FeedbackOut RunOut BundleOut "
    "BundleImportedOut InfoOut UsageRowOut"
).split()
"""What the client's methods give back."""
NAMES = {
    "WebOut": "WebTrace", "KeptOut": "KeptPage", "ShownOut": "Evidence", "SearchOut": "SearchResult",
    "LineOut": "StatementLine", "CompanyComparisonOut": "Comparison", "CompanyComparisonLineOut": "ComparisonLine",
    "MissingFactOut": "Missing", "ErrorInner": "ErrorBody", "FiltersIn": "UsedFilters", "LimitsOut": "RunLimits",
    "UsageOut": "RunUsage", "SourceOut": "RunSource", "ResultOut": "RunResult", "CallOut": "DataCall",
    "CheckOut": "TextCheck", "SentenceOut": "CheckedSentence", "FigureOut": "CheckedFigure", "MissingOut": "NoMarker",
    "BundleImportedOut": "ImportedBundle", "CollectionDeletedOut": "DeletedCollection", "DeletedOut": "DeletedDocument",
    "FeedbackOut": "Thumb",
}  # fmt: skip
"""Classes that are not called as their schema without its "Out"."""
BASES = {
    "AnswerOut": "AnswerView", "StatementOut": "StatementTable", "CompanyComparisonOut": "ComparisonTable",
    "FetchedOut": "FetchView", "CellOut": "FactOut", "UsageOut": "LimitsOut",
}  # fmt: skip
"""A class of views.py that is written by hand, or another schema whose fields these are too."""
LISTS = {"AskedFigureOut": "Figures"}
"""A list of these is another class of views.py than Rows."""

ADDED = {"collection": "default", "filing_id": "", "column": ""}
"""Texts that a gateway of before does not send, and what they are then."""


class Generation(BuildHookInterface[Any]):
    """Runs at each build, of a wheel as of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # the interface's
        """Make the files, and have them in the wheel though git does not know them."""
        write()
        build_data["artifacts"] += [f"/quelea_client/{name}" for name in MADE]


def generated() -> dict[str, str]:
    """The text of each file that is made."""
    schemas = json.loads((HERE / "schemas.json").read_text(encoding="utf-8"))
    source = (PACKAGE / "async_client.py").read_text(encoding="utf-8")
    return {"client.py": synchronous(source), "models.py": models(schemas)}


_REPLACED = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsyncGenerator\[(\w+), None\]", r"Generator[\1, None, None]"),
    (r"\bimport asyncio\b", "import time"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\b(?:Async|async_)(Generator|Client|BaseTransport|client)\b", r"\1"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(closing|close|read)\b", r"\1"),
    (r"\basynchronous\b", "synchronous"),
)


def synchronous(source: str) -> str:
    """The asynchronous client's module as the synchronous one's."""
    for pattern, by in _REPLACED:
        source = re.sub(pattern, by, source)
    return f"# Made of async_client.py by hatch_build.py; do not edit.\n{source}"


def reached(schemas: dict[str, Any]) -> dict[str, Any]:
    """Of an OpenAPI document's schemas those that ROOTS are made of, without titles; those first that others need."""
    found: dict[str, Any] = {}

    def take(name: str) -> None:
        if name not in found:
            for other in _references(schemas[name]):
                take(other)
            found[name] = _untitled(schemas[name])

    for name in ROOTS:
        take(BASES.get(name, name) if BASES.get(name, name) in schemas else name)
        take(name)
    return found


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        for one in node.values():
            yield from _references(one)
    elif isinstance(node, list):
        for one in node:
            yield from _references(one)


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in schema.items() if name != "title"}
    for name, one in kept.get("properties", {}).items():
        kept["properties"] = {
            **kept["properties"],
            name: {key: value for key, value in one.items() if key not in ("title", "const")},
        }
    return kept


def as_text(schemas: dict[str, Any]) -> str:
    """A JSON object with a line for each schema, so that a change is seen where it is."""
    lines = (f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in schemas.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def models(schemas: dict[str, Any]) -> str:
    """The module of the models."""
    classes = [_class(name, schemas) for name in schemas if "properties" in schemas[name]]
    text = "\n\n\n".join(classes)
    views = sorted(name for name in ("Record", "Rows", *LISTS.values(), *BASES.values()) if name not in schemas)
    used = [name for name in views if re.search(rf"\b{name}\b", text)]
    return (
        "# Made of schemas.json by hatch_build.py; do not edit.\n"
        '"""What the gateway answers with; docs/api-conventions.md says what names and times mean."""\n\n'
        "from __future__ import annotations\n\nfrom datetime import datetime\nfrom decimal import Decimal\n"
        f"from typing import Any\n\nfrom quelea_client.views import {', '.join(used)}\n\n\n{text}\n"
    )


def _named(schema: str) -> str:
    return NAMES.get(schema, schema.removesuffix("Out"))


def _class(name: str, schemas: dict[str, Any]) -> str:
    schema, base = schemas[name], BASES.get(name, "Record")
    inherited = schemas[base]["properties"] if base in schemas else {}
    lines = [f"class {_named(name)}({_named(base)}):", *_documentation(schema.get("description", _named(name)))]
    for field, node in schema["properties"].items():
        if inherited.get(field) != node:
            lines.append(f"    {field}: {_field(field, node, schema, schemas)}")
            lines += _documentation(node.get("description", ""), blank=False)
    return "\n".join(lines)


def _documentation(text: str, *, blank: bool = True) -> list[str]:
    if not text:
        return []
    said = re.sub(r"\bnull\b", "None", " ".join(text.split()))
    lines = textwrap.wrap(f'"""{said}"""' if said[-1] != '"' else f'"""{said} """', WIDTH - 4)
    return [f"    {line}" for line in lines] + ([""] if blank else [])


def _field(field: str, node: dict[str, Any], schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Type and default. Lists, flags and what may be null may be left out: an older gateway does not have them."""
    kind = _type(node, schemas)
    if "default" in node:
        default = node["default"]
    elif field in ADDED and kind == "str":
        default = ADDED[field]
    elif node.get("type") == "boolean":
        default = False
    elif kind.endswith("| None"):
        default = None
    elif node.get("type") == "array":
        default = []
    elif field in schema.get("required", ()):
        return kind
    else:
        raise SystemExit(f"{field} may be left out and has no default.")
    return f"{kind} = {kind.partition('[')[0]}()" if kind.startswith(("Rows", "Figures")) else f"{kind} = {default!r}"


def _type(node: dict[str, Any], schemas: dict[str, Any]) -> str:
    """A word of a fixed set is any text, so that one which a newer gateway adds is no error."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return _named(name) if "properties" in schemas[name] else "str"
    if "anyOf" in node:
        return " | ".join(sorted((_type(one, schemas) for one in node["anyOf"]), key=lambda kind: kind == "None"))
    if node["type"] == "array":
        item = _type(node["items"], schemas)
        of = node["items"].get("$ref", "").rpartition("/")[2]
        return f"{LISTS.get(of, 'Rows') if item != 'str' and of else 'list'}[{item}]"
    if node["type"] == "object":
        inner = node.get("additionalProperties")
        return f"dict[str, {_type(inner, schemas) if isinstance(inner, dict) and inner else 'Any'}]"
    if node["type"] == "string":
        if node.get("format") == "date-time":
            return "datetime"
        return "Decimal" if node.get("description", "").startswith("Decimal") else "str"
    return {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}[node["type"]]


def write() -> None:
    """Make the files, in the package."""
    for name, text in generated().items():
        (PACKAGE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if not sys.stdin.isatty() and (_given := sys.stdin.read()):
        _schemas = reached(json.loads(_given)["components"]["schemas"])
        (HERE / "schemas.json").write_text(as_text(_schemas), encoding="utf-8")
    write()
