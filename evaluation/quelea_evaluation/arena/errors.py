"""What an arena refuses: input that is wrong, with the place and what would be right."""

from __future__ import annotations


class ArenaError(ValueError):
    """The message names what is wrong and what to do; the command ends with code 2."""
