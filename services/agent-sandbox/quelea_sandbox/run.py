"""python -m quelea_sandbox.run FILE.py [more files …]: run one file in a container, to try the machine's engine.

The other files go into the working directory; what the code leaves there is written to ./sandbox-out. Settings as of
the service.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path

from quelea_kit.logging import setup_logging

from quelea_sandbox.__main__ import build
from quelea_sandbox.adapters.door import door_of
from quelea_sandbox.core.files import check_inputs
from quelea_sandbox.core.model import InputFile, Outcome, Output, Reason, ReturnedFile
from quelea_sandbox.pool import Pool
from quelea_sandbox.runs import Request, Runs
from quelea_sandbox.sessions import Sessions
from quelea_sandbox.settings import SandboxSettings

OUT = Path("sandbox-out")


async def run(code: str, files: tuple[InputFile, ...], settings: SandboxSettings) -> Outcome:
    """Run code in a container of its own, printing what it prints."""
    pool = Pool(build(settings), settings.warm_shapes[-1:], settings.pool_limits)
    runs = Runs(pool, Sessions(pool, most=0, most_per_tenant=0), settings.rules, door_of(settings))
    outcome = Outcome(Reason.ENGINE, "nothing came")
    pool.start()
    try:
        while not pool.was_asked:  # noqa: ASYNC110  # within the engine's own deadline
            await asyncio.sleep(0.05)
        async for event in runs.execute(Request(id=secrets.token_hex(8), code=code, tenant="", files=files)):
            if isinstance(event, Output):
                stream = sys.stderr if event.stderr else sys.stdout
                stream.buffer.write(event.data)
                stream.flush()
            elif isinstance(event, ReturnedFile):
                target = OUT / event.path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(event.data)
                sys.stderr.write(f"file: {target} ({event.media_type}, {len(event.data)} bytes)\n")
            elif isinstance(event, Outcome):
                outcome = event
    finally:
        await pool.close()
    return outcome


def main() -> int:
    """0 when the code ended well, 1 when not, 2 when there is nothing to run."""
    if len(sys.argv) < 2:
        sys.stderr.write(__doc__ or "")
        return 2
    settings = SandboxSettings(min_warm=0, log_level="warning", log_format="console")
    setup_logging("sandbox", settings)
    files = tuple(InputFile(Path(name).name, Path(name).read_bytes()) for name in sys.argv[2:])
    check_inputs(files, max_files=settings.max_files, max_bytes=settings.max_input_bytes)
    outcome = asyncio.run(run(Path(sys.argv[1]).read_text(encoding="utf-8"), files, settings))
    used = outcome.usage
    sys.stderr.write(
        f"{outcome.reason.name}: {used.wall_seconds:.3f} s, processor {used.cpu_seconds:.3f} s, "
        f"memory {used.memory_peak_bytes >> 20} MiB\n"
    )
    if outcome.error:
        sys.stderr.write(f"{outcome.error}\n")
    return 0 if outcome.reason is Reason.OK else 1


if __name__ == "__main__":
    sys.exit(main())
