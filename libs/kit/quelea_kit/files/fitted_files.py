"""Files of fitted weights, each good for one encoder: read at the start, and again when one changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from quelea_kit.errors import InvalidInput
from quelea_kit.logging import get_logger

log = get_logger(__name__)

LOOK_SECONDS = 2.0


def fits_encoder(fitted_with: str, encoder: str) -> bool:
    """Whether weights fit an encoder's vectors.

    Args:
        fitted_with: "name@hash": that encoder alone. "name": every build of it, as bf16 and float32 give one model two
            hashes. Empty: any encoder, as weights that were set by hand.
        encoder: The name and hash that an embedder gives; empty where nothing is stored yet, which fits all.
    """
    return not fitted_with or not encoder or fitted_with in (encoder, encoder.partition("@")[0])


class Fitted(Protocol):
    """What a file has."""

    @property
    def encoder(self) -> str:
        """The encoder that it was fitted with, as `fits_encoder` takes it."""
        ...


T = TypeVar("T", bound=Fitted)


class FittedFiles(Generic[T]):
    """What the files have, as they are now; what cannot be used any more leaves what there was.

    Args:
        paths: Of the files, at most a few; the first that fits an encoder counts.
        read: Text and path to what it has; raises InvalidInput.
        setting: Named in an error.
        optional: A file that is not there is left out until it is.
        look_seconds: How often to look whether a file has changed.

    Raises:
        InvalidInput: a file cannot be read, or `read` refuses it.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        read: Callable[[str, Path], T],
        *,
        setting: str,
        optional: bool = False,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._paths, self._read_text, self._setting, self._look = tuple(paths), read, setting, look_seconds
        self._optional = optional
        self._looked = time.monotonic()
        self._stamps = self._stamp()
        self._all = self._read()

    def current(self) -> tuple[T, ...]:
        """All, in the order of their files."""
        now = time.monotonic()
        if now - self._looked < self._look:
            return self._all
        self._looked = now
        stamps = self._stamp()
        if stamps != self._stamps:
            self._stamps = stamps
            try:
                self._all = self._read()
            except InvalidInput as error:
                log.error("fitted_file_kept", why=error.message)
            else:
                log.info("fitted_file_read", setting=self._setting, encoders=[one.encoder for one in self._all])
        return self._all

    def find(self, encoder: str) -> T | None:
        """The first that fits an encoder."""
        return next((one for one in self.current() if fits_encoder(one.encoder, encoder)), None)

    def _stamp(self) -> tuple[tuple[int, int] | None, ...]:
        return tuple(map(_stamp, self._paths))

    def _read(self) -> tuple[T, ...]:
        wanted = [path for path in self._paths if not self._optional or path.is_file()]
        return tuple(self._read_text(self._text(path), path) for path in wanted)

    def _text(self, path: Path) -> str:
        try:
            return path.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{self._setting} cannot be read: {error}.", details={"field": self._setting}) from error


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
