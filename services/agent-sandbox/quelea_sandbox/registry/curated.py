"""Packages that we describe: a TOML file says what is useful and for what, the package's source how to call it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from quelea_kit.logging import get_logger

from quelea_sandbox.registry.model import ApiSpec, Column, Parameter
from quelea_sandbox.registry.package import Package
from quelea_sandbox.registry.signatures import Signatures

log = get_logger(__name__)


class CuratedProvider:
    """The calls of one TOML file beside this module; see yfinance.toml for how one is written.

    Args:
        name: Of the provider and of its file.
        places: Where to look for the distribution, as Package says.
    """

    def __init__(self, name: str, places: tuple[Path, ...] = ()) -> None:
        self.name = name
        self._places = places

    def list(self) -> list[ApiSpec]:
        """Its tools, by name; a call that the distribution at hand does not have is left out, and logged."""
        text = resources.files("quelea_sandbox.registry").joinpath(f"{self.name}.toml").read_text("utf-8")
        said = tomllib.loads(text)
        package = Package(said["distribution"], self._places)
        signatures = Signatures(package)
        found = []
        for one in said["api"]:
            sources = [_place(where) for where in (_constructor(said, one), one.get("source", "")) if where]
            if gone := [f"{path}:{name}" for path, name in sources if not signatures.has(path, name)]:
                log.warning("tool_not_there", provider=self.name, version=package.version, call=one["call"], gone=gone)
                continue
            real = [parameter for path, name in sources for parameter in signatures.parameters(path, name)]
            found.append(self._spec(said, one, real))
        return sorted(found, key=lambda spec: spec.name)

    def _spec(self, said: dict[str, Any], one: dict[str, Any], real: Sequence[Parameter]) -> ApiSpec:
        described: dict[str, str] = one.get("parameters", {})
        by_name = {parameter.name: parameter for parameter in real}
        given = [Parameter(**parameter) for parameter in one.get("given", ())]
        return ApiSpec(
            name=f"{said.get('module', said['distribution'])}.{one['call']}",
            provider=self.name,
            category=one["category"],
            description=one["description"],
            path=tuple(one["path"]),
            parameters=(
                *given,
                *(replace(by_name[name], description=text) for name, text in described.items() if name in by_name),
            ),
            outputs=tuple(
                Column(name, description=about.strip())
                for name, _, about in (column.partition(":") for column in one["outputs"])
            ),
            example=one["example"],
            hosts=tuple(said["hosts"]),
            docs_url=said["docs"],
        )


def _constructor(said: dict[str, Any], one: dict[str, Any]) -> str:
    holder, dot, _ = one["call"].partition(".")
    return str(said.get("constructors", {}).get(holder, "")) if dot else ""


def _place(where: str) -> tuple[str, str]:
    path, _, name = where.partition(":")
    return path, name
