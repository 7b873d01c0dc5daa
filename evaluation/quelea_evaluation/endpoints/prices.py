"""What tokens cost, where the operator says it: prices are of his contract and change, so none come with Quelea."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from quelea_evaluation.inputs import BadInput, show

MILLION = 1_000_000
NOT_KNOWN = "not known"

PricesText = Annotated[
    str,
    typer.Option(
        "--prices",
        envvar="QUELEA_EVAL_PRICES",
        help="Price of a million tokens read / written, 0.15/0.60, or a TOML file with the prices of models.",
    ),
]


@dataclass(frozen=True)
class Price:
    """Of a million tokens read, and of a million written."""

    read: float
    written: float


@dataclass(frozen=True)
class Prices:
    """Prices by model.

    Args:
        models: Model's name → price.
        every: Of models that are not named; None: not known.
        currency: As the file calls it; empty where none is told.
    """

    models: Mapping[str, Price] = field(default_factory=dict)
    every: Price | None = None
    currency: str = ""

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What these tokens cost; None: not known."""
        price = self.models.get(model, self.every)
        if price is None:
            return None
        return (prompt_tokens * price.read + completion_tokens * price.written) / MILLION

    def write_cost(self, cost: float | None) -> str:
        """A cost as a person reads it."""
        return NOT_KNOWN if cost is None else f"{cost:.4f} {self.currency}".rstrip()


def read_prices(text: str) -> Prices:
    """Prices of an option: nothing, `0.15/0.60` for whatever model, or the path of a TOML file.

        currency = "USD"
        [models."qwen2.5-72b-instruct"]
        read = 0.15       # a million tokens
        written = 0.60

    Raises:
        BadInput: It is none of these; the message names the field.
    """
    if not text:
        return Prices()
    pair = text.split("/")
    try:
        read, written = (float(part) for part in pair)
    except ValueError:
        return _read_file(Path(text))
    return Prices(every=Price(_number("--prices", read), _number("--prices", written)))


def _read_file(path: Path) -> Prices:
    if not path.is_file():
        raise BadInput(f"--prices must be like 0.15/0.60, or a TOML file with prices of models; got {str(path)!r}")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read as TOML: {error}") from error
    models, currency = document.get("models"), document.get("currency", "")
    if unknown := sorted(set(document) - {"models", "currency"}):
        raise BadInput(f"{path}: unknown field {unknown[0]!r}; there are currency and models")
    if not isinstance(models, dict) or not models:
        raise BadInput(f'{path}: models must have a table for each model, [models."NAME"] with read and written')
    if not isinstance(currency, str):
        raise BadInput(f"{path}: currency must be a text, got {show(currency)}")
    return Prices({name: _price(f"{path}: models.{name}", one) for name, one in models.items()}, currency=currency)


def _price(place: str, one: object) -> Price:
    if not isinstance(one, dict) or set(one) != {"read", "written"}:
        raise BadInput(f"{place} must have read and written, the prices of a million tokens; got {show(one)}")
    return Price(_number(f"{place}.read", one["read"]), _number(f"{place}.written", one["written"]))


def _number(place: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise BadInput(f"{place} must be a price of 0 or more, got {value!r}")
    return float(value)
