"""What every format needs."""

from __future__ import annotations

from collections.abc import Callable

from quelea_search.core.errors import TooLarge
from quelea_search.core.model import ParseLimits

Progress = Callable[[int, int], None]
"""Called with (pages done, pages); the last call has done == total. Sheets, slides and records count as pages."""


def check_characters(count: int, limits: ParseLimits) -> None:
    """Raise TooLarge when a document's text is longer than the limit."""
    if count > limits.max_characters:
        raise TooLarge(f"The document holds more than {limits.max_characters:,} characters of text; split it.")


def stated(**fields: str) -> dict[str, str]:
    """The fields that are not empty."""
    return {name: value for name, value in fields.items() if value}
