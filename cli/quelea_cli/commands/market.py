"""`quelea market`: recorded market data, which runs of the agent replay without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from quelea_client import Client

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, print_json, say

BUNDLES = "/v1/agent/bundles"
market = typer.Typer(help="Import, list and export recorded market data for the agent.", no_args_is_help=True)


def import_file(gateway: Client, file: Path) -> Json:
    """Bring a bundle in; its id and how many calls it has."""
    try:
        return gateway.import_bundle(file).model_dump()
    except OSError as error:
        raise CliError(f"Cannot read {file}: {error.strerror}.", EXIT_USAGE) from error


@market.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A bundle, as `quelea market export` writes it.", show_default=False)],
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Bring a bundle in; `quelea agent --bundle ID "…"` then answers from it alone."""
    with connect(url, api_key) as gateway:
        made = import_file(gateway, file)
    if as_json:
        print_json(made)
    else:
        say(consoles()[0], f"{made['id']}: {made['calls']} calls")


@market.command("list")
def list_(url: Url = DEFAULT_URL, api_key: ApiKey = "", as_json: AsJson = False) -> None:
    """List the bundles that runs can replay."""
    with connect(url, api_key) as gateway:
        found = gateway.items(BUNDLES, "bundles")
    if as_json:
        print_json({"bundles": found})
        return
    for one in found:
        said = f"{one['id']}  {one['calls']} calls  {one['bytes'] / 1e6:.1f} MB  {one['last_fetched'][:10]}"
        say(consoles()[0], f"{said}  of run {one['run_id']}")
    if not found:
        say(consoles()[0], "No bundles yet; `quelea market import FILE` brings one in.")


@market.command("export")
def export(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Id of a run of the agent, or of a fetch.", show_default=False)
    ],
    file: Annotated[Path, typer.Argument(help="File to write.", show_default=False)],
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
) -> None:
    """Write the recorded calls of a run, or of a fetch of filings, to one file."""
    with connect(url, api_key) as gateway:
        place = "/v1/fetch" if run.startswith("fetch-") else "/v1/agent/runs"
        data = gateway.download(f"{place}/{run}/bundle")
    try:
        file.write_bytes(data)
    except OSError as error:
        raise CliError(f"Cannot write {file}: {error.strerror}.", EXIT_USAGE) from error
    say(consoles()[0], f"{file}: {len(data) / 1e6:.1f} MB")
