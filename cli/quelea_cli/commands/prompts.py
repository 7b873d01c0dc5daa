"""`quelea prompts`: the prompt templates in force; their versions, edited, compared, put in force and rolled back."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import click
import typer
from quelea_client import Client
from rich.table import Table

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, minute, print_json, say

prompts = typer.Typer(help="Show, change and try the prompt templates.", no_args_is_help=True)
_SIGNS = {"same": " ", "removed": "-", "added": "+"}
_STYLES = {"same": "", "removed": "red", "added": "green"}


class Language(StrEnum):
    """Of a template."""

    en = "en"
    zh = "zh"


Name = Annotated[str, typer.Argument(help="As `quelea prompts list` has it: answer, rewrite, agent-plan, …")]
Lang = Annotated[Language, typer.Argument(help="en or zh.")]
Version = Annotated[str, typer.Option(help='A version, "built-in" or "active".')]
File = Annotated[str, typer.Option(help="Read the text from this file (- for standard input).")]


@prompts.command("list")
def list_(
    language: Annotated[str, typer.Option(help="en or zh; default: both.")] = "",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """List what is in force, with the versions that answers report."""
    out, problems = consoles()
    with connect(url, api_key) as gateway:
        found = gateway.request("GET", "/v1/prompts", params={"language": language})
    if as_json:
        print_json(found)
        return
    for problem in found["problems"]:
        say(problems, f"note: {problem}", "yellow")
    table = Table("name", "language", "version", "characters", "from", box=None)
    for one in found["prompts"]:
        origin = "built in" if one["built_in"] else "edited"
        table.add_row(one["name"], one["language"], one["version"], str(len(one["text"])), origin)
    out.print(table)


@prompts.command()
def show(
    name: Name,
    language: Lang,
    version: Version = "active",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Print the text of a template. Another version than the active one needs an administrator's key."""
    with connect(url, api_key) as gateway:
        found = _version(gateway, name, language, version)
    if as_json:
        print_json(found)
        return
    out, about = consoles()
    say(about, f"{name} ({language}), version {found['version']}", "bold")
    say(out, found["text"].rstrip("\n"))


@prompts.command()
def versions(name: Name, language: Lang, url: Url = DEFAULT_URL, api_key: ApiKey = "", as_json: AsJson = False) -> None:
    """List the versions of a template, newest first. Needs an administrator's key, as everything below does."""
    with connect(url, api_key) as gateway:
        found = _versions(gateway, name, language)
    if as_json:
        print_json({"versions": found})
        return
    table = Table("", "version", "saved", "by", "made from", "note", box=None)
    for one in found:
        sign = "*" if one["active"] else "!" if one["problems"] else ""
        saved = "built in" if one["built_in"] else minute(one["created"])
        table.add_row(sign, one["version"], saved, one["author"], one["based_on"], one["note"])
    consoles()[0].print(table)


@prompts.command()
def diff(
    name: Name,
    language: Lang,
    before: Version = "built-in",
    after: Version = "active",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Compare two versions line by line."""
    with connect(url, api_key) as gateway:
        found = gateway.request("GET", f"{_path(name, language)}/diff", params={"before": before, "after": after})
    if as_json:
        print_json(found)
        return
    out, _ = consoles()
    say(out, f"--- {found['before']}")
    say(out, f"+++ {found['after']}")
    for line in found["lines"]:
        say(out, f"{_SIGNS[line['kind']]} {line['text']}", _STYLES[line["kind"]])


@prompts.command()
def edit(
    name: Name,
    language: Lang,
    file: File = "",
    version: Version = "active",
    note: Annotated[str, typer.Option(help="Why, for whoever reads the list of versions.")] = "",
    activate: Annotated[bool, typer.Option("--activate", help="Put it in force at once.")] = False,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Save a new version, written in $EDITOR or read from a file. It is not in force until it is activated."""
    with connect(url, api_key) as gateway:
        base = _version(gateway, name, language, version)
        text = _read(file) if file else _edited(base["text"])
        body = {"text": text, "note": note, "based_on": base["version"]}
        saved = gateway.request("POST", f"{_path(name, language)}/versions", json=body)
        if activate:
            gateway.request("POST", f"{_path(name, language)}/activate", json={"version": saved["version"]})
    if as_json:
        print_json(saved)
        return
    out, hints = consoles()
    say(out, saved["version"])
    if not activate:
        say(hints, f"Saved. Put it in force with: quelea prompts activate {name} {language} {saved['version']}")


@prompts.command("try")
def attempt(
    name: Name,
    language: Lang,
    question: Annotated[str, typer.Argument(help="In the language of the draft.")],
    file: File = "",
    version: Annotated[str, typer.Option(help="Try this version instead of a file.")] = "",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Answer one question with a draft of the prompt of answers, before it is in force."""
    if bool(file) == bool(version):
        raise CliError("Give either --file or --version.", EXIT_USAGE)
    with connect(url, api_key) as gateway:
        text = _read(file) if file else _version(gateway, name, language, version)["text"]
        found = gateway.request("POST", f"{_path(name, language)}/try", json={"text": text, "question": question})
    if as_json:
        print_json(found)
        return
    out, about = consoles()
    say(out, found["answer"])
    say(about, f"{found['model']}, prompt {found['prompt_version']}")


@prompts.command()
def activate(
    name: Name,
    language: Lang,
    version: Annotated[str, typer.Argument(help='A version, or "built-in".')],
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Put a version in force: for answers that begin now, without a restart."""
    with connect(url, api_key) as gateway:
        now = gateway.request("POST", f"{_path(name, language)}/activate", json={"version": version})
    _say_active(now, as_json)


@prompts.command("roll-back")
def roll_back(
    name: Name, language: Lang, url: Url = DEFAULT_URL, api_key: ApiKey = "", as_json: AsJson = False
) -> None:
    """Put the version before in force again; repeated, it goes back to the built-in text."""
    with connect(url, api_key) as gateway:
        now = gateway.request("POST", f"{_path(name, language)}/roll-back")
    _say_active(now, as_json)


@prompts.command()
def delete(
    name: Name,
    language: Lang,
    version: Annotated[str, typer.Argument(help="A version that is not in force.")],
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
) -> None:
    """Forget a version."""
    with connect(url, api_key) as gateway:
        gateway.request("DELETE", f"{_path(name, language)}/versions/{quote(version, safe='')}")
    say(consoles()[0], f"deleted {version}")


def _path(name: str, language: str) -> str:
    return f"/v1/prompts/{quote(name, safe='')}/{language}"


def _versions(gateway: Client, name: str, language: str) -> list[Json]:
    return gateway.items(f"{_path(name, language)}/versions", "versions")


def _version(gateway: Client, name: str, language: str, version: str) -> Json:
    """A version with its text; the active one is open to every key."""
    if version == "active":
        listed: list[Json] = gateway.request("GET", "/v1/prompts", params={"name": name, "language": language})[
            "prompts"
        ]
        if not listed:
            raise CliError(f"There is no prompt {name} ({language}); `quelea prompts list` has them.")
        return listed[0]
    for one in _versions(gateway, name, language):
        if version == one["version"] or (version == "built-in" and one["built_in"]):
            return one
    raise CliError(f"There is no version {version} of {name} ({language}); `quelea prompts versions` lists them.")


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CliError(f"{file} cannot be read: {error}") from error


def _edited(text: str) -> str:
    """What the user made of a text in an editor."""
    try:
        changed = click.edit(text, extension=".txt")
    except click.ClickException as error:
        raise CliError(f"The editor failed: {error.message} Set EDITOR, or use --file.") from error
    if changed is None or changed == text:
        raise CliError("Nothing was changed; no version was saved.")
    return changed


def _say_active(now: Json, as_json: bool) -> None:
    if as_json:
        print_json(now)
    else:
        say(consoles()[0], f"{now['name']} ({now['language']}): {now['version']} is in force")
