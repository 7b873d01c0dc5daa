"""What the supervisor is told: which processes there are, and how patient it is with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quelea_cli.stack.probes import Probe


@dataclass(frozen=True)
class Service:
    """One process of a stack."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    probe: Probe | None = None
    live: Probe | None = None
    """Whether the process answers at all, whatever its dependencies do; None: its own end is the only sign."""
    ready_line: str = ""
    """For a process that nobody can ask: it is ready once it has written a line with this."""
    port: int = 0
    start_group: int = 1
    """Groups start one after the other, each when the one before is ready."""
    stop_group: int = 1
    """Groups stop one after the other, smallest first."""
    grace_seconds: float = 15.0
    """From SIGTERM to SIGKILL."""
    start_seconds: float = 0.0
    """Longest wait until it is ready; 0: as the policy has it."""


@dataclass(frozen=True)
class Policy:
    """When a process that died is started again, and when no more."""

    start_seconds: float = 300.0
    """A process that is not ready after this ends the start. Long, as one that died is told at once, and a busy or slow
    machine takes minutes to start them all."""
    first_starts: int = 2
    """How often a process may die before it was ready for the first time."""
    restarts: int = 5
    """How often it may die within window_seconds later."""
    window_seconds: float = 60.0
    back_off: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0, 4.0)
    """Pause before each restart within the window."""
    probe_seconds: float = 0.2
    watch_seconds: float = 10.0
    """How often a process that was ready is asked whether it still is."""
    silent_times: int = 6
    """One that does not answer `live` so often in a row is killed, and started again."""
