"""What a tool is: one function that gives data, with all that a model needs to call it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Protocol

CATEGORIES = (
    "Stock",
    "Fund",
    "Futures",
    "Forex",
    "Index",
    "Interest rate",
    "Currency",
    "Macro",
    "Option",
    "Bond",
    "Other",
)
"""The ten of the FinVerse paper (arXiv 2406.06379, table 4), and the rest."""

SAMPLE_CHARS = 1500
DESCRIPTION_CHARS = 2000


@dataclass(frozen=True)
class Parameter:
    """One argument of a call."""

    name: str
    type: str = ""
    """As Python writes it; empty where unknown."""
    description: str = ""
    required: bool = False
    default: str = ""
    """Python source; empty when required."""


@dataclass(frozen=True)
class Column:
    """One column of what comes back."""

    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True)
class ApiSpec:
    """One tool."""

    name: str
    """Unique; the call as Python writes it: "stock_zh_a_hist", "yfinance.Ticker.history"."""
    provider: str
    category: str
    description: str
    limits: str = ""
    """What and how much one call returns, where the provider says so."""
    path: tuple[str, ...] = ()
    """The headings above it in the provider's documentation, outermost first."""
    parameters: tuple[Parameter, ...] = ()
    outputs: tuple[Column, ...] = ()
    example: str = ""
    """Python that runs as it stands."""
    sample: str = ""
    """The first rows of a result, as text."""
    hosts: tuple[str, ...] = ()
    """Hosts that a call asks, as far as is known."""
    docs_url: str = ""

    def as_json(self) -> dict[str, Any]:
        """For a line of the catalogue's file."""
        return dataclasses.asdict(self)

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> ApiSpec:
        """From a line of the catalogue's file. Raises KeyError or TypeError when it is none."""
        return cls(
            **{
                **said,
                "path": tuple(said["path"]),
                "hosts": tuple(said["hosts"]),
                "parameters": tuple(Parameter(**one) for one in said["parameters"]),
                "outputs": tuple(Column(**one) for one in said["outputs"]),
            }
        )


class ToolProvider(Protocol):
    """Where tools come from. A new kind of provider is one class with this method."""

    name: str

    def list(self) -> list[ApiSpec]:
        """Every tool it has. Raises InvalidInput when its source cannot be read."""
        ...
