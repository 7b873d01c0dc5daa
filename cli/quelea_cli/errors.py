"""What ends a command: one line that says what to do, and an exit code that a script can tell apart."""

from __future__ import annotations

from quelea_client import ApiError, QueleaError, Unreachable

__all__ = ["EXIT_FAILED", "EXIT_KEY", "EXIT_NOT_FOUND", "EXIT_UNREACHABLE", "EXIT_USAGE", "CliError", "told"]

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
EXIT_KEY = 4
EXIT_NOT_FOUND = 5
_BY_STATUS = {401: EXIT_KEY, 403: EXIT_KEY, 404: EXIT_NOT_FOUND, 503: EXIT_UNREACHABLE}


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


def told(error: CliError | QueleaError) -> CliError:
    """A failure of the gateway as the command tells it."""
    if isinstance(error, CliError):
        return error
    message, code = str(error), EXIT_UNREACHABLE if isinstance(error, Unreachable) else EXIT_FAILED
    if isinstance(error, ApiError):
        code = _BY_STATUS.get(error.status, EXIT_FAILED)
    if code == EXIT_KEY and "QUELEA_API_KEY" not in message:
        message += " Set QUELEA_API_KEY; `quelea keys create NAME` creates a key."
    return CliError(message, code)
