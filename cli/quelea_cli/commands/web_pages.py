"""`quelea docs --web`, approve, reject, roll-back: what the web brought in, and deciding about it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, minute, print_json, say

_MOST = 1000


class PageState(StrEnum):
    """Where a page of the web stands."""

    pending = "pending"
    kept = "kept"
    rejected = "rejected"
    vanished = "vanished"


Hosts = Annotated[list[str] | None, typer.Option("--host", help="Pages of this host; repeatable.")]
Added = Annotated[str, typer.Option("--from", help="Added on this day (UTC) or later, YYYY-MM-DD or RFC 3339.")]
Until = Annotated[str, typer.Option("--to", help="Added on this day or earlier.")]
States = Annotated[list[PageState] | None, typer.Option("--state", help="Pages in this state; repeatable.")]
Pages = Annotated[
    list[str] | None, typer.Argument(metavar="[URL...]", help="Addresses of web pages; `quelea docs --web` lists them.")
]


def list_web_pages(
    states: list[PageState],
    hosts: list[str],
    added_from: str,
    added_to: str,
    *,
    url: str,
    api_key: str,
    as_json: bool,
) -> None:
    """Print the pages of the web that are remembered."""
    wanted: Json = {"page_size": _MOST, "state": [state.value for state in states], "host": hosts}
    wanted |= {name: day for name, day in (("added_from", added_from), ("added_to", added_to)) if day}
    with connect(url, api_key) as gateway:
        found = gateway.request("GET", "/v1/web/pages", params=wanted)
    if as_json:
        print_json(found)
        return
    out, _ = consoles()
    if not out.is_terminal:
        for one in found["pages"]:
            say(out, "\t".join(cells(one)))
        return
    table = Table("state", "host", "published", "expires", "title", "why", "address")
    for one in found["pages"]:
        table.add_row(*cells(one))
    out.print(table)
    say(out, f"{len(found['pages'])} of {found['total']} web pages")


def cells(page: Json) -> list[str]:
    """State, host, published, expires, title, why, address; on one line each."""
    values = [page["state"], page["host"], page.get("published"), minute(page.get("expires")), page.get("title")]
    return [" ".join(str(value or "").split()) for value in (*values, page.get("reason"), page["url"])]


def decisions(app: typer.Typer) -> None:
    """Add approve, reject and roll-back to a group of commands."""
    for name, done, says in (
        ("approve", "approved", "Add web pages to the knowledge base."),
        ("reject", "rejected", "Remove web pages from the knowledge base and never use them again."),
        ("roll-back", "rolled back", "Remove web pages from the knowledge base as if they had never been found."),
    ):
        app.command(name, help=says)(_decision(name, done))


def _decision(name: str, done: str) -> Callable[..., None]:
    def decide(
        pages: Pages = None,
        host: Hosts = None,
        state: States = None,
        added_from: Added = "",
        added_to: Until = "",
        url: Url = DEFAULT_URL,
        api_key: ApiKey = "",
        as_json: AsJson = False,
    ) -> None:
        given = {
            "urls": pages, "hosts": host, "states": [one.value for one in state or []],
            "added_from": added_from, "added_to": added_to,
        }  # fmt: skip
        wanted = {field: value for field, value in given.items() if value}
        if not wanted:
            raise CliError(
                f"Choose the pages to {name} by address, or with --host, --state, --from or --to.", EXIT_USAGE
            )
        with connect(url, api_key) as gateway:
            found = gateway.request("POST", f"/v1/web/pages/{name}", json=wanted)
        if as_json:
            print_json(found)
            return
        out, _ = consoles()
        for page in found["pages"]:
            say(out, f"{done}  {page['url']}")
        for job in found["jobs"]:
            say(out, f"job {job['id']}; `quelea jobs {job['id']}` shows its progress")
        if not found["pages"]:
            say(out, "No web page matches; `quelea docs --web` lists them.")

    return decide
