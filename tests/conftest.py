"""What holds for every test, and the S3 that tests of several rooms share."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from hypothesis import settings

if TYPE_CHECKING:
    from support.s3 import Bucket

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("quelea", deadline=None)
settings.load_profile("quelea")

# Where no service has set up logs, a traceback with every local drawn in boxes takes seconds.
_PLAIN = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _PLAIN])


_ON_THE_ENGINE = ("sandbox", "sandbox_runner", "images", "rolling", "agent")
"""Folders of integration tests on the machine's Docker engine, or with as many processes: never beside one another."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where tests run side by side: a folder of real things by one worker, the engine's folders, the longest, first."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    here = Path(__file__).parent
    for item in items:
        kind, *rooms = item.path.relative_to(here).parts
        if kind in {"integration", "e2e"}:
            room = rooms[0] if kind == "integration" else kind
            item.add_marker(pytest.mark.xdist_group("engine" if room in _ON_THE_ENGINE else room))
    items.sort(key=lambda item: not any(mark.args == ("engine",) for mark in item.iter_markers("xdist_group")))


@pytest.fixture(scope="session", autouse=True)
def _patient_checks() -> Iterator[None]:
    """An answer that is given unchecked after ten seconds is right for its asker and wrong on a slow machine's test."""
    with pytest.MonkeyPatch.context() as patch:
        if answering := sys.modules.get("quelea_gateway.core.answering"):  # collected by now, where a test wants it
            patch.setattr(answering, "CHECK_SECONDS", 120.0)
        yield


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """One server for all tests that ask for a bucket."""
    from support.s3 import s3_server

    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> "Bucket":
    """An empty bucket, and its endpoint and credentials in the environment."""
    from support.s3 import new_bucket

    made = new_bucket(s3_endpoint)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made
