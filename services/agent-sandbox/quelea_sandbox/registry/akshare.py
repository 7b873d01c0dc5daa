"""akshare: its own registry (interfaces.json), its source's signatures, and a packaged file for what those lack."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quelea_kit.errors import InvalidInput
from quelea_kit.logging import get_logger

from quelea_sandbox.registry.gaps import Gap, load_gaps
from quelea_sandbox.registry.model import DESCRIPTION_CHARS, ApiSpec, Column, Parameter
from quelea_sandbox.registry.package import Package
from quelea_sandbox.registry.signatures import Signatures

log = get_logger(__name__)

_CATEGORIES = {
    "stock": "Stock",
    "fund": "Fund",
    "futures": "Futures",
    "fx": "Forex",
    "index": "Index",
    "interest_rate": "Interest rate",
    "currency": "Currency",
    "macro": "Macro",
    "option": "Option",
    "bond": "Bond",
}
_SCHEMA = 1


class AkshareProvider:
    """Every documented function of an akshare distribution.

    Args:
        places: Where to look for it, as Package says.
        gaps: What its own registry lacks, by function; the packaged one when not given.
    """

    name = "akshare"

    def __init__(self, places: tuple[Path, ...] = (), gaps: Mapping[str, Gap] | None = None) -> None:
        self._places = places
        self._gaps = load_gaps() if gaps is None else gaps

    def list(self) -> list[ApiSpec]:
        """Its tools, by name."""
        package = Package("akshare", self._places)
        try:
            registry = json.loads(package.read("akshare/data/interfaces.json"))
            version, interfaces = registry["schema_version"], registry["interfaces"]
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"interfaces.json of akshare {package.version} has an unexpected format.") from error
        if version != _SCHEMA:
            log.warning("akshare_schema", found=version, known=_SCHEMA)
        signatures = Signatures(package)
        found = [self._spec(one, signatures) for one in interfaces if one.get("documented")]
        return sorted(found, key=lambda spec: spec.name)

    def _spec(self, said: Mapping[str, Any], signatures: Signatures) -> ApiSpec:
        name = str(said["name"])
        gap = self._gaps.get(name, Gap())
        outputs = tuple(
            Column(str(one["name"]), _text(one["type"]), _text(one["desc"]))
            for one in said.get("outputs", ())
            if _text(one["name"])
        )
        return ApiSpec(
            name=name,
            provider=self.name,
            category=_CATEGORIES.get(str(said["category"]), "Other"),
            description=str(said["desc"])[:DESCRIPTION_CHARS],
            limits=_text(said.get("limit_desc", "")),
            path=gap.path,
            parameters=_parameters(said, signatures),
            outputs=outputs or tuple(Column(column) for column in self._columns(said, gap, signatures)),
            example=str(said.get("example", "")),
            sample=gap.sample,
            hosts=gap.hosts,
            docs_url=str(said.get("url", "")),
        )

    @staticmethod
    def _columns(said: Mapping[str, Any], gap: Gap, signatures: Signatures) -> tuple[str, ...]:
        """Of a function without documented columns: from its source, else from its sample."""
        with contextlib.suppress(InvalidInput):
            if found := signatures.columns(_module(said), str(said["name"])):
                return found
        return gap.columns


def _module(said: Mapping[str, Any]) -> str:
    return str(said.get("module", "")).replace(".", "/") + ".py"


def _parameters(said: Mapping[str, Any], signatures: Signatures) -> tuple[Parameter, ...]:
    """As documented; whether needed, and the default, as the source has it. Without source: all may be needed."""
    documented = {str(one["name"]): one for one in said.get("params", ()) if _text(one["name"])}
    try:
        real = signatures.parameters(_module(said), str(said["name"]))
    except InvalidInput:  # a module that is a package, a name made by an import: its documentation has to do
        return tuple(
            Parameter(name, _text(one["type"]), _text(one["desc"]), required=True) for name, one in documented.items()
        )
    made = []
    for one in real:
        beside = documented.get(one.name, {})
        made.append(
            Parameter(
                name=one.name,
                type=one.type or _text(beside.get("type", "")),
                description=_text(beside.get("desc", "")),
                required=one.required,
                default=one.default,
            )
        )
    return tuple(made)


def _text(value: object) -> str:
    text = str(value).strip()
    return "" if text in ("-", "None", "nan") else text
