"""The rankers that the settings name, chosen by the encoder of what is searched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quelea_kit.errors import Conflict
from quelea_kit.files.fitted_files import LOOK_SECONDS, FittedFiles, fits_encoder

from quelea_retriever.core.ranking.ranker import Ranker, packaged


class RankerFiles:
    """One ranker for each encoder that a knowledge base may have; the packaged one where there is no file.

    Which one a search uses follows from the collection that is searched, so a re-embedded knowledge base and its
    ranker change in the same moment.

    Args:
        paths: Files of rankers; of two for one encoder the first counts.
        of_set: The ranker of the set of models in use, where no path is named; it may come and go.
        look_seconds: How often to look whether a file has changed.

    Raises:
        InvalidInput: a file cannot be read, or is no ranker for the features of this version.
    """

    def __init__(
        self, paths: Sequence[Path] = (), of_set: Path | None = None, *, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._files = FittedFiles(
            paths or ([of_set] if of_set else []),
            lambda text, path: Ranker.parse(text, name=str(path)),
            setting="ranker_file",
            optional=not paths,
            look_seconds=look_seconds,
        )

    def of(self, encoder: str) -> Ranker:
        """The ranker for vectors of this encoder. Raises Conflict when every file is for another one."""
        every = self._files.current() or (packaged(),)
        for ranker in every:
            if fits_encoder(ranker.encoder, encoder):
                return ranker
        names = ", ".join(f"{ranker.name} for {ranker.encoder}" for ranker in every)
        raise Conflict(
            f"The knowledge base is indexed with {encoder}, and no ranker is for that encoder ({names}). Take a set "
            "that belongs together with `quelea models activate SET`, or fit a ranker with `quelea train ranker`, or "
            "unset QUELEA_RETRIEVER_RANKER_FILE."
        )
