"""The rankers that the settings name, chosen by the encoder of what is searched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quelea_kit.errors import Conflict
from quelea_kit.fitted_files import LOOK_SECONDS, FittedFiles

from quelea_retriever.core.ranker import Ranker, packaged


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

    def __init__(self, paths: Sequence[Path] = (), *, look_seconds: float = LOOK_SECONDS) -> None:
        self._files = FittedFiles(
            paths,
            lambda text, path: Ranker.parse(text, name=str(path)),
            setting="ranker_file",
            look_seconds=look_seconds,
        )
        self._named = bool(paths)

    def of(self, encoder: str) -> Ranker:
        """The ranker for vectors of this encoder. Raises Conflict when every file is for another one."""
        if not self._named:
            return packaged()
        found = self._files.find(encoder)
        if found is None:
            names = ", ".join(f"{ranker.name} for {ranker.encoder}" for ranker in self._files.current())
            raise Conflict(
                f"The knowledge base is indexed with {encoder}, and no ranker is for that encoder ({names}). Take a "
                "set that belongs together with `quelea models activate SET`, or fit a ranker with `quelea train "
                "ranker`, or unset QUELEA_RETRIEVER_RANKER_FILE."
            )
        return found
