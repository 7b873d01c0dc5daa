"""Your own REST API as tools: every operation of an OpenAPI 3 document, called from the sandbox with requests."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quelea_kit.errors import InvalidInput, TooLarge

from quelea_sandbox.registry.model import CATEGORIES, DESCRIPTION_CHARS, ApiSpec, Column, Parameter

_METHODS = ("get", "post", "put", "patch", "delete")
_MOST_OPERATIONS = 1000
_LARGEST_FILE = 16 * 1024 * 1024
_DEPTH = 8
_CATEGORY_FIELD = "x-quelea-category"


class OpenApiProvider:
    """The operations of one document.

    Args:
        name: Of the provider; tools are called NAME.operationId.
        document: The OpenAPI document, as JSON.
        category: Of operations that do not say theirs by `x-quelea-category`.
        server: Base URL; that of the document when empty.
    """

    def __init__(self, name: str, document: dict[str, Any], *, category: str = "Other", server: str = "") -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
            raise InvalidInput(
                f"Invalid provider name {name!r}: use at most 40 lower-case letters, digits and underscores."
            )
        if not str(document.get("openapi", "")).startswith("3"):
            raise InvalidInput(f"The document of {name} is not an OpenAPI 3 document.")
        self.name = name
        self._document = document
        self._category = _category(category)
        servers = document.get("servers") or [{}]
        self._server = (server or str(servers[0].get("url", ""))).rstrip("/")
        if urlsplit(self._server).scheme not in ("http", "https") or not urlsplit(self._server).hostname:
            raise InvalidInput(f"The document of {name} names no server; give its base URL.")

    @classmethod
    def from_file(cls, path: Path, *, category: str = "Other", server: str = "") -> OpenApiProvider:
        """Of a JSON file; the provider is called as the file is."""
        try:
            if path.stat().st_size > _LARGEST_FILE:
                raise TooLarge(f"{path} is larger than {_LARGEST_FILE} bytes.")
            document = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{path} cannot be read as JSON: {error}.") from error
        if not isinstance(document, dict):
            raise InvalidInput(f"{path} is not an OpenAPI document.")
        return cls(re.sub(r"[^a-z0-9_]", "_", path.stem.lower()), document, category=category, server=server)

    def list(self) -> list[ApiSpec]:
        """One tool for each operation, by name."""
        found: dict[str, ApiSpec] = {}
        for path, item in (self._document.get("paths") or {}).items():
            for method in _METHODS:
                if isinstance(item, dict) and isinstance(item.get(method), dict):
                    spec = self._spec(str(path), method, item[method], item.get("parameters") or [])
                    if spec.name in found:
                        raise InvalidInput(f"Two operations are called {spec.name}.")
                    found[spec.name] = spec
                    if len(found) > _MOST_OPERATIONS:
                        raise TooLarge(f"{self.name} has more than {_MOST_OPERATIONS} operations.")
        return sorted(found.values(), key=lambda spec: spec.name)

    def _spec(self, path: str, method: str, said: dict[str, Any], shared: Sequence[Any]) -> ApiSpec:
        operation = str(said.get("operationId") or f"{method}_{path}")
        parameters = [self._resolve(one) for one in [*shared, *(said.get("parameters") or [])]]
        body = self._body(said)
        tags = tuple(str(tag) for tag in said.get("tags") or ())
        text = " ".join(str(said.get(key, "")).strip() for key in ("summary", "description") if said.get(key))
        return ApiSpec(
            name=f"{self.name}.{re.sub(r'[^A-Za-z0-9]+', '_', operation).strip('_')}",
            provider=self.name,
            category=_category(str(said.get(_CATEGORY_FIELD) or self._category)),
            description=(text or f"{method.upper()} {path}")[:DESCRIPTION_CHARS],
            path=tags,
            parameters=tuple(
                Parameter(
                    name=str(one.get("name", "")),
                    type=_type(self._resolve(one.get("schema"))),
                    description=str(one.get("description", "")),
                    required=bool(one.get("required")),
                    default=repr(_default(self._resolve(one.get("schema")))) if not one.get("required") else "",
                )
                for one in parameters
                if one.get("in") in ("path", "query")
            )
            + tuple(body),
            outputs=self._outputs(said),
            example=_example(self._server + path, method, parameters, body),
            hosts=(str(urlsplit(self._server).hostname),),
            docs_url=str((said.get("externalDocs") or self._document.get("externalDocs") or {}).get("url", "")),
        )

    def _body(self, said: dict[str, Any]) -> Sequence[Parameter]:
        content = (self._resolve(said.get("requestBody")).get("content") or {}).get("application/json") or {}
        schema = self._resolve(content.get("schema"))
        needed = schema.get("required") or ()
        return [
            Parameter(
                name=str(name),
                type=_type(self._resolve(field)),
                description=str(self._resolve(field).get("description", "")),
                required=name in needed,
                default="" if name in needed else repr(_default(self._resolve(field))),
            )
            for name, field in (schema.get("properties") or {}).items()
        ]

    def _outputs(self, said: dict[str, Any]) -> tuple[Column, ...]:
        answers = said.get("responses") or {}
        good: Any = next((answers[code] for code in sorted(answers, key=str) if str(code).startswith("2")), {})
        content = (self._resolve(good).get("content") or {}).get("application/json") or {}
        schema = self._resolve(content.get("schema"))
        if schema.get("type") == "array":
            schema = self._resolve(schema.get("items"))
        return tuple(
            Column(str(name), _type(self._resolve(field)), str(self._resolve(field).get("description", "")))
            for name, field in (schema.get("properties") or {}).items()
        )

    def _resolve(self, node: Any) -> dict[str, Any]:
        """A node with its reference followed; references outside the document are refused."""
        for _ in range(_DEPTH):
            if not isinstance(node, dict):
                return {}
            reference = node.get("$ref")
            if reference is None:
                return node
            if not str(reference).startswith("#/"):
                raise InvalidInput(f"{self.name}: {reference} is outside the document; put everything into one file.")
            node = self._document
            for part in str(reference)[2:].split("/"):
                key = part.replace("~1", "/").replace("~0", "~")
                if not isinstance(node, dict) or key not in node:
                    raise InvalidInput(f"{self.name}: {reference} is not in the document.")
                node = node[key]
        raise InvalidInput(f"{self.name}: its references form a cycle.")


def _category(name: str) -> str:
    if name not in CATEGORIES:
        raise InvalidInput(f"Unknown category {name!r}; the categories are {', '.join(CATEGORIES)}.")
    return name


def _type(schema: dict[str, Any]) -> str:
    said = schema.get("type")
    names = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
    return names.get(str(said), "")


def _default(schema: dict[str, Any]) -> Any:
    return schema.get("default")


def _value(schema: dict[str, Any], said: dict[str, Any]) -> Any:
    for place in (said, schema):
        for key in ("example", "default"):
            if place.get(key) is not None:
                return place[key]
    if schema.get("enum"):
        return schema["enum"][0]
    return {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}.get(str(schema.get("type")), "…")


def _example(url: str, method: str, parameters: Sequence[dict[str, Any]], body: Sequence[Parameter]) -> str:
    """Python that makes the call; requests goes through the sandbox's only way out by itself."""
    query: dict[str, Any] = {}
    for one in parameters:
        schema = one.get("schema") or {}
        value = _value(schema if isinstance(schema, dict) else {}, one)
        if one.get("in") == "path":
            url = url.replace("{" + str(one.get("name")) + "}", str(value))
        elif one.get("in") == "query" and (one.get("required") or one.get("example") is not None):
            query[str(one.get("name"))] = value
    more = f", params={query!r}" if query else ""
    if body:
        more += f", json={ {one.name: one.default or '…' for one in body if one.required}!r}"
    return (
        "import requests\n\n"
        f"answer = requests.{method}({url!r}{more}, timeout=30)\n"
        "answer.raise_for_status()\n"
        "print(answer.json())"
    )
