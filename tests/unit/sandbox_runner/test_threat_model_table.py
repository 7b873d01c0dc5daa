"""The table that people read is the suite that runs."""

from escape.attacks import ALL
from escape.table import PAGE, page_with


def test_the_page_has_the_suites_own_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page_with(text), "write it again: PYTHONPATH=tests .venv/bin/python -m escape.table"


def test_the_suite_is_not_smaller_than_promised() -> None:
    assert len({attack.name for attack in ALL}) == len(ALL) >= 50
