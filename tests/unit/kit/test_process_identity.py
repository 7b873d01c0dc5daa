"""Which process holds something, and whether it has ended."""

import os
import subprocess
from pathlib import Path

from quelea_kit.processes.process_identity import has_ended, pid_of, this_process


def test_a_process_is_known_to_live_until_it_does_not() -> None:
    me = this_process()
    assert not has_ended(me)
    child = subprocess.Popen(["sleep", "60"])
    theirs = me.split("/")
    theirs[3] = str(child.pid)
    theirs[4] = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19]
    try:
        assert not has_ended("/".join(theirs))
        assert has_ended("/".join([*theirs[:4], "1"]))  # the number is another process's by now
    finally:
        child.kill()
        child.wait()
    assert has_ended("/".join(theirs))


def test_owners_that_cannot_be_known_are_left_alone() -> None:
    parts = this_process().split("/")
    assert not has_ended("a-name") and not has_ended("")
    assert not has_ended("/".join(["elsewhere", *parts[1:3], "999999", "1"]))
    assert not has_ended("/".join([*parts[:2], "1", "999999", "1"]))
    assert has_ended("/".join([parts[0], "boot-before", *parts[2:]]))


def test_the_process_id_of_this_machines_owners_is_known() -> None:
    parts = this_process().split("/")
    assert pid_of(this_process()) == os.getpid()
    assert pid_of("elsewhere/1/2/3/4") == pid_of("") == 0
    assert has_ended("/".join([*parts[:3], "4194305", "1"]))  # above any process id
