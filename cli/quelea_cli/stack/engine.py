"""A language model of this machine's own: llama.cpp on its processors, supervised like the other services."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.stack.model import Service
from quelea_cli.stack.probes import http_probe

MODEL_FILE = "models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
"""What `make engine-cpu` fetches, in the cache folder (places.cache)."""
_LOOPBACK = "127.0.0.1"
_CONTEXT = 8192
_START_SECONDS = 300.0


def check_model(model: Path) -> Path:
    """The file of the model. Raises CliError where it or llama.cpp is missing."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise CliError(
            "llama.cpp is not installed; pip install 'quelea[llama]' does it, in a checkout `make engine-cpu`.",
            EXIT_USAGE,
        )
    if not model.is_file():
        raise CliError(
            f"No model at {model}; `make engine-cpu` fetches one (1.1 GB), --gguf names another.", EXIT_USAGE
        )
    return model


def engine_service(model: Path, port: int, key: str, environment: Mapping[str, str]) -> Service:
    """The process that serves the model to whoever knows the key: on loopback every user reaches its port."""
    return Service(
        name="engine",
        command=(sys.executable, "-m", "quelea_generator.llama_engine"),
        env={
            "QUELEA_ENGINE_MAX_MODEL_LEN": str(_CONTEXT),
            **environment,
            "QUELEA_ENGINE_MODEL": str(model),
            "QUELEA_ENGINE_NAME": model.stem,
            "QUELEA_ENGINE_HOST": _LOOPBACK,
            "QUELEA_ENGINE_PORT": str(port),
            "QUELEA_ENGINE_API_KEY": key,
            "PYTHONUNBUFFERED": "1",
        },
        probe=http_probe(f"http://{_LOOPBACK}:{port}/health"),
        port=port,
        start_group=1,
        stop_group=4,
        start_seconds=_START_SECONDS,
    )


def generator_settings(model: Path, port: int, key: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The generator's variables for that engine.

    Short evidence, for two cores read some 70 tokens a second, and patience with an engine that is silent while it
    reads. Decisions of the agent are JSON, which the engine's grammar keeps in shape whatever the model; calls of
    functions it would have to get right by itself. With an adapter, which learnt to decline and to point at figures,
    the model is told everything.
    """
    usual = {
        "QUELEA_GENERATOR_MAX_IN_FLIGHT_PER_ENGINE": environment.get("QUELEA_ENGINE_MAX_NUM_SEQS", "1"),
        "QUELEA_GENERATOR_QUEUE_WAIT_SECONDS": "120",
        "QUELEA_GENERATOR_EXCERPT_TOKENS": "360",
        "QUELEA_GENERATOR_PROMPT": "answer" if environment.get("QUELEA_ENGINE_ADAPTER") else "short_answer",
        "QUELEA_GENERATOR_EVIDENCE_TOKENS": "3000",
        "QUELEA_GENERATOR_MAX_TOKENS": "200",
        "QUELEA_GENERATOR_FUNCTION_CALLS": "no",
        "QUELEA_GENERATOR_FIRST_STALL_SECONDS": "240",
    }
    return {
        **{name: environment.get(name) or value for name, value in usual.items()},
        "QUELEA_GENERATOR_ENDPOINT": f"http://{_LOOPBACK}:{port}/v1",
        "QUELEA_GENERATOR_MODEL": model.stem,
        "QUELEA_GENERATOR_API_KEY": key,
    }


def slow_model_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The gateway's variables for a model on processors, unless the environment has its own.

    Questions stay whole, as a plan takes longer than it is waited for. The agent waits longer: a decision is some 2,000
    tokens to read, at some 70 a second on two cores that do nothing else.
    """
    usual = {
        "QUELEA_GATEWAY_QUERY_PLAN": "none",
        "QUELEA_GATEWAY_AGENT_MODEL_SECONDS": "240",
        "QUELEA_GATEWAY_AGENT_SECONDS": "1500",
    }
    return {name: environment.get(name) or value for name, value in usual.items()}
