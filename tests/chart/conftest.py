"""One real stack for the chart's tests: what `helm test` does is done to it, and its calls are compared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.stack import Stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """`quelea up` on a home of its own; keys are off."""
    one = Stack(tmp_path_factory.mktemp("helm") / "home")
    yield one
    one.stop()
