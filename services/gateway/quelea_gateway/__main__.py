"""Start the gateway: python -m quelea_gateway."""

from __future__ import annotations

import asyncio
import sys

import uvloop
from quelea_kit.errors import QueleaError
from quelea_kit.logging import get_logger, setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.tracing import setup_tracing

from quelea_gateway.gateway import build
from quelea_gateway.runner import run
from quelea_gateway.settings import Settings

_SWITCH_SECONDS = 0.0005


async def _main(settings: Settings) -> None:
    gateway = build(settings)
    if gateway.access.required and not len(gateway.access.ring):
        get_logger(__name__).warning(
            "no_keys", keys_file=settings.keys_file, make_one="python -m quelea_gateway.keys create NAME"
        )
    await run(gateway)


def main() -> int:
    """Run until told to stop; exit code 2 when the settings do not allow it to start."""
    # A small check of figures computes in a thread; with the usual 5 ms it holds up each event of every stream so long.
    sys.setswitchinterval(_SWITCH_SECONDS)
    settings = Settings()
    setup_logging("gateway", settings)
    setup_tracing("gateway", settings)
    start_metrics(settings)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_main(settings))
    except QueleaError as error:
        sys.stderr.write(f"gateway: {error.message}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
