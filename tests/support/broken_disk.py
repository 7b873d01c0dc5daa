"""A disk that takes nothing while it is told to."""

from __future__ import annotations

import errno
import os

import pytest


class BrokenDisk:
    """Every os.fsync of the process, which fails while `failing` is set.

    Args:
        code: The error of the system.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: int = errno.EIO) -> None:
        self.failing = False
        self._code = code
        self._real = os.fsync
        monkeypatch.setattr(os, "fsync", self)

    def __call__(self, fd: int) -> None:
        if self.failing:
            raise OSError(self._code, os.strerror(self._code))
        self._real(fd)
