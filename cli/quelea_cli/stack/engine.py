"""A vLLM of this machine's own, on the CPU, with a small model: shows the production path, answers half right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.stack.model import Service
from quelea_cli.stack.probes import http_probe

_LOOPBACK = "127.0.0.1"
_NAME = "smollm2-135m-instruct"
_AT_ONCE = 16
_START_SECONDS = 300.0


def python_of(checkout: Path) -> Path:
    """The interpreter of vLLM's own environment. Raises CliError when `make engine-cpu` has not been run."""
    python = checkout / ".engine-cpu/bin/python"
    if not python.is_file() or not (_model(checkout) / "config.json").is_file():
        raise CliError("vLLM is not installed; `make engine-cpu` installs it (1 GB download).", EXIT_USAGE)
    return python


def engine_service(checkout: Path, port: int, environment: Mapping[str, str]) -> Service:
    """The process that serves the small model. Raises CliError as `python_of` does."""
    return Service(
        name="engine",
        command=(str(python_of(checkout)), str(checkout / "services/generator/engine/launch.py")),
        env={
            **environment,
            "QUELEA_ENGINE_DEVICE": "cpu",
            "QUELEA_ENGINE_MODEL": str(_model(checkout)),
            "QUELEA_ENGINE_NAME": _NAME,
            "QUELEA_ENGINE_HOST": _LOOPBACK,
            "QUELEA_ENGINE_PORT": str(port),
            "QUELEA_ENGINE_MAX_NUM_SEQS": str(_AT_ONCE),
            "PYTHONUNBUFFERED": "1",
        },
        probe=http_probe(f"http://{_LOOPBACK}:{port}/health"),
        port=port,
        start_group=1,
        stop_group=4,
        start_seconds=_START_SECONDS,
    )


def generator_settings(port: int) -> dict[str, str]:
    """The generator's variables for that engine; short evidence, for two cores read some 200 tokens a second."""
    return {
        "QUELEA_GENERATOR_ENDPOINT": f"http://{_LOOPBACK}:{port}/v1",
        "QUELEA_GENERATOR_MODEL": _NAME,
        "QUELEA_GENERATOR_MAX_IN_FLIGHT_PER_ENGINE": str(_AT_ONCE),
        "QUELEA_GENERATOR_EVIDENCE_TOKENS": "900",
        "QUELEA_GENERATOR_MAX_TOKENS": "160",
    }


def _model(checkout: Path) -> Path:
    return checkout / ".cache/models" / _NAME
