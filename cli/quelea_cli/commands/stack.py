"""`quelea up`: the whole product on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_HOME, SAMPLES, HomeDir
from quelea_cli.output import consoles, say
from quelea_cli.places import cache
from quelea_cli.stack.agent import check_engine
from quelea_cli.stack.engine import MODEL_FILE, check_model
from quelea_cli.stack.home import Home
from quelea_cli.stack.logs import Logs
from quelea_cli.stack.model import Policy
from quelea_cli.stack.model_set import encoder_of
from quelea_cli.stack.plan import Options, plan, url_of
from quelea_cli.stack.ports import free_ports, is_free, is_loopback
from quelea_cli.stack.supervisor import Supervisor

MODEL_FOLDER = "models/multilingual-e5-small"
_UNPACK_SECONDS = 300.0

Work = Callable[[str], Coroutine[Any, Any, None]]
"""Something to do with a stack that is ready, by its URL."""


OLLAMA_URL = "http://127.0.0.1:11434/v1"
OLLAMA_SETTINGS = {
    "QUELEA_GENERATOR_EXTRA_BODY": '{"reasoning_effort": "none"}',
    "QUELEA_GENERATOR_MAX_IN_FLIGHT_PER_ENGINE": "1",
    "QUELEA_GENERATOR_QUEUE_WAIT_SECONDS": "120",
}
"""Answers without thinking, one at a time, as Ollama gives them; the environment has the last word."""


class Reader(StrEnum):
    """Who writes the answers."""

    extractive = "extractive"
    openai = "openai"
    llama = "llama"
    ollama = "ollama"


class Level(StrEnum):
    """How much of the services' logs comes to the terminal."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


def up(
    home: HomeDir = DEFAULT_HOME,
    port: Annotated[int, typer.Option(help="Port of the gateway; 0 takes a free one.", min=0, max=65535)] = 8080,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any other than loopback turns API keys on.")
    ] = "127.0.0.1",
    auth: Annotated[
        bool | None,
        typer.Option(
            "--auth/--no-auth",
            help="Require API keys; default: only when other machines can reach the gateway, or people sign in.",
        ),
    ] = None,
    sign_in: Annotated[
        Path | None,
        typer.Option(
            envvar="QUELEA_GATEWAY_OPENID_FILE",
            help="Let people sign in, and programs send tokens: TOML file of an OpenID provider and its groups.",
            exists=True,
            dir_okay=False,
            resolve_path=True,
            show_default=False,
        ),
    ] = None,
    reader: Annotated[
        Reader,
        typer.Option(
            help="extractive: quote the sources; llama: run a language model here; openai: ask one at an endpoint; "
            "ollama: ask one of Ollama's on this machine."
        ),
    ] = (Reader.extractive),
    gguf: Annotated[
        Path | None,
        typer.Option(help="Model for --reader llama, a GGUF file; default: the one of `make engine-cpu`."),
    ] = None,
    openai_base_url: Annotated[str, typer.Option(help="OpenAI-compatible endpoint, including /v1.")] = "",
    openai_model: Annotated[str, typer.Option(help="Name of the model at the endpoint.")] = "",
    openai_api_key: Annotated[
        str, typer.Option(envvar="OPENAI_API_KEY", help="API key of the endpoint.", show_default=False)
    ] = "",
    web: Annotated[
        bool,
        typer.Option(
            "--web", help="Search the web when the documents are not enough; questions then leave this machine."
        ),
    ] = False,
    sample_web: Annotated[
        bool, typer.Option("--sample-web", help="Use a small sample web on this machine instead of the internet.")
    ] = False,
    agent: Annotated[
        bool,
        typer.Option("--agent", help="Also start what the agent needs: the sandbox (Docker) and the market-data door."),
    ] = False,
    fetch: Annotated[
        bool,
        typer.Option(
            "--fetch",
            help="Allow `quelea fetch`: EDGAR, which needs QUELEA_SEARCH_FILINGS_CONTACT set, and cninfo.",
        ),
    ] = False,
    tls: Annotated[
        bool, typer.Option("--tls", help="Use mutual TLS between the services, with certificates made for this run.")
    ] = False,
    start_seconds: Annotated[
        float, typer.Option(help="Maximum wait for a service to be ready.", min=1)
    ] = Policy.start_seconds,
    log_level: Annotated[Level, typer.Option(help="Lowest level shown on the terminal.")] = Level.info,
    detach: Annotated[bool, typer.Option(help="Run in the background; return when it is ready.")] = False,
) -> None:
    """Run everything: redis, embedder, retriever, search, worker, generator, gateway, evaluation. Ctrl-C ends it."""
    if detach:
        _detach(home, start_seconds)
        return
    options = Options(
        host=host,
        port=port,
        auth=bool(sign_in) or not is_loopback(host) if auth is None else auth,
        sign_in=sign_in,
        model="",
        reader=reader_settings(reader, openai_base_url, openai_model, openai_api_key),
        log_level="debug" if log_level is Level.debug else "info",
        web=web,
        sample_web=sample_folder() if sample_web else None,
        gguf=model_file(reader, gguf),
        agent=cache() if agent else None,
        fetch=fetch,
        tls=tls,
    )
    if agent:
        check_engine(os.environ)
    if not options.auth and not is_loopback(host):
        raise CliError(f"{host} can be reached from other machines, so --no-auth is not allowed.", EXIT_USAGE)
    if sign_in and not options.auth:
        raise CliError("With --no-auth nobody has to sign in: leave it out, or --sign-in.", EXIT_USAGE)
    serve(Home(home), options, Policy(start_seconds=start_seconds), terminal_level=log_level.value)


def sample_folder(samples: Path = SAMPLES) -> Path:
    """Where the sample web is; CliError when the samples are not installed."""
    if not (samples / "web" / "site.json").is_file():
        message = f"No sample web in {samples / 'web'}; the distribution quelea has it (pip install quelea)."
        raise CliError(message, EXIT_USAGE)
    return samples / "web"


def model_file(reader: Reader, named: Path | None) -> Path | None:
    """The model that is run here; None where none is. CliError where it cannot be."""
    if reader is Reader.llama:
        return check_model(named or cache() / MODEL_FILE)
    if named:
        raise CliError("--gguf needs --reader llama.", EXIT_USAGE)
    return None


def reader_settings(reader: Reader, base_url: str, model: str, api_key: str) -> dict[str, str]:
    """The generator's variables for the reader that was chosen."""
    if reader not in (Reader.openai, Reader.ollama):
        if base_url or model:
            raise CliError("--openai-base-url and --openai-model need --reader openai or ollama.", EXIT_USAGE)
        return {}
    preset: dict[str, str] = {}
    if reader is Reader.ollama:
        base_url = base_url or OLLAMA_URL
        preset = {name: os.environ.get(name) or value for name, value in OLLAMA_SETTINGS.items()}
    if not base_url or not model:
        needed = "--openai-model" if reader is Reader.ollama else "--openai-base-url and --openai-model"
        raise CliError(f"--reader {reader.value} needs {needed}.", EXIT_USAGE)
    return {
        **preset,
        "QUELEA_GENERATOR_ENDPOINT": base_url,
        "QUELEA_GENERATOR_MODEL": model,
        "QUELEA_GENERATOR_API_KEY": api_key,
    }


def serve(
    home: Home, options: Options, policy: Policy, *, terminal_level: str | None = "info", work: Work | None = None
) -> bool:
    """Run a stack until a signal; with `work`, until that has ended. False when a signal came first.

    Args:
        home: Taken for this process alone.
        options: The port may be 0.
        policy: Deadlines and restarts.
        terminal_level: Lowest level of the services' lines on the terminal; None shows none of them.
        work: Done when the stack is ready; its error ends the stack, and is raised.
    """
    _, err = consoles()
    with home.locked():
        stale = home.end_stale()
        if stale:
            say(err, f"Ended what an earlier run had left: {', '.join(stale)}.", "yellow")
        options = _complete(home, options)
        logs = Logs(home.logs, sys.stderr if terminal_level else None, terminal_level or "info")
        try:
            services = plan(home, options, os.environ)
            supervisor = Supervisor(
                services,
                home,
                logs,
                url=url_of(options),
                policy=policy,
                progress=lambda line: say(err, f"  ✓ {line}", "green"),
            )
            say(err, f"Starting Quelea in {home.root} …", "bold")
            return asyncio.run(_run(supervisor, url_of(options), work, lambda line: say(err, line, "bold")))
        finally:
            logs.close()


async def _run(supervisor: Supervisor, url: str, work: Work | None, tell: Callable[[str], None]) -> bool:
    stop, now = asyncio.Event(), asyncio.Event()

    def on_signal() -> None:
        if stop.is_set():
            now.set()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, on_signal)
    began = time.monotonic()

    async def all_of_it() -> None:
        await supervisor.start()
        tell(f"Quelea is ready at {url} ({time.monotonic() - began:.0f} s). Ctrl-C stops it.")
        if work is None:
            await supervisor.run()
        else:
            await first_of(supervisor.run(), work(url))

    try:
        await first_of(all_of_it(), stop.wait())
        return not stop.is_set()
    finally:
        tell("Stopping …")
        await supervisor.stop(now)
        tell("Stopped.")


async def first_of(*works: Coroutine[Any, Any, object]) -> None:
    """Run them together until one has ended, cancel the others; the first one's error is raised."""
    tasks = [asyncio.ensure_future(one) for one in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


def _complete(home: Home, options: Options) -> Options:
    """With the port and the encoder settled."""
    port = options.port
    if not port:
        port = free_ports(1)[0]
    elif not is_free(options.host, port):
        raise CliError(f"Port {port} on {options.host} is in use; choose another with --port, or 0 for a free one.")
    return replace(options, port=port, model=encoder(home))


def encoder(home: Home) -> Path | str:
    """The encoder that the environment names, else that of the home's set of models, else the default one, unpacked."""
    named = os.environ.get("QUELEA_EMBEDDER_MODEL", "") or encoder_of(home)
    return named or default_encoder()


def default_encoder() -> Path:
    """Folder of the encoder that comes with Quelea, unpacked first when it is not there."""
    folder = cache() / MODEL_FOLDER
    if not (folder / "modules.json").exists():
        say(consoles()[1], f"Unpacking the encoder into {folder} (once) …")
    command = [sys.executable, "-m", "quelea_embedder.unpack", "--out", str(folder)]
    done = subprocess.run(  # noqa: S603  # our own command line
        command, capture_output=True, text=True, check=False, timeout=_UNPACK_SECONDS
    )
    if done.returncode:
        raise CliError(f"The encoder could not be unpacked: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return folder


def _detach(home_dir: Path, start_seconds: float) -> None:
    """Run the same command again, cut off from this terminal, and wait until it is ready."""
    home = Home(home_dir)
    with home.locked():
        pass
    arguments = [argument for argument in sys.argv[1:] if argument != "--detach"]
    console = home.logs / "up.log"
    say(consoles()[1], f"Starting Quelea in {home.root}; the first time takes longest. Its log: {console}")
    with console.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(  # noqa: S603  # our own command line
            [sys.executable, "-m", "quelea_cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    end = time.monotonic() + start_seconds + _UNPACK_SECONDS
    while time.monotonic() < end:
        record = home.read()
        if record and record.pid == process.pid and record.state == "ready":
            named = "" if home_dir == DEFAULT_HOME else f" --home {home.root}"
            say(consoles()[0], f"Quelea is ready at {record.url}. Stop it with `quelea down{named}`.")
            return
        if process.poll() is not None:
            lines = console.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            last = next((line for line in reversed(lines) if line.startswith("quelea: ")), lines[-1] if lines else "")
            raise CliError(f"{last.removeprefix('quelea: ')} · Its log: {console}")
        time.sleep(0.2)
    process.terminate()
    raise CliError(f"Quelea was not ready in time. See its log: {console}")
