"""Options that many commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from quelea_client import Client

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.places import default_home, samples

DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_HOME = default_home()
SAMPLES = samples()
_RETRIES = 5
"""A busy gateway is asked again; uploads come many at a time."""

Url = Annotated[str, typer.Option("--url", envvar="QUELEA_URL", help="Address of the gateway.")]
ApiKey = Annotated[
    str, typer.Option("--api-key", envvar="QUELEA_API_KEY", help="API key of the gateway.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
HomeDir = Annotated[Path, typer.Option("--home", envvar="QUELEA_HOME", help="Folder for all data of the stack.")]

COMPANY = typer.Option("--company", help="Only documents of this company; repeatable.")
TICKER = typer.Option("--ticker", help="Only this ticker; repeatable.")
TYPE = typer.Option("--type", help="Only this document type (10-Q, news, ...); repeatable.")
PERIOD = typer.Option("--period", help="Only this period (FY2023 Q3) or period end date; repeatable.")
LANGUAGE = typer.Option("--language", help="Only en or zh; repeatable.")

COLLECTION = typer.Option("--collection", help="Only documents of this collection; repeatable.")
Collections = Annotated[list[str] | None, COLLECTION]
Into = Annotated[
    str, typer.Option("--collection", help="Collection that they go into; default: the one called default.")
]
Companies = Annotated[list[str] | None, COMPANY]
Tickers = Annotated[list[str] | None, TICKER]
Types = Annotated[list[str] | None, TYPE]
Periods = Annotated[list[str] | None, PERIOD]
Languages = Annotated[list[str] | None, LANGUAGE]


def connect(url: str, api_key: str) -> Client:
    """The gateway that the options name."""
    try:
        return Client(url, api_key, retries=_RETRIES)
    except ValueError as error:
        raise CliError(str(error), EXIT_USAGE) from error


def filters(
    companies: list[str] | None,
    tickers: list[str] | None,
    types: list[str] | None,
    periods: list[str] | None,
    languages: list[str] | None,
) -> dict[str, list[str]]:
    """The wire's filters, without the empty ones."""
    given = {
        "companies": companies,
        "tickers": tickers,
        "document_types": types,
        "periods": periods,
        "languages": languages,
    }
    return {name: values for name, values in given.items() if values}
