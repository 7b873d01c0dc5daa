"""The words that the sandbox thinks in."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

MARKET_SOCKET = "/run/market/door.sock"
"""Where the market-data door's socket is inside a container."""


class Reason(enum.Enum):
    """How a run ended; the names are those of ExitReason on the wire."""

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CANCELLED = "cancelled"
    DIED = "died"
    PROTOCOL = "protocol"
    ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use, all of it enforced from outside."""

    memory_bytes: int
    cpus: float
    pids: int
    wall_seconds: float
    output_bytes: int
    """Of stdout and stderr together; what is over it is dropped and counted."""

    files_bytes: int
    """Of all files that come back."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What is fixed when a container is made; runs that want the same shape can use the same warm ones."""

    memory_bytes: int
    cpus: float
    pids: int
    market: bool
    """Whether the market-data door's socket is in it."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file for the working directory."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Task:
    """Code to run, with what it needs."""

    id: str
    code: str
    files: tuple[InputFile, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    output_bytes: int = 1 << 20
    files_bytes: int = 16 << 20
    keep: bool = False
    """A step of a session: variables stay."""


@dataclass(frozen=True, slots=True)
class Output:
    """Bytes of one of the two streams."""

    stderr: bool
    data: bytes


@dataclass(frozen=True, slots=True)
class ReturnedFile:
    """A file that the run made or changed."""

    path: str
    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The guest says that the code has ended. The code may have said it in the guest's name."""

    ok: bool
    error: str


Event = Output | ReturnedFile | Ended


@dataclass(frozen=True, slots=True)
class Usage:
    """Measured from outside."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_peak_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a run as its keeper has it."""

    reason: Reason
    error: str = ""
    usage: Usage = field(default_factory=Usage)
    dropped_output_bytes: int = 0
    refused_files: tuple[str, ...] = ()
