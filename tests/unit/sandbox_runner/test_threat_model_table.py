"""The table that people read is the suite that runs."""

from escape.attacks import WITH_DOOR
from escape.backends import DIFFERS, verdicts
from escape.table import PAGE, page_with


def test_the_page_has_the_suites_own_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page_with(text), "write it again: PYTHONPATH=tests .venv/bin/python -m escape.table"


def test_the_suite_is_not_smaller_than_promised() -> None:
    names = [attack.name for group in WITH_DOOR.values() for attack in group]
    assert len(set(names)) == len(names) >= 150


def test_what_is_said_of_backends_is_about_attacks_that_there_are() -> None:
    names = {attack.name for group in WITH_DOOR.values() for attack in group}
    assert not {name for held in verdicts().values() for name in held} - names
    assert not {name for told in DIFFERS.values() for name in told} - names
