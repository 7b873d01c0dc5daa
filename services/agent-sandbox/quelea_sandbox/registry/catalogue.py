"""All tools together: from providers to one file of JSON lines, and from the file to what is served."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quelea_kit.errors import InvalidInput, TooLarge

from quelea_sandbox.registry.model import CATEGORIES, ApiSpec, ToolProvider

MOST_TOOLS = 20_000
_LARGEST_FILE = 256 * 1024 * 1024


@dataclass(frozen=True)
class Catalogue:
    """Tools by name, in the order of their names."""

    tools: tuple[ApiSpec, ...] = ()

    @property
    def version(self) -> str:
        """16 hexadecimal digits over everything in it."""
        return hashlib.sha256(self.as_lines().encode()).hexdigest()[:16]

    @property
    def categories(self) -> tuple[str, ...]:
        """Those that have tools, in the order to show them in."""
        used = {spec.category for spec in self.tools}
        return tuple(category for category in CATEGORIES if category in used)

    def as_lines(self) -> str:
        """One JSON object a line."""
        rows = (json.dumps(spec.as_json(), ensure_ascii=False, sort_keys=True) for spec in self.tools)
        return "".join(f"{row}\n" for row in rows)

    def write(self, path: Path) -> None:
        """As a file, all or nothing."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
        fresh.write_text(self.as_lines(), encoding="utf-8")
        fresh.replace(path)

    @classmethod
    def of(cls, specs: Iterable[ApiSpec]) -> Catalogue:
        """Checked and in order. Raises InvalidInput for two of one name or a category that is none."""
        found: dict[str, ApiSpec] = {}
        for spec in specs:
            if spec.name in found:
                raise InvalidInput(f"Two tools are called {spec.name} ({found[spec.name].provider}, {spec.provider}).")
            if spec.category not in CATEGORIES:
                raise InvalidInput(f"{spec.name} has the unknown category {spec.category!r}.")
            found[spec.name] = spec
            if len(found) > MOST_TOOLS:
                raise TooLarge(f"The catalogue has more than {MOST_TOOLS} tools.")
        return cls(tuple(found[name] for name in sorted(found)))

    @classmethod
    def read(cls, path: Path) -> Catalogue:
        """From a file that `write` made. Raises InvalidInput when it cannot be read."""
        try:
            if path.stat().st_size > _LARGEST_FILE:
                raise TooLarge(f"{path} is too large to be a catalogue.")
            lines = path.read_text("utf-8").splitlines()
            return cls.of(ApiSpec.of_json(json.loads(line)) for line in lines if line.strip())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{path} is not a catalogue of tools ({error}); `make tools` makes one.") from error


def collect(providers: Sequence[ToolProvider]) -> Catalogue:
    """The tools of all providers."""
    return Catalogue.of(spec for provider in providers for spec in provider.list())
