"""`quelea demo`: the whole product on the samples."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer
from quelea_client import Client

from quelea_cli.agent_demo import DECISIONS
from quelea_cli.agent_demo import show as show_run
from quelea_cli.commands.stack import Reader, model_file, reader_settings, sample_folder, serve
from quelea_cli.demo import QUESTIONS, show
from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_HOME, SAMPLES, HomeDir
from quelea_cli.output import consoles, say
from quelea_cli.places import cache
from quelea_cli.recorded_model import NAME, RecordedModel, read_recorded, serving
from quelea_cli.stack.agent import check_engine
from quelea_cli.stack.home import Home
from quelea_cli.stack.model import Policy
from quelea_cli.stack.plan import Options

DEMO_HOME = DEFAULT_HOME.with_name("demo")


def samples() -> None:
    """Print the folder of the sample documents."""
    if not SAMPLES.is_dir():
        raise CliError("The samples are not installed; the distribution quelea has them: pip install quelea.")
    print(SAMPLES)


def demo(
    home: HomeDir = DEMO_HOME,
    port: Annotated[int, typer.Option(help="Port of the gateway; 0 takes a free one.", min=0, max=65535)] = 8080,
    samples: Annotated[Path, typer.Option(help="Folder of the samples.")] = SAMPLES,
    reader: Annotated[
        Reader,
        typer.Option(help="extractive: quote the sources; llama: a language model here, whose answers are not graded."),
    ] = Reader.extractive,
    agent: Annotated[
        bool, typer.Option("--agent", help="Show a run of the agent instead, whose code runs in Docker.")
    ] = False,
    once: Annotated[bool, typer.Option(help="Stop after the questions; exit code 0 on success.")] = False,
) -> None:
    """Start a stack with the sample web, ingest the samples, ask questions, and keep serving until Ctrl-C."""
    if not (samples / QUESTIONS).is_file():
        raise CliError(f"No samples in {samples}; set their folder with --samples.", EXIT_USAGE)
    if reader in (Reader.openai, Reader.ollama):
        raise CliError("The demo starts its own model or none: --reader extractive or llama.", EXIT_USAGE)
    out, _ = consoles()

    if agent:
        check_engine(os.environ)
    recorded = read_recorded(samples / DECISIONS) if agent else None

    def ask_all(url: str) -> None:
        with Client(url, "") as gateway:
            if recorded:
                show_run(gateway, recorded, home / "shown", out)
            else:
                show(gateway, samples, out, judged=reader is Reader.extractive)

    async def work(url: str) -> None:
        await asyncio.to_thread(ask_all, url)
        if not once:
            say(out, f"\nopen {url} · Ctrl-C to stop", "bold green")
            await asyncio.Event().wait()

    with serving(RecordedModel(recorded)) if recorded else contextlib.nullcontext() as model:
        options = Options(
            host="127.0.0.1",
            port=port,
            auth=False,
            model="",
            reader=reader_settings(Reader.openai, model.url, NAME, "") if model else {},
            sample_web=None if agent else sample_folder(samples),  # its decisions ask nothing of the web
            gguf=model_file(reader, None),
            agent=cache() if agent else None,
        )
        finished = serve(Home(home), options, Policy(), terminal_level=None, work=work)
    if once and not finished:
        raise CliError("The demo was stopped before it finished.")
