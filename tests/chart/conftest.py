"""One real stack for the chart's tests: what `helm test` does is done to it, and its calls are compared."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest
from kubernetes_validate import utils
from support.stack import Stack


@pytest.fixture(autouse=True, scope="session")
def _schemas_are_read_once() -> Iterator[None]:
    """The validator reads a megabyte of definitions for each object; they do not change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "schema_contents", functools.cache(utils.schema_contents))
        yield


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """`quelea up` on a home of its own; keys are off."""
    one = Stack(tmp_path_factory.mktemp("helm") / "home")
    yield one
    one.stop()
