"""A real vLLM on the CPU (make engine-vllm), and the whole product in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.engine import LONGEST, MODEL, PYTHON, Engine
from support.stack import SAMPLES, Stack


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A running engine."""
    if not PYTHON.exists():
        pytest.fail("There is no engine to test: run `make engine-vllm` first, or `make test-vllm`, which does.")
    one = Engine(tmp_path_factory.mktemp("engine") / "engine.log")
    one.start()
    try:
        one.until_ready()
        yield one
    finally:
        one.kill()


@pytest.fixture(scope="session")
def product(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The product with the engine as its reader, and a Chinese news item and a filing's page in it."""
    small = {
        # The model's context has 2,048 tokens: prompts have to be cut to it.
        "QUELEA_GENERATOR_EVIDENCE_TOKENS": "6000",
        "QUELEA_GENERATOR_HISTORY_TOKENS": "150",
        "QUELEA_GENERATOR_MAX_IN_FLIGHT_PER_ENGINE": "16",
        "QUELEA_GENERATOR_COMEBACK_SECONDS": "5",
        "QUELEA_GENERATOR_MAX_TOKENS": str(LONGEST),  # a core writes some ten a second
        "QUELEA_GENERATOR_ATTEMPTS": "2",
        # An adapter reads a hundred tokens a second on a core, and other stages want the cores too.
        "QUELEA_GENERATOR_FIRST_STALL_SECONDS": "400",
        "QUELEA_GATEWAY_GENERATE_SECONDS": "400",
        "QUELEA_GENERATOR_QUOTES": "false",  # what the engine does is looked at, and nothing stands in for it
    }
    options = ("--reader", "openai", "--openai-base-url", f"{engine.url}/v1", "--openai-model", MODEL)
    one = Stack(tmp_path_factory.mktemp("product") / "home", *options, environment=small)
    try:
        news = SAMPLES / "news" / "2023-10-27-149.json"
        page = (
            b"# Acme Corp. Form 10-Q\n\nFor the quarterly period ended June 30, 2023.\n\n"
            b"Net sales of Acme Corp. were $4,812 million in the second quarter of 2023.\n"
        )
        for job in one.ingest((news.name, news.read_bytes()), ("acme.md", page)):
            assert job["state"] == "succeeded", job
        yield one
    finally:
        one.stop()


@pytest.fixture
def idle(engine: Engine) -> Callable[[], bool]:
    """Whether the engine has nothing to do."""
    return lambda: engine.metric("vllm:num_requests_running") + engine.metric("vllm:num_requests_waiting{") == 0
