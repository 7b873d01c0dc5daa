"""A real Open WebUI (make open-webui), and the whole product behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.open_webui import PROGRAM, OpenWebUI
from support.stack import SAMPLES, Stack


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The product with Apple's 10-Q and a Chinese news item in it."""
    if not PROGRAM.exists():
        pytest.fail("There is no Open WebUI to test: run `make open-webui` first, or `make test-open-webui`.")
    patient = {"QUELEA_GATEWAY_GENERATE_SECONDS": "60"}  # its usual ten are short while other stages want the cores
    one = Stack(tmp_path_factory.mktemp("product") / "home", environment=patient)
    try:
        files = (SAMPLES / "filings/2023 Q3 AAPL.pdf", SAMPLES / "news/2023-10-27-149.json")
        for job in one.ingest(*((file.name, file.read_bytes()) for file in files)):
            assert job["state"] == "succeeded", job
        yield one
    finally:
        one.stop()


@pytest.fixture(scope="session")
def front_end(product: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenWebUI]:
    """A running Open WebUI."""
    one = OpenWebUI(tmp_path_factory.mktemp("open_webui"), product.url)
    try:
        yield one
    finally:
        one.stop()
