"""`quelea chat`: a conversation; each question may lean on those before it."""

from __future__ import annotations

from typing import Annotated

import typer
from quelea_client import QueleaError

from quelea_cli.commands.ask import AsOf, Route, stream_answer
from quelea_cli.errors import CliError, told
from quelea_cli.options import DEFAULT_URL, ApiKey, Companies, Languages, Url, connect, filters
from quelea_cli.output import Json, consoles, say

_MOST_TURNS = 30
_MOST_CHARS = 30_000
"""Below what a gateway takes by default: 40 turns of 40,000 characters together."""


def chat(
    as_of: AsOf = "",
    route: Annotated[Route, typer.Option(help="Same as for `quelea ask`.")] = Route.auto,
    company: Companies = None,
    language: Languages = None,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
) -> None:
    """Ask one question after another; "and the year before?" is understood from those before it.

    An empty line or the end of the input ends it; /new begins a new conversation.
    """
    out, problems = consoles()
    settings: Json = {"as_of": as_of} if as_of else {}
    if wanted := filters(company, None, None, None, language):
        settings["filters"] = wanted
    if route is not Route.auto:
        settings["route"] = route.value
    history: list[Json] = []
    with connect(url, api_key) as gateway:
        while question := _read():
            if question == "/new":
                history.clear()
                say(out, "A new conversation.", "dim")
                continue
            try:
                answer = stream_answer(out, gateway, {**settings, "question": question, "history": trim(history)})
            except (CliError, QueleaError) as error:
                say(problems, told(error).message, "red")
                continue
            history += [{"role": "user", "content": question}, {"role": "assistant", "content": answer["answer"]}]
            say(out)


def _read() -> str:
    try:
        return input("> ").strip()
    except (EOFError, KeyboardInterrupt):
        return ""


def trim(history: list[Json]) -> list[Json]:
    """The newest turns that a gateway takes, whole ones; the first is the user's."""
    kept = history[-_MOST_TURNS:]
    while sum(len(turn["content"]) for turn in kept) > _MOST_CHARS:
        kept = kept[2:]
    return kept
