"""What ends a command: one line that says what to do, and an exit code that a script can tell apart."""

from __future__ import annotations

__all__ = ["EXIT_FAILED", "EXIT_KEY", "EXIT_NOT_FOUND", "EXIT_UNREACHABLE", "EXIT_USAGE", "CliError"]

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
EXIT_KEY = 4
EXIT_NOT_FOUND = 5


class CliError(Exception):
    """A failure that the user can act on.

    Args:
        message: One sentence: what is wrong and what to do.
        code: The exit code of the command.
    """

    def __init__(self, message: str, code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
