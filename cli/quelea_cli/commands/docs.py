"""`quelea docs`: what is in the knowledge base."""

from __future__ import annotations

from typing import Annotated

import typer
from quelea_client import Client
from rich.table import Table

from quelea_cli.commands.web_pages import Added, Hosts, PageState, Until, decisions, list_web_pages
from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, print_json, say

docs_app = typer.Typer(help="List, show and remove documents; approve or reject web pages.")
decisions(docs_app)

Limit = Annotated[int, typer.Option(help="Maximum number of results.", min=1)]


@docs_app.callback(invoke_without_command=True)
def docs(
    context: typer.Context,
    web: Annotated[
        bool, typer.Option("--web", help="List web pages instead, with state, host, dates and reason.")
    ] = False,
    state: Annotated[
        list[PageState] | None, typer.Option(help="With --web: only pages in this state; repeatable.")
    ] = None,
    host: Hosts = None,
    added_from: Added = "",
    added_to: Until = "",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """List, show and remove documents; without a subcommand, list. With --web, what the web brought in."""
    if context.invoked_subcommand is not None:
        return
    if web:
        list_web_pages(state or [], host or [], added_from, added_to, url=url, api_key=api_key, as_json=as_json)
    elif state or host or added_from or added_to:
        raise CliError("--state, --host, --from and --to need --web.", EXIT_USAGE)
    else:
        list_documents(url=url, api_key=api_key, as_json=as_json)


@docs_app.command("list")
def list_documents(limit: Limit = 1000, url: Url = DEFAULT_URL, api_key: ApiKey = "", as_json: AsJson = False) -> None:
    """List the documents, with company, period and date."""
    with connect(url, api_key) as gateway:
        documents, total = all_documents(gateway, limit)
    if as_json:
        print_json({"documents": documents, "total": total})
        return
    out, _ = consoles()
    if not out.is_terminal:
        for one in documents:
            say(out, "\t".join(_cells(one)))
        return
    table = Table("id", "title", "type", "company", "period", "published", "pages", "passages")
    for one in documents:
        table.add_row(*_cells(one))
    out.print(table)
    say(out, f"{len(documents)} of {total} documents")


def all_documents(gateway: Client, limit: int) -> tuple[list[Json], int]:
    """Up to `limit` documents, and how many there are."""
    documents: list[Json] = []
    token, total = "", 0
    while len(documents) < limit:
        wanted: dict[str, str | int] = {"page_size": min(limit - len(documents), 1000)}
        if token:
            wanted["page_token"] = token
        page = gateway.request("GET", "/v1/documents", params=wanted)
        documents += page["documents"]
        total = page.get("total", len(documents))
        token = page.get("next_page_token") or ""
        if not token or not page["documents"]:
            break
    return documents, max(total, len(documents))


def _cells(one: Json) -> list[str]:
    period = one.get("period") or ""
    if isinstance(period, dict):
        period = period.get("label", "")
    values = [one.get("title"), one.get("document_type"), one.get("company"), period, one.get("published")]
    cells = [str(value or "") for value in values]
    return [str(one["id"]), *cells, str(one.get("pages", "")), str(one.get("passages", ""))]


@docs_app.command("show")
def show_document(
    document_id: Annotated[str, typer.Argument(help="Id of the document; `quelea docs list` shows it.")],
    page: Annotated[int, typer.Option(help="Show the text of this page.", min=0)] = 0,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Show what is known of a document, or the text of one of its pages."""
    path = f"/v1/documents/{document_id}" + (f"/pages/{page}" if page else "")
    with connect(url, api_key) as gateway:
        found = gateway.request("GET", path)
    if as_json:
        print_json(found)
        return
    out, _ = consoles()
    if page:
        say(out, found["text"])
        return
    for name, value in found.items():
        if value not in ("", None, [], {}):
            say(out, f"{name}: {value}")


@docs_app.command("rm")
def remove_documents(
    document_ids: Annotated[list[str], typer.Argument(help="Ids of the documents.")],
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Remove documents everywhere: index, pages and original bytes."""
    out, _ = consoles()
    removed = []
    with connect(url, api_key) as gateway:
        for one in document_ids:
            removed.append({"id": one, **gateway.request("DELETE", f"/v1/documents/{one}")})
            if not as_json:
                say(out, f"removed {one}")
    if as_json:
        print_json({"removed": removed})
