"""`quelea bench`: speed of the product on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from quelea_client import Client
from rich.table import Table

from quelea_cli import bench as measuring
from quelea_cli.commands.stack import Reader, model_file, serve
from quelea_cli.errors import CliError
from quelea_cli.options import DEFAULT_HOME, SAMPLES, AsJson, HomeDir
from quelea_cli.output import consoles, print_json, say
from quelea_cli.places import cache
from quelea_cli.stack.engine import MODEL_FILE
from quelea_cli.stack.home import Home
from quelea_cli.stack.model import Policy
from quelea_cli.stack.plan import Options

BENCH_HOME = DEFAULT_HOME.with_name("bench")


def bench(
    home: HomeDir = BENCH_HOME,
    passages: Annotated[int, typer.Option(help="Fill the knowledge base to about this many passages.", min=1)] = 5000,
    samples: Annotated[Path, typer.Option(help="Folder of the samples.")] = SAMPLES,
    only_model: Annotated[
        bool, typer.Option("--only-model", help="Measure the language model of this machine alone.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the ask path, the encoder's batching, ingestion, and the language model of this machine where it is.

    The home is kept, so a second run is short.
    """
    out, err = consoles()
    found: list[measuring.Measure] = []
    place = Home(home)
    model = model_file(Reader.llama, None) if only_model or (cache() / MODEL_FILE).exists() else None

    def measure(url: str) -> None:
        with Client(url, "") as gateway:
            there = measuring.fill(gateway, samples, passages, lambda line: say(err, line))
            say(err, "asking …")
            found.extend(measuring.ask_path(gateway, samples, there))
        record = place.read()
        ports = {name: one.port for name, one in record.services.items()} if record else {}
        say(err, "ingesting …")
        found.extend(measuring.ingestion(ports, place.stack_secret, samples))

    def measure_model(url: str) -> None:
        with Client(url, "") as gateway:
            measuring.fill(gateway, samples, 1 if only_model else passages, lambda line: say(err, line))
            say(err, "asking the language model …")
            found.extend(measuring.small_model(gateway, samples))

    def run(measured: Callable[[str], None], gguf: Path | None) -> None:
        async def work(url: str) -> None:
            await asyncio.to_thread(measured, url)

        options = Options("127.0.0.1", 0, False, "", {}, gguf=gguf)
        if not serve(place, options, Policy(), terminal_level=None, work=work):
            raise CliError("Stopped before it finished; what was ingested is kept for the next run.")

    if not only_model:
        run(measure, None)
        say(err, "encoding …")
        found.extend(measuring.encoder())  # alone on the machine, as it brings an encoder of its own
    if model:
        run(measure_model, model)
    if as_json:
        print_json({"measures": [vars(one) for one in found]})
        return
    table = Table("measure", "value", "wanted", "")
    for one in found:
        table.add_row(one.name, f"{one.value:.2f} {one.unit}", one.target, "" if one.good else "missed")
    if out.is_terminal:
        out.print(table)
    else:
        for one in found:
            say(out, f"{one.name}\t{one.value:.2f} {one.unit}\t{one.target}\t{'' if one.good else 'missed'}")
