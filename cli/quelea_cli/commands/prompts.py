"""`quelea prompts`: the prompt templates in use."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from quelea_cli.errors import CliError
from quelea_cli.gateway import Json
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import consoles, print_json, say


def prompts(
    name: Annotated[str, typer.Argument(help="Show the text of this template instead of the list.")] = "",
    language: Annotated[str, typer.Option(help="en or zh; default: both.")] = "",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """List the prompt templates with the versions that answers report, or show one."""
    out, problems = consoles()
    with connect(url, api_key) as gateway:
        found: Json = gateway.request("GET", "/v1/prompts", params={"name": name, "language": language})
    if as_json:
        print_json(found)
        return
    for problem in found["problems"]:
        say(problems, f"note: {problem}", "yellow")
    if not found["prompts"] and not found["problems"]:
        raise CliError("No such template; `quelea prompts` lists them.")
    if name:
        for one in found["prompts"]:
            say(out, f"{one['name']} ({one['language']}), version {one['version']}", "bold")
            say(out, f"{one['text']}\n")
        return
    table = Table("name", "language", "version", "characters", box=None)
    for one in found["prompts"]:
        table.add_row(one["name"], one["language"], one["version"], str(len(one["text"])))
    out.print(table)
