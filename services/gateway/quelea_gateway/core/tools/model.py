"""What a tool is here: a function that code in the sandbox may call to get data.

The wire's shape (quelea.sandbox.v1.Tool) in this service's own classes. The registry that serves it has its own too:
a core knows neither the wire nor another service, and the two differ in what they need, here the health of a tool as it
is chosen, there reading and writing the catalogue's file. A field that is added goes through the proto to both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CATEGORIES_CHINESE = {
    "Stock": "股票",
    "Fund": "基金",
    "Futures": "期货",
    "Forex": "外汇",
    "Index": "指数",
    "Interest rate": "利率",
    "Currency": "货币",
    "Macro": "宏观经济",
    "Option": "期权",
    "Bond": "债券",
    "Other": "其他",
}


@dataclass(frozen=True)
class Parameter:
    """One argument of a call."""

    name: str
    type: str = ""
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
class ToolHealth:
    """How calls of a tool came out; times are RFC 3339, empty for never."""

    score: float = 1.0
    """1: nothing is known against it; 0: broken, just now."""
    last_ok: str = ""
    last_error: str = ""
    error: str = ""
    failures_in_row: int = 0
    calls: int = 0
    failures: int = 0


@dataclass(frozen=True)
class Tool:
    """A tool with all that a model needs to call it."""

    name: str
    provider: str
    category: str
    description: str
    limits: str = ""
    path: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    outputs: tuple[Column, ...] = ()
    example: str = ""
    sample: str = ""
    hosts: tuple[str, ...] = ()
    docs_url: str = ""
    health: ToolHealth = field(default=ToolHealth(), compare=False)


@dataclass(frozen=True)
class Hit:
    """A tool that was found, with its scores; comparable within one search only."""

    tool: Tool
    score: float
    cosine: float = 0.0
    lexical: float = 0.0
