"""What holds for every test, and the S3 that tests of several rooms share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from support.s3 import Bucket

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("quelea", deadline=None)
settings.load_profile("quelea")


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
