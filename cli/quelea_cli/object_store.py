"""Documents in an object store: what is below a prefix, and one of them as a file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from quelea_kit.errors import QueleaError
from quelea_kit.files.storage import Storage

from quelea_cli.errors import EXIT_NOT_FOUND, EXIT_USAGE, CliError


class Prefix:
    """What is below an address such as s3://bucket/prefix.

    Credentials and endpoint come from the environment, as for the services: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    AWS_ENDPOINT_URL_S3. Nothing is written.

    Args:
        url: The address.
    """

    def __init__(self, url: str) -> None:
        if not url.partition("://")[2].split("/")[0]:
            raise CliError(f"{url} names no bucket; use an address such as s3://bucket/prefix.", EXIT_USAGE)
        self.url = url.rstrip("/")
        with _told():
            self._storage = Storage(self.url, "The source")
            self._storage.check()

    def names(self) -> list[str]:
        """Every object, by its name after the prefix, in order; hidden ones are left out. Raises CliError."""
        with _told():
            found = sorted(self._storage.ages(""))
        return [
            name
            for name in found
            if name and not name.endswith("/") and not any(part.startswith(".") for part in name.split("/"))
        ]

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A copy of an object on this machine's disk, gone after the block. Raises OSError of the disk, CliError."""
        with tempfile.TemporaryFile() as copy:
            try:
                with _told(), self._storage.opened(name) as file:
                    shutil.copyfileobj(file, copy)
            except FileNotFoundError as error:
                raise CliError("there is no such object", EXIT_NOT_FOUND) from error
            copy.seek(0)
            yield copy


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except QueleaError as error:
        raise CliError(error.message) from error
