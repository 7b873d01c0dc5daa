"""Whether the engine works, asked again and again; and what is left in it of nobody."""

from __future__ import annotations

import asyncio
import time

from quelea_kit.logging import get_logger

from quelea_sandbox import metrics
from quelea_sandbox.adapters.backend import Backend, EngineError

log = get_logger(__name__)

_CHECK_SECONDS = 5.0
_SWEEP_EVERY = 30.0


class EngineWatch:
    """Asks the engine, and sweeps it: at the start, when it is back, after a removal that failed, and now and then."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._sweep_at = 0.0
        self._image = ""
        self.was_asked = False
        self.down = "the engine was not asked yet"
        """Why it is of no use; empty while it works."""

    def sweep_soon(self) -> None:
        """Something may be left."""
        self._sweep_at = 0.0

    async def check(self, known: set[str]) -> bool:
        """Ask once.

        Args:
            known: Names of containers that are somebody's.

        Returns:
            Whether the image is another one than before.
        """
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                await self._backend.check()
            if self.down or time.monotonic() >= self._sweep_at:
                self._sweep_at = time.monotonic() + _SWEEP_EVERY
                await self._sweep(known)
            self.down = ""
        except EngineError as error:
            self.down = str(error)
        except TimeoutError:
            self.down = f"the engine did not answer within {_CHECK_SECONDS:g} s"
        except Exception as error:  # the watch must go on, whatever an engine answers
            log.exception("check_failed")
            self.down = f"{type(error).__name__}: {error}"
        self.was_asked = True
        before, self._image = self._image, self._backend.image
        return self._image != before

    async def _sweep(self, known: set[str]) -> None:
        removed = await self._backend.sweep(known)
        metrics.SWEPT.inc(removed)
        if removed:
            log.info("leftovers_removed", number=removed)
