"""The command `quelea`."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Annotated

import typer
from quelea_client import QueleaError

from quelea_cli.commands.agent import agent
from quelea_cli.commands.ask import ask, search
from quelea_cli.commands.bench import bench
from quelea_cli.commands.chat import chat
from quelea_cli.commands.collections import collections_app
from quelea_cli.commands.demo import demo, samples
from quelea_cli.commands.docs import docs_app
from quelea_cli.commands.facts import facts
from quelea_cli.commands.fetch import fetch
from quelea_cli.commands.ingest import ingest
from quelea_cli.commands.jobs import jobs
from quelea_cli.commands.local import audit, backup, keys_app, restore
from quelea_cli.commands.market import market
from quelea_cli.commands.packages import register as add_packages
from quelea_cli.commands.prompts import prompts
from quelea_cli.commands.running import down, status
from quelea_cli.commands.stack import up
from quelea_cli.commands.tools import mcp, tools_app
from quelea_cli.commands.watch import watch
from quelea_cli.errors import CliError, told

app = typer.Typer(
    name="quelea",
    help="Ask finance questions on your own documents; every statement of an answer opens to a page.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        sys.stdout.write(f"quelea {importlib.metadata.version('quelea-cli')}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Options of the command itself."""


app.command()(up)
app.command()(down)
app.command()(status)
app.command()(demo)
app.command()(samples)
app.command()(bench)
app.command()(ask)
app.command()(chat)
app.command()(search)
app.command()(agent)
app.command()(ingest)
app.command()(fetch)
app.add_typer(watch, name="watch")
app.add_typer(docs_app, name="docs")
app.add_typer(collections_app, name="collections")
app.command()(facts)
app.command()(jobs)
app.add_typer(prompts, name="prompts")
app.add_typer(tools_app, name="tools")
app.add_typer(market, name="market")
app.command()(mcp)
app.add_typer(keys_app, name="keys")
app.command()(audit)
app.command()(backup)
app.command()(restore)
add_packages(app)


def main() -> None:
    """Run a command; failures are one line on standard error and an exit code."""
    try:
        app()
    except (CliError, QueleaError) as error:
        failure = told(error)
        sys.stderr.write(f"quelea: {failure.message}\n")
        sys.exit(failure.code)


if __name__ == "__main__":
    main()
