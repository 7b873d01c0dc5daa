"""Every attack, in the order of the table."""

from escape.attack import Attack
from escape.attacks import (
    calls,
    door,
    files,
    frames,
    hoards,
    interpreter,
    kernel,
    leftovers,
    network,
    privileges,
    processes,
    protocol,
    resources,
    signals,
)

GROUPS: dict[str, list[Attack]] = {
    "Processes and time": processes.ATTACKS,
    "Memory, disk, output": [*resources.ATTACKS, *hoards.ATTACKS, *signals.ATTACKS],
    "Privileges": privileges.ATTACKS,
    "Kernel": [*kernel.ATTACKS, *calls.ATTACKS],
    "Files of the host": files.ATTACKS,
    "Network": network.ATTACKS,
    "What comes back": [*protocol.ATTACKS, *frames.ATTACKS],
    "The interpreter": interpreter.ATTACKS,
    "Leftovers and neighbours": leftovers.ATTACKS,
}
ALL = [attack for group in GROUPS.values() for attack in group]
"""What test_escape.py runs."""

WITH_DOOR = {**GROUPS, "The market-data door": door.ATTACKS}
"""With what test_door.py runs."""
