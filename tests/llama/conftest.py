"""The product with a real language model, started once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.stack import REPOSITORY, Stack

MODEL = REPOSITORY / ".cache/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The product with the model, and one filing's page in it."""
    if not MODEL.is_file():
        pytest.fail("There is no model to test with: run `make engine-cpu` first.")
    options = ("--reader", "llama", "--gguf", str(MODEL))
    # One thread: two would wait for one another where other tests run beside it.
    stack = Stack(tmp_path_factory.mktemp("product") / "home", *options, environment={"QUELEA_ENGINE_THREADS": "1"})
    try:
        page = (
            "Harrow Lines\nForm 10-Q for the quarter ended June 30, 2021\n"
            "Operating income was $77 million in the three months ended June 30, 2021. Staff were trained.\n"
        )
        stack.ingest(("harrow.txt", page.encode()), metadata={"company": "Harrow Lines", "published": "2021-08-01"})
        yield stack
    finally:
        stack.stop()
