"""`quelea collections`: parts of the knowledge base, on which keys have rights."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer

from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, documents_of, print_json, say

collections_app = typer.Typer(help="List, make and delete collections.", no_args_is_help=True)
_PATH = "/v1/collections"


@collections_app.command("list")
def list_(url: Url = DEFAULT_URL, api_key: ApiKey = "", as_json: AsJson = False) -> None:
    """List the collections that the key may read, with its right on each."""
    with connect(url, api_key) as gateway:
        found: list[Json] = gateway.items(_PATH, "collections")
    if as_json:
        print_json({"collections": found})
        return
    for one in found:
        say(consoles()[0], f"{one['name']}\t{one['right']}\t{one['title']}")


@collections_app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    title: Annotated[str, typer.Option(help="Name that people see.")] = "",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Make a collection."""
    with connect(url, api_key) as gateway:
        made = gateway.request("POST", _PATH, json={"name": name, "title": title})
    if as_json:
        print_json(made)
        return
    say(consoles()[0], f"{name} is there; `quelea ingest --collection {name} …` puts documents into it.")


@collections_app.command("delete")
def delete(
    name: Annotated[str, typer.Argument(help="Name of the collection.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether its documents may go too.")] = False,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Delete a collection with every document in it."""
    if not yes:
        typer.confirm(f"Delete {name} with every document in it?", abort=True, err=True)
    with connect(url, api_key) as gateway:
        gone = gateway.request("DELETE", f"{_PATH}/{quote(name, safe='')}")
    if as_json:
        print_json(gone)
        return
    say(consoles()[0], f"{name} is gone, and {documents_of(gone['documents'])} with it.")
