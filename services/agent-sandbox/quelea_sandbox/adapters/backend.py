"""What a place that runs containers must offer: Docker, Kubernetes pods, a fake."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol

from quelea_sandbox.core.model import Shape


class EngineError(Exception):
    """The engine does not answer, or not as it should. What was under way may be tried again."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What the engine has measured of a container since its start."""

    cpu_seconds: float
    memory_peak_bytes: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """What the engine says of a container's state."""

    running: bool
    out_of_memory: bool
    exit_code: int


class Container(Protocol):
    """One container with a guest in it, attached. Every call has a deadline of its own."""

    @property
    def name(self) -> str:
        """The name that its maker gave it."""

    async def read(self) -> bytes:
        """The next bytes of its stdout; empty when it has ended or the engine has let go. Never raises EngineError."""

    async def write(self, data: bytes) -> None:
        """Bytes for its stdin; waits while the guest does not read.

        Raises:
            EngineError: The stream is closed.
        """

    async def stats(self) -> Stats | None:
        """What it has used; None when the engine cannot say (any more)."""

    async def inspect(self) -> Inspection:
        """How it is.

        Raises:
            EngineError: The engine does not say.
        """

    async def remove(self) -> None:
        """Kill it, whatever it does, and leave nothing behind.

        Raises:
            EngineError: It may still be there; `Backend.sweep` tries again.
        """

    def said(self) -> str:
        """The end of its stderr, for the log when it did not start. Not to be believed once code has run."""


class Backend(Protocol):
    """A place that runs containers."""

    @property
    def name(self) -> str:
        """For callers: docker, kubernetes, fake."""

    @property
    def image(self) -> str:
        """Identity of the image that containers are made from; empty before the first check."""

    async def check(self) -> None:
        """Whether containers can be made now.

        Raises:
            EngineError: The engine does not answer, or the image is missing; the text says what to do.
        """

    async def create(self, shape: Shape, name: str) -> Container:
        """A container of this name, attached and started; its guest says when it is ready.

        Raises:
            EngineError: It could not be made; nothing is left behind, or `sweep` removes it.
        """

    async def sweep(self, known: Set[str]) -> int:
        """Remove containers of this owner whose name is not known, and those of services that died; how many.

        Raises:
            EngineError: The engine does not answer.
        """

    async def close(self) -> None:
        """Let go of the engine. Containers must be gone by now."""
