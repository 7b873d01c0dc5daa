"""The gates that the settings name, chosen by the encoder that made the cosines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quelea_kit.errors import Conflict
from quelea_kit.files.fitted_files import LOOK_SECONDS, FittedFiles, fits_encoder

from quelea_gateway.core.gate.gates import Gate
from quelea_gateway.core.model import Question, Retrieved, Verdict


@dataclass(frozen=True)
class FittedGate:
    """A gate, and the encoder whose cosines it was fitted to."""

    gate: Gate
    encoder: str


class GateFiles:
    """A gate for each encoder that a knowledge base may have.

    Which one judges follows from the search that is judged, so a re-embedded knowledge base and its gate change in the
    same moment.

    Args:
        packaged: What judges where there is no file.
        paths: Files of calibrations; of two for one encoder the first counts.
        of_set: The gate of the set of models in use, where no path is named; it may come and go.
        read: Text and path of a file to its gate; raises InvalidInput.
        any_encoder: Judge by the first one where none is for the encoder, as while a gate for it is being fitted.
        look_seconds: How often to look whether a file has changed.

    Raises:
        InvalidInput: a file cannot be read, or is no calibration.
    """

    def __init__(
        self,
        packaged: FittedGate,
        paths: list[Path],
        read: Callable[[str, Path], FittedGate],
        *,
        of_set: Path | None = None,
        any_encoder: bool = False,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._packaged = packaged
        self._files = FittedFiles(
            paths or ([of_set] if of_set else []),
            read,
            setting="gate_file",
            optional=not paths,
            look_seconds=look_seconds,
        )
        self._any_encoder = any_encoder

    def judge(self, question: Question, retrieved: Retrieved) -> Verdict:
        """Whether the evidence is good enough. Raises Conflict when no gate is for the encoder."""
        return self.of(retrieved.encoder).judge(question, retrieved)

    def of(self, encoder: str) -> Gate:
        """The gate for an encoder. Raises Conflict when there is none, and says what to do."""
        every = self._files.current() or (self._packaged,)
        for one in every:
            if fits_encoder(one.encoder, encoder):
                return one.gate
        if self._any_encoder:
            return every[0].gate
        names = ", ".join(one.encoder for one in every)
        raise Conflict(
            f"The knowledge base is indexed with {encoder}, and the gate is fitted for {names}: its probabilities "
            "would mean nothing. Take a set that belongs together with `quelea models activate SET`, or fit a gate "
            "with `quelea train gate`, or accept it as it is with QUELEA_GATEWAY_GATE_ANY_ENCODER=true."
        )
