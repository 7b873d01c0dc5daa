"""The worker that does evaluations, where the package quelea-evaluation is installed."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping

from quelea_cli.stack.home import Home
from quelea_cli.stack.model import Service

PACKAGE = "quelea_evaluation"
ADVICE = "The evaluation is not installed. Install it (make setup), then start the stack again."
"""What the page says where there is none."""
_READY_LINE = "evaluations: the worker is ready"
_MODELS = "QUELEA_EVAL_MODELS"


def is_installed() -> bool:
    """Whether this environment can do evaluations."""
    return importlib.util.find_spec(PACKAGE) is not None


def evaluation_service(home: Home, url: str, reader: Mapping[str, str], environment: Mapping[str, str]) -> Service:
    """The process: it waits until something is asked for, and starts each step as a process of its own.

    Args:
        home: Its `questions` are offered.
        url: The gateway's.
        reader: The generator's variables; their model may be asked and may judge, unless QUELEA_EVAL_MODELS names
            others.
        environment: The user's: QUELEA_EVAL_MODELS, QUELEA_EVAL_API_KEY, QUELEA_API_KEY among it.
    """
    endpoint, model = (reader.get(f"QUELEA_GENERATOR_{name}", "") for name in ("ENDPOINT", "MODEL"))
    models: dict[str, str] = {}
    if endpoint and model and not environment.get(_MODELS):
        name = re.sub(r"[^A-Za-z0-9._-]", "-", model).strip("-._")[:80] or "model"
        models = {
            _MODELS: f"{name}={model}@{endpoint}",
            "QUELEA_EVAL_API_KEY": reader.get("QUELEA_GENERATOR_API_KEY", ""),
        }
    folders = ("--store", home.evaluations, "--folder", home.evaluation_runs, "--questions", home.questions)
    return Service(
        name="evaluation",
        command=(sys.executable, "-m", PACKAGE, "work", "--wait", "--gateway", url, *map(str, folders)),
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **environment, **models, "PYTHONUNBUFFERED": "1"},
        ready_line=_READY_LINE,
        start_group=2,
        stop_group=1,
    )
