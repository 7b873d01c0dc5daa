"""What the embedder works with: kinds of text, measured texts, the encoder behind a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Shape (texts, dimension), rows of unit length."""


class Kind(Enum):
    """Which tower reads the text. Queries are served before passages."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class Measured:
    """A text and what the tower's tokenizer says of it."""

    text: str
    """As it goes to the encoder, without the prefix."""

    tokens: int
    """As the tower reads it: with prefix and special tokens, after truncation."""

    truncated: bool
    """True when the tower does not read all of it."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What callers are told about the encoder."""

    model: str
    """Name and content hash; changes whenever vectors would change."""

    dimension: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    device: str
    two_towers: bool
    """True when queries and passages go through different weights."""


class Encoder(Protocol):
    """Text to vectors. Both methods block; they are called from several threads at once."""

    @property
    def info(self) -> ModelInfo:
        """What this encoder is."""
        ...

    def measure(self, texts: Sequence[str], kind: Kind) -> list[Measured]:
        """Count tokens, and cut what the tower would not read."""
        ...

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Encode one batch of measured texts, shape (len(texts), dimension)."""
        ...

    def start_thread(self) -> None:
        """Called once in every thread that will call encode()."""
        ...


class Observer(Protocol):
    """Hears what happens in the queue; the service turns it into metrics."""

    def queued(self, kind: Kind, texts: int, tokens: int) -> None:
        """So much is waiting now."""
        ...

    def encoded(self, kind: Kind, texts: int, tokens: int, seconds: float) -> None:
        """One batch is done; tokens without padding."""
        ...

    def refused(self, kind: Kind) -> None:
        """A call did not fit into the queue."""
        ...

    def cancelled(self, kind: Kind, texts: int) -> None:
        """A caller left before so many of its texts were done."""
        ...


class Silent:
    """An observer that does nothing."""

    def queued(self, kind: Kind, texts: int, tokens: int) -> None:
        """Nothing."""

    def encoded(self, kind: Kind, texts: int, tokens: int, seconds: float) -> None:
        """Nothing."""

    def refused(self, kind: Kind) -> None:
        """Nothing."""

    def cancelled(self, kind: Kind, texts: int) -> None:
        """Nothing."""
