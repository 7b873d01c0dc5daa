"""A stack after real traffic, and a real Prometheus that scrapes it, for every test of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from quelea_kit.testing import free_port
from support.prometheus import MISSING, PAGE, QUESTION, SHOWN, Prometheus, found, scraping
from support.stack import Stack


@pytest.fixture(scope="session")
def ports() -> dict[str, int]:
    return {name: free_port() for name in SHOWN}


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, ports: dict[str, int]) -> Iterator[Stack]:
    if not found():
        pytest.skip(MISSING)
    told = {f"QUELEA_{name.upper()}_METRICS_PORT": str(port) for name, port in ports.items()}
    one = Stack(tmp_path_factory.mktemp("scaling") / "home", environment=told)
    try:
        (job,) = one.ingest(("acme.md", PAGE))
        assert job["state"] == "succeeded", job
        assert "4,812" in one.ask(QUESTION)["answer"]
        yield one
    finally:
        one.stop()


@pytest.fixture(scope="session")
def prometheus(stack: Stack, ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with scraping(tmp_path_factory.mktemp("prometheus"), ports) as one:
        yield one
