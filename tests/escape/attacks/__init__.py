"""Every attack, in the order of the table."""

from escape.attack import Attack
from escape.attacks import (
    calls,
    door,
    door_tricks,
    files,
    forgeries,
    frames,
    hoards,
    interpreter,
    kernel,
    leftovers,
    network,
    pressure,
    privileges,
    processes,
    protocol,
    resources,
    sessions,
    signals,
)

GROUPS: dict[str, list[Attack]] = {
    "Processes and time": processes.ATTACKS,
    "Memory, disk, output": [*resources.ATTACKS, *hoards.ATTACKS, *signals.ATTACKS, *pressure.ATTACKS],
    "Privileges": privileges.ATTACKS,
    "Kernel": [*kernel.ATTACKS, *calls.ATTACKS],
    "Files of the host": files.ATTACKS,
    "Network": network.ATTACKS,
    "What comes back": [*protocol.ATTACKS, *frames.ATTACKS, *forgeries.ATTACKS],
    "The interpreter": interpreter.ATTACKS,
    "Leftovers and neighbours": leftovers.ATTACKS,
    "The next step of a session": sessions.ATTACKS,
}
ALL = [attack for group in GROUPS.values() for attack in group]
"""What test_escape.py runs."""

DOOR = [*door.ATTACKS, *door_tricks.ATTACKS]
"""What test_door.py runs."""

WITH_DOOR = {**GROUPS, "The market-data door": DOOR}
"""All."""
