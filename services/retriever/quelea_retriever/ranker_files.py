"""The rankers that the settings name: read at the start, read again when a file changes, chosen by the encoder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from quelea_kit.errors import Conflict, InvalidInput
from quelea_kit.logging import get_logger

from quelea_retriever.core.ranker import Ranker, packaged

log = get_logger(__name__)

_LOOK_SECONDS = 2.0


class RankerFiles:
    """One ranker for each encoder that a knowledge base may have; the packaged one where no file is named.

    Which one a search uses follows from the collection that is searched, so a re-embedded knowledge base and its
    ranker change in the same moment.

    Args:
        paths: Files of rankers; of two for one encoder the first counts.
        look_seconds: How often to look whether a file has changed.

    Raises:
        InvalidInput: a file cannot be read, or is no ranker for the features of this version.
    """

    def __init__(self, paths: Sequence[Path] = (), *, look_seconds: float = _LOOK_SECONDS) -> None:
        self._paths = tuple(paths)
        self._look = look_seconds
        self._looked = time.monotonic()
        self._stamps = self._stamp()
        self._rankers = self._read()

    def of(self, encoder: str) -> Ranker:
        """The ranker for vectors of this encoder. Raises Conflict when every file is for another one."""
        self._follow()
        for ranker in self._rankers:
            if ranker.encoder in ("", encoder):
                return ranker
        names = ", ".join(f"{ranker.name} for {ranker.encoder}" for ranker in self._rankers)
        raise Conflict(
            f"The knowledge base is indexed with {encoder}, and its ranker is not for that encoder ({names}). Take the "
            "set that belongs together with `quelea models activate SET`, or fit one with `quelea train ranker`, or "
            "unset QUELEA_RETRIEVER_RANKER_FILE."
        )

    def _read(self) -> tuple[Ranker, ...]:
        return tuple(_read(path) for path in self._paths) or (packaged(),)

    def _stamp(self) -> tuple[tuple[int, int] | None, ...]:
        return tuple(_stamp(path) for path in self._paths)

    def _follow(self) -> None:
        """Read again what has changed; what cannot be used leaves the ranker that there was."""
        now = time.monotonic()
        if now - self._looked < self._look:
            return
        self._looked = now
        stamps = self._stamp()
        if stamps == self._stamps:
            return
        self._stamps = stamps
        try:
            self._rankers = self._read()
        except InvalidInput as error:
            log.error("ranker_kept", why=error.message)
            return
        log.info("ranker_read", rankers=[ranker.name for ranker in self._rankers])


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _read(path: Path) -> Ranker:
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"ranker_file cannot be read: {error}.", details={"field": "ranker_file"}) from error
    return Ranker.parse(text, name=str(path))
