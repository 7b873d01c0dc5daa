"""`quelea tools`: the catalogue of what the agent's code may call; `quelea mcp`: Quelea for other agents."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import StrEnum
from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, print_json, say

tools_app = typer.Typer(help="The catalogue of data functions.", no_args_is_help=True)

Category = Annotated[str, typer.Option("--category", help="Only this category; `quelea tools categories` lists them.")]


class Mode(StrEnum):
    """How to search."""

    both = "both"
    dense = "dense"
    lexical = "lexical"


@tools_app.command("search")
def search_tools(
    question: Annotated[str, typer.Argument(help="What you need, in any language; empty: list by name.")] = "",
    category: Category = "",
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="Maximum number of results.")] = 10,
    mode: Annotated[Mode, typer.Option(help="Search by meaning (dense), by words (lexical) or both.")] = Mode.both,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Find tools for a question, or list those of a category."""
    wanted: Json = {"q": question, "category": category, "page_size": k, "mode": mode.value}
    with connect(url, api_key) as gateway:
        found = gateway.request("GET", "/v1/tools", params=wanted)
    if as_json:
        print_json(found)
        return
    out, _ = consoles()
    if not out.is_terminal:
        for tool in found["tools"]:
            say(out, "\t".join((tool["name"], tool["category"], tool["provider"], tool["description"])))
        return
    table = Table("name", "category", "what it gives", box=None)
    for tool in found["tools"]:
        note = " (failed lately)" if tool["health"] < 0.5 else ""
        table.add_row(tool["name"], tool["category"], f"{tool['description']}{note}")
    out.print(table)
    say(out, f"{len(found['tools'])} of {found['total']}; `quelea tools show NAME` has the document of one")


@tools_app.command("show")
def show_tool(
    name: Annotated[str, typer.Argument(help="A tool's name.")],
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Show how to call a tool: parameters, columns of its result, example, first rows."""
    with connect(url, api_key) as gateway:
        tool = gateway.request("GET", f"/v1/tools/{quote(name, safe='')}")
    if as_json:
        print_json(tool)
        return
    out, _ = consoles()
    say(out, tool["document"])
    if tool["docs_url"]:
        say(out, tool["docs_url"], "dim")


@tools_app.command("categories")
def list_categories(url: Url = DEFAULT_URL, api_key: ApiKey = "", as_json: AsJson = False) -> None:
    """List the categories and how many tools each has."""
    with connect(url, api_key) as gateway:
        found = gateway.request("GET", "/v1/tools/categories")
    if as_json:
        print_json(found)
        return
    for category in found["categories"]:
        say(consoles()[0], f"{category['name']}\t{category['tools']}")


def mcp(url: Url = DEFAULT_URL, api_key: ApiKey = "") -> None:
    """Serve Quelea to another agent as an MCP server over standard input and output.

    Its tools are ask, list_companies, get_statement, find_figures, search_tools, tool_details and execute_python; a
    gateway answers them under /mcp as well.
    """
    command = [sys.executable, "-m", "quelea_gateway.mcp", "--url", url]
    environment = {**os.environ, "QUELEA_API_KEY": api_key}  # not as an argument: those are seen by everybody
    raise typer.Exit(subprocess.run(command, env=environment, check=False).returncode)  # noqa: S603  # our own command line
